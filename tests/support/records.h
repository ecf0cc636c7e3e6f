/* Tuning records, a device that nobody has, and a data directory of the test's own. */
#ifndef SUPPORT_RECORDS_H
#define SUPPORT_RECORDS_H

#include "store/record.h"

/* A GPU without a driver; equal each time. */
clayer_device_info records_device(void);

/* A measured record for that device: BATCHxINxOUT, "f32" throughout, bias, cheap, aligned. */
struct record records_make(size_t batch, size_t in_features, size_t out_features, const char *family,
                           const char *configuration, double seconds);

/* A fresh directory for CLAYER_DATA_DIR, without any other origin of records; records_stop removes it. */
const char *records_start(void);
void records_stop(void);

/* The path of a file below that directory; a ring of eight. */
const char *records_path(const char *name);

/* A file's content, on the heap and terminated; fails the test when it is not there. */
char *records_file(const char *path, size_t *length);
void records_write(const char *path, const char *text, size_t length);

/* What tuning said in the log since records_start, and how many lines. */
extern int records_lines;
extern char records_said[1024];

#endif
