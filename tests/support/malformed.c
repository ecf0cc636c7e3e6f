#include "support/malformed.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool listed(const char *name, const char *const *names)
{
    for (; names && *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

size_t malformed_check(const char *format, malformed_reader reader, const char *const *skipped)
{
    json_error_t error;
    json_t *manifest = json_load_file(TEST_DATA "/malformed/manifest.json", 0, &error);
    cr_assert_not_null(manifest, "%s", error.text);

    size_t i, tried = 0;
    json_t *entry;
    json_array_foreach(manifest, i, entry)
    {
        const char *file = json_string_value(json_object_get(entry, "file"));
        if (strcmp(json_string_value(json_object_get(entry, "format")), format) != 0 || listed(file, skipped))
            continue;
        tried++;
        char path[4096];
        snprintf(path, sizeof path, "%s/malformed/%s", TEST_DATA, file);
        clayer_status status = reader(path);
        const char *text = clayer_last_error();
        cr_expect(status == CLAYER_ERROR_FORMAT || status == CLAYER_ERROR_UNSUPPORTED ||
                      status == CLAYER_ERROR_MISMATCH,
                  "%s: status '%s'", file, clayer_status_string(status));
        cr_expect(strstr(text, file), "%s: error '%s' does not name the file", file, text);
        size_t n;
        json_t *name;
        json_array_foreach(json_object_get(entry, "names"), n, name)
            cr_expect(strcasestr(text, json_string_value(name)), "%s: error '%s' does not say '%s'", file, text,
                      json_string_value(name));
    }
    json_decref(manifest);
    return tried;
}
