/* Tuning records as text: JSON in which every device and every record has its line. */
#ifndef STORE_FORMAT_H
#define STORE_FORMAT_H

#include "store/record.h"

#include <clayer/status.h>

/* What a text was found to be. */
enum format_state {
    FORMAT_SOUND,
    FORMAT_DAMAGED, /* something was dropped; what could be saved is there */
    FORMAT_LATER    /* a later version's: nothing of it is used */
};

struct format_section {
    struct record_device device;
    struct record *records;
    size_t count, room;
};

/* A text's content: a section per device, in the order of the text. */
struct format_content {
    enum format_state state;
    struct format_section *sections;
    size_t count;
    size_t dropped;    /* records that were damaged */
    char problem[200]; /* the first that was wrong, with its line; "" when nothing is */
};

/* Reads any text whatsoever. expected, if not NULL, is the device that the text should be about: a record whose check
 * fits it is saved even when the line that names the device is lost. OUT_OF_MEMORY is the only failure. */
clayer_status format_read(const char *text, size_t length, const struct record_device *expected,
                          struct format_content *content);
void format_free(struct format_content *content);

/* Appends a section for the device, or finds it. */
clayer_status format_section(struct format_content *content, const struct record_device *device,
                             struct format_section **section);
clayer_status format_append(struct format_section *section, const struct record *record);
/* By key; of records with one key, the better measured one stays. */
void format_sort(struct format_section *section);

/* The text of the sections, on the heap, terminated; the same bytes in every locale. */
clayer_status format_write(const struct format_content *content, char **text, size_t *length);

#endif
