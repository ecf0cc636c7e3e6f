/* The tuner's journal: what a run that was killed leaves behind. */
#include "tune/journal.h"
#include "tune/journal_file.h"

#include <clayer/log.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/clayer-journal-XXXXXX";
static char path[600]; /* of the only journal there */

static size_t files(void)
{
    char directory[512];
    snprintf(directory, sizeof directory, "%s/journal", folder);
    DIR *list = opendir(directory);
    size_t count = 0;
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (entry->d_name[0] != '.') {
            count++;
            snprintf(path, sizeof path, "%.500s/%.90s", directory, entry->d_name);
        }
    if (list)
        closedir(list);
    return count;
}

static void make_folder(void)
{
    cr_assert(mkdtemp(folder));
}

static void remove_folder(void)
{
    while (files())
        unlink(path);
    char directory[512];
    snprintf(directory, sizeof directory, "%s/journal", folder);
    rmdir(directory);
    rmdir(folder);
}

TestSuite(tune_journal, .init = make_folder, .fini = remove_folder);

static const struct outcome right = {.verdict = CLAYER_VERDICT_RIGHT, .count = 2, .seconds = {0.5, 0.25}};
static const struct outcome lost = {.verdict = CLAYER_VERDICT_LOST, .reason = "killed"};

static struct journal *open_as(const char *provenance)
{
    struct journal *journal = NULL;
    cr_assert_eq(journal_open(folder, "device", provenance, &journal), CLAYER_OK);
    return journal;
}

/* A run in a process of its own, which is killed after a try. */
static void killed_run(void)
{
    const pid_t child = fork();
    if (child == 0) {
        struct journal *j = NULL;
        journal_open(folder, "device", "p", &j);
        journal_try(j, "shape", "good");
        journal_tried(j, "shape", "good", &right);
        journal_try(j, "shape", "hanging");
        journal_tried(j, "shape", "hanging", &lost);
        journal_try(j, "shape", "left");
        journal_tried(j, "shape", "left", NULL);
        journal_try(j, "shape", "culprit");
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status));
    cr_assert_eq(files(), 1);
}

static void check_resumed(const struct journal *j)
{
    struct outcome outcome;
    cr_assert(journal_known(j, "shape", "good", &outcome));
    cr_assert_eq(outcome.count, 2);
    cr_assert_eq(outcome.seconds[1], 0.25);
    cr_assert_not(journal_known(j, "other", "good", &outcome));
    cr_assert_str_eq(journal_quarantined(j, "hanging", true), "killed");
    cr_assert_null(journal_quarantined(j, "left", false));
    cr_assert_not_null(journal_quarantined(j, "culprit", false));
    cr_assert_null(journal_quarantined(j, "culprit", true), "one death alone proves nothing against the default");
}

Test(tune_journal, a_killed_run_is_resumed)
{
    killed_run();
    for (int i = 0; i < 3; i++) { /* and what is resumed stays on disk until it is done */
        struct journal *j = open_as("p");
        check_resumed(j);
        cr_assert_eq(files(), 1, "the dead run's file is taken over");
        journal_close(&j);
    }
    struct journal *j = open_as("p");
    struct outcome outcome;
    journal_done(j, "shape");
    cr_assert_not(journal_known(j, "shape", "good", &outcome));
    journal_close(&j);
    j = open_as("p");
    cr_assert_not(journal_known(j, "shape", "good", &outcome));
    cr_assert_not_null(journal_quarantined(j, "hanging", false), "quarantine outlives the shape");
    journal_close(&j);
    size_t lifted;
    cr_assert_eq(journal_forget(folder, "device", &lifted), CLAYER_OK);
    cr_assert_eq(lifted, 2);
    cr_assert_eq(files(), 0);
}

Test(tune_journal, measurements_of_other_kernels_are_passed_over)
{
    killed_run();
    struct journal *j = open_as("q");
    struct outcome outcome;
    cr_assert_not(journal_known(j, "shape", "good", &outcome));
    cr_assert_not_null(journal_quarantined(j, "hanging", false));
    journal_close(&j);
}

Test(tune_journal, a_second_death_convicts_the_default)
{
    killed_run();
    struct journal *j = open_as("p");
    journal_try(j, "shape", "culprit");
    journal_close(&j); /* as if killed: the try has no outcome */
    j = open_as("p");
    cr_assert_not_null(journal_quarantined(j, "culprit", true));
    journal_close(&j);
}

Test(tune_journal, runs_of_living_processes_are_left_alone)
{
    struct journal *first = open_as("p"), *second;
    journal_try(first, "shape", "a");
    journal_tried(first, "shape", "b", &lost);
    second = open_as("p");
    cr_assert_eq(files(), 2);
    cr_assert_null(journal_quarantined(second, "a", false), "it is being tried now");
    cr_assert_not_null(journal_quarantined(second, "b", false), "one run warns the other");
    journal_tried(first, "shape", "a", NULL);
    journal_close(&second);
    journal_close(&first);
}

Test(tune_journal, other_devices_have_their_own)
{
    killed_run();
    struct journal *j = NULL;
    cr_assert_eq(journal_open(folder, "devic", "p", &j), CLAYER_OK);
    cr_assert_null(journal_quarantined(j, "hanging", false));
    journal_close(&j);
    cr_assert_eq(files(), 1);
}

/* Any damage costs lines, never more. */
Test(tune_journal, damage)
{
    killed_run();
    static char whole[1 << 16], text[1 << 16];
    int file = open(path, O_RDONLY);
    const ssize_t size = read(file, whole, sizeof whole);
    close(file);
    cr_assert_gt(size, 100);
    for (ssize_t at = 0; at < 2 * size; at += 7) {
        const ssize_t cut = at < size ? at : size;
        memcpy(text, whole, (size_t)size);
        if (at >= size)
            text[at - size] ^= 4;
        char name[600];
        cr_assert_eq(files(), 1);
        snprintf(name, sizeof name, "%s", path);
        file = open(name, O_WRONLY | O_TRUNC);
        cr_assert_eq(write(file, text, (size_t)cut), cut);
        close(file);
        struct journal *j = open_as("p");
        struct outcome outcome;
        if (journal_known(j, "shape", "good", &outcome))
            cr_assert_eq(outcome.seconds[0], 0.5);
        cr_assert_null(journal_quarantined(j, "good", true));
        journal_close(&j);
        while (files())
            unlink(path);
        file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        close(file);
    }
}

static int warnings;

static void count_warning(void *user, clayer_log_level level, const char *message)
{
    (void)user;
    warnings += level == CLAYER_LOG_WARN && strstr(message, "tuning journal ") && strstr(message, "device-1-1.journal");
}

/* Nobody waits for a pipe, and what is no journal is named. */
Test(tune_journal, things_in_its_place, .timeout = 20)
{
    killed_run();
    unlink(path);
    char *end = strrchr(path, '/');
    strcpy(end, "/device-1-1.journal");
    char name[600];
    strcpy(name, path);
    clayer_log_set(count_warning, NULL, CLAYER_LOG_WARN);
    for (int kind = 0; kind < 4; kind++) {
        int made = -1;
        if (kind == 0)
            made = mkfifo(name, 0600);
        else if (kind == 1)
            made = mkdir(name, 0700);
        else
            made = close(open(name, O_WRONLY | O_CREAT, 0600));
        cr_assert_eq(made, 0);
        if (kind == 2)
            cr_assert_eq(truncate(name, (off_t)1 << 30), 0);
        else if (kind == 3)
            cr_assert_eq(truncate(name, 4096), 0);
        warnings = 0;
        struct journal *j = open_as("p");
        cr_expect_eq(warnings, 1, "kind %d", kind);
        cr_assert_null(journal_quarantined(j, "culprit", false));
        journal_close(&j);
        size_t lifted;
        cr_assert_eq(journal_forget(folder, "device", &lifted), CLAYER_OK);
        cr_assert_eq(lifted, 0);
        remove(name);
    }
}

Test(tune_journal, without_a_place_it_lives_in_memory)
{
    struct journal *j = NULL;
    struct outcome outcome;
    cr_assert_eq(journal_open(NULL, "device", "p", &j), CLAYER_OK);
    journal_try(j, "shape", "plan");
    journal_tried(j, "shape", "plan", &right);
    cr_assert(journal_known(j, "shape", "plan", &outcome));
    journal_close(&j);
    cr_assert_eq(journal_open("/proc/nowhere", "device", "p", &j), CLAYER_OK);
    journal_try(j, "shape", "plan");
    journal_tried(j, "shape", "plan", &lost);
    cr_assert_not_null(journal_quarantined(j, "plan", true));
    journal_close(&j);
}
