/* The results as a program reads them; docs/benchmarks.md documents the schema. */
#include "bench/bench.h"

#include "common.h"

#include <clayer/version.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* JSON has no NaN. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* jansson refuses text that is not UTF-8, such as a driver's odd message. */
static json_t *text(const char *value)
{
    json_t *string = json_string(value);
    return string ? string : json_string("(not UTF-8)");
}

static json_t *result_json(const struct session *session, const struct row *row, enum peer_id peer)
{
    const struct result *result = &row->result[peer];
    const struct shape *shape = &row->shape;
    bool measured = result->call.count > 0;
    json_t *object = json_object(), *widths = json_array();
    for (size_t i = 0; i <= shape->layers; i++)
        json_array_append_new(widths, json_integer((json_int_t)shape->width[i]));
    json_object_set_new(object, "peer", json_string(peer_name(peer)));
    json_object_set_new(object, "batch", json_integer((json_int_t)shape->batch));
    json_object_set_new(object, "in_features", json_integer((json_int_t)shape->width[0]));
    json_object_set_new(object, "out_features", json_integer((json_int_t)shape->width[shape->layers]));
    if (shape->layers > 1)
        json_object_set_new(object, "widths", json_incref(widths));
    json_decref(widths);
    json_object_set_new(object, "activation", json_string(clayer_activation_string(shape->activation)));
    json_object_set_new(object, "cold", json_boolean(shape->cold));
    json_object_set_new(object, "seconds_median", number(measured ? result->call_median : NAN));
    json_object_set_new(object, "seconds_min", number(measured ? result->call_min : NAN));
    json_object_set_new(object, "spread", number(measured ? result->call_spread : NAN));
    json_object_set_new(object, "seconds_chained", number(result->chained.count > 0 ? result->chained_median : NAN));
    json_object_set_new(object, "seconds_host_memory", number(result->host.count > 0 ? result->host_median : NAN));
    json_object_set_new(object, "rounds", json_integer((json_int_t)result->rounds));
    json_object_set_new(object, "gflops", number(measured ? shape_flops(shape) / result->call_median * 1e-9 : NAN));
    json_object_set_new(object, "gbytes_per_second",
                        number(measured ? shape_bytes(shape) / result->call_median * 1e-9 : NAN));
    json_object_set_new(object, "roofline_fraction", number(measured ? row->bound_seconds / result->call_median : NAN));
    json_object_set_new(object, "bound", session->roofline.known ? json_string(row->bound) : json_null());
    json_object_set_new(object, "speedup_of_clayer",
                        number(measured && row->result[PEER_CLAYER].call.count > 0 ? ratio(row, peer) : NAN));
    json_object_set_new(object, "plan", text(result->plan));
    json_object_set_new(object, "verified", json_boolean(result->verified));
    json_object_set_new(object, "error_fraction", number(result->verified ? result->worst : NAN));
    json_object_set_new(object, "copies", json_integer((json_int_t)result->copies));
    if (result->build_seconds > 0)
        json_object_set_new(object, "build_seconds", number(result->build_seconds));
    if (*result->error)
        json_object_set_new(object, "error", text(result->error));
    return object;
}

static json_t *roofline_json(const struct roofline *roofline)
{
    if (!roofline->known)
        return json_null();
    json_t *object = json_object(), *points = json_array();
    for (size_t i = 0; i < roofline->points; i++)
        json_array_append_new(points, json_pack("{s:f, s:f}", "working_set_bytes", roofline->working_set[i],
                                                "gbytes_per_second", roofline->bytes_per_second[i] * 1e-9));
    json_object_set_new(object, "gflops", number(roofline->peak_flops * 1e-9));
    json_object_set_new(object, "memory_gbytes_per_second",
                        number(roofline->bytes_per_second[roofline->points - 1] * 1e-9));
    json_object_set_new(object, "read", points);
    json_object_set_new(object, "launch_seconds", number(roofline->launch_seconds));
    return object;
}

static json_t *session_json(const struct session *session)
{
    const clayer_device_info *device = &session->options->device;
    json_t *root = json_object(), *chains = json_array(), *results = json_array(), *means = json_object();
    json_t *targets = json_array();
    struct target target[MAX_TARGETS];
    json_object_set_new(root, "schema", json_string("clayer-bench/1"));
    json_object_set_new(root, "clayer_version", json_string(clayer_version_string()));
    json_t *about = json_object();
    json_object_set_new(about, "id", text(device->id));
    json_object_set_new(about, "name", text(device->name));
    json_object_set_new(about, "platform", text(device->platform));
    json_object_set_new(about, "driver_version", text(device->driver_version));
    json_object_set_new(about, "type", json_string(clayer_device_type_string(device->type)));
    json_object_set_new(root, "device", about);
    json_object_set_new(root, "cache_bytes", json_integer((json_int_t)session->cache_bytes));
    json_object_set_new(root, "seconds", number(session->seconds));
    json_object_set_new(root, "complete",
                        json_boolean(!session->out_of_time && session->row_count == session->options->shape_count));
    json_object_set_new(root, "roofline", roofline_json(&session->roofline));
    for (size_t i = 0; i < session->row_count; i++)
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
            if (session->rows[i].result[peer].present)
                json_array_append_new(session->rows[i].shape.layers > 1 ? chains : results,
                                      result_json(session, &session->rows[i], peer));
    for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++) {
        size_t count;
        double mean = geometric_mean(session, peer, NULL, &count);
        if (count > 0)
            json_object_set_new(means, peer_name(peer), number(mean));
    }
    size_t count = targets_judge(session, target);
    for (size_t i = 0; i < count; i++)
        if (target[i].rows > 0)
            json_array_append_new(targets,
                                  json_pack("{s:s, s:f, s:f, s:b, s:b, s:s}", "text", target[i].text, "reached",
                                            target[i].worst, "goal", target[i].goal, "at_most", target[i].at_most,
                                            "met", target[i].met, "where", target[i].where));
    json_object_set_new(root, "geometric_means", means);
    json_object_set_new(root, "targets", targets);
    json_object_set_new(root, "results", results);
    json_object_set_new(root, "chains", chains);
    return root;
}

bool json_write(const struct session *session, const char *path)
{
    json_t *root = session_json(session);
    int code = json_dump_file(root, path, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    json_decref(root);
    if (code != 0)
        tool_failed("cannot write %s", path);
    return code == 0;
}
