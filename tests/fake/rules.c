/* The rules: which call fails, waits, dies or lies. Every entry point passes fake_enter(). */
#include "rule.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const function_names[FUNCTION_COUNT] = {
#define X(name, flag) #name,
    FAKE_FUNCTIONS(X)
#undef X
};

#define D true
static const bool reaches_device[FUNCTION_COUNT] = {
#define X(name, flag) flag,
    FAKE_FUNCTIONS(X)
#undef X
};
#undef D

static struct rule *rules;
static long calls[FUNCTION_COUNT];
static cl_int dead_code; /* what a dead device answers, 0: it lives */
static int last_failed = -1;

/* ---- matching ---- */

bool pattern_matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (length && pattern[length - 1] == '*')
        return !strncmp(pattern, name, length - 1);
    return !strcmp(pattern, name);
}

/* A final $ in the substring asks for a space or the end there, so that -DROWS=1$ does not match -DROWS=16. */
static bool text_contains(const char *text, const char *substring)
{
    size_t length = strlen(substring);
    bool whole = length && substring[length - 1] == '$';
    length -= whole;
    for (; *text; text++)
        if (!strncmp(text, substring, length) && (!whole || !text[length] || text[length] == ' '))
            return true;
    return length == 0;
}

static bool rule_matches(const struct rule *rule, enum function function, const char *text)
{
    if (!pattern_matches(rule->pattern, function_names[function]))
        return false;
    for (int i = 0; i < SUBSTRINGS && rule->substrings[i]; i++)
        if (!text || !text_contains(text, rule->substrings[i]))
            return false;
    return true;
}

static void merge(struct effect *into, const struct effect *from)
{
    if (from->failed && !into->failed) {
        into->failed = true;
        into->code = from->code;
    }
    if (from->nonsense) {
        into->nonsense = true;
        into->fill = from->fill;
    }
    if (from->corruption) {
        into->corruption = from->corruption;
        into->arg = from->arg;
        into->floats = from->floats;
        into->end = from->end;
    }
    if (from->log >= 0)
        into->log = from->log;
    if (from->first)
        into->first = from->first;
    if (from->timer) {
        into->timer = from->timer;
        into->factor = from->factor;
    }
}

void fake_wait(long milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    while (nanosleep(&time, &time))
        ;
}

void fake_end(const char *word)
{
    fake_log("%s, as asked", word);
    if (!strcmp(word, "hang") || !strcmp(word, "spin"))
        for (;;)
            fake_wait(1000);
    if (!strcmp(word, "abort"))
        abort();
    if (!strcmp(word, "segv")) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    if (!strncmp(word, "exit:", 5))
        exit(atoi(word + 5));
    fake_complain("\"%s\" is no way to end: hang, spin, abort, segv or exit:STATUS", word);
    abort();
}

struct effect fake_enter(enum function function, const char *text)
{
    struct effect effect = NO_EFFECT;
    enum ending ending = END_NONE;
    int status = 0;
    long delay = 0;

    pthread_mutex_lock(&fake_mutex);
    calls[function]++;
    for (struct rule *rule = rules; rule; rule = rule->next) {
        if (!rule_matches(rule, function, text))
            continue;
        rule->seen++;
        if (rule->from && (rule->onwards ? rule->seen < rule->from : rule->seen != rule->from))
            continue;
        merge(&effect, &rule->effect);
        delay += rule->delay;
        if (rule->ending && !ending) {
            ending = rule->ending;
            status = rule->status;
        }
        if (rule->dead)
            dead_code = rule->effect.code;
    }
    if (dead_code && reaches_device[function] && !effect.failed) {
        effect.failed = true;
        effect.code = dead_code;
    }
    if (effect.failed || effect.nonsense)
        last_failed = (int)function;
    pthread_mutex_unlock(&fake_mutex);

    if (effect.failed)
        fake_log("%s fails with %d", function_names[function], effect.code);
    if (delay)
        fake_wait(delay);
    if (ending == END_EXIT)
        exit(status);
    if (ending)
        fake_end(ending == END_HANG ? "hang" : ending == END_ABORT ? "abort" : "segv");
    return effect;
}

/* ---- setting ---- */

static void rules_free(struct rule *rule)
{
    while (rule) {
        struct rule *next = rule->next;
        rule_free(rule);
        rule = next;
    }
}

FAKE_EXPORT fake_set_function fake_set;
FAKE_EXPORT int fake_set(const char *text)
{
    char *copy = fake_copy(text), *rest = NULL;
    struct rule *added = NULL, **tail = &added;
    int status = 0;
    for (char *word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        if (!word[strspn(word, " \t\n")])
            continue;
        struct rule *rule = rule_read(word);
        if (!rule) {
            fake_complain("cannot read the rule \"%s\" (tests/fake/README.md has the grammar)", word);
            status = -1;
            break;
        }
        *tail = rule;
        tail = &rule->next;
    }
    free(copy);
    if (status) {
        rules_free(added);
        return status;
    }
    pthread_mutex_lock(&fake_mutex);
    struct rule **end = &rules;
    while (*end)
        end = &(*end)->next;
    *end = added;
    pthread_mutex_unlock(&fake_mutex);
    return 0;
}

void rules_from_environment(void)
{
    const char *text = getenv("CLAYER_FAKE_RULES");
    if (text && fake_set(text))
        abort();
}

FAKE_EXPORT fake_reset_function fake_reset;
FAKE_EXPORT void fake_reset(void)
{
    pthread_mutex_lock(&fake_mutex);
    struct rule *old = rules;
    rules = NULL;
    memset(calls, 0, sizeof calls);
    dead_code = 0;
    last_failed = -1;
    pthread_mutex_unlock(&fake_mutex);
    rules_free(old);
    object_counts_reset();
    info_reset();
}

/* ---- counts ---- */

FAKE_EXPORT fake_count_function fake_count;
FAKE_EXPORT long fake_count(const char *function)
{
    long count = 0;
    pthread_mutex_lock(&fake_mutex);
    for (int i = 0; i < FUNCTION_COUNT; i++)
        if (pattern_matches(function, function_names[i]))
            count += calls[i];
    pthread_mutex_unlock(&fake_mutex);
    return count;
}

FAKE_EXPORT fake_failed_function fake_failed;
FAKE_EXPORT const char *fake_failed(void)
{
    pthread_mutex_lock(&fake_mutex);
    const char *name = last_failed < 0 ? "" : function_names[last_failed];
    pthread_mutex_unlock(&fake_mutex);
    return name;
}
