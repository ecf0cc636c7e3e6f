/* Numbers as text, the same in every locale. */
#ifndef FORMATS_NUMBER_H
#define FORMATS_NUMBER_H

#include <clayer/status.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBER_TEXT = 32 }; /* bytes that the text of a float or an int64_t needs at most, with its final NUL */

/* The C locale as an object of its own, so that the process's locale need not be touched. */
clayer_status number_locale_create(locale_t *locale);

enum number_result { NUMBER_OK, NUMBER_MALFORMED, NUMBER_TOO_LARGE };

/* [+-] digits with an optional point and exponent, or nan, inf, infinity; the whole text. Rounded to nearest. */
enum number_result number_parse_f32(const char *text, locale_t c_locale, float *value);

/* [+-] digits, or a decimal number as above with a whole value of at most 2^53 (numpy.savetxt writes labels so). */
enum number_result number_parse_i64(const char *text, locale_t c_locale, int64_t *value);

/* Writes the shortest of 6 to 9 significant digits that reads back as value. The calling thread's locale must be the C
 * locale (uselocale). Returns the length. */
size_t number_print_f32(float value, locale_t c_locale, char text[NUMBER_TEXT]);

#endif
