/* Single devices and records as JSON objects; for store/format.c and format_read.c. */
#ifndef STORE_FORMAT_LINE_H
#define STORE_FORMAT_LINE_H

#include "store/format.h"

#include <jansson.h>

#define FORMAT_NAME "clayer-tuning/"
#define FORMAT_SCHEMA FORMAT_NAME "1"

/* False, with what is wrong, unless every value is one that a record may have. Unknown members are passed over. *check
 * is 0 when the object has none. */
bool format_get_record(const json_t *object, struct record *record, uint64_t *check, char *wrong, size_t size);
/* The same for exactly what format_write writes, many times faster. False for anything else, right or wrong: then
 * format_get_record decides. */
bool format_scan_record(const char *line, size_t length, struct record *record, uint64_t *check);
bool format_get_device(const json_t *object, struct record_device *device);

#endif
