/* Texts of tuning records: what is written is read, whatever happens to it on the way costs the damaged records only,
 * and no record ever comes back changed. */
#include "store/format.h"
#include "support/records.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 4 };

static struct record_device device;
static struct record originals[RECORDS];

/* The text of four records, on the heap. */
static char *sample(size_t *length)
{
    const clayer_device_info info = records_device();
    record_device_of(&info, &device);
    originals[0] = records_make(1, 64, 128, "skinny", "rows=1", 1.25e-5);
    originals[1] = records_make(128, 64, 128, "tiled", "threads_m=8,threads_n=16", 1.5e-3);
    originals[2] = records_make(128, 768, 3072, "clblast", "", 0.125);
    originals[3] = records_make((size_t)1 << 40, 1, 1, "panel", "rows=4", 999);
    struct format_content content = {.state = FORMAT_SOUND};
    struct format_section *section;
    cr_assert_eq(format_section(&content, &device, &section), CLAYER_OK);
    for (int i = RECORDS; i-- > 0;)
        cr_assert_eq(format_append(section, &originals[i]), CLAYER_OK);
    format_sort(section);
    char *text;
    cr_assert_eq(format_write(&content, &text, length), CLAYER_OK);
    format_free(&content);
    return text;
}

/* How many of the originals are in content; anything else that is in there, or a changed one, fails. */
static size_t originals_in(const struct format_content *content, const char *what)
{
    size_t found = 0;
    for (size_t s = 0; s < content->count; s++) {
        for (size_t i = 0; i < content->sections[s].count; i++) {
            const struct record *r = &content->sections[s].records[i];
            bool same = false;
            for (int o = 0; o < RECORDS; o++)
                same = same || record_check(&device, r) == record_check(&device, &originals[o]);
            cr_assert(same, "%s: a changed record %zux%zux%zu %s:%s", what, r->layer.batch, r->layer.in_features,
                      r->layer.out_features, r->family, r->configuration);
            found += record_device_equal(&content->sections[s].device, &device);
        }
    }
    return found;
}

static size_t read_sample(const char *text, size_t length, enum format_state state, const char *words)
{
    struct format_content content;
    cr_assert_eq(format_read(text, length, &device, &content), CLAYER_OK);
    cr_expect_eq(content.state, state, "state %d, not %d, for '%s': %s", (int)content.state, (int)state, words,
                 content.problem);
    cr_expect(strstr(content.problem, words), "'%s' in: %s", words, content.problem);
    const size_t found = originals_in(&content, words);
    format_free(&content);
    return found;
}

Test(store_format, a_record_a_line)
{
    size_t length;
    char *text = sample(&length);
    char expected[1024];
    snprintf(expected, sizeof expected,
             "{\"schema\": \"clayer-tuning/1\", \"devices\": [\n"
             "{\"device\": {\"platform\": \"Test Platform\", \"vendor\": \"Test Vendor\", \"name\": \"Test GPU 9000\", "
             "\"compute_units\": 32, \"max_work_group_size\": 1024, \"local_memory_bytes\": 65536}, \"records\": [\n"
             "{\"layer\": \"1x64x128\", \"plan\": \"skinny:rows=1\", \"types\": \"f32,f32,f32,f32\", \"bias\": true, "
             "\"costly\": false, \"aligned\": true, \"ns\": 12500, \"spread_ns\": 125, \"default_ns\": 25000, "
             "\"clblast_ns\": 0, \"candidates\": 40, \"effort\": \"normal\", \"when\": \"2026-11-30T17:00:00Z\", "
             "\"driver\": \"1.2.3\", \"library\": \"" PROJECT_VERSION "\", \"kernel\": \"%s\", \"check\": \"",
             originals[0].kernel_hash);
    /* 1x1 comes first by its features. */
    const char *line = strstr(text, "{\"layer\": \"1x64x128\"");
    cr_assert_not_null(line);
    const char *second = strstr(expected, "{\"layer\"");
    cr_expect(strncmp(text, expected, (size_t)(second - expected)) == 0, "%s", text);
    cr_expect(strncmp(line, second, strlen(second)) == 0, "%s", line);
    cr_expect_str_eq(text + length - 8, "\"}\n]}\n]}\n" + 1);
    cr_expect_eq(read_sample(text, length, FORMAT_SOUND, ""), RECORDS);
    free(text);
}

Test(store_format, the_same_bytes_in_every_locale)
{
    size_t length, again;
    char *text = sample(&length);
    char command[256];
    const char *folder = records_start();
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    setenv("LOCPATH", folder, 1);
    if (system(command) != 0 || !setlocale(LC_ALL, "de_DE.UTF-8")) {
        free(text);
        records_stop();
        cr_skip_test("no German locale could be made with localedef");
    }
    cr_assert_str_eq(localeconv()->decimal_point, ",");
    char *german = sample(&again);
    cr_expect(again == length && memcmp(text, german, length) == 0);
    cr_expect_eq(read_sample(text, length, FORMAT_SOUND, ""), RECORDS);
    free(text);
    free(german);
    records_stop();
}

Test(store_format, cut_anywhere)
{
    size_t length, most = 0;
    char *text = sample(&length);
    for (size_t cut = 0; cut + 1 < length; cut++) { /* without its last line break it is whole */
        const size_t found = read_sample(text, cut, FORMAT_DAMAGED, "");
        cr_expect(found >= most, "%zu bytes gave fewer records than less", cut);
        most = found;
    }
    cr_expect_eq(most, RECORDS);
    free(text);
}

/* One bit anywhere: three of the four records survive, or all; none is changed. */
Test(store_format, any_bit_flipped)
{
    size_t length, flipped_records = 0;
    char *text = sample(&length);
    for (size_t at = 0; at < length; at++) {
        for (int bit = 0; bit < 8; bit++) {
            struct format_content content;
            text[at] ^= (char)(1 << bit);
            cr_assert_eq(format_read(text, length, &device, &content), CLAYER_OK);
            const size_t found = originals_in(&content, "a flipped bit");
            cr_assert(found >= RECORDS - 1 || content.state == FORMAT_LATER, "byte %zu bit %d: %zu records left: %s",
                      at, bit, found, content.problem);
            flipped_records += found == RECORDS - 1 && content.state == FORMAT_DAMAGED;
            format_free(&content);
            text[at] ^= (char)(1 << bit);
        }
    }
    cr_expect_gt(flipped_records, length); /* most flips hit a record and are noticed */
    free(text);
}

/* The sample with one piece of it replaced; length too. */
static char *changed(const char *from, const char *to, size_t *length)
{
    char *text = sample(length);
    char *place = strstr(text, from);
    cr_assert_not_null(place, "%s", from);
    char *result = malloc(*length + strlen(to) + 1);
    const size_t before = (size_t)(place - text);
    memcpy(result, text, before);
    strcpy(result + before, to);
    strcat(result, place + strlen(from));
    *length = strlen(result);
    free(text);
    return result;
}

Test(store_format, values_that_make_no_sense)
{
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"1x64x128", "0x64x128", "layer is not"},
        {"1x64x128", "-1x64x128", "layer is not"},
        {"1x64x128", "1x64", "layer is not"},
        {"1x64x128", "1x64x99999999999999999999999", "layer is not"},
        {"1x64x128", "1x64x2199023255552", "layer is not"},
        {"1x64x128", "2x64x128", "does not fit its check"},
        {"\"ns\": 12500", "\"ns\": 12501", "does not fit its check"},
        {"\"ns\": 12500", "\"ns\": 0", "ns is not from 1"},
        {"\"ns\": 12500", "\"ns\": -5", "ns is not from 1"},
        {"\"ns\": 12500", "\"ns\": 1e9", "ns is not of its kind"},
        {"\"ns\": 12500", "\"ns\": NaN", "not JSON"},
        {"\"ns\": 12500", "\"ns\": \"12500\"", "ns is not of its kind"},
        {"\"ns\": 12500", "\"ns\": 99999999999999999999", "not JSON"},
        {"\"ns\": 12500", "\"ns\": 9999999999999999", "ns is not from 1"},
        {"\"spread_ns\": 125,", "\"spread_ns\": -1,", "a time is not"},
        {"\"ns\": 12500, ", "", "ns is missing"},
        {"\"ns\": 12500", "\"ns\": 12500, \"ns\": 3", "not JSON"},
        {"\"candidates\": 40", "\"candidates\": 4294967296", "candidates is not"},
        {"skinny:rows=1", "skinny rows", "plan is not"},
        {"skinny:rows=1", "a_family_with_a_long_name:rows=1", "plan is not"},
        {"\"normal\"", "\"thorough!\"", "effort is not"},
        {"2026-11-30T17:00:00Z", "yesterday", "when is not"},
        {"\"1.2.3\"", "\"\\u0000\"", "not JSON"},
        {"\"1.2.3\"", "\"\\u0007\"", "driver is not"},
        {"\"check\": \"", "\"check\": \"x", "check is not"},
        {"\"bias\": true", "\"bias\": 1", "bias is not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        /* The first occurrence after 1x1 is the record 1x64x128's only where the value is its own; any record will do.
         */
        char *text = changed(cases[i].from, cases[i].to, &length);
        cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, cases[i].words), RECORDS - 1, "%s", cases[i].to);
        free(text);
    }
}

Test(store_format, harmless_changes)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"\"bias\": true", "\"future\": {\"a\": [1.5, null]}, \"bias\": true"}, /* an unknown field */
        {"\"bias\": true", "\"bias\" :  true"},
        {"\"bias\": true", "\n\"bias\": true"}, /* no longer a record a line */
        {"Test Vendor", "Test V\\u0065ndor"},
        {"{\"schema\"", "\xef\xbb\xbf{\"schema\""},
        {"\"records\": [\n", "\"records\": [\n\n\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        char *text = changed(cases[i].from, cases[i].to, &length);
        cr_expect_eq(read_sample(text, length, FORMAT_SOUND, ""), RECORDS, "%s", cases[i].to);
        free(text);
    }
}

Test(store_format, laid_out_by_others)
{
    size_t length;
    char *text = sample(&length);
    json_t *tree = json_loads(text, 0, NULL);
    cr_assert_not_null(tree, "what is written is JSON");
    const size_t styles[] = {JSON_INDENT(4), JSON_COMPACT, JSON_SORT_KEYS | JSON_INDENT(1)};
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        char *other = json_dumps(tree, styles[i]);
        cr_expect_eq(read_sample(other, strlen(other), FORMAT_SOUND, ""), RECORDS);
        free(other);
    }
    json_decref(tree);
    char *dos = malloc(2 * length);
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\n')
            dos[used++] = '\r';
        dos[used++] = text[i];
    }
    cr_expect_eq(read_sample(dos, used, FORMAT_SOUND, ""), RECORDS);
    free(dos);
    free(text);
}

Test(store_format, other_damage)
{
    size_t length;
    char *text = changed("\"records\": [\n", "\"records\": [\n\x01\x02 garbage {]\n", &length);
    cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, "line 3: this is no line"), RECORDS);
    free(text);
    text = sample(&length);
    char *large = malloc(length + 2000000);
    memset(large, 'x', 1000000);
    large[1000000] = '\n';
    memcpy(large + 1000001, text, length);
    cr_expect_eq(read_sample(large, length + 1000001, FORMAT_DAMAGED, "line 1: this is no line"), RECORDS);
    memcpy(strstr(text, "128x64"), "\0", 1);
    cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, "not JSON"), RECORDS - 1);
    free(large);
    free(text);
    text = changed("\"name\": \"Test GPU 9000\"", "\"name\": 7", &length); /* the checks still say whose they are */
    cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, "a device is not described"), RECORDS);
    free(text);
    cr_expect_eq(read_sample("", 0, FORMAT_DAMAGED, "ends too early"), 0);
    cr_expect_eq(read_sample("null", 4, FORMAT_DAMAGED, "no line"), 0);
}

Test(store_format, versions)
{
    size_t length;
    char *text = changed("clayer-tuning/1", "clayer-tuning/2", &length);
    cr_expect_eq(read_sample(text, length, FORMAT_LATER, "clayer-tuning/2"), 0);
    free(text);
    text = changed("clayer-tuning/1", "clayer-tuning/0", &length);
    cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, "the schema is not"), RECORDS); /* their checks are right */
    free(text);
    text = changed("\"clayer-tuning/1\"", "7", &length);
    cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, "the schema is not"), RECORDS);
    free(text);
}

/* A line of a device that is well-formed, and another device's: its records still say whose they are. */
Test(store_format, another_devices_name)
{
    static const struct {
        const char *from, *to, *words;
    } cases[] = {
        {"Test GPU 9000", "Test GPU 9001", "line 3: the record is of another device"},
        {"\"compute_units\": ", "\"compute_units\": 1", "line 3: the record is of another device"},
        {"\"compute_units\": ", "\"compute_units\": -", "line 2: a device is not described"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        char *text = changed(cases[i].from, cases[i].to, &length);
        cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, cases[i].words), RECORDS);
        free(text);
    }
}

/* Values that a person may get wrong are named with their place, laid out in lines or not. */
Test(store_format, values_written_by_hand)
{
    static const struct {
        const char *from, *to, *words;
        int record;
    } cases[] = {
        {"\"effort\": \"normal\"", "\"effort\": \"slowly\"", "effort is not", 1},
        {"T17:00:00Z", "T25:00:00Z", "when is not a time", 1},
        {"2026-11-30", "2026-13-30", "when is not a time", 1},
        {"\"f32,f32,f32,f32\"", "\"f31,f32,f32,f32\"", "types is not", 1},
        {"\"f32,f32,f32,f32\"", "\"f32\"", "types is not", 1},
        {"\"f32,f32,f32,f32\"", "\"f32,f32,f32,f32,f32\"", "types is not", 1},
        {"\"layer\": \"1x", "\"layer\": \"01x", "layer is not", 2},
        {"\"layer\": \"1x64x128\"", "\"layer\": \"1x64x128 \"", "layer is not", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length;
        char place[80];
        char *text = changed(cases[i].from, cases[i].to, &length);
        snprintf(place, sizeof place, "line %d: %s", cases[i].record + 2, cases[i].words);
        cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, place), RECORDS - 1);
        for (char *c = text; *c; c++)
            *c = *c == '\n' ? ' ' : *c;
        snprintf(place, sizeof place, "device 1, record %d: %s", cases[i].record, cases[i].words);
        cr_expect_eq(read_sample(text, length, FORMAT_DAMAGED, place), RECORDS - 1);
        free(text);
    }
    size_t length;
    char *text = sample(&length), *twice = malloc(2 * length);
    memcpy(twice, text, length);
    memcpy(twice + length, text, length);
    cr_expect_eq(read_sample(twice, 2 * length, FORMAT_DAMAGED, "a second schema"), RECORDS);
    free(twice);
    free(text);
}

/* A record that a person wrote has no check. */
Test(store_format, written_by_hand)
{
    static const char text[] = "{\"schema\": \"clayer-tuning/1\", \"devices\": [\n"
                               "{\"device\": {\"name\": \"*GPU*\"}, \"records\": [\n"
                               "{\"layer\": \"8x64x64\", \"plan\": \"portable\", \"types\": \"f32,f32,f32,f32\", "
                               "\"bias\": false, \"costly\": true, \"aligned\": false, \"ns\": 5}\n]}]}\n";
    const clayer_device_info info = records_device();
    struct record_device own;
    struct format_content content;
    record_device_of(&info, &own);
    cr_assert_eq(format_read(text, sizeof text - 1, &own, &content), CLAYER_OK);
    cr_expect_eq(content.state, FORMAT_SOUND, "%s", content.problem);
    cr_assert(content.count == 1 && content.sections[0].count == 1);
    cr_expect(record_device_matches(&content.sections[0].device, &own));
    cr_expect_not(record_device_equal(&content.sections[0].device, &own));
    cr_expect_str_eq(content.sections[0].records[0].family, "portable");
    cr_expect(content.sections[0].records[0].layer.costly && !content.sections[0].records[0].layer.bias);
    format_free(&content);
}

Test(store_format, one_record_a_key)
{
    struct format_content content = {.state = FORMAT_SOUND};
    struct format_section *section;
    const clayer_device_info info = records_device();
    record_device_of(&info, &device);
    struct record slow = records_make(8, 8, 8, "panel", "rows=1", 2e-3),
                  fast = records_make(8, 8, 8, "panel", "", 1e-3);
    cr_assert_eq(format_section(&content, &device, &section), CLAYER_OK);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(format_append(section, i == 1 ? &fast : &slow), CLAYER_OK);
    format_sort(section);
    cr_assert_eq(section->count, 1);
    cr_expect_eq(section->records[0].seconds, 1e-3);
    format_free(&content);
}
