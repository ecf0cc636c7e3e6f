/* One rule of CLAYER_FAKE_RULES, as rule_read.c reads it and rules.c applies it. */
#ifndef FAKE_RULE_H
#define FAKE_RULE_H

#include "driver.h"

enum ending { END_NONE, END_HANG, END_ABORT, END_SEGV, END_EXIT };

enum { SUBSTRINGS = 4 };

struct rule {
    struct rule *next;
    char *storage;       /* the rule's text, cut into the strings below */
    const char *pattern; /* a function's name; a final * stands for any rest */
    long from;           /* the n-th matching call; 0: all */
    bool onwards;        /* and all later ones */
    const char *substrings[SUBSTRINGS];
    long seen;
    enum ending ending;
    int status;
    long delay;
    bool dead;
    struct effect effect;
};

#define NO_EFFECT ((struct effect){.arg = -1, .floats = -1, .end = -1, .log = -1})

extern const char *const function_names[FUNCTION_COUNT];
bool pattern_matches(const char *pattern, const char *name);

/* NULL if it cannot be read. */
struct rule *rule_read(const char *text);
void rule_free(struct rule *rule);

#endif
