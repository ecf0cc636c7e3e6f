/* Opening a table from memory, for the fuzz targets; everything else is in clayer/rows.h. */
#ifndef FORMATS_ROWS_H
#define FORMATS_ROWS_H

#include <clayer/rows.h>

/* data must outlive the table. */
clayer_status rows_open_memory(const void *data, size_t size, const char *name, const clayer_rows_params *params,
                               clayer_rows **rows);

#endif
