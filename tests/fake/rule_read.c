/* Reads one rule: FUNCTION[#n[+]][?substring...] = action [option...]. */
#include "rule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    for (size_t length = strlen(text); length && isspace((unsigned char)text[length - 1]); length--)
        text[length - 1] = 0;
    return text;
}

/* One number that takes the whole word; K and M multiply, "ms" is allowed. */
static bool number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    if (end == word)
        return false;
    if (*end == 'K' || *end == 'M')
        *value *= *end++ == 'K' ? 1024.0 : 1024.0 * 1024.0;
    else if (!strcmp(end, "ms"))
        end += 2;
    return *end == 0;
}

static bool read_action(struct rule *rule, char *word)
{
    char *argument = strchr(word, ':');
    if (argument)
        *argument++ = 0;
    double value = 0;
    bool has = argument && number(argument, &value);
    struct effect *effect = &rule->effect;

    if (!strcmp(word, "nonsense") && (!argument || !strcmp(argument, "ff"))) {
        effect->nonsense = true;
        effect->fill = argument ? 0xff : 0;
        return true;
    }
    if (!argument) {
        static const struct {
            const char *word;
            enum ending ending;
            enum corruption corruption;
            enum timer timer;
        } plain[] = {
            {"hang", END_HANG, CORRUPT_NONE, TIMER_TRUE}, {"abort", END_ABORT, CORRUPT_NONE, TIMER_TRUE},
            {"segv", END_SEGV, CORRUPT_NONE, TIMER_TRUE}, {"nan", END_NONE, CORRUPT_NAN, TIMER_TRUE},
            {"skip", END_NONE, CORRUPT_SKIP, TIMER_TRUE}, {"lastrow", END_NONE, CORRUPT_LASTROW, TIMER_TRUE},
            {"zero", END_NONE, CORRUPT_NONE, TIMER_ZERO}, {"backwards", END_NONE, CORRUPT_NONE, TIMER_BACKWARDS},
        };
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
            if (!strcmp(word, plain[i].word)) {
                rule->ending = plain[i].ending;
                effect->corruption = plain[i].corruption;
                effect->timer = plain[i].timer;
                return true;
            }
        return false;
    }
    if (!has)
        return false;
    if (!strcmp(word, "code") || !strcmp(word, "dead")) {
        effect->failed = true;
        effect->code = (cl_int)value;
        rule->dead = *word == 'd';
        return value != 0;
    }
    if (!strcmp(word, "delay"))
        rule->delay = (long)value;
    else if (!strcmp(word, "first"))
        effect->first = (long)value;
    else if (!strcmp(word, "log"))
        effect->log = (long)value;
    else if (!strcmp(word, "scale") || !strcmp(word, "noise")) {
        effect->timer = *word == 's' ? TIMER_SCALE : TIMER_NOISE;
        effect->factor = value;
    } else if (!strcmp(word, "exit")) {
        rule->ending = END_EXIT;
        rule->status = (int)value;
    } else {
        return false;
    }
    return value >= 0;
}

static bool read_option(struct effect *effect, const char *word)
{
    static const struct {
        const char *name;
        size_t length;
    } options[] = {{"arg=", 4}, {"floats=", 7}, {"end=", 4}};
    for (int i = 0; i < 3; i++) {
        double value;
        if (strncmp(word, options[i].name, options[i].length))
            continue;
        if (!number(word + options[i].length, &value) || value < 0)
            return false;
        if (i == 0)
            effect->arg = (int)value;
        else
            *(i == 1 ? &effect->floats : &effect->end) = (long)value;
        return true;
    }
    return false;
}

struct rule *rule_read(const char *text)
{
    struct rule *rule = fake_allocate(sizeof *rule);
    rule->storage = fake_copy(text);
    rule->effect = NO_EFFECT;

    /* A substring may hold a '=' itself: the separator is then the one between spaces. */
    char *spaced = strstr(rule->storage, " = ");
    char *equals = spaced ? spaced + 1 : strchr(rule->storage, '=');
    bool good = equals != NULL;
    if (good) {
        *equals = 0;
        char *function = rule->storage, *substring = strchr(function, '?');
        for (int i = 0; substring && good; i++) {
            *substring++ = 0;
            good = i < SUBSTRINGS;
            char *next = strchr(substring, '?');
            if (next)
                *next = 0;
            if (good)
                rule->substrings[i] = next ? substring : trim(substring);
            substring = next;
        }
        char *hash = strchr(function, '#');
        if (hash) {
            *hash++ = 0;
            char *end;
            rule->from = strtol(hash, &end, 10);
            rule->onwards = *end == '+';
            good = good && rule->from > 0 && !*trim(end + rule->onwards);
        }
        rule->pattern = trim(function);
        bool known = false;
        for (int i = 0; i < FUNCTION_COUNT; i++)
            known = known || pattern_matches(rule->pattern, function_names[i]);
        good = good && known;

        char *rest = NULL;
        char *word = strtok_r(equals + 1, " \t\n", &rest);
        good = good && word && read_action(rule, word);
        while (good && (word = strtok_r(NULL, " \t\n", &rest)))
            good = read_option(&rule->effect, word);
    }
    if (good)
        return rule;
    rule_free(rule);
    return NULL;
}

void rule_free(struct rule *rule)
{
    free(rule->storage);
    free(rule);
}
