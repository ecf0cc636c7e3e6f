/* The store on disk: merging, several writers, kill -9, places that cannot be written; and which layer of origin wins.
 */
#include "store/folder.h"
#include "store/merge.h"
#include "store/store.h"
#include "support/records.h"

#include <clayer/tuning.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static struct record_device key(void)
{
    const clayer_device_info info = records_device();
    struct record_device device;
    record_device_of(&info, &device);
    return device;
}

static clayer_status merge_one(const struct record *record, enum store_merge_mode mode)
{
    const struct record_device device = key();
    return store_merge(&device, record, 1, mode, NULL);
}

static size_t stored(struct record **records)
{
    const struct record_device device = key();
    struct format_content content;
    cr_assert_eq(store_read(&device, &content), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_leq(content.count, 1);
    const size_t count = content.count ? content.sections[0].count : 0;
    *records = content.count ? content.sections[0].records : NULL;
    free(content.sections);
    return count;
}

/* The device's file. */
static const char *file_path(void)
{
    static char path[512];
    const struct record_device device = key();
    char *made;
    cr_assert_eq(folder_file(records_path("tuning"), &device, &made), CLAYER_OK);
    snprintf(path, sizeof path, "%s", made);
    free(made);
    return path;
}

static size_t files_with(const char *part)
{
    size_t count = 0;
    DIR *folder = opendir(records_path("tuning"));
    for (struct dirent *e; folder && (e = readdir(folder));)
        count += strstr(e->d_name, part) != NULL;
    closedir(folder);
    return count;
}

static double seconds_of_first(void)
{
    struct record *records;
    cr_assert_eq(stored(&records), 1);
    const double seconds = records[0].seconds;
    free(records);
    return seconds;
}

Test(store, keeps_the_better_measured)
{
    static const struct {
        const char *old_effort, *new_effort;
        double new_seconds; /* the old one took 1 ms, spreads are 1 % */
        const char *new_driver, *new_when;
        bool replaces;
    } cases[] = {
        {"normal", "normal", 0.9e-3, "1.2.3", "2026-11-29T00:00:00Z", true},      /* faster, though earlier */
        {"normal", "normal", 1.1e-3, "1.2.3", "2026-12-01T00:00:00Z", false},     /* slower */
        {"normal", "normal", 0.995e-3, "1.2.3", "2026-12-01T00:00:00Z", true},    /* within the spread: the later */
        {"normal", "normal", 0.995e-3, "1.2.3", "2026-11-29T00:00:00Z", false},   /* ... stays */
        {"exhaustive", "quick", 0.99e-3, "1.2.3", "2026-12-01T00:00:00Z", false}, /* less effort, not clearly faster */
        {"exhaustive", "quick", 0.9e-3, "1.2.3", "2026-12-01T00:00:00Z", true},   /* clearly faster */
        {"quick", "exhaustive", 1.01e-3, "1.2.3", "2026-12-01T00:00:00Z", true},
        {"quick", "exhaustive", 1.2e-3, "1.2.3", "2026-12-01T00:00:00Z", false},
        {"exhaustive", "quick", 1.5e-3, "1.2.4", "2026-12-01T00:00:00Z", true}, /* another driver: the later */
        {"quick", "exhaustive", 0.5e-3, "1.2.2", "2026-11-29T00:00:00Z", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        records_start();
        struct record old = records_make(8, 64, 64, "tiled", "a=1", 1e-3), fresh = old;
        strcpy(old.effort, cases[i].old_effort);
        strcpy(fresh.effort, cases[i].new_effort);
        strcpy(fresh.driver_version, cases[i].new_driver);
        strcpy(fresh.when, cases[i].new_when);
        fresh.seconds = cases[i].new_seconds;
        cr_assert_eq(merge_one(&old, STORE_KEEP_BETTER), CLAYER_OK, "%s", clayer_last_error());
        cr_assert_eq(merge_one(&fresh, STORE_KEEP_BETTER), CLAYER_OK);
        cr_expect_float_eq(seconds_of_first(), cases[i].replaces ? cases[i].new_seconds : 1e-3, 1e-10, "case %zu", i);
        cr_assert_eq(merge_one(&fresh, STORE_REPLACE), CLAYER_OK);
        cr_expect_float_eq(seconds_of_first(), cases[i].new_seconds, 1e-10, "case %zu", i);
        records_stop();
    }
}

Test(store, counts_and_forgets)
{
    records_start();
    const struct record_device device = key();
    struct record records[3] = {records_make(1, 8, 8, "panel", "", 1e-3), records_make(2, 8, 8, "panel", "", 1e-3),
                                records_make(2, 8, 16, "panel", "", 1e-3)};
    struct store_merged merged;
    cr_assert_eq(store_merge(&device, records, 2, STORE_KEEP_BETTER, &merged), CLAYER_OK);
    cr_expect(merged.added == 2 && merged.replaced == 0 && merged.kept == 0);
    records[0].seconds = 5e-4;
    cr_assert_eq(store_merge(&device, records, 3, STORE_KEEP_BETTER, &merged), CLAYER_OK);
    cr_expect(merged.added == 1 && merged.replaced == 1 && merged.kept == 1);

    struct stat folder, file;
    cr_assert_eq(stat(records_path("tuning"), &folder), 0);
    cr_assert_eq(stat(file_path(), &file), 0);
    cr_expect_eq(folder.st_mode & 0777, 0700);
    cr_expect_eq(file.st_mode & 0077, 0);

    const clayer_device_info info = records_device();
    size_t removed;
    cr_assert_eq(clayer_tuning_forget(&info, 2, 8, 0, &removed), CLAYER_OK);
    cr_expect_eq(removed, 2);
    struct record *left;
    cr_assert_eq(stored(&left), 1);
    cr_expect_eq(left[0].layer.batch, 1);
    free(left);
    cr_assert_eq(clayer_tuning_forget(NULL, 0, 0, 0, &removed), CLAYER_OK);
    cr_expect_eq(removed, 1);
    records_stop();
}

Test(store, damaged_file_is_set_aside)
{
    records_start();
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3), b = records_make(2, 8, 8, "panel", "", 1e-3),
                        c = records_make(4, 8, 8, "panel", "", 1e-3);
    cr_assert_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK);
    cr_assert_eq(merge_one(&b, STORE_KEEP_BETTER), CLAYER_OK);
    size_t length;
    char *text = records_file(file_path(), &length);
    *strstr(text, "1000000") = '7';
    records_write(file_path(), text, length);

    /* Reading names it once and leaves it as it is. */
    struct store *store;
    const clayer_device_info info = records_device();
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_expect_eq(store_count(store), 1);
    cr_expect_eq(records_lines, 1, "%d lines", records_lines);
    cr_expect(strstr(records_said, "line 3: a record's content does not fit its check"), "%s", records_said);
    store_close(&store);
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_expect_eq(records_lines, 1, "told again for the same file");
    store_close(&store);
    cr_expect_eq(files_with(".damaged-"), 0);

    /* Writing keeps a copy of it first. */
    cr_assert_eq(merge_one(&c, STORE_KEEP_BETTER), CLAYER_OK);
    struct record *records;
    cr_expect_eq(stored(&records), 2);
    free(records);
    cr_expect_eq(files_with(".damaged-"), 1);
    free(text);
    records_stop();
}

Test(store, later_version_is_left_alone)
{
    static const char later[] = "{\"schema\": \"clayer-tuning/7\", \"anything\": [1, 2]}\n";
    records_start();
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3);
    cr_assert_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK);
    records_write(file_path(), later, sizeof later - 1);
    cr_expect_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_ERROR_UNSUPPORTED);
    cr_expect(strstr(clayer_last_error(), "clayer-tuning/7"), "%s", clayer_last_error());
    size_t length;
    char *text = records_file(file_path(), &length);
    cr_expect_str_eq(text, later);
    free(text);

    /* Nobody takes the rest for all there is, and a copy made before stays. */
    size_t count;
    const char *copy = records_path("copy.json");
    clayer_tuning_place place;
    const clayer_device_info info = records_device();
    records_write(copy, "kept", 4);
    cr_expect_eq(clayer_tuning_export(&info, copy, &count), CLAYER_ERROR_UNSUPPORTED);
    cr_expect_eq(clayer_tuning_export(NULL, copy, &count), CLAYER_ERROR_UNSUPPORTED);
    cr_expect_eq(clayer_tuning_forget(NULL, 0, 0, 0, &count), CLAYER_ERROR_UNSUPPORTED);
    text = records_file(copy, &length);
    cr_expect_str_eq(text, "kept");
    free(text);
    cr_assert_eq(clayer_tuning_get_place(NULL, &place), CLAYER_OK);
    cr_expect(place.writable);
    cr_assert_eq(clayer_tuning_get_place(&info, &place), CLAYER_OK);
    cr_expect(!place.writable && strstr(place.reason, "clayer-tuning/7"), "%s", place.reason);
    records_stop();
}

/* Counts records of the user's store. */
static void count_user(void *user, const clayer_tuning_record *record)
{
    *(int *)user += record->origin == CLAYER_TUNING_USER && record->related && record->in_force;
}

static int listed(void)
{
    int count = 0;
    const clayer_device_info info = records_device();
    cr_assert_eq(clayer_tuning_list(&info, count_user, &count), CLAYER_OK);
    return count;
}

/* Records for a family of devices are found by each of them, and can be given away and removed like others. */
Test(store, family_is_imported)
{
    static const char family[] = "{\"schema\": \"clayer-tuning/1\", \"devices\": [\n"
                                 "{\"device\": {\"name\": \"Test GPU*\"}, \"records\": [\n"
                                 "{\"layer\": \"8x64x64\", \"plan\": \"portable\", \"types\": \"f32,f32,f32,f32\", "
                                 "\"bias\": true, \"costly\": false, \"aligned\": true, \"ns\": 5}\n]}]}\n";
    records_start();
    const char *file = records_path("family.json"), *copy = records_path("copy.json");
    const clayer_device_info info = records_device();
    clayer_tuning_merged merged;
    size_t count;
    records_write(file, family, sizeof family - 1);
    cr_assert_eq(clayer_tuning_import(file, false, &merged), CLAYER_OK, "%s", clayer_last_error());
    cr_expect_eq(merged.added, 1);
    cr_expect_eq(listed(), 1);
    cr_assert_eq(clayer_tuning_import(file, false, &merged), CLAYER_OK);
    cr_expect_eq(merged.kept, 1);
    cr_assert_eq(clayer_tuning_export(NULL, copy, &count), CLAYER_OK);
    cr_expect_eq(count, 1);
    cr_assert_eq(clayer_tuning_export(&info, copy, &count), CLAYER_OK);
    cr_expect_eq(count, 0, "not this device's own");
    cr_assert_eq(clayer_tuning_forget(&info, 0, 0, 0, &count), CLAYER_OK);
    cr_expect_eq(count, 1);
    cr_expect_eq(listed(), 0);
    records_stop();
}

Test(store, things_in_the_files_place)
{
    const clayer_device_info info = records_device();
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3);
    for (int kind = 0; kind < 4; kind++) {
        struct store *store;
        records_start();
        cr_assert_eq(mkdir(records_path("tuning"), 0700), 0);
        int made = 0;
        if (kind == 0)
            made = mkdir(file_path(), 0700);
        else if (kind == 1)
            made = mkfifo(file_path(), 0600);
        else if (kind == 2)
            made = symlink("/nowhere/at/all", file_path());
        else
            made = truncate((records_write(file_path(), "", 0), file_path()), (off_t)1 << 31);
        cr_assert_eq(made, 0);
        cr_expect_eq(store_open(&info, &store), CLAYER_OK);
        cr_expect_eq(store_count(store), 0);
        cr_expect_eq(records_lines, kind != 2, "kind %d: %s", kind, records_said);
        store_close(&store);
        if (kind != 2)
            cr_expect_neq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK);
        records_stop();
    }
}

enum { WRITERS = 8, EACH = 12 };

Test(store, writers_at_once)
{
    records_start();
    for (size_t w = 0; w < WRITERS; w++) {
        if (fork() == 0) {
            for (size_t i = 0; i < EACH; i++) {
                const struct record r = records_make(1 + i, 64, 1 + w, "panel", "", 1e-3);
                if (merge_one(&r, STORE_KEEP_BETTER) != CLAYER_OK)
                    _exit(1);
            }
            _exit(0);
        }
    }
    for (int w = 0, status; w < WRITERS; w++)
        cr_expect(wait(&status) > 0 && status == 0);
    struct record *records;
    cr_expect_eq(stored(&records), WRITERS * EACH);
    free(records);
    cr_expect_eq(records_lines, 0, "%s", records_said);
    cr_expect_eq(files_with(".tmp"), 0);
    records_stop();
}

/* A writer killed at any moment: the file is whole, and what it had been told is kept is there. */
Test(store, killed_writers)
{
    records_start();
    volatile size_t *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(done, MAP_FAILED);
    unsigned seed = 1, longest = 15000; /* microseconds until a kill; more where the disk is slower than that */
    for (int round = 0; round < 25; round++) {
        const size_t before = *done;
        const pid_t child = fork();
        if (child == 0)
            for (;;) {
                const struct record r = records_make(*done + 1, 64, 64, "panel", "", 1e-3);
                if (merge_one(&r, STORE_KEEP_BETTER) != CLAYER_OK)
                    _exit(1);
                ++*done;
            }
        seed = seed * 1103515245 + 12345;
        usleep(1000 + (seed >> 8) % longest);
        kill(child, SIGKILL);
        int status;
        cr_expect(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
        struct record *records;
        const size_t count = stored(&records);
        cr_expect(count >= *done && count <= *done + 1, "%zu records of %zu", count, *done);
        free(records);
        *done = count;
        if (count == before && longest < 1000000)
            longest *= 2;
    }
    cr_expect_eq(records_lines, 0, "%s", records_said);
    cr_expect_gt(*done, 0);
    records_stop();
}

/* A stopped process that holds the lock stops nobody. */
Test(store, stopped_holder_of_the_lock)
{
    records_start();
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3);
    cr_assert_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK);
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        const int fd = open(records_path("tuning/.lock"), O_RDWR);
        if (fd < 0 || flock(fd, LOCK_EX) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    char byte;
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    const struct record b = records_make(2, 8, 8, "panel", "", 1e-3);
    cr_expect_eq(merge_one(&b, STORE_KEEP_BETTER), CLAYER_OK);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    struct record *records;
    cr_expect_eq(stored(&records), 2);
    free(records);
    records_stop();
}

/* As a user whom permissions concern: the records are used, and that no more can be kept is said before. */
Test(store, read_only)
{
    records_start();
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3);
    cr_assert_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK);
    cr_assert_eq(chmod(records_path("tuning"), 0555), 0);
    cr_assert_eq(chmod(file_path(), 0444), 0);
    cr_assert_eq(chmod(records_path(""), 0755), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgroups(0, NULL) != 0 || setgid(NOBODY) != 0 || setuid(NOBODY) != 0))
            _exit(77);
        const clayer_device_info info = records_device();
        struct store *store;
        clayer_tuning_place place;
        const struct record b = records_make(2, 8, 8, "panel", "", 1e-3);
        const bool good = store_open(&info, &store) == CLAYER_OK && store_count(store) == 1 &&
                          merge_one(&b, STORE_KEEP_BETTER) == CLAYER_ERROR_IO &&
                          clayer_tuning_get_place(NULL, &place) == CLAYER_OK && !place.writable && *place.reason &&
                          strcmp(place.path, records_path("tuning")) == 0;
        _exit(good ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    cr_assert_eq(chmod(records_path("tuning"), 0700), 0);
    records_stop();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        cr_skip_test("this process may not become another user");
    cr_expect_eq(status, 0);
}

Test(store, no_place_for_it)
{
    const struct record a = records_make(1, 8, 8, "panel", "", 1e-3);
    records_start();
    clayer_tuning_place place;
    cr_assert_eq(clayer_tuning_get_place(NULL, &place), CLAYER_OK);
    cr_expect(place.writable && !*place.reason, "%s", place.reason);
    records_write(records_path("file"), "", 0);
    setenv("CLAYER_DATA_DIR", records_path("file"), 1);
    cr_assert_eq(clayer_tuning_get_place(NULL, &place), CLAYER_OK);
    cr_expect(!place.writable && strstr(place.reason, "/file"), "%s", place.reason);
    cr_expect_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_ERROR_IO);
    /* Names that are nobody's friends. */
    static const char *const names[] = {"with space", "\xd0\x9d\xd0\xbe\xd0\xb2\xd0\xb0\xd1\x8f", "not-\xff-utf8",
                                        "a/b/c"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        setenv("CLAYER_DATA_DIR", records_path(names[i]), 1);
        cr_expect_eq(merge_one(&a, STORE_KEEP_BETTER), CLAYER_OK, "%s: %s", names[i], clayer_last_error());
        struct record *records;
        cr_expect_eq(stored(&records), 1);
        free(records);
    }
    records_stop();
}

static void write_records(const char *path, const struct record *record)
{
    struct format_content content = {.state = FORMAT_SOUND};
    struct format_section *section;
    const struct record_device device = key();
    char *text;
    size_t length;
    cr_assert_eq(format_section(&content, &device, &section), CLAYER_OK);
    cr_assert_eq(format_append(section, record), CLAYER_OK);
    cr_assert_eq(format_write(&content, &text, &length), CLAYER_OK);
    records_write(path, text, length);
    format_free(&content);
    free(text);
}

/* Every layer of origin has a record of one key; the first layer wins, and without it the next. */
Test(store, origins_in_order)
{
    records_start();
    const clayer_device_info info = records_device();
    struct record r = records_make(8, 64, 64, "panel", "", 1e-3);
    const char *name = strrchr(file_path(), '/') + 1;
    char system_folder[600], system_file[900];
    snprintf(system_folder, sizeof system_folder, "mkdir -p %s", records_path("system/clayer/tuning"));
    cr_assert_eq(system(system_folder), 0);
    snprintf(system_file, sizeof system_file, "%s/%s", records_path("system/clayer/tuning"), name);
    setenv("XDG_DATA_DIRS", records_path("system"), 1);
    r.seconds = 4e-3;
    write_records(system_file, &r);
    r.seconds = 3e-3;
    cr_assert_eq(merge_one(&r, STORE_KEEP_BETTER), CLAYER_OK);
    r.seconds = 2e-3;
    write_records(records_path("one.json"), &r);

    for (int from = STORE_API; from <= STORE_SHIPPED; from++) {
        struct store *store;
        struct store_answer answers[STORE_ANSWERS];
        if (from <= STORE_ENVIRONMENT)
            setenv("CLAYER_TUNING", records_path("one.json"), 1);
        else
            unsetenv("CLAYER_TUNING");
        if (from > STORE_USER)
            unlink(file_path());
        if (from > STORE_SYSTEM)
            unlink(system_file);
        cr_assert_eq(store_open(&info, &store), CLAYER_OK);
        r.seconds = 5e-3;
        cr_assert_eq(store_add(store, STORE_SHIPPED, &r, 1), CLAYER_OK);
        r.seconds = 1e-3;
        if (from == STORE_API)
            cr_assert_eq(store_add(store, STORE_API, &r, 1), CLAYER_OK);
        const size_t count = store_lookup(store, &r.layer, answers);
        cr_expect_eq(count, (size_t)(STORE_SHIPPED - from + 1));
        cr_assert_geq(count, 1);
        cr_expect(answers[0].exact && !answers[0].stale);
        cr_expect_eq(answers[0].origin, (enum store_origin)from, "%s", store_origin_string(answers[0].origin));
        cr_expect_float_eq(answers[0].record->seconds, (from + 1) * 1e-3, 1e-9);
        store_close(&store);
    }
    setenv("CLAYER_TUNING", "off", 1);
    struct store *store;
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_assert_eq(store_add(store, STORE_API, &r, 1), CLAYER_OK);
    cr_expect_eq(store_count(store), 0);
    store_close(&store);
    setenv("CLAYER_TUNING", "/nowhere", 1);
    cr_assert_eq(store_open(&info, &store), CLAYER_OK);
    cr_expect(strstr(records_said, "/nowhere"), "%s", records_said);
    store_close(&store);
    records_stop();
}

Test(store, exported_imported_and_as_source)
{
    records_start();
    const clayer_device_info info = records_device();
    struct record r = records_make(8, 64, 64, "panel", "rows=4", 1e-3);
    cr_assert_eq(merge_one(&r, STORE_KEEP_BETTER), CLAYER_OK);
    size_t records, removed;
    cr_assert_eq(clayer_tuning_export(NULL, records_path("all.json"), &records), CLAYER_OK);
    cr_expect_eq(records, 1);
    cr_expect_eq(clayer_tuning_header(&info, records_path("all.h"), "4you", NULL), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_tuning_header(&info, records_path("all.h"), "my_tuning", &records), CLAYER_OK);
    cr_expect_eq(records, 1);
    cr_assert_eq(clayer_tuning_forget(&info, 0, 0, 0, &removed), CLAYER_OK);

    clayer_tuning_merged merged;
    cr_assert_eq(clayer_tuning_import(records_path("all.json"), false, &merged), CLAYER_OK, "%s", clayer_last_error());
    cr_expect(merged.added == 1 && merged.damaged == 0);
    cr_assert_eq(clayer_tuning_import(records_path("all.json"), false, &merged), CLAYER_OK);
    cr_expect(merged.added == 0 && merged.kept == 1);
    records_write(records_path("junk"), "junk", 4);
    cr_expect_eq(clayer_tuning_import(records_path("junk"), false, NULL), CLAYER_ERROR_FORMAT);
    cr_expect_eq(clayer_tuning_import(records_path("absent"), false, NULL), CLAYER_ERROR_IO);

    /* The header compiles, and its lines are the exported file. */
    static const char program[] = "#include <stdio.h>\n#include \"all.h\"\nint main(void)\n{\n    for (int i = 0; "
                                  "my_tuning[i]; i++)\n        fputs(my_tuning[i], stdout);\n    return 0;\n}\n";
    char command[2048];
    records_write(records_path("print.c"), program, sizeof program - 1);
    snprintf(command, sizeof command, "cc -std=c99 -Wall -Werror -pedantic -o %s %s && %s | cmp - %s",
             records_path("print"), records_path("print.c"), records_path("print"), records_path("all.json"));
    cr_expect_eq(system(command), 0);
    records_stop();
}

Test(store, keys_without_driver_noise)
{
    static const struct {
        const char *name, *key;
    } cases[] = {
        {"NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090"},
        {"Intel(R) Core(TM) i7-9700K CPU @ 3.60GHz", "Intel Core i7-9700K CPU @ 3.60GHz"},
        {"AMD Radeon RX 580 Series (polaris10, LLVM 15.0.6, DRM 3.49, 6.1.0-13-amd64)",
         "AMD Radeon RX 580 Series (polaris10)"},
        {"AMD Radeon Graphics (LLVM 15.0.6, DRM 3.49, 6.1.0)", "AMD Radeon Graphics"},
        {"gfx90a:sramecc+:xnack-", "gfx90a"},
        {"  two   spaces ", "two spaces"},
        {"odd (unclosed", "odd (unclosed"},
        {"a*b", "a-b"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clayer_device_info info = records_device();
        struct record_device device;
        snprintf(info.name, sizeof info.name, "%s", cases[i].name);
        record_device_of(&info, &device);
        cr_expect_str_eq(device.name, cases[i].key);
    }
}
