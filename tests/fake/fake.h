/* The fake OpenCL driver's remote control, for tests (README.md tells what it can do).
 *
 * The driver is a shared library that the OpenCL loader opens; these functions are exported by it. A test reaches them
 * through fake_reach() below on the library that is already loaded, so that test and loader share one copy.
 * All functions are thread-safe. */
#ifndef FAKE_H
#define FAKE_H

#include <dlfcn.h>

/* Adds rules (the grammar of CLAYER_FAKE_RULES); each counts its calls from now on. 0, or -1 for a rule that cannot be
 * read: then none of the text's rules is added, and the reason is on stderr. */
typedef int fake_set_function(const char *rules);
/* Adds query overrides (the grammar of CLAYER_FAKE_INFO). 0, or -1 with the reason on stderr: then those before the
 * mistake are in force. */
typedef int fake_info_function(const char *overrides);
/* Chooses the hostile strings (the words of CLAYER_FAKE_STRINGS; "" or NULL for none). 0, or -1. */
typedef int fake_strings_function(const char *word);
/* Drops all rules, overrides and hostile strings, those of the environment too, revives a dead device, and sets the
 * call counts and the misuse count to 0. Objects and their balance stay. */
typedef void fake_reset_function(void);
/* Calls of one function (or a pattern, "clEnqueue*", "*") since the last reset, failed ones included. */
typedef long fake_count_function(const char *function);
/* References that the application still holds: creates + retains - releases. kind is "context", "queue", "mem",
 * "sampler", "program", "kernel", "event", "device" (sub-devices) or "*". -1 for an unknown kind. */
typedef long fake_live_function(const char *kind);
/* Creates of one kind (or "*") since the last reset. */
typedef long fake_created_function(const char *kind);
/* Handles that were used after their last release, released too often, or never came from the driver. */
typedef long fake_misuses_function(void);
/* The function that last failed, or answered nonsense, by a rule since the last reset, "" if none did. */
typedef const char *fake_failed_function(void);

struct fake_control {
    void *library; /* NULL: the loader has not opened the driver */
    fake_set_function *set;
    fake_info_function *info;
    fake_strings_function *strings;
    fake_reset_function *reset;
    fake_count_function *count;
    fake_live_function *live;
    fake_created_function *created;
    fake_misuses_function *misuses;
    fake_failed_function *failed;
};

/* path: of libclayer-fake.so, as the .icd file names it. Call it after the first OpenCL call. */
static inline struct fake_control fake_reach(const char *path)
{
    struct fake_control control = {dlopen(path, RTLD_NOW | RTLD_NOLOAD), 0, 0, 0, 0, 0, 0, 0, 0, 0};
    if (control.library) {
        control.set = (fake_set_function *)dlsym(control.library, "fake_set");
        control.info = (fake_info_function *)dlsym(control.library, "fake_info");
        control.strings = (fake_strings_function *)dlsym(control.library, "fake_strings");
        control.reset = (fake_reset_function *)dlsym(control.library, "fake_reset");
        control.count = (fake_count_function *)dlsym(control.library, "fake_count");
        control.live = (fake_live_function *)dlsym(control.library, "fake_live");
        control.created = (fake_created_function *)dlsym(control.library, "fake_created");
        control.misuses = (fake_misuses_function *)dlsym(control.library, "fake_misuses");
        control.failed = (fake_failed_function *)dlsym(control.library, "fake_failed");
    }
    return control;
}

#endif
