#include "tune/journal.h"
#include "base/error.h"
#include "base/log.h"
#include "tune/journal_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHAPE_BYTES 96

enum kind { PENDING, MEASURED, LOST, SUSPECT };

struct entry {
    enum kind kind;
    char shape[SHAPE_BYTES]; /* "" when it does not matter */
    char plan[PLAN_BYTES];
    struct outcome outcome;
};

struct journal {
    char *provenance;
    int descriptor; /* -1: in memory only */
    char *path;
    struct entry *entries;
    size_t count, room;
    /* While files of other runs are read: whether their measurements count, and where this file's entries begin. */
    bool fits;
    size_t from;
    bool out_of_memory;
};

static struct entry *append(struct journal *j, enum kind kind, const char *shape, const char *plan)
{
    if (j->count == j->room) {
        const size_t room = j->room ? 2 * j->room : 64;
        struct entry *more = realloc(j->entries, room * sizeof *more);
        if (!more) {
            j->out_of_memory = true;
            return NULL;
        }
        j->entries = more;
        j->room = room;
    }
    struct entry *entry = &j->entries[j->count++];
    memset(entry, 0, sizeof *entry);
    entry->kind = kind;
    snprintf(entry->shape, sizeof entry->shape, "%s", shape);
    snprintf(entry->plan, sizeof entry->plan, "%s", plan);
    return entry;
}

static void remove_at(struct journal *j, size_t index)
{
    j->entries[index] = j->entries[--j->count];
}

/* Takes back the newest try of this plan. */
static void settle(struct journal *j, size_t from, const char *shape, const char *plan)
{
    for (size_t i = j->count; i-- > from;)
        if (j->entries[i].kind == PENDING && strcmp(j->entries[i].plan, plan) == 0 &&
            strcmp(j->entries[i].shape, shape) == 0) {
            remove_at(j, i);
            return;
        }
}

static void forget_shape(struct journal *j, size_t from, const char *shape)
{
    for (size_t i = j->count; i-- > from;)
        if (j->entries[i].kind == MEASURED && strcmp(j->entries[i].shape, shape) == 0)
            remove_at(j, i);
}

/* Writes one line; a disk that fails ends the writing, not the run. */
static void write_line(struct journal *j, const char *word, const char *shape, const char *plan,
                       const struct outcome *outcome)
{
    char text[OUTCOME_BYTES + SHAPE_BYTES + PLAN_BYTES + 16], what[OUTCOME_BYTES] = "";
    if (j->descriptor < 0)
        return;
    if (outcome)
        outcome_write(outcome, what);
    snprintf(text, sizeof text, "%s %s %s %s", word, *shape ? shape : "-", *plan ? plan : "-", what);
    if (journal_file_append(j->descriptor, j->path, text) != CLAYER_OK) {
        log_write(CLAYER_LOG_WARN, "the tuning journal ends here: %s", clayer_last_error());
        close(j->descriptor);
        j->descriptor = -1;
    }
}

static void write_entry(struct journal *j, const struct entry *entry)
{
    static const char *const words[] = {"try", "measured", "lost", "suspect"};
    write_line(j, words[entry->kind], entry->shape, entry->plan, entry->kind == PENDING ? NULL : &entry->outcome);
}

static void take_line(void *user, const char *text, bool alive)
{
    struct journal *j = user;
    char word[16], shape[SHAPE_BYTES], plan[PLAN_BYTES];
    int rest = 0;
    if (strncmp(text, "run ", 4) == 0) {
        j->fits = strcmp(text + 4, j->provenance) == 0;
        return;
    }
    if (sscanf(text, "%15s %95s %191s %n", word, shape, plan, &rest) != 3)
        return;
    const bool lost = strcmp(word, "lost") == 0;
    if (alive && !lost) /* its owner will deal with it */
        return;
    struct outcome outcome = {0};
    if (strcmp(word, "try") == 0) {
        append(j, PENDING, shape, plan);
    } else if (strcmp(word, "left") == 0) {
        settle(j, j->from, shape, plan);
    } else if (strcmp(word, "done") == 0) {
        forget_shape(j, j->from, shape);
    } else if (lost || strcmp(word, "suspect") == 0 || strcmp(word, "measured") == 0) {
        const enum kind kind = lost ? LOST : *word == 's' ? SUSPECT : MEASURED;
        settle(j, j->from, shape, plan);
        if (!rest || !outcome_read(text + rest, &outcome) || (kind == MEASURED && !j->fits))
            return;
        struct entry *entry = append(j, kind, shape, plan);
        if (entry)
            entry->outcome = outcome;
    }
}

/* After a dead run's file: what it left pending is suspect; what it found is now this run's to keep. */
static bool take_over(void *user, const char *path)
{
    struct journal *j = user;
    size_t kept = 0, suspects = 0;
    for (size_t i = j->from; i < j->count; i++) {
        struct entry *entry = &j->entries[i];
        if (entry->kind == PENDING) {
            entry->kind = SUSPECT;
            entry->outcome = (struct outcome){.verdict = CLAYER_VERDICT_LOST,
                                              .reason = "the process ended while this was tried, in an earlier run"};
            suspects++;
        }
        kept++;
        write_entry(j, entry);
    }
    if (kept)
        log_write(CLAYER_LOG_INFO, "an earlier tuning run left %zu results%s in %s", kept,
                  suspects ? " and one candidate without any" : "", path);
    j->from = j->count;
    j->fits = false;
    return j->descriptor >= 0 && !j->out_of_memory;
}

clayer_status journal_open(const char *folder, const char *device, const char *provenance, struct journal **journal)
{
    char run[512];
    struct journal *j = calloc(1, sizeof *j);
    char *copy = strdup(provenance);
    if (!j || !copy) {
        free(j);
        free(copy);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the tuning journal");
    }
    j->descriptor = -1;
    j->provenance = copy;
    if (folder && journal_file_create(folder, device, &j->descriptor, &j->path) != CLAYER_OK)
        log_write(CLAYER_LOG_WARN, "tuning without a journal: %s", clayer_last_error());
    if (j->descriptor >= 0) {
        snprintf(run, sizeof run, "run %s", provenance);
        if (journal_file_append(j->descriptor, j->path, run) != CLAYER_OK) {
            log_write(CLAYER_LOG_WARN, "tuning without a journal: %s", clayer_last_error());
            close(j->descriptor);
            j->descriptor = -1;
        }
    }
    if (folder && journal_file_adopt(folder, device, j->path, take_line, take_over, j) != CLAYER_OK)
        log_write(CLAYER_LOG_WARN, "%s", clayer_last_error());
    if (j->out_of_memory) {
        journal_close(&j);
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the tuning journal");
    }
    *journal = j;
    return CLAYER_OK;
}

void journal_close(struct journal **journal)
{
    struct journal *j = *journal;
    if (!j)
        return;
    *journal = NULL;
    if (j->count == 0 && j->path)
        unlink(j->path);
    if (j->descriptor >= 0)
        close(j->descriptor);
    free(j->path);
    free(j->provenance);
    free(j->entries);
    free(j);
}

const char *journal_quarantined(const struct journal *j, const char *plan, bool trusted)
{
    int suspected = 0;
    for (size_t i = 0; i < j->count; i++) {
        const struct entry *entry = &j->entries[i];
        if ((entry->kind != LOST && entry->kind != SUSPECT) || strcmp(entry->plan, plan) != 0)
            continue;
        suspected += entry->kind == SUSPECT;
        if (entry->kind == LOST || suspected >= (trusted ? 2 : 1))
            return entry->outcome.reason;
    }
    return NULL;
}

const char *journal_lost(const struct journal *j, const char *plan)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->entries[i].kind == LOST && strcmp(j->entries[i].plan, plan) == 0)
            return j->entries[i].outcome.reason;
    return NULL;
}

bool journal_known(const struct journal *j, const char *shape, const char *plan, struct outcome *outcome)
{
    for (size_t i = 0; i < j->count; i++)
        if (j->entries[i].kind == MEASURED && strcmp(j->entries[i].plan, plan) == 0 &&
            strcmp(j->entries[i].shape, shape) == 0) {
            *outcome = j->entries[i].outcome;
            return true;
        }
    return false;
}

void journal_try(struct journal *j, const char *shape, const char *plan)
{
    append(j, PENDING, shape, plan);
    write_line(j, "try", shape, plan, NULL);
}

void journal_tried(struct journal *j, const char *shape, const char *plan, const struct outcome *outcome)
{
    settle(j, 0, shape, plan);
    if (!outcome) {
        write_line(j, "left", shape, plan, NULL);
        return;
    }
    struct entry *entry = append(j, outcome->verdict == CLAYER_VERDICT_LOST ? LOST : MEASURED, shape, plan);
    if (entry) {
        entry->outcome = *outcome;
        write_entry(j, entry);
    }
}

void journal_done(struct journal *j, const char *shape)
{
    forget_shape(j, 0, shape);
    write_line(j, "done", shape, "", NULL);
}

static bool count_lost(void *user, const char *path)
{
    (void)path;
    struct journal *j = user;
    j->from = j->count;
    return true;
}

clayer_status journal_forget(const char *folder, const char *device, size_t *lifted)
{
    char nothing[] = "";
    struct journal j = {.provenance = nothing, .descriptor = -1};
    *lifted = 0;
    if (!folder)
        return CLAYER_OK;
    const clayer_status status = journal_file_adopt(folder, device, NULL, take_line, count_lost, &j);
    for (size_t i = 0; i < j.count; i++)
        *lifted += j.entries[i].kind != MEASURED;
    free(j.entries);
    return status;
}
