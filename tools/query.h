/* clayer-query's parts. The parent never loads an OpenCL driver: children do, and report as lines of JSON. */
#ifndef TOOLS_QUERY_H
#define TOOLS_QUERY_H

#include <clayer/device.h>
#include <jansson.h>
#include <stdbool.h>

/* One driver as the loader will find it. */
struct driver {
    char file[512];    /* the .icd file; "" when OCL_ICD_VENDORS names a library itself */
    char library[512]; /* what it names */
    char status[32]; /* "ok", "unreadable", "empty", "missing", "aborted", "crashed", "hung", "exited", "no-platform" */
    char reason[512];     /* one sentence; "" for "ok" */
    char vendors_dir[96]; /* a directory with this driver alone, for its child */
    bool listed;          /* its list is complete: it may be loaded beside others */
    json_t *devices;      /* array: as the child saw them, with its trial's outcome */
    json_t *platforms;    /* array */
};

struct driver_list {
    struct driver *drivers;
    size_t count;
    char place[512];  /* the directory or file that was looked at */
    char reason[256]; /* why nothing could be read there, or "" */
};

struct query {
    const char *selector; /* --device, or NULL */
    bool json, all, explain;
    struct driver_list list;
    json_t *opencl;      /* {"status", "detail"} */
    json_t *platforms;   /* array */
    json_t *devices;     /* array in the order of printing: usable, unusable, host */
    json_t *selected;    /* {"selector", "id", "index", "automatic"} or {"selector", "error"} */
    json_t *explanation; /* with --explain: see explain_device */
    json_t *hints;       /* array of strings */
};

/* query_device.c: one device as JSON, every field of clayer_device_info; unknown values are null. */
json_t *device_to_json(const clayer_device_info *info);
/* A text as JSON, null when it is empty; never NULL, whatever bytes it has. */
json_t *text_or_null(const char *text);
json_t *platform_to_json(const clayer_platform_info *info);
/* Prints "field: value" lines of a device's JSON. */
void print_device_fields(const json_t *device);

/* query_child.c: the child's whole life: loads OpenCL, prints events on the descriptor it was given. */
enum child_task {
    CHILD_TRY,  /* list, and try every device out */
    CHILD_LIST, /* list and select only */
    CHILD_BOTH  /* list, try and select */
};
int child_main(enum child_task task, const char *library, const char *selector, bool properties, bool explain);

/* query_explain.c, in the child: {"plans": array or why there are none, "clblast": "available" or why not}. */
json_t *explain_device(const char *selector);

/* query_probe.c: runs children side by side, each with its own view of the drivers, and reads their events. */
struct child {
    /* Asked for. */
    const char *vendors; /* OCL_ICD_VENDORS, or NULL for the environment as it is */
    const char *library; /* a library to open by itself first, so that its own error is known; or NULL */
    enum child_task task;
    const char *selector;
    bool properties;
    bool explain;
    /* Learned. */
    json_t *devices, *platforms, *selected, *opencl, *explanation;
    bool listed;     /* the list of devices is complete */
    bool finished;   /* everything asked for is */
    char trying[80]; /* id of the device being tried out when it ended */
    char status[32]; /* "ok", or how it ended: "aborted", "crashed", "hung", "exited", "missing" */
    char reason[512];
    char last_words[256]; /* the last line that the driver wrote on stderr */
};
void run_children(struct child *children, size_t count);
void release_child(struct child *child);

/* query_drivers.c: which drivers the loader will find, and a private directory to show them one by one. */
void find_drivers(struct driver_list *list);
void release_drivers(struct driver_list *list);
/* Makes vendors_dir of every readable driver below a fresh temporary directory; false when there is no place for one.
 */
bool make_views(struct driver_list *list, char *root, size_t root_size);
/* Adds one driver to the view that holds all good ones. */
void add_to_view(const char *root, const struct driver *driver);
void remove_views(const char *root, const struct driver_list *list);

/* query_hints.c: what a user can do when something is missing. */
void add_hints(struct query *query);

/* query_cache.c: the cache of compiled programs; keep is --cache-prune's value or NULL. Returns the exit code. */
enum cache_task { CACHE_NONE, CACHE_SHOW, CACHE_VERIFY, CACHE_PRUNE };
int cache_main(enum cache_task task, bool json, const char *keep);

/* query_print.c: for people. */
void print_query(const struct query *query);

#endif
