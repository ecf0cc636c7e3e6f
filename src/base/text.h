/* Comparing texts without regard to the case of ASCII letters, whatever the locale. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <string.h>

static inline char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Whether text begins with part; *rest, if asked for, is what follows it. */
static inline bool text_begins(const char *text, const char *part, const char **rest)
{
    for (; *part; text++, part++)
        if (ascii_lower(*text) != ascii_lower(*part))
            return false;
    if (rest)
        *rest = text;
    return true;
}

static inline bool text_equal(const char *a, const char *b)
{
    const char *rest;
    return text_begins(a, b, &rest) && *rest == '\0';
}

static inline bool text_ends(const char *text, const char *part)
{
    size_t length = strlen(text), needed = strlen(part);
    return length >= needed && text_equal(text + length - needed, part);
}

static inline bool text_contains(const char *text, const char *part)
{
    for (;; text++) {
        if (text_begins(text, part, 0))
            return true;
        if (!*text)
            return false;
    }
}

#endif
