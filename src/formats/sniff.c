#include "formats/sniff.h"

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

static bool starts(const unsigned char *data, size_t size, const char *text)
{
    size_t length = strlen(text);
    return size >= length && memcmp(data, text, length) == 0;
}

/* The same for text whose case does not matter. */
static bool says(const unsigned char *data, size_t size, const char *text)
{
    size_t i = 0;
    while (text[i] && i < size && ascii_lower((char)data[i]) == text[i])
        i++;
    return !text[i];
}

const char *sniff_foreign(const unsigned char *data, size_t size)
{
    if (starts(data, size, "version https://git-lfs"))
        return "a Git LFS pointer in place of the file itself; run 'git lfs pull' to fetch it";
    if (starts(data, size, "PK\x03\x04") || starts(data, size, "PK\x05\x06"))
        return "a zip archive, as .npz and PyTorch's .pt files are; save one array with numpy.save (.npy), or the "
               "weights as safetensors";
    if (starts(data, size, "\x1f\x8b"))
        return "compressed with gzip; unpack it first";
    if (starts(data, size, "(\xb5/\xfd"))
        return "compressed with zstd; unpack it first";
    if (starts(data, size, "\x93NUMPY"))
        return "a NumPy .npy array";
    if (starts(data, size, "GGUF"))
        return "a GGUF model; clayer reads safetensors";
    if (starts(data, size, "\x89HDF\r\n\x1a\n"))
        return "an HDF5 file; clayer reads safetensors, .npy and CSV";
    if (starts(data, size, "\x80\x02") || starts(data, size, "\x80\x03") || starts(data, size, "\x80\x04"))
        return "a Python pickle, which clayer does not run; save it as safetensors or with numpy.save";
    if (starts(data, size, "\xff\xfe") || starts(data, size, "\xfe\xff"))
        return "UTF-16 text; save it as UTF-8";

    if (starts(data, size, "\xef\xbb\xbf")) {
        data += 3;
        size -= 3;
    }
    while (size > 0 && (*data == ' ' || *data == '\t' || *data == '\r' || *data == '\n')) {
        data++;
        size--;
    }
    if (says(data, size, "<!doctype") || says(data, size, "<html") || says(data, size, "<head") ||
        says(data, size, "<?xml"))
        return "an HTML page in place of the file itself; the download went wrong";
    return NULL;
}
