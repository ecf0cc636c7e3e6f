/* Shared libraries opened at run time. They are never closed: drivers behind them do not survive it. */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stddef.h>

/* Opens the library, or returns NULL with the system's reason in why (always terminated, cleaned of control bytes). */
void *library_open(const char *name, char *why, size_t why_size);

/* The address of a symbol, or NULL. Convert through a union or memcpy: ISO C has no cast from void * to a function. */
void *library_symbol(void *library, const char *symbol);

/* Keeps the library or program that `address` lies in loaded until the process ends. */
void library_stay(const void *address);

#endif
