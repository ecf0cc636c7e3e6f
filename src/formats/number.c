#include "formats/number.h"

#include "base/error.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

clayer_status number_locale_create(locale_t *locale)
{
    *locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (*locale == (locale_t)0)
        return FAIL(CLAYER_ERROR_OUT_OF_MEMORY, "no memory for the C locale");
    return CLAYER_OK;
}

static const char *skip_digits(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* Whether text is a decimal number and nothing else. strtof alone would take hexadecimal, spaces before and text after
 * it. */
static bool is_decimal(const char *text)
{
    const char *digits = text, *end = skip_digits(digits);
    bool some = end > digits;
    if (*end == '.') {
        digits = end + 1;
        end = skip_digits(digits);
        some = some || end > digits;
    }
    if (!some)
        return false;
    if (*end == 'e' || *end == 'E') {
        digits = end + 1 + (end[1] == '+' || end[1] == '-');
        end = skip_digits(digits);
        if (end == digits)
            return false;
    }
    return *end == '\0';
}

enum number_result number_parse_f32(const char *text, locale_t c_locale, float *value)
{
    bool negative = *text == '-';
    const char *magnitude = text + (*text == '-' || *text == '+');
    if (is_decimal(magnitude)) {
        float parsed = strtof_l(text, NULL, c_locale);
        if (isinf(parsed))
            return NUMBER_TOO_LARGE;
        *value = parsed;
        return NUMBER_OK;
    }
    if (text_equal(magnitude, "nan"))
        *value = negative ? -NAN : NAN;
    else if (text_equal(magnitude, "inf") || text_equal(magnitude, "infinity"))
        *value = negative ? -INFINITY : INFINITY;
    else
        return NUMBER_MALFORMED;
    return NUMBER_OK;
}

enum number_result number_parse_i64(const char *text, locale_t c_locale, int64_t *value)
{
    const char *magnitude = text + (*text == '-' || *text == '+'), *end = skip_digits(magnitude);
    if (end > magnitude && *end == '\0') {
        errno = 0;
        long long parsed = strtoll(text, NULL, 10); /* digits only, so the locale has no say */
        *value = parsed;
        return errno == ERANGE ? NUMBER_TOO_LARGE : NUMBER_OK;
    }
    if (!is_decimal(magnitude))
        return NUMBER_MALFORMED;
    double parsed = strtod_l(text, NULL, c_locale);
    if (!(fabs(parsed) <= 0x1p53))
        return NUMBER_TOO_LARGE;
    if (parsed != floor(parsed))
        return NUMBER_MALFORMED;
    *value = (int64_t)parsed;
    return NUMBER_OK;
}

size_t number_print_f32(float value, locale_t c_locale, char text[NUMBER_TEXT])
{
    if (isnan(value))
        return (size_t)snprintf(text, NUMBER_TEXT, "nan");
    int length = 0;
    for (int digits = 6; digits <= 9; digits++) {
        length = snprintf(text, NUMBER_TEXT, "%.*g", digits, (double)value);
        if (digits == 9 || strtof_l(text, NULL, c_locale) == value)
            break;
    }
    return (size_t)length;
}
