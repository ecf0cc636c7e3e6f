#include "suites.h"
#include "tune.h"

#include <clayer/version.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: clayer-tune [options]\n"
    "Measures which kernels run given layers fastest on a device, and keeps the answers for every clayer program.\n"
    "\n"
    "  --device SEL      which device, as clayer-query lists them, or all (equal ones are tuned once); default:\n"
    "                    CLAYER_DEVICE, or the best one\n"
    "  --shape BxINxOUT  a batch of B rows through Linear(IN, OUT); BxMxNxP...: a chain of layers; repeatable\n"
    "  --suite NAME      transformer, mlp, tabular, odd, square, cold, chain or all; repeatable\n"
    "  --model FILE      the layers of a .safetensors file, for batches of 1, 64 and 1024; repeatable\n"
    "  --activation A    none, relu (default), leaky_relu, relu6, clamp, sigmoid, tanh, gelu, gelu_tanh, silu;\n"
    "                    for --shape and --suite. Cheap ones share records, and so do costly ones\n"
    "  --effort E        quick (default, up to 15 s a shape), normal (up to 90 s) or exhaustive\n"
    "  --time-limit S    ends after S seconds, all shapes together\n"
    "  --refresh         measures known plans anew instead of searching; without shapes: of all records\n"
    "  --json            one JSON object a line on standard output instead of text\n"
    "  --dry-run         shows what would be tried, and why other configurations are not\n"
    "  --show            shows the records for the device, and which are in force\n"
    "  --forget          removes the user's records for the device (with --shape: those of that shape), and lets\n"
    "                    candidates be tried again that hung or took their process down\n"
    "  --export FILE     writes the user's records for the device, or for all, to FILE\n"
    "  --import FILE     merges FILE's records into the user's; better measured ones stay\n"
    "  --header FILE.h   writes them as C source, for an application to ship\n"
    "  -h, --help        prints this\n"
    "  -V, --version     prints the version\n"
    "\n"
    "Ctrl-C ends the run and keeps everything measured; the next run goes on from there. A second one ends it at "
    "once.\n"
    "Without shapes: --shape 128x768x3072.\n"
    "Exit codes: 0 done; 1 something failed; 2 a wrong option; 3 no such device, or it cannot be used; 4 tuned, but\n"
    "the records could not be stored; 5 the time limit came before any shape was done; 130 or 143 ended by Ctrl-C or\n"
    "SIGTERM. docs/tuning.md says more.\n";

static const struct option options[] = {
    {"device", required_argument, NULL, 'd'},
    {"shape", required_argument, NULL, 's'},
    {"suite", required_argument, NULL, 'S'},
    {"model", required_argument, NULL, 'm'},
    {"activation", required_argument, NULL, 'a'},
    {"effort", required_argument, NULL, 'e'},
    {"time-limit", required_argument, NULL, 't'},
    {"refresh", no_argument, NULL, 'r'},
    {"json", no_argument, NULL, 'j'},
    {"dry-run", no_argument, NULL, 'n'},
    {"show", no_argument, NULL, 'w'},
    {"forget", no_argument, NULL, 'f'},
    {"export", required_argument, NULL, 'x'},
    {"import", required_argument, NULL, 'i'},
    {"header", required_argument, NULL, 'H'},
    {"worker", no_argument, NULL, 'W'}, /* the tool's own */
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* Seconds: a decimal number with a point, in every locale. */
static int read_seconds(const char *text, double *seconds)
{
    unsigned long long whole = 0;
    double fraction = 0, unit = 1;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && whole < 1000000000; c++)
        whole = whole * 10 + (unsigned long long)(*c - '0');
    if (c != text && *c == '.')
        for (c++; *c >= '0' && *c <= '9'; c++)
            fraction += (unit /= 10) * (*c - '0');
    *seconds = (double)whole + fraction;
    if (c == text || *c || *seconds <= 0 || *seconds > 1e9)
        return tool_usage("--time-limit '%.40s': use seconds above 0, such as 20 or 1.5", text);
    return 0;
}

static int set_task(struct tune_options *o, enum tune_task task, const char *file)
{
    if (o->task != TASK_TUNE)
        return tool_usage("--dry-run, --show, --forget, --export, --import and --header exclude each other");
    o->task = task;
    o->file = file;
    if (file && !*file)
        return tool_usage("--export, --import and --header need the name of a file");
    return 0;
}

static int add_model(struct tune_options *o, const char *path)
{
    const char **more = realloc(o->models, (o->model_count + 1) * sizeof *more);
    if (!more)
        return tool_failed("no memory");
    o->models = more;
    more[o->model_count++] = path;
    return 0;
}

/* --activation may follow the shapes that it is for, so these are read second. */
static int read_one(struct tune_options *o, int option, bool shapes)
{
    if (shapes != (option == 's' || option == 'S'))
        return 0;
    switch (option) {
    case 'd':
        o->device = optarg;
        return *optarg ? 0 : tool_usage("--device '': name a device; clayer-query lists them");
    case 's':
        return tune_shapes_text(o, optarg);
    case 'S':
        return tune_shapes_suite(o, optarg);
    case 'm':
        return add_model(o, optarg);
    case 'a':
        return clayer_activation_parse(optarg, &o->activation) == CLAYER_OK
                   ? 0
                   : tool_usage("--activation '%.40s': use none, relu, leaky_relu, relu6, clamp, sigmoid, tanh, gelu, "
                                "gelu_tanh or silu",
                                optarg);
    case 'e':
        return clayer_effort_parse(optarg, &o->effort) == CLAYER_OK
                   ? 0
                   : tool_usage("--effort '%.40s': use quick, normal or exhaustive", optarg);
    case 't':
        return read_seconds(optarg, &o->time_limit);
    case 'r':
        o->refresh = true;
        return 0;
    case 'j':
        o->json = true;
        return 0;
    case 'n':
        return set_task(o, TASK_DRY_RUN, NULL);
    case 'w':
        return set_task(o, TASK_SHOW, NULL);
    case 'f':
        return set_task(o, TASK_FORGET, NULL);
    case 'x':
        return set_task(o, TASK_EXPORT, optarg);
    case 'i':
        return set_task(o, TASK_IMPORT, optarg);
    case 'H':
        return set_task(o, TASK_HEADER, optarg);
    case 'W':
        return set_task(o, TASK_WORKER, NULL);
    default:
        return EXIT_CODE_USAGE;
    }
}

/* The options that a task has a use for, by their letters above. Another one tells of a misunderstanding: --forget
 * --shape 1x2x3 --activation gelu would forget the shape's other records, too, and a dry run shows a search to its end,
 * whatever the time, and not what --refresh would do. */
static const struct {
    const char *name, *uses;
} tasks[] = {
    [TASK_TUNE] = {"tuning", "dsSmaetrj"}, [TASK_DRY_RUN] = {"--dry-run", "dsSmaejn"},
    [TASK_SHOW] = {"--show", "djw"},       [TASK_FORGET] = {"--forget", "dsSjf"},
    [TASK_EXPORT] = {"--export", "djx"},   [TASK_IMPORT] = {"--import", "ji"},
    [TASK_HEADER] = {"--header", "djH"},   [TASK_WORKER] = {"--worker", "W"},
};

static int check_used(const struct tune_options *o, const bool given[128])
{
    for (const struct option *option = options; option->name; option++)
        if (given[option->val] && !strchr(tasks[o->task].uses, option->val))
            return tool_usage("%s has no use for --%s: leave it out", tasks[o->task].name, option->name);
    if (given['a'] && !o->shape_count && (o->model_count || o->refresh))
        return tool_usage(
            "--activation is for --shape and --suite: models and records have their own, so leave it out");
    return 0;
}

int tune_options_read(int argc, char **argv, struct tune_options *o)
{
    bool given[128] = {false}; /* by letter */
    *o = (struct tune_options){.activation = CLAYER_ACTIVATION_RELU};
    for (int pass = 0; pass < 2; pass++) {
        optind = 1;
        for (int option; (option = tool_option(argc, argv, options)) != -1;) {
            if (option == 'h') {
                fputs(help, stdout);
                return 0;
            }
            if (option == 'V') {
                printf("clayer-tune %s\n", clayer_version_string());
                return 0;
            }
            given[option] = true;
            const int code = read_one(o, option, pass == 1);
            if (code)
                return code;
        }
    }
    if (optind < argc)
        return tool_usage("'%.80s' is no option; see --help", argv[optind]);
    int code = check_used(o, given);
    if (code == 0 && o->task == TASK_HEADER)
        code = tune_header_name(o->file, o->array);
    return code ? code : -1;
}

void tune_options_free(struct tune_options *o)
{
    free(o->shapes);
    free(o->models);
}
