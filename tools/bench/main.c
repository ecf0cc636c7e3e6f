/* clayer-bench: the fused layer against other libraries, side by side, and against what the device can do. */
#include "bench/bench.h"
#include "bench/roofline.h"
#include "common.h"

#include <clayer/safetensors.h>
#include <clayer/version.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: clayer-bench [options]\n"
    "Times the fused linear layer y = act(x . W^T + b) against other libraries, each in a process of its own, in "
    "turn.\n"
    "\n"
    "  --shape BxIxO          a layer: batch, in_features, out_features; repeatable. BxIxHx...xO is a chain of layers\n"
    "  --suite NAME           transformer, mlp, tabular, odd, square, cold, chain or all; repeatable\n"
    "  --model FILE           the layers of a .safetensors file, at the batches of --batch\n"
    "  --batch B,...          batches for --model; default 1,128\n"
    "  --activation NAME      none, relu, leaky_relu, relu6, clamp, sigmoid, tanh, gelu, gelu_tanh or silu; default "
    "relu\n"
    "  --device SELECTOR      as clayer-query lists them; default: CLAYER_DEVICE, or the best one\n"
    "  --peers A,...          clayer, clblast, onednn, onednn1 (one thread), openblas; default: all that were built\n"
    "  --rounds N             samples of each peer, taken in turn; default 5\n"
    "  --time-limit S         ends after S seconds with what was measured by then\n"
    "  --cold                 weights from memory: several copies, taken in turn, larger than the last-level cache\n"
    "  --no-roofline          does not measure what the device can do, which takes some seconds\n"
    "  --clblast-tuned PATH   lets CLBlast use the results of its own tuners: their JSON file, or a folder of them\n"
    "  --json FILE            writes the results as JSON (schema clayer-bench/1)\n"
    "  --report FILE.html     writes a page with charts\n"
    "  -h, --help             prints this\n"
    "  -V, --version          prints the version\n"
    "\n"
    "Without --shape, --suite and --model: --shape 128x768x3072.\n"
    "Exit codes: 0 all results that were computed are right; 1 something failed, or a result was wrong; 2 a wrong "
    "option\n"
    "or argument; 3 no such device, or it cannot be used. docs/benchmarks.md explains the figures.\n";

static const struct option long_options[] = {
    {"shape", required_argument, NULL, 's'},
    {"suite", required_argument, NULL, 'S'},
    {"model", required_argument, NULL, 'm'},
    {"batch", required_argument, NULL, 'b'},
    {"activation", required_argument, NULL, 'a'},
    {"device", required_argument, NULL, 'd'},
    {"peers", required_argument, NULL, 'p'},
    {"rounds", required_argument, NULL, 'r'},
    {"time-limit", required_argument, NULL, 't'},
    {"cold", no_argument, NULL, 'c'},
    {"no-roofline", no_argument, NULL, 'n'},
    {"clblast-tuned", required_argument, NULL, 'u'},
    {"json", required_argument, NULL, 'j'},
    {"report", required_argument, NULL, 'R'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

/* --peers a,b: clayer takes part whether named or not, since the ratios are to it. */
static int read_peers(const char *text, struct options *options)
{
    memset(options->peer, 0, sizeof options->peer);
    options->peer[PEER_CLAYER] = options->peers_given = true;
    while (*text) {
        size_t length = strcspn(text, ",");
        enum peer_id peer = 0;
        while (peer < PEER_COUNT && (strlen(peer_name(peer)) != length || strncmp(text, peer_name(peer), length)))
            peer++;
        if (peer == PEER_COUNT)
            return tool_usage("--peers '%.*s': use clayer, clblast, onednn, onednn1 or openblas, with commas between",
                              (int)length, text);
        options->peer[peer] = true;
        text += length + (text[length] == ',');
    }
    return 0;
}

static int add_shape(const char *text, clayer_activation activation, bool cold, struct options *options)
{
    char error[256];
    struct shape shape = {.activation = activation, .cold = cold};
    if (!shape_parse(text, &shape, error, sizeof error))
        return tool_usage("--shape %s", error);
    double largest = 0; /* in one array */
    for (size_t l = 0; l <= shape.layers; l++) {
        double weights = l > 0 ? (double)shape.width[l] * (double)shape.width[l - 1] : 0;
        double values = (double)shape.batch * (double)shape.width[l];
        largest = values > largest ? values : largest;
        largest = weights > largest ? weights : largest;
    }
    if (largest > 0x1p31)
        return tool_usage("--shape '%.80s': a matrix of %.3g elements; use at most 2147483648", text, largest);
    return shape_append(options, &shape) ? 0 : tool_failed("out of memory");
}

/* Every two-dimensional NAME.weight is a layer. */
static int add_model(const char *path, const char *batches, clayer_activation activation, bool cold,
                     struct options *options)
{
    clayer_safetensors *file = NULL;
    size_t found = 0;
    int code = 0;
    if (clayer_safetensors_open(path, &file) != CLAYER_OK)
        return tool_failed("%s", clayer_last_error());
    for (size_t i = 0; i < clayer_safetensors_count(file) && code == 0; i++) {
        const clayer_safetensors_tensor *tensor = clayer_safetensors_at(file, i);
        size_t length = strlen(tensor->name);
        if (tensor->ndim != 2 || length < 6 || strcmp(tensor->name + length - 6, "weight") != 0)
            continue;
        found++;
        for (const char *at = batches; *at && code == 0; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
            char text[96], batch[24];
            size_t number;
            snprintf(batch, sizeof batch, "%.*s", (int)strcspn(at, ","), at);
            code = tool_size("--batch", batch, 1, 1000000000, &number);
            snprintf(text, sizeof text, "%zux%zux%zu", number, tensor->shape[1], tensor->shape[0]);
            code = code ? code : add_shape(text, activation, cold, options);
        }
    }
    clayer_safetensors_destroy(&file);
    if (code == 0 && found == 0)
        return tool_failed("%s: no two-dimensional tensor NAME.weight", path);
    return code;
}

/* Shapes are made once all options are known, since --activation and --cold may follow --shape. */
static int make_shapes(int argc, char **argv, clayer_activation activation, bool cold, const char *batches,
                       struct options *options)
{
    int option, code = 0;
    optind = 1;
    while (code == 0 && (option = tool_option(argc, argv, long_options)) != -1) {
        if (option == 's')
            code = add_shape(optarg, activation, cold, options);
        else if (option == 'S' && !suite_append(options, optarg, activation, cold))
            code =
                tool_usage("--suite '%.40s': use transformer, mlp, tabular, odd, square, cold, chain or all", optarg);
        else if (option == 'm')
            code = add_model(optarg, batches, activation, cold, options);
    }
    return code == 0 && options->shape_count == 0 ? add_shape("128x768x3072", activation, cold, options) : code;
}

static int read_seconds(const char *option, const char *text, double *seconds)
{
    size_t whole;
    int code = tool_size(option, text, 1, 1000000, &whole);
    *seconds = code ? 0 : (double)whole;
    return code;
}

/* -1 to go on, or the exit code. */
static int read_options(int argc, char **argv, struct options *options)
{
    const char *device = NULL, *batches = "1,128";
    clayer_activation activation = CLAYER_ACTIVATION_RELU;
    bool cold = false;
    int option, code = 0;
    while (code == 0 && (option = tool_option(argc, argv, long_options)) != -1) {
        switch (option) {
        case 'b':
            batches = optarg;
            break;
        case 'a':
            if (clayer_activation_parse(optarg, &activation) != CLAYER_OK)
                code = tool_usage("--activation '%.40s': use none, relu, leaky_relu, relu6, clamp, sigmoid, tanh, "
                                  "gelu, gelu_tanh or silu",
                                  optarg);
            break;
        case 'd':
            device = optarg;
            break;
        case 'p':
            code = read_peers(optarg, options);
            break;
        case 'r':
            code = tool_size("--rounds", optarg, 1, 1000, &options->rounds);
            break;
        case 't':
            code = read_seconds("--time-limit", optarg, &options->time_limit);
            break;
        case 'c':
            cold = true;
            break;
        case 'n':
            options->no_roofline = true;
            break;
        case 'u':
            options->tuned = optarg;
            break;
        case 'j':
            options->json = optarg;
            break;
        case 'R':
            options->report = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return tool_finish(0);
        case 'V':
            printf("clayer-bench %s\n", clayer_version_string());
            return tool_finish(0);
        case '?':
            return EXIT_CODE_USAGE;
        default: /* shapes come second */
            break;
        }
    }
    if (code == 0 && optind < argc)
        code = tool_usage("unexpected argument '%.80s'; see --help", argv[optind]);
    if (code == 0)
        code = make_shapes(argc, argv, activation, cold, batches, options);
    if (code == 0 && clayer_device_select(device, &options->device) != CLAYER_OK) {
        tool_failed("%s", clayer_last_error());
        code = EXIT_CODE_NO_DEVICE;
    }
    return code ? code : -1;
}

/* 1 when a peer that was asked for is missing, or a result is wrong. */
static int verdict(const struct session *session)
{
    int code = 0;
    for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
        if (*session->missing[peer] && (session->options->peers_given || peer == PEER_CLAYER))
            code = tool_failed("%s could not take part: %s", peer_name(peer), session->missing[peer]);
    for (size_t i = 0; i < session->row_count; i++) {
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++) {
            const struct result *result = &session->rows[i].result[peer];
            char label[SHAPE_TEXT];
            shape_label(&session->rows[i].shape, label);
            if (*result->error && session->rows[i].complete)
                code = tool_failed("%s, %s: %s", label, peer_name(peer), result->error);
        }
    }
    return code;
}

int main(int argc, char **argv)
{
    struct options options = {.rounds = 5, .sample_seconds = 0.05};
    struct setup setup;
    tool_start("clayer-bench");
    signal(SIGPIPE, SIG_IGN); /* a peer that is gone is told by write's answer */
    /* The form in which clayer-bench starts itself for the peer "clayer"; not for people. */
    if (argc > 1 && !strcmp(argv[1], "--peer")) {
        if (!peer_setup(argc, argv, &setup))
            return EXIT_CODE_USAGE;
        return !strcmp(setup.peer, "roofline") ? roofline_host(&setup) : peer_serve(&peer_clayer, &setup);
    }
    for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
        options.peer[peer] = true;
    int code = read_options(argc, argv, &options);
    if (code < 0) {
        struct session session = {.options = &options};
        if (session_run(&session)) {
            table_print(&session);
            code = tool_finish(0);
            bool written = (!options.json || json_write(&session, options.json)) &&
                           (!options.report || report_write(&session, options.report));
            int wrong = verdict(&session);
            code = code || !written ? EXIT_CODE_FAILED : wrong;
        } else {
            code = tool_failed("out of memory");
        }
        session_free(&session);
    }
    free(options.shapes);
    return code;
}
