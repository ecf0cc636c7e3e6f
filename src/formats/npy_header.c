#include "formats/npy_header.h"

#include "base/checked.h"
#include "base/error.h"
#include "formats/convert.h"
#include "formats/sniff.h"

#include <string.h>

bool npy_has_magic(const unsigned char *data, size_t size)
{
    return size >= 6 && memcmp(data, "\x93NUMPY", 6) == 0;
}

clayer_status npy_header_size(const unsigned char *data, size_t size, const char *name, size_t *header_size)
{
    if (!npy_has_magic(data, size)) {
        const char *foreign = sniff_foreign(data, size);
        if (foreign)
            return FAIL(CLAYER_ERROR_FORMAT, "%s is %s", name, foreign);
        return FAIL(CLAYER_ERROR_FORMAT, "%s: is no .npy file: it does not begin with \\x93NUMPY", name);
    }
    if (size < NPY_PREFIX_BYTES)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: ends within the .npy header, after %zu bytes", name, size);
    unsigned major = data[6], minor = data[7];
    if (major < 1 || major > 3 || minor != 0)
        return FAIL(CLAYER_ERROR_UNSUPPORTED, "%s: has .npy format version %u.%u; 1.0, 2.0 and 3.0 are accepted", name,
                    major, minor);
    size_t prefix = major == 1 ? 10 : 12, length = (size_t)data[8] | (size_t)data[9] << 8;
    if (major > 1)
        length |= (size_t)data[10] << 16 | (size_t)data[11] << 24;
    if (length > NPY_HEADER_LIMIT)
        return FAIL(CLAYER_ERROR_FORMAT, "%s: .npy header length %zu; at most %d bytes are accepted", name, length,
                    NPY_HEADER_LIMIT);
    *header_size = prefix + length;
    return CLAYER_OK;
}

/* ---- the dictionary: a Python literal of exactly the three keys that NumPy writes ---- */

struct text {
    const char *at, *end;
    const char *name; /* of the file */
};

static void skip_spaces(struct text *text)
{
    while (text->at < text->end && (*text->at == ' ' || *text->at == '\n' || *text->at == '\r' || *text->at == '\t'))
        text->at++;
}

/* Takes one character, after spaces, if it is the next. */
static bool take(struct text *text, char wanted)
{
    skip_spaces(text);
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

/* 'text' or "text" without escapes, which no key or type has. */
static bool take_string(struct text *text, const char **string, size_t *length)
{
    skip_spaces(text);
    if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
        return false;
    char quote = *text->at++;
    *string = text->at;
    while (text->at < text->end && *text->at != quote && *text->at != '\\')
        text->at++;
    *length = (size_t)(text->at - *string);
    return take(text, quote);
}

static bool take_word(struct text *text, const char *word)
{
    skip_spaces(text);
    size_t length = strlen(word);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, word, length) != 0)
        return false;
    text->at += length;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static clayer_status malformed(const struct text *text, const char *needed)
{
    size_t left = (size_t)(text->end - text->at);
    int shown = left > 30 ? 30 : (int)left;
    return FAIL(CLAYER_ERROR_FORMAT, "%s: .npy header: needs %s at '%.*s'", text->name, needed, shown, text->at);
}

/* descr: byte order, kind and size, such as '<f4'. */
static clayer_status parse_descr(struct text *text, struct npy_header *header)
{
    static const struct {
        char code[3];
        clayer_dtype dtype;
    } types[] = {
        {"f4", CLAYER_DTYPE_F32}, {"f2", CLAYER_DTYPE_F16}, {"f8", CLAYER_DTYPE_F64}, {"i1", CLAYER_DTYPE_I8},
        {"i2", CLAYER_DTYPE_I16}, {"i4", CLAYER_DTYPE_I32}, {"i8", CLAYER_DTYPE_I64}, {"u1", CLAYER_DTYPE_U8},
        {"u2", CLAYER_DTYPE_U16}, {"u4", CLAYER_DTYPE_U32}, {"u8", CLAYER_DTYPE_U64}, {"b1", CLAYER_DTYPE_BOOL},
    };
    static const struct {
        char kind;
        const char *what;
    } refused[] = {
        {'O', "Python objects; convert it with array.astype('float32')"},
        {'c', "complex numbers; save the real and imaginary parts as columns"},
        {'S', "text"},
        {'U', "text"},
        {'a', "text"},
        {'M', "dates"},
        {'m', "time differences"},
        {'V', "records or a type that NumPy has no name for (bfloat16); convert it with array.astype('float32')"},
    };

    skip_spaces(text);
    if (text->at < text->end && *text->at == '[')
        return FAIL(CLAYER_ERROR_UNSUPPORTED,
                    "%s: holds a structured array (descr is a list of fields); save one plain array "
                    "of numbers",
                    text->name);
    const char *descr;
    size_t length;
    if (!take_string(text, &descr, &length))
        return malformed(text, "a type such as '<f4'");
    char order = length > 0 && strchr("<>|=", descr[0]) ? descr[0] : '\0';
    const char *code = descr + (order ? 1 : 0);
    size_t code_length = length - (order ? 1 : 0);
    for (size_t i = 0; i < sizeof types / sizeof *types && code_length == 2; i++) {
        if (memcmp(types[i].code, code, 2) != 0)
            continue;
        header->dtype = types[i].dtype;
        bool big = order == '>' || (order != '<' && HOST_BIG_ENDIAN);
        header->swapped = big != HOST_BIG_ENDIAN;
        return CLAYER_OK;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused && code_length > 0; i++)
        if (refused[i].kind == code[0])
            return FAIL(CLAYER_ERROR_UNSUPPORTED, "%s: has type '%.*s', which is %s", text->name,
                        length > 40 ? 40 : (int)length, descr, refused[i].what);
    return FAIL(CLAYER_ERROR_UNSUPPORTED, "%s: has type '%.*s'; f2, f4, f8, i1 to i8, u1 to u8 and b1 are accepted",
                text->name, length > 40 ? 40 : (int)length, descr);
}

/* shape: a tuple of integers, each with the L that Python 2 wrote or without. */
static clayer_status parse_shape(struct text *text, struct npy_header *header, size_t shape[2])
{
    if (!take(text, '('))
        return malformed(text, "a shape such as (3, 4)");
    header->ndim = 0;
    while (!take(text, ')')) {
        if (text->at == text->end || !is_digit(*text->at))
            return malformed(text, "a size, an integer of 0 or more,");
        const char *start = text->at;
        size_t size = 0;
        bool fits = true;
        for (; text->at < text->end && is_digit(*text->at); text->at++)
            fits = fits && size_mul(size, 10, &size) && size_add(size, (size_t)(*text->at - '0'), &size);
        if (!fits)
            return FAIL(CLAYER_ERROR_FORMAT, "%s: .npy header: shape[%zu] = %.*s does not fit into 64 bits", text->name,
                        header->ndim, (int)(text->at - start > 40 ? 40 : text->at - start), start);
        take(text, 'L');
        if (header->ndim < 2)
            shape[header->ndim] = size;
        header->ndim++;
        bool comma = take(text, ',');
        skip_spaces(text);
        bool closes = text->at < text->end && *text->at == ')';
        if (!comma && (!closes || header->ndim == 1)) { /* (3) is no tuple, 3.0 no integer */
            text->at = start;
            return malformed(text, "integers with ',' between them as shape");
        }
    }
    if (header->ndim == 0)
        return FAIL(CLAYER_ERROR_MISMATCH,
                    "%s: has shape (), a single value; arrays of 1 and 2 dimensions are accepted", text->name);
    if (header->ndim > 2)
        return FAIL(CLAYER_ERROR_MISMATCH,
                    "%s: has a shape of %zu dimensions; 1 and 2 are accepted: "
                    "array.reshape(len(array), -1) makes rows",
                    text->name, header->ndim);
    return CLAYER_OK;
}

static clayer_status parse_dictionary(struct text *text, struct npy_header *header, bool *fortran, size_t shape[2])
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false, false, false};
    if (!take(text, '{'))
        return malformed(text, "'{'");
    while (!take(text, '}')) {
        const char *key;
        size_t length;
        if (!take_string(text, &key, &length))
            return malformed(text, "a key in quotes");
        size_t which = 0;
        while (which < 3 && (strlen(keys[which]) != length || memcmp(keys[which], key, length) != 0))
            which++;
        if (which == 3 || seen[which])
            return FAIL(CLAYER_ERROR_FORMAT,
                        "%s: .npy header: key '%.*s' is %s; descr, fortran_order and shape are "
                        "accepted, once each",
                        text->name, length > 40 ? 40 : (int)length, key, which == 3 ? "unknown" : "there twice");
        seen[which] = true;
        if (!take(text, ':'))
            return malformed(text, "':' after a key");
        if (which == 0) {
            TRY(parse_descr(text, header));
        } else if (which == 2) {
            TRY(parse_shape(text, header, shape));
        } else if (take_word(text, "True")) {
            *fortran = true;
        } else if (take_word(text, "False")) {
            *fortran = false;
        } else {
            return malformed(text, "True or False for fortran_order");
        }
        bool comma = take(text, ',');
        skip_spaces(text);
        if (!comma && (text->at == text->end || *text->at != '}'))
            return malformed(text, "',' or '}'");
    }
    for (size_t i = 0; i < 3; i++)
        if (!seen[i])
            return FAIL(CLAYER_ERROR_FORMAT, "%s: .npy header: key '%s' is missing", text->name, keys[i]);
    skip_spaces(text);
    if (text->at != text->end)
        return malformed(text, "nothing after '}'");
    if (text->end[-1] != '\n')
        return FAIL(CLAYER_ERROR_FORMAT, "%s: .npy header: does not end in a newline", text->name);
    return CLAYER_OK;
}

clayer_status npy_header_parse(const unsigned char *data, size_t size, const char *name, struct npy_header *header)
{
    size_t header_size = 0;
    TRY(npy_header_size(data, size, name, &header_size));
    if (header_size > size)
        return FAIL(CLAYER_ERROR_FORMAT,
                    "%s: .npy header of %zu bytes passes the end of the file, which is %zu bytes "
                    "long",
                    name, header_size, size);

    struct npy_header parsed = {.data_offset = header_size};
    size_t shape[2] = {1, 1};
    bool fortran = false;
    const char *text = (const char *)data + (data[6] == 1 ? 10 : 12);
    TRY(parse_dictionary(&(struct text){text, (const char *)data + header_size, name}, &parsed, &fortran, shape));

    parsed.rows = shape[0];
    parsed.columns = shape[1];
    parsed.column_major = fortran && parsed.rows > 1 && parsed.columns > 1;
    if (!size_mul(parsed.columns, clayer_dtype_size(parsed.dtype), &parsed.row_bytes) ||
        !size_mul(parsed.rows, parsed.row_bytes, &parsed.data_bytes))
        return FAIL(CLAYER_ERROR_FORMAT, "%s: the product of its shape (%zu, %zu) overflows", name, shape[0], shape[1]);
    *header = parsed;
    return CLAYER_OK;
}
