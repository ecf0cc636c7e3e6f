/* Any bytes as the journal of a dead run, or, behind an 'L', any lines with right checksums: it is read as far as it
 * can be believed, and the run goes on. */
#include "tune/journal.h"
#include "tune/journal_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/clayer-fuzz-journal-XXXXXX";

static void write_lines(int fd, const char *path, const char *text, size_t size)
{
    char line[900];
    while (size > 0) {
        const char *end = memchr(text, '\n', size);
        const size_t length = end ? (size_t)(end - text) : size;
        if (length < sizeof line) {
            memcpy(line, text, length);
            line[length] = '\0';
            if (journal_file_append(fd, path, line) != CLAYER_OK)
                abort();
        }
        size -= end ? length + 1 : length;
        text += length + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    char path[200];
    snprintf(path, sizeof path, "%s/journal", folder);
    if (!made) {
        if (!mkdtemp(folder))
            abort();
        snprintf(path, sizeof path, "%s/journal", folder);
        if (mkdir(path, 0700) != 0)
            abort();
        made = true;
    }
    snprintf(path, sizeof path, "%s/journal/0123456789abcdef-999999.journal", folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0)
        abort();
    if (size > 0 && data[0] == 'L')
        write_lines(fd, path, (const char *)data + 1, size - 1);
    else if (write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    struct journal *journal = NULL;
    struct outcome outcome;
    if (journal_open(folder, "0123456789abcdef", "provenance", &journal) != CLAYER_OK)
        abort();
    journal_quarantined(journal, "panel:rows=4", false);
    journal_lost(journal, "panel:rows=4");
    journal_known(journal, "8x768x3072", "panel:rows=4", &outcome);
    journal_try(journal, "8x768x3072", "panel:rows=2");
    journal_tried(journal, "8x768x3072", "panel:rows=2", NULL);
    journal_close(&journal);
    size_t lifted;
    if (journal_forget(folder, "0123456789abcdef", &lifted) != CLAYER_OK)
        abort();
    return 0;
}
