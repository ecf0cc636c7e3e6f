#include "run.h"

#include <clayer/version.h>
#include <string.h>
#include <strings.h>

/* Sharding by an array job needs few; a limit keeps products far from overflow. */
#define MOST_SHARDS 1000000
#define MOST_BATCH 16777216

static const char help[] =
    "usage: clayer-run MODEL --input FILE [options]\n"
    "Runs a chain of linear layers, stored as safetensors, over the rows of a table.\n"
    "\n"
    "  --input FILE         rows of in_features numbers: .npy or CSV; - reads standard input\n"
    "  --input-format F     npy or csv; default: told by the content\n"
    "  --output FILE        writes the results, a row for each input row: .npy or CSV; - is standard output\n"
    "  --output-format F    npy or csv; default: by the name's end, csv for -\n"
    "  --labels FILE        the right class of each row; counts how often the largest output is there\n"
    "  --reference FILE     expected results; reports the largest absolute difference\n"
    "  --softmax            turns each row into probabilities\n"
    "  --argmax             results are the column of each row's largest value; without --output on standard output\n"
    "  --layers A,B,...     names of the layers in order, where the file does not tell\n"
    "  --activations A,...  one for each layer, or for each but the last, or one for all but the last: none, relu,\n"
    "                       leaky_relu, relu6, sigmoid, tanh, gelu, gelu_tanh, silu\n"
    "  --batch N            rows computed at once, and the size that plans are chosen for\n"
    "  --shard I/N          only the I-th (from 1) of N nearly equal ranges of rows\n"
    "  --device SELECTOR    as clayer-query lists them; default: CLAYER_DEVICE, or the best one\n"
    "  --plan PLAN          forces a kernel family, as CLAYER_PLAN does: portable, panel, clblast, host, ...\n"
    "  --profile            adds each layer's own time, FLOP/s and bytes/s\n"
    "  --json               prints the report as JSON (schema clayer-run/1)\n"
    "  -h, --help           prints this\n"
    "  -V, --version        prints the version\n"
    "\n"
    "The report goes to standard output, or to standard error when the results go to standard output. Ctrl-C ends the\n"
    "run: an output file is then not written; standard output holds whole rows up to that point.\n"
    "Exit codes: 0 done; 1 something failed; 2 a wrong option or argument; 3 no such device, or it cannot be used;\n"
    "130 or 143 ended by Ctrl-C or SIGTERM. docs/clayer-run.md says more.\n";

static const struct option options[] = {
    {"input", required_argument, NULL, 'i'},
    {"input-format", required_argument, NULL, 'I'},
    {"output", required_argument, NULL, 'o'},
    {"output-format", required_argument, NULL, 'O'},
    {"labels", required_argument, NULL, 'l'},
    {"reference", required_argument, NULL, 'r'},
    {"softmax", no_argument, NULL, 's'},
    {"argmax", no_argument, NULL, 'a'},
    {"layers", required_argument, NULL, 'L'},
    {"activations", required_argument, NULL, 'A'},
    {"batch", required_argument, NULL, 'b'},
    {"shard", required_argument, NULL, 'S'},
    {"device", required_argument, NULL, 'd'},
    {"plan", required_argument, NULL, 'p'},
    {"profile", no_argument, NULL, 'P'},
    {"json", no_argument, NULL, 'j'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

static int read_format(const char *option, const char *text, clayer_rows_format *format)
{
    if (strcmp(text, "npy") == 0)
        *format = CLAYER_ROWS_NPY;
    else if (strcmp(text, "csv") == 0)
        *format = CLAYER_ROWS_CSV;
    else
        return tool_usage("%s '%.40s': use npy or csv", option, text);
    return 0;
}

static int read_shard(const char *text, struct run_options *o)
{
    char part[24];
    const size_t length = strcspn(text, "/");
    if (text[length] != '/' || length == 0 || length >= sizeof part || !text[length + 1])
        return tool_usage("--shard '%.40s': use I/N, such as 2/4 for the second of four parts", text);
    memcpy(part, text, length);
    part[length] = '\0';
    const int code = tool_size("--shard, after the slash:", text + length + 1, 1, MOST_SHARDS, &o->shards);
    return code ? code : tool_size("--shard, before the slash:", part, 1, o->shards, &o->shard);
}

/* As the library tells a format by its name, known before anything is loaded. */
static bool ends_in(const char *text, const char *end)
{
    const size_t length = strlen(text), n = strlen(end);
    return length >= n && strcasecmp(text + length - n, end) == 0;
}

/* What one option needs of another, and defaults that follow from others. */
static int complete(struct run_options *o)
{
    if (!o->input)
        return tool_usage("--input is missing: name a .npy or CSV file, or - for standard input");
    if (o->softmax && o->argmax)
        return tool_usage("--softmax and --argmax exclude each other: softmax does not move the largest value");
    if (o->argmax && !o->output)
        o->output = "-";
    if (o->output_format != CLAYER_ROWS_AUTO && !o->output)
        return tool_usage("--output-format needs --output");
    if (o->output && strcmp(o->output, "-") == 0 && o->output_format == CLAYER_ROWS_AUTO)
        o->output_format = CLAYER_ROWS_CSV;
    if (o->output && o->output_format == CLAYER_ROWS_AUTO && !ends_in(o->output, ".npy") && !ends_in(o->output, ".csv"))
        return tool_usage("--output '%.200s': end the name in .npy or .csv, or say --output-format", o->output);
    const char *const tables[] = {o->input, o->labels, o->reference};
    int from_stdin = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        from_stdin += tables[i] && strcmp(tables[i], "-") == 0;
    if (from_stdin > 1)
        return tool_usage("standard input (-) can be only one of --input, --labels and --reference");
    return -1;
}

int run_options_read(int argc, char **argv, struct run_options *o)
{
    *o = (struct run_options){.shard = 1, .shards = 1};
    for (int option; (option = tool_option(argc, argv, options)) != -1;) {
        int code = 0;
        switch (option) {
        case 'h':
            fputs(help, stdout);
            return tool_finish(0);
        case 'V':
            printf("clayer-run %s\n", clayer_version_string());
            return tool_finish(0);
        case 'i':
            o->input = optarg;
            break;
        case 'I':
            code = read_format("--input-format", optarg, &o->input_format);
            break;
        case 'o':
            o->output = optarg;
            break;
        case 'O':
            code = read_format("--output-format", optarg, &o->output_format);
            break;
        case 'l':
            o->labels = optarg;
            break;
        case 'r':
            o->reference = optarg;
            break;
        case 's':
            o->softmax = true;
            break;
        case 'a':
            o->argmax = true;
            break;
        case 'L':
            o->layers = optarg;
            break;
        case 'A':
            o->activations = optarg;
            break;
        case 'b':
            code = tool_size("--batch", optarg, 1, MOST_BATCH, &o->batch);
            break;
        case 'S':
            code = read_shard(optarg, o);
            break;
        case 'd':
            o->device = optarg;
            break;
        case 'p':
            o->plan = optarg;
            break;
        case 'P':
            o->profile = true;
            break;
        case 'j':
            o->json = true;
            break;
        default:
            return EXIT_CODE_USAGE;
        }
        if (code)
            return code;
    }
    if (optind == argc)
        return tool_usage("MODEL is missing: name a .safetensors file; see --help");
    if (optind + 1 < argc)
        return tool_usage("'%.80s' is one argument too many: one MODEL is accepted", argv[optind + 1]);
    o->model = argv[optind];
    return complete(o);
}
