/* The name of the array that --header writes, from the file's own. */
#include "tune.h"

#include <string.h>

/* Words that no variable may be called in C up to C23 or in C++ up to C++20: the header is for both. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
    "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default "
    "delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long "
    "mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch "
    "template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _BitInt _Bool _Complex _Decimal128 "
    "_Decimal32 _Decimal64 _Generic _Imaginary _Noreturn _Static_assert _Thread_local ";

int tune_header_name(const char *path, char name[64])
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    size_t used = 0;
    if (*base >= '0' && *base <= '9')
        name[used++] = '_';
    for (const char *c = base; *c && *c != '.' && used < 63; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
        name[used++] = letter ? *c : '_';
    }
    name[used] = '\0';
    if (used == 0)
        return tool_usage("--header '%.200s': use a file such as my_tuning.h; the array is called what is before the "
                          "first dot, and here that is nothing",
                          path);
    char word[64 + 2];
    snprintf(word, sizeof word, " %s ", name);
    if (strstr(keywords, word))
        return tool_usage("--header '%.200s': use a file such as my_tuning.h; the array is called what is before the "
                          "first dot, and '%s' is a keyword of C or C++",
                          path, name);
    return 0;
}
