/* Any text as a forced plan: what is accepted has only accepted values, and is the same when printed and read again. */
#include "plan/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096], printed[FAMILY_MAX_TEXT];
    struct plan_request request;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (plan_parse(text, &request) != CLAYER_OK) {
        if (!*clayer_last_error())
            abort();
        return 0;
    }
    if (!request.family)
        return 0;
    struct configuration first = {{0}}, again = {{0}};
    for (int i = 0; i < request.family->parameter_count; i++)
        first.value[i] = again.value[i] = request.family->parameters[i].values[0];
    if (family_parse(request.family, request.configuration, &first) != CLAYER_OK)
        abort();
    family_print(request.family, &first, printed, sizeof printed);
    if (family_parse(request.family, printed, &again) != CLAYER_OK || memcmp(&first, &again, sizeof first) != 0)
        abort();
    return 0;
}
