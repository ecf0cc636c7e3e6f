/* Tables as streams: every source, selection, shards, and what is written is read back. */
#include <clayer/npy.h>
#include <clayer/rows.h>
#include <clayer/rows_writer.h>

#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void make_folder(void)
{
    strcpy(folder, "/tmp/clayer-rows-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

/* Fails when anything is left that the test did not name. */
static void remove_folder(void)
{
    cr_assert_eq(rmdir(folder), 0, "something was left in %s", folder);
}

static const char *in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static clayer_rows *open_rows(const char *path)
{
    clayer_rows *rows = NULL;
    cr_assert_eq(clayer_rows_open(path, NULL, &rows), CLAYER_OK, "%s", clayer_last_error());
    return rows;
}

/* All that is selected, in batches of `batch` rows, after what is in values already. */
static size_t read_all(clayer_rows *rows, size_t batch, float *values)
{
    size_t count = 0, got = 0;
    do {
        cr_assert_eq(clayer_rows_read(rows, values + count * clayer_rows_columns(rows), batch, &got), CLAYER_OK, "%s",
                     clayer_last_error());
        count += got;
    } while (got == batch);
    return count;
}

/* Puts a file's content, or the output of nobody, on standard input. */
static void redirect_input(int fd)
{
    cr_assert_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
}

struct feeding {
    int from, to;
    size_t piece; /* bytes per write, so that the reader sees short reads */
};

static void *feed(void *argument)
{
    struct feeding *feeding = argument;
    char bytes[65536];
    ssize_t got;
    while ((got = read(feeding->from, bytes, feeding->piece)) > 0)
        if (write(feeding->to, bytes, (size_t)got) != got)
            break;
    close(feeding->from);
    close(feeding->to);
    return NULL;
}

static pthread_t pipe_input(const char *path, size_t piece)
{
    static struct feeding feeding;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    feeding = (struct feeding){open(path, O_RDONLY), ends[1], piece};
    cr_assert_geq(feeding.from, 0);
    redirect_input(ends[0]);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, feed, &feeding), 0);
    return thread;
}

Test(rows, npy_fixtures_as_files_and_through_a_pipe)
{
    json_error_t error;
    json_t *manifest = json_load_file(TEST_DATA "/npy/manifest.json", 0, &error), *entry;
    cr_assert_not_null(manifest, "%s", error.text);
    size_t i, refused = 0;
    json_array_foreach(manifest, i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        char path[4096];
        snprintf(path, sizeof path, "%s/npy/%s", TEST_DATA, file);
        clayer_npy *npy = NULL;
        cr_assert_eq(clayer_npy_open(path, &npy), CLAYER_OK);
        size_t count = clayer_npy_rows(npy), columns = clayer_npy_columns(npy), bytes = count * columns * sizeof(float);
        float expected[64], values[64];
        cr_assert_eq(clayer_npy_read_f32(npy, 0, count, expected), CLAYER_OK);
        clayer_npy_destroy(&npy);

        clayer_rows *rows = open_rows(path);
        cr_assert_eq(clayer_rows_get_format(rows), CLAYER_ROWS_NPY);
        cr_assert_eq(clayer_rows_columns(rows), columns);
        cr_assert_eq(clayer_rows_selected(rows), count);
        cr_assert_eq(read_all(rows, 2, values), count);
        cr_assert_eq(memcmp(values, expected, bytes), 0, "%s", file);
        clayer_rows_destroy(&rows);

        pthread_t thread = pipe_input(path, 7);
        clayer_status status = clayer_rows_open("-", NULL, &rows);
        if (status == CLAYER_ERROR_UNSUPPORTED) {
            cr_assert(json_is_true(json_object_get(entry, "fortran_order")) && count > 1 && columns > 1, "%s", file);
            cr_assert(strstr(clayer_last_error(), "Fortran order"), "%s", clayer_last_error());
            refused++;
        } else {
            cr_assert_eq(status, CLAYER_OK, "%s: %s", file, clayer_last_error());
            cr_assert_eq(read_all(rows, 2, values), count);
            cr_assert_eq(memcmp(values, expected, bytes), 0, "%s", file);
        }
        clayer_rows_destroy(&rows);
        pthread_join(thread, NULL);
    }
    cr_assert_geq(refused, 3);
    json_decref(manifest);
}

Test(rows, csv_and_npy_digits_are_the_same_from_file_and_pipe)
{
    float *npy_values = malloc(360 * 64 * sizeof *npy_values), *csv_values = malloc(20 * 64 * sizeof *csv_values);
    clayer_rows *rows = open_rows(TEST_DATA "/digits_test.npy");
    cr_assert_eq(read_all(rows, 100, npy_values), 360);
    clayer_rows_destroy(&rows);
    rows = open_rows(TEST_DATA "/digits_test.csv");
    cr_assert_eq(clayer_rows_selected(rows), CLAYER_ROWS_UNKNOWN);
    size_t count = 0;
    cr_assert_eq(clayer_rows_count(rows, &count), CLAYER_OK);
    cr_assert_eq(count, 20);
    cr_assert_eq(clayer_rows_selected(rows), 20);
    cr_assert_eq(read_all(rows, 7, csv_values), 20);
    cr_assert_eq(memcmp(csv_values, npy_values, 20 * 64 * sizeof(float)), 0);
    clayer_rows_destroy(&rows);

    memset(csv_values, 0, 20 * 64 * sizeof *csv_values);
    pthread_t thread = pipe_input(TEST_DATA "/digits_test.csv", 100);
    rows = open_rows("-");
    cr_assert_eq(clayer_rows_count(rows, &count), CLAYER_OK);
    cr_assert_eq(count, CLAYER_ROWS_UNKNOWN);
    cr_assert_eq(clayer_rows_select_part(rows, 0, 2), CLAYER_ERROR_UNSUPPORTED);
    cr_assert_eq(read_all(rows, 7, csv_values), 20);
    cr_assert_eq(memcmp(csv_values, npy_values, 20 * 64 * sizeof(float)), 0);
    clayer_rows_destroy(&rows);
    pthread_join(thread, NULL);
    free(npy_values);
    free(csv_values);
}

/* Parts, however many, are the whole in order; also those of a file that the shell opened. */
static void check_parts(const char *path, size_t count, size_t columns)
{
    float *whole = malloc(count * columns * sizeof *whole), *parts = malloc(count * columns * sizeof *parts);
    clayer_rows *rows = open_rows(path);
    cr_assert_eq(read_all(rows, count + 1, whole), count);
    clayer_rows_destroy(&rows);
    const size_t parts_tried[] = {1, 2, 3, 4, 5, count, count + 2};
    for (size_t t = 0; t < sizeof parts_tried / sizeof *parts_tried; t++) {
        const size_t n = parts_tried[t];
        size_t done = 0;
        for (size_t i = 0; i < n; i++) {
            redirect_input(open(path, O_RDONLY));
            rows = open_rows(i % 2 ? "-" : path);
            cr_assert_eq(clayer_rows_select_part(rows, i, n), CLAYER_OK, "%s", clayer_last_error());
            size_t selected = clayer_rows_selected(rows);
            cr_assert(selected >= count / n && selected <= count / n + 1);
            cr_assert_eq(read_all(rows, 3, parts + done * columns), selected);
            done += selected;
            clayer_rows_destroy(&rows);
        }
        cr_assert_eq(done, count);
        cr_assert_eq(memcmp(whole, parts, count * columns * sizeof *whole), 0, "%s in %zu parts", path, n);
    }
    free(whole);
    free(parts);
}

Test(rows, parts_together_are_the_whole)
{
    check_parts(TEST_DATA "/digits_test.npy", 360, 64);
    check_parts(TEST_DATA "/digits_test.csv", 20, 64);
    check_parts(TEST_DATA "/npy/fortran_3x5.npy", 3, 5);
    check_parts(TEST_DATA "/npy/i2.npy", 3, 5);
}

Test(rows, a_selection_that_is_not_there)
{
    clayer_rows *rows = open_rows(TEST_DATA "/npy/c_3x5.npy");
    cr_assert_eq(clayer_rows_select(rows, 2, 2), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert(strstr(clayer_last_error(), "has 3 rows"), "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_select_part(rows, 3, 3), CLAYER_ERROR_INVALID_ARGUMENT);
    clayer_rows_destroy(&rows);

    pthread_t thread = pipe_input(TEST_DATA "/digits_test.csv", 100);
    rows = open_rows("-");
    cr_assert_eq(clayer_rows_select(rows, 15, 10), CLAYER_OK);
    float values[64 * 10];
    size_t got = 0;
    cr_assert_eq(clayer_rows_read(rows, values, 10, &got), CLAYER_OK);
    cr_assert_eq(got, 5);
    cr_assert_eq(clayer_rows_selected(rows), 5);
    clayer_rows_destroy(&rows);
    pthread_join(thread, NULL);
}

Test(rows, labels)
{
    clayer_rows *rows = open_rows(TEST_DATA "/digits_labels.npy");
    int64_t labels[361];
    size_t got = 0;
    cr_assert_eq(clayer_rows_select(rows, 10, 350), CLAYER_OK);
    cr_assert_eq(clayer_rows_read_labels(rows, labels, 361, &got), CLAYER_OK);
    cr_assert_eq(got, 350);
    clayer_npy *npy = NULL;
    int64_t expected[350];
    cr_assert_eq(clayer_npy_open(TEST_DATA "/digits_labels.npy", &npy), CLAYER_OK);
    cr_assert_eq(clayer_npy_read_i64(npy, 10, 350, expected), CLAYER_OK);
    cr_assert_eq(memcmp(labels, expected, sizeof expected), 0);
    clayer_npy_destroy(&npy);
    clayer_rows_destroy(&rows);
}

Test(rows, a_pipe_that_ends_early)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    int file = open(TEST_DATA "/npy/c_3x5.npy", O_RDONLY);
    char bytes[256];
    ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    cr_assert_eq(write(ends[1], bytes, (size_t)size - 21), size - 21); /* one row and a byte less */
    close(ends[1]);
    redirect_input(ends[0]);
    clayer_rows *rows = open_rows("-");
    float values[15];
    size_t got = 9;
    cr_assert_eq(clayer_rows_read(rows, values, 1, &got), CLAYER_OK);
    cr_assert_eq(got, 1);
    cr_assert_eq(clayer_rows_read(rows, values, 9, &got), CLAYER_ERROR_FORMAT);
    cr_assert_eq(got, 0);
    cr_assert_str_eq(clayer_last_error(), "standard input: ends within row 1 (counted from 0); its shape has 3 rows");
    clayer_rows_destroy(&rows);
}

/* ---- reading that a signal interrupts ---- */

static atomic_bool stop;

static void on_signal(int signal)
{
    (void)signal;
    atomic_store(&stop, true);
}

static bool asked_to_stop(void *user)
{
    (void)user;
    return atomic_load(&stop);
}

static atomic_bool ended;

/* Again and again: a signal that comes before the thread waits wakes nobody. */
static void *interrupt(void *thread)
{
    do {
        usleep(50000);
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    } while (!atomic_load(&ended));
    return NULL;
}

Test(rows, a_signal_ends_waiting_for_a_pipe)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART */
    sigaction(SIGUSR1, &action, NULL);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "1,2\n", 4), 4); /* and nothing more, but no end either */
    redirect_input(ends[0]);
    pthread_t self = pthread_self(), other;
    cr_assert_eq(pthread_create(&other, NULL, interrupt, &self), 0);
    clayer_rows *rows = NULL;
    float row[2];
    size_t got = 0;
    cr_assert_eq(clayer_rows_open("-", &(clayer_rows_params){.cancelled = asked_to_stop}, &rows), CLAYER_OK, "%s",
                 clayer_last_error());
    /* What is there is given without waiting for more: the writer may wait for the answer. */
    cr_assert_eq(clayer_rows_read(rows, row, 1, &got), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(got, 1);
    cr_assert(row[0] == 1 && row[1] == 2);
    cr_assert_eq(clayer_rows_read(rows, row, 1, &got), CLAYER_ERROR_CANCELLED);
    atomic_store(&ended, true);
    pthread_join(other, NULL);
    clayer_rows_destroy(&rows);
}

/* ---- writing ---- */

/* Values whose text is hard: subnormals, the largest, halves of the last place. */
static void fill(float *values, size_t count)
{
    static const uint32_t hard[] = {0x00000000, 0x80000000, 0x00000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
                                    0x7f800000, 0xff800000, 0x3dcccccd, 0x3f800001, 0x4b7fffff, 0x4b800001, 0x5f000000};
    uint32_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        uint32_t bits = i < sizeof hard / sizeof *hard ? hard[i] : (random & 0x7f800000u) == 0x7f800000u ? 0 : random;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

enum { ROWS = 3000, COLUMNS = 7 };

static void write_table(const char *path, const clayer_rows_writer_params *params, const float *values)
{
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(clayer_rows_writer_create(path, COLUMNS, params, &writer), CLAYER_OK, "%s", clayer_last_error());
    for (size_t row = 0; row < ROWS; row += 1000)
        cr_assert_eq(clayer_rows_writer_write(writer, values + row * COLUMNS, 1000), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_write(writer, NULL, 0), CLAYER_OK);
    cr_assert_neq(access(path, F_OK), 0, "%s is there before it is whole", path);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_null(writer);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK);
}

static void check_table(const char *path, const float *values)
{
    float *back = malloc(ROWS * COLUMNS * sizeof *back);
    clayer_rows *rows = open_rows(path);
    cr_assert_eq(clayer_rows_columns(rows), COLUMNS);
    cr_assert_eq(read_all(rows, 999, back), ROWS);
    cr_assert_eq(memcmp(back, values, ROWS * COLUMNS * sizeof *back), 0, "%s: other values came back", path);
    clayer_rows_destroy(&rows);
    free(back);
}

Test(rows, what_is_written_is_read_back, .init = make_folder, .fini = remove_folder)
{
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    fill(values, ROWS * COLUMNS);
    static const char *const names[COLUMNS] = {"a", "b c", "d,e", "f\"g", "", "h", "i"};
    static const struct {
        const char *name;
        clayer_rows_writer_params params;
    } cases[] = {
        {"t.npy", {0}},
        {"t.npy", {.rows_known = true, .rows = 17}}, /* a file takes the true number in the end */
        {"t.csv", {0}},
        {"t.CSV", {.csv_separator = ';'}},
        {"t.csv", {.csv_header = names}},
        {"t.out", {.format = CLAYER_ROWS_CSV, .csv_separator = '\t'}},
        {"t.out", {.format = CLAYER_ROWS_NPY}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_table(in_folder(cases[i].name), &cases[i].params, values);
        check_table(in_folder(cases[i].name), values);
        unlink(in_folder(cases[i].name));
    }
    free(values);
}

/* What a file holds, as text. */
static const char *content(const char *path)
{
    static char text[4096];
    int file = open(path, O_RDONLY);
    cr_assert_geq(file, 0);
    ssize_t size = read(file, text, sizeof text - 1);
    cr_assert_geq(size, 0);
    text[size] = '\0';
    close(file);
    return text;
}

Test(rows, csv_text, .init = make_folder, .fini = remove_folder)
{
    static const char *const names[2] = {"x", "say \"y\""};
    const float values[] = {0.1f, 1, -2.5f, 16777216, 1e-45f, INFINITY, -INFINITY, NAN, 3.4028235e38f, 1.0f / 3};
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(
        clayer_rows_writer_create(in_folder("t.csv"), 2, &(clayer_rows_writer_params){.csv_header = names}, &writer),
        CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_write(writer, values, 5), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK);
    cr_assert_str_eq(content(in_folder("t.csv")), "x,\"say \"\"y\"\"\"\n0.1,1\n-2.5,16777216\n1.4013e-45,inf\n"
                                                  "-inf,nan\n3.4028235e+38,0.33333334\n");
    unlink(in_folder("t.csv"));
}

Test(rows, integers, .init = make_folder, .fini = remove_folder)
{
    const int64_t labels[4] = {3, INT64_MIN, INT64_MAX, -1};
    static const char *const files[] = {"l.npy", "l.csv"};
    for (size_t i = 0; i < 2; i++) {
        clayer_rows_writer *writer = NULL;
        const clayer_rows_writer_params params = {.dtype = CLAYER_DTYPE_I64, .one_dimension = true};
        cr_assert_eq(clayer_rows_writer_create(in_folder(files[i]), 1, &params, &writer), CLAYER_OK);
        cr_assert_eq(clayer_rows_writer_write_i64(writer, labels, 4), CLAYER_OK);
        cr_assert_eq(clayer_rows_writer_write(writer, NULL, 0), CLAYER_ERROR_INVALID_ARGUMENT);
        cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK);
        clayer_rows *rows = open_rows(in_folder(files[i]));
        int64_t back[5];
        size_t got = 0;
        cr_assert_eq(clayer_rows_read_labels(rows, back, 5, &got), CLAYER_OK, "%s", clayer_last_error());
        cr_assert_eq(got, 4);
        cr_assert_eq(memcmp(back, labels, sizeof labels), 0);
        clayer_rows_destroy(&rows);
    }
    clayer_npy *npy = NULL;
    cr_assert_eq(clayer_npy_open(in_folder("l.npy"), &npy), CLAYER_OK);
    cr_assert_eq(clayer_npy_ndim(npy), 1);
    clayer_npy_destroy(&npy);
    unlink(in_folder("l.npy"));
    unlink(in_folder("l.csv"));
}

Test(rows, an_abort_leaves_what_stood_there, .init = make_folder, .fini = remove_folder)
{
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    fill(values, ROWS * COLUMNS);
    write_table(in_folder("t.npy"), NULL, values);
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(clayer_rows_writer_create(in_folder("t.npy"), COLUMNS, NULL, &writer), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_write(writer, values, 5), CLAYER_OK);
    clayer_rows_writer_abort(&writer);
    cr_assert_null(writer);
    clayer_rows_writer_abort(&writer);
    clayer_rows_writer_abort(NULL);
    check_table(in_folder("t.npy"), values);
    unlink(in_folder("t.npy"));
    free(values);
}

Test(rows, a_link_keeps_pointing, .init = make_folder, .fini = remove_folder)
{
    float *values = calloc(ROWS * COLUMNS, sizeof *values);
    char target[128], link[128];
    strcpy(target, in_folder("target.csv"));
    strcpy(link, in_folder("link.csv"));
    write_table(target, NULL, values);
    cr_assert_eq(symlink("target.csv", link), 0);
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(clayer_rows_writer_create(link, 1, NULL, &writer), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_write(writer, values, 2), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK);
    struct stat info;
    cr_assert(lstat(link, &info) == 0 && S_ISLNK(info.st_mode));
    cr_assert_str_eq(content(target), "0\n0\n");
    unlink(link);
    unlink(target);
    free(values);
}

Test(rows, output_that_cannot_be)
{
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(clayer_rows_writer_create("t.txt", 2, NULL, &writer), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_str_eq(clayer_last_error(),
                     "t.txt: its name does not tell the format; end it in .npy or .csv, or say the format");
    cr_assert_eq(clayer_rows_writer_create("no/such/t.npy", 2, NULL, &writer), CLAYER_ERROR_IO);
    cr_assert(strstr(clayer_last_error(), "no/such/t.npy"), "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_writer_create("-", 2, NULL, &writer), CLAYER_ERROR_INVALID_ARGUMENT);
    cr_assert_eq(clayer_rows_writer_create("-", 2, &(clayer_rows_writer_params){.format = CLAYER_ROWS_NPY}, &writer),
                 CLAYER_ERROR_UNSUPPORTED);
    cr_assert_eq(
        clayer_rows_writer_create("t.npy", 2, &(clayer_rows_writer_params){.dtype = CLAYER_DTYPE_F16}, &writer),
        CLAYER_ERROR_UNSUPPORTED);
    cr_assert_null(writer);
    /* A device is written, not replaced by a file. */
    cr_assert_eq(
        clayer_rows_writer_create("/dev/null", 1, &(clayer_rows_writer_params){.format = CLAYER_ROWS_CSV}, &writer),
        CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_write(writer, &(float){1}, 1), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK);
    struct stat info;
    cr_assert(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
}

Test(rows, npy_through_a_pipe_announces_its_rows)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const float values[6] = {1, 2, 3, 4, 5, 6};
    const clayer_rows_writer_params params = {.format = CLAYER_ROWS_NPY, .rows_known = true, .rows = 3};
    clayer_rows_writer *writer = NULL;
    cr_assert_eq(clayer_rows_writer_create(path, 2, &params, &writer), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_writer_write(writer, values, 3), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_writer_create(path, 2, &params, &writer), CLAYER_OK, "%s", clayer_last_error());
    cr_assert_eq(clayer_rows_writer_write(writer, values, 1), CLAYER_OK);
    cr_assert_eq(clayer_rows_writer_close(&writer), CLAYER_ERROR_MISMATCH);
    cr_assert(strstr(clayer_last_error(), "3 rows were announced, 1 came"), "%s", clayer_last_error());
    close(ends[1]);
    redirect_input(ends[0]);
    clayer_rows *rows = open_rows("-");
    cr_assert_eq(clayer_rows_selected(rows), 3);
    float back[6];
    cr_assert_eq(read_all(rows, 10, back), 3);
    cr_assert_eq(memcmp(back, values, sizeof values), 0);
    clayer_rows_destroy(&rows);
}

Test(rows, another_locale_changes_nothing, .init = make_folder, .fini = remove_folder)
{
    /* localedef comes with the C library; the locale itself is made here, as few machines have one with a comma. */
    char command[256];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null", folder);
    int made = system(command);
    setenv("LOCPATH", folder, 1);
    bool comma = made == 0 && setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
    float *values = malloc(ROWS * COLUMNS * sizeof *values);
    fill(values, ROWS * COLUMNS);
    if (comma) {
        char text[16];
        snprintf(text, sizeof text, "%.1f", 0.5);
        cr_assert_str_eq(text, "0,5");
        write_table(in_folder("t.csv"), NULL, values);
        check_table(in_folder("t.csv"), values);
        cr_assert_null(strstr(content(in_folder("t.csv")), ",,"));
        cr_assert_str_eq(localeconv()->decimal_point, ",");
        unlink(in_folder("t.csv"));
    }
    free(values);
    snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", folder);
    cr_assert_eq(system(command), 0);
    if (!comma)
        cr_skip_test("localedef could not make de_DE.UTF-8 here");
}
