/* Any text as a device selector: it names one device, or is refused with the choices. */
#include <clayer/device.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[4096];
    clayer_device_info info;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const clayer_status status = clayer_device_select(text, &info);
    if (status == CLAYER_OK) {
        size_t count = 0;
        if (clayer_device_count(&count) != CLAYER_OK || info.index < 0 || (size_t)info.index >= count)
            abort();
    } else if ((status != CLAYER_ERROR_NO_DEVICE && status != CLAYER_ERROR_DEVICE_UNUSABLE) || !*clayer_last_error() ||
               strlen(clayer_last_error()) > 1023) {
        abort();
    }
    return 0;
}
