/* Any bytes as tuning records: what is read has only values that records may have, and is the same when it is written
 * and read again. */
#include "store/format.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count(const struct format_content *content)
{
    size_t records = 0;
    for (size_t i = 0; i < content->count; i++)
        records += content->sections[i].count;
    return records;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct format_content content, again;
    char *text;
    size_t length;
    if (format_read((const char *)data, size, NULL, &content) != CLAYER_OK)
        abort();
    if (content.state == FORMAT_LATER && content.count > 0)
        abort();
    for (size_t i = 0; i < content.count; i++)
        for (size_t j = 0; j < content.sections[i].count; j++)
            if (record_wrong(&content.sections[i].records[j]))
                abort();
    if (format_write(&content, &text, &length) != CLAYER_OK || format_read(text, length, NULL, &again) != CLAYER_OK ||
        again.state != FORMAT_SOUND || count(&again) != count(&content))
        abort();
    free(text);
    format_free(&content);
    format_free(&again);
    return 0;
}
