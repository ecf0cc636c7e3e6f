/* Answers of clGet*Info: overrides by name, hostile strings, and what the standalone driver says. */
#include "driver.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "info_names.h"

enum info_type { U32, U64, SIZE, TEXT, BYTES, SIZE_LIST, U32_LIST };

struct info_name {
    const char *name;
    cl_uint query;
    enum info_type type;
};

static const struct info_name info_names[] = {
#define X(name, type) {#name, name, type},
    FAKE_PLATFORM_INFO(X) FAKE_DEVICE_INFO(X) FAKE_EXTENSION_INFO(X) FAKE_KERNEL_INFO(X)
#undef X
};

struct override {
    struct override *next;
    cl_uint query;
    int device; /* -1: of every device */
    bool fails;
    cl_int code;
    size_t length;
    unsigned char bytes[];
};

/* The standalone driver's device, where a zero of the right length would not do. */
static const struct {
    cl_uint query;
    const char *value;
} standalone_info[] = {
    {CL_PLATFORM_PROFILE, "FULL_PROFILE"},
    {CL_PLATFORM_VERSION, "OpenCL 1.2 fake"},
    {CL_PLATFORM_NAME, "Fake platform"},
    {CL_PLATFORM_VENDOR, "clayer's tests"},
    {CL_PLATFORM_EXTENSIONS, "cl_khr_icd"},
    {CL_PLATFORM_ICD_SUFFIX_KHR, "FAKE"},
    {CL_DEVICE_TYPE, "gpu"},
    {CL_DEVICE_NAME, "Fake device"},
    {CL_DEVICE_VENDOR, "clayer's tests"},
    {CL_DRIVER_VERSION, "1.0"},
    {CL_DEVICE_VERSION, "OpenCL 1.2 fake"},
    {CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 fake"},
    {CL_DEVICE_PROFILE, "FULL_PROFILE"},
    {CL_DEVICE_MAX_COMPUTE_UNITS, "4"},
    {CL_DEVICE_MAX_CLOCK_FREQUENCY, "1000"},
    {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, "3"},
    {CL_DEVICE_MAX_WORK_GROUP_SIZE, "256"},
    {CL_DEVICE_MAX_WORK_ITEM_SIZES, "256/256/64"},
    {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, "1"},
    {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, "1"},
    {CL_DEVICE_ADDRESS_BITS, "64"},
    {CL_DEVICE_MAX_MEM_ALLOC_SIZE, "0x10000000"},
    {CL_DEVICE_GLOBAL_MEM_SIZE, "0x40000000"},
    {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, "2"},
    {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "64"},
    {CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, "0x80000"},
    {CL_DEVICE_MEM_BASE_ADDR_ALIGN, "1024"},
    {CL_DEVICE_MAX_PARAMETER_SIZE, "1024"},
    {CL_DEVICE_SINGLE_FP_CONFIG, "0x3f"},
    {CL_DEVICE_LOCAL_MEM_TYPE, "1"},
    {CL_DEVICE_LOCAL_MEM_SIZE, "32768"},
    {CL_DEVICE_PROFILING_TIMER_RESOLUTION, "1"},
    {CL_DEVICE_ENDIAN_LITTLE, "1"},
    {CL_DEVICE_AVAILABLE, "1"},
    {CL_DEVICE_EXECUTION_CAPABILITIES, "1"},
    {CL_DEVICE_QUEUE_PROPERTIES, "2"},
};

/* What CLAYER_FAKE_STRINGS makes of names, vendors, versions and extensions. */
static const struct {
    const char *word;
    const char *text;
    bool terminated;
} hostile_strings[] = {
    {"empty", "", true},
    {"size0", "", false},
    {"unterminated", "no end", false},
    {"64k", NULL, true},
    {"percent", "%s%n%s%s%100000d", true},
    {"control", "bell\a back\b esc\x1b[2J line\r\nfeed\ttab\x01\x7f", true},
    {"utf8bad", "\xff\xfe \xc0\x80 \xe2\x28\xa1 \xed\xa0\x80 end\xe2\x82", true},
};
enum { HOSTILE_COUNT = sizeof hostile_strings / sizeof *hostile_strings, HOSTILE_64K = 64 * 1024 };

static struct override *overrides;
static int hostile = -1;

/* ---- reading values ---- */

static const struct info_name *name_of(cl_uint query)
{
    for (size_t i = 0; i < sizeof info_names / sizeof *info_names; i++)
        if (info_names[i].query == query)
            return &info_names[i];
    return NULL;
}

static bool read_number(const char *text, char **end, uint64_t *value)
{
    static const struct {
        const char *word;
        cl_device_type type;
    } types[] = {{"gpu", CL_DEVICE_TYPE_GPU},
                 {"cpu", CL_DEVICE_TYPE_CPU},
                 {"accelerator", CL_DEVICE_TYPE_ACCELERATOR},
                 {"custom", CL_DEVICE_TYPE_CUSTOM},
                 {"all", 0xf}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(text, types[i].word)) {
            *value = types[i].type;
            *end = (char *)text + strlen(text);
            return true;
        }
    *value = strtoull(text, end, 0);
    return *end != text;
}

/* Turns the text of a value into the bytes of its type; bytes holds strlen(text) * 8 + 8. False: it cannot be read. */
static bool read_value(enum info_type type, const char *text, unsigned char *bytes, size_t *length)
{
    *length = 0;
    if (type == TEXT) {
        *length = strlen(text) + 1;
        memcpy(bytes, text, *length);
        return true;
    }
    if (type == BYTES) {
        unsigned int byte;
        for (; isxdigit((unsigned char)text[0]) && isxdigit((unsigned char)text[1]); text += 2) {
            sscanf(text, "%2x", &byte);
            bytes[(*length)++] = (unsigned char)byte;
        }
        return *text == 0;
    }
    bool list = type == SIZE_LIST || type == U32_LIST;
    for (;;) {
        char *end;
        uint64_t wide;
        if (!read_number(text, &end, &wide))
            return false;
        uint32_t narrow = (uint32_t)wide;
        size_t machine = (size_t)wide;
        bool is_narrow = type == U32 || type == U32_LIST, is_machine = type == SIZE || type == SIZE_LIST;
        size_t width = is_narrow ? sizeof narrow : is_machine ? sizeof machine : sizeof wide;
        memcpy(bytes + *length, is_narrow ? (void *)&narrow : is_machine ? (void *)&machine : (void *)&wide, width);
        *length += width;
        if (!*end)
            return true;
        if (*end != '/' || !list)
            return false;
        text = end + 1;
    }
}

/* [DEVICE:]NAME=VALUE, or =! or =!CODE for a query that fails. NULL if it cannot be read. */
static struct override *read_override(char *text)
{
    char *equals = strchr(text, '='), *colon = strchr(text, ':');
    if (!equals)
        return NULL;
    *equals = 0;
    const char *value = equals + 1, *name = text;
    int device = -1;
    if (colon && colon < equals) {
        device = atoi(text);
        name = colon + 1;
    }
    for (size_t i = 0; i < sizeof info_names / sizeof *info_names; i++) {
        if (strcmp(name, info_names[i].name))
            continue;
        struct override *override = fake_allocate(sizeof *override + strlen(value) * 8 + 8);
        override->query = info_names[i].query;
        override->device = device;
        override->fails = *value == '!';
        if (override->fails)
            override->code = value[1] ? atoi(value + 1) : CL_INVALID_VALUE;
        if (override->fails || read_value(info_names[i].type, value, override->bytes, &override->length))
            return override;
        free(override);
        return NULL;
    }
    return NULL;
}

/* The end of one override: a comma only where another name (or DEVICE:NAME) follows, so that values may hold commas. */
static char *override_end(char *text)
{
    for (; *text; text++) {
        const char *next = text + 1 + strspn(text + 1, " 0123456789:");
        if (*text == ',' && (!strncmp(next, "CL_", 3) || !*next))
            break;
    }
    return text;
}

FAKE_EXPORT fake_info_function fake_info;
FAKE_EXPORT int fake_info(const char *text)
{
    char *copy = fake_copy(text), *at = copy;
    int status = 0;
    while (*(at += strspn(at, " ,"))) {
        char *end = override_end(at);
        bool last = !*end;
        *end = 0;
        char *whole = fake_copy(at);
        struct override *override = read_override(at);
        if (!override)
            fake_complain("cannot read the override \"%s\" (tests/fake/README.md has the grammar)", whole);
        free(whole);
        if (!override) {
            status = -1;
            break;
        }
        /* In front: a later override wins. */
        pthread_mutex_lock(&fake_mutex);
        override->next = overrides;
        overrides = override;
        pthread_mutex_unlock(&fake_mutex);
        if (last)
            break;
        at = end + 1;
    }
    free(copy);
    return status;
}

FAKE_EXPORT fake_strings_function fake_strings;
FAKE_EXPORT int fake_strings(const char *word)
{
    int chosen = -1;
    for (int i = 0; i < HOSTILE_COUNT; i++)
        if (word && !strcmp(word, hostile_strings[i].word))
            chosen = i;
    if (word && *word && chosen < 0) {
        fake_complain("\"%s\" is no kind of hostile string", word);
        return -1;
    }
    pthread_mutex_lock(&fake_mutex);
    hostile = chosen;
    pthread_mutex_unlock(&fake_mutex);
    return 0;
}

void info_from_environment(void)
{
    const char *text = getenv("CLAYER_FAKE_INFO"), *word = getenv("CLAYER_FAKE_STRINGS");
    if ((text && fake_info(text)) || fake_strings(word))
        abort();
}

void info_reset(void)
{
    pthread_mutex_lock(&fake_mutex);
    struct override *old = overrides;
    overrides = NULL;
    hostile = -1;
    pthread_mutex_unlock(&fake_mutex);
    while (old) {
        struct override *next = old->next;
        free(old);
        old = next;
    }
}

/* ---- answering ---- */

cl_int info_give(const void *bytes, size_t length, size_t size, void *value, size_t *size_ret)
{
    if (value && size < length)
        return CL_INVALID_VALUE;
    if (value && length)
        memcpy(value, bytes, length);
    if (size_ret)
        *size_ret = length;
    return CL_SUCCESS;
}

/* The loader itself reads the platform's extensions and its suffix: hostile ones would hide the driver. */
static bool may_be_hostile(cl_uint query)
{
    switch (query) {
    case CL_PLATFORM_NAME:
    case CL_PLATFORM_VENDOR:
    case CL_PLATFORM_VERSION:
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
    case CL_DEVICE_VERSION:
    case CL_DEVICE_OPENCL_C_VERSION:
    case CL_DEVICE_EXTENSIONS:
    case CL_DRIVER_VERSION:
        return true;
    default:
        return false;
    }
}

bool info_override(cl_uint query, int device, size_t size, void *value, size_t *size_ret, cl_int *code)
{
    bool answered = false;
    pthread_mutex_lock(&fake_mutex);
    for (struct override *override = overrides; override && !answered; override = override->next)
        if (override->query == query && (override->device < 0 || override->device == device)) {
            *code =
                override->fails ? override->code : info_give(override->bytes, override->length, size, value, size_ret);
            answered = true;
        }
    int kind = hostile;
    pthread_mutex_unlock(&fake_mutex);
    if (answered || kind < 0 || !may_be_hostile(query))
        return answered;

    if (hostile_strings[kind].text) {
        size_t length = strlen(hostile_strings[kind].text) + hostile_strings[kind].terminated;
        *code = info_give(hostile_strings[kind].text, length, size, value, size_ret);
    } else {
        char *text = fake_allocate(HOSTILE_64K + 1);
        memset(text, 'x', HOSTILE_64K);
        *code = info_give(text, HOSTILE_64K + 1, size, value, size_ret);
        free(text);
    }
    return true;
}

cl_int info_standalone(cl_uint query, size_t size, void *value, size_t *size_ret)
{
    const struct info_name *name = name_of(query);
    if (!name || query > CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT) /* the last of OpenCL 1.2's */
        return CL_INVALID_VALUE;
    unsigned char bytes[1024] = {0};
    size_t length = name->type == U32 ? 4 : name->type == TEXT ? 1 : name->type == SIZE ? sizeof(size_t) : 8;
    for (size_t i = 0; i < sizeof standalone_info / sizeof *standalone_info; i++)
        if (standalone_info[i].query == query)
            read_value(name->type, standalone_info[i].value, bytes, &length);
    return info_give(bytes, length, size, value, size_ret);
}

cl_int info_scrub(const struct effect *effect, cl_int code, size_t size, void *value, const size_t *size_ret)
{
    if (effect->nonsense && code == CL_SUCCESS && value)
        memset(value, effect->fill, size_ret && *size_ret < size ? *size_ret : size);
    return code;
}
