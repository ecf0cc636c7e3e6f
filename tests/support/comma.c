/* Preloaded into a program, this makes it an application that has set its locale, as GTK and Qt applications do. Where
 * that does not bring the decimal comma the program ends with 66: the test would prove nothing. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((constructor)) static void set_locale(void)
{
    if (getenv("CLAYER_TEST_COMMA") && (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ",") != 0))
        _exit(66);
}
