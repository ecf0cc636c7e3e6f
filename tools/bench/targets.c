/* The speeds that clayer sets itself as a goal on PoCL with two cores, judged on what was measured. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>

static size_t batch(const struct row *row)
{
    return row->shape.batch;
}

static size_t in(const struct row *row)
{
    return row->shape.width[0];
}

static size_t out(const struct row *row)
{
    return row->shape.width[row->shape.layers];
}

static bool warm_layer(const struct row *row)
{
    return row->shape.layers == 1 && !row->shape.cold;
}

/* transformer, mlp and square from batch 8 on: what one wide layer of a network looks like. */
static bool large(const struct row *row)
{
    bool transformer = (in(row) == 768 && out(row) == 3072) || (in(row) == 3072 && out(row) == 768) ||
                       (in(row) == 1024 && out(row) == 4096);
    bool equal = in(row) == out(row) && in(row) >= 64;
    bool mlp = equal && in(row) <= 512 && batch(row) >= 64 && batch(row) != 2048;
    bool square = equal && batch(row) == in(row);
    return warm_layer(row) && batch(row) >= 8 && (transformer || mlp || square);
}

static bool wide_single(const struct row *row)
{
    return row->shape.layers == 1 && batch(row) == 1 && in(row)*out(row) >= (size_t)768 * 3072;
}

static bool single_cold(const struct row *row)
{
    return wide_single(row) && row->shape.cold;
}

static bool single_warm(const struct row *row)
{
    return wide_single(row) && !row->shape.cold;
}

/* 2048x64x64 and below. */
static bool small(const struct row *row)
{
    return warm_layer(row) && !wide_single(row) && batch(row) * in(row)*out(row) <= (size_t)2048 * 64 * 64;
}

static bool narrow_chain(const struct row *row)
{
    return row->shape.layers > 1 && batch(row) == 1;
}

static bool wide_chain(const struct row *row)
{
    return row->shape.layers == 8 && batch(row) == 256;
}

static bool batch_128(const struct row *row)
{
    return warm_layer(row) && batch(row) == 128 && in(row) >= 768;
}

static bool any_layer(const struct row *row)
{
    return row->shape.layers == 1;
}

/* The figures: each for one row, NAN where it cannot be told. */
static double against_onednn(const struct row *row)
{
    return ratio(row, PEER_ONEDNN);
}

static double against_openblas(const struct row *row)
{
    return ratio(row, PEER_OPENBLAS);
}

/* A single call on host memory, which is what oneDNN's call is too: the calling thread may compute it. */
static double single_against_onednn(const struct row *row)
{
    return row->result[PEER_ONEDNN].call_median / row->result[PEER_CLAYER].host_median;
}

static double single_against_onednn1(const struct row *row)
{
    return row->result[PEER_ONEDNN1].call_median / row->result[PEER_CLAYER].host_median;
}

static double of_bandwidth(const struct row *row)
{
    return row->bound_seconds / row->result[PEER_CLAYER].call_median;
}

static double forwards_in_build(const struct row *row)
{
    double seconds = row->result[PEER_CLAYER].build_seconds;
    return seconds > 0 ? 3 * row->result[PEER_CLAYER].call_median / seconds : NAN;
}

static double extra_mib(const struct row *row)
{
    return row->result[PEER_CLAYER].extra_bytes / (1 << 20);
}

/* Every row that `take` accepts must reach the goal; the worst decides. */
static void every(const struct session *session, struct target *target, const char *text, double goal,
                  bool (*take)(const struct row *), double (*figure)(const struct row *))
{
    *target = (struct target){.goal = goal, .at_most = figure == extra_mib};
    snprintf(target->text, sizeof target->text, "%s", text);
    for (size_t i = 0; i < session->row_count; i++) {
        const struct row *row = &session->rows[i];
        double value = take(row) && row->result[PEER_CLAYER].call.count > 0 ? figure(row) : NAN;
        if (isnan(value))
            continue;
        target->rows++;
        if (target->rows == 1 || (target->at_most ? value > target->worst : value < target->worst)) {
            target->worst = value;
            shape_label(&row->shape, target->where);
        }
    }
    target->met = target->rows > 0 && (target->at_most ? target->worst <= goal : target->worst >= goal);
}

static void mean(const struct session *session, struct target *target, const char *text, double goal, enum peer_id peer,
                 bool (*take)(const struct row *))
{
    *target = (struct target){.goal = goal};
    snprintf(target->text, sizeof target->text, "%s", text);
    target->worst = geometric_mean(session, peer, take, &target->rows);
    target->met = target->rows > 0 && target->worst >= goal;
}

size_t targets_judge(const struct session *session, struct target t[MAX_TARGETS])
{
    size_t n = 0;
    bool tuned = session->options->tuned != NULL;
    every(session, &t[n++], "of oneDNN's speed in every large layer", 0.9, large, against_onednn);
    mean(session, &t[n++], "of oneDNN's speed in the mean of the large layers", 1.0, PEER_ONEDNN, large);
    every(session, &t[n++], "of oneDNN's speed at batch 1 with weights from memory", 1.1, single_cold, against_onednn);
    every(session, &t[n++], "of oneDNN's speed at batch 1 with weights in cache", 0.8, single_warm, against_onednn);
    every(session, &t[n++], "of the read bandwidth at batch 1 with weights from memory", 0.8, single_cold,
          of_bandwidth);
    every(session, &t[n++], "of the speed of OpenBLAS with an epilogue in every layer", 1.1, any_layer,
          against_openblas);
    mean(session, &t[n++],
         tuned ? "of the speed of CLBlast, tuned, with an epilogue, in the mean"
               : "of the speed of CLBlast with an epilogue in the mean",
         tuned ? 1.5 : 5, PEER_CLBLAST, any_layer);
    every(session, &t[n++], "of oneDNN's speed on one thread in every small layer, single call", 0.9, small,
          single_against_onednn1);
    every(session, &t[n++], "of oneDNN's speed in every small layer, single call", 0.5, small, single_against_onednn);
    every(session, &t[n++], "of oneDNN's speed layer by layer, narrow chain at batch 1", 0.5, narrow_chain,
          against_onednn);
    every(session, &t[n++], "of oneDNN's speed layer by layer, eight layers at batch 256", 0.9, wide_chain,
          against_onednn);
    every(session, &t[n++], "three forward passes of batch 128 per building of the layer", 1, batch_128,
          forwards_in_build);
    every(session, &t[n++], "MiB of memory beyond the weights", 1, any_layer, extra_mib);
    return n;
}
