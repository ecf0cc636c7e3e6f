/* clayer: which symbols the shared library shows. Included by the other headers. */
#ifndef CLAYER_EXPORT_H
#define CLAYER_EXPORT_H

#if defined(CLAYER_STATIC)
#define CLAYER_API
#elif defined(_WIN32) && defined(CLAYER_BUILDING)
#define CLAYER_API __declspec(dllexport)
#elif defined(_WIN32)
#define CLAYER_API __declspec(dllimport)
#elif defined(__GNUC__)
#define CLAYER_API __attribute__((visibility("default")))
#else
#define CLAYER_API
#endif

/* Checks printf-like arguments where the compiler can. */
#if defined(__GNUC__)
#define CLAYER_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define CLAYER_PRINTF(format_index, first)
#endif

#endif
