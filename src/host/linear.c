#include "host/linear.h"

#include "base/checked.h"
#include "host/packed.h"
#include "host/vector.h"

#include <assert.h>

/* A part of x that stays in a second level cache beside a panel of weights. */
#define PASS_BYTES ((size_t)256 << 10)

/* Part of a panel's weights that stays in a first level cache. */
#define PART_BYTES ((size_t)32 << 10)
/* So many rows' sums may wait in y between such parts; more would come from far away each time. */
#define PART_ROWS 128

/* For general strides: rows that are gathered at once, and elements of each. */
#define GATHER_ROWS 6
#define GATHER_COLS 256

static const float zeros[PACKED_PANEL_MAX * 2];

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct vector_epilogue epilogue_of(const struct activation *activation)
{
    struct vector_epilogue epilogue = {VECTOR_STORE, activation_slope(activation), activation_low(activation),
                                       activation_high(activation)};
    if (activation->kind == CLAYER_ACTIVATION_RELU)
        epilogue.kind = VECTOR_RELU;
    else if (activation->kind != CLAYER_ACTIVATION_NONE && activation_is_cheap(activation->kind))
        epilogue.kind = VECTOR_BOUNDS;
    return epilogue;
}

/* The widest block that exists for at most `wanted` vectors. */
static size_t block_vectors(const struct vector_kernels *kernels, size_t wanted)
{
    while (kernels->rows[wanted] == 0)
        wanted--;
    return wanted;
}

/* All rows by one group of columns, in blocks of nearly equal height: 8 rows are better as 4 and 4 than as 6 and 2. The
 * first blocks share in asking for the weights that come `next`, as many as there are here (NULL: none). Costly
 * activations follow each block while it is near. */
static void column_rows(const struct vector_kernels *kernels, const struct vector_block *group, size_t vectors,
                        size_t rows, const float *next, const struct activation *costly)
{
    struct vector_block block = *group;
    const size_t blocks = size_ceil_div(rows, kernels->rows[vectors]);
    const size_t step = blocks * VECTOR_LINE < block.panel ? 2 * VECTOR_LINE : VECTOR_LINE;
    const size_t asking = next ? size_ceil_div(block.panel, step) : 0;
    for (size_t i = 0; i < blocks; i++) {
        const size_t height = rows / blocks + (i < rows % blocks);
        block.ahead = i < asking ? next + i * step * block.depth : block.w;
        block.ahead_step = i < asking ? step : 0;
        kernels->block[vectors][height](&block);
        if (costly)
            kernels->activate(costly, block.y, height, block.cols, block.ldy);
        block.x += height * block.ldx;
        block.init += height * block.ldinit;
        block.y += height * block.ldy;
    }
}

/* Runs `rows` rows over the columns of one panel: `area` has everything but the block's own part filled in, and cols is
 * what the panel holds; `next` is the panel after it or NULL. Column groups outside; then in_features in parts that the
 * first level cache keeps while all rows pass, with the sums waiting in y, exactly as they are; rows inside. */
static void panel_rows(const struct vector_kernels *kernels, const struct vector_block *area, size_t rows,
                       const float *next, const struct activation *costly)
{
    size_t wanted = kernels->vectors[smaller(rows, 4)];
    for (size_t c = 0, step; c < area->cols; c += step * kernels->lanes) {
        size_t cols = area->cols - c;
        step = block_vectors(kernels, smaller(wanted, size_ceil_div(cols, kernels->lanes)));
        struct vector_block group = *area;
        group.w += c;
        group.init += c;
        group.y += c;
        group.cols = smaller(cols, step * kernels->lanes);
        /* Sums are loaded as whole vectors, so there must be whole vectors in y. */
        const bool parts = rows > kernels->rows[step] && rows <= PART_ROWS && group.cols % kernels->lanes == 0;
        const size_t part = PART_BYTES / sizeof(float) / (step * kernels->lanes);
        while (parts && group.depth >= 2 * part) {
            struct vector_block first = group;
            first.depth = part;
            first.epilogue.kind = VECTOR_STORE;
            column_rows(kernels, &first, step, rows, group.w + part * group.panel, NULL);
            group.x += part;
            group.w += part * group.panel;
            group.depth -= part;
            group.init = group.y;
            group.ldinit = group.ldy;
        }
        column_rows(kernels, &group, step, rows, next, costly);
    }
}

/* Rows of x per pass over all weights: all, unless x is large and reading the weights again for each part of it costs
 * less than reading x again for each panel. */
static size_t rows_per_pass(const struct host_linear *linear, size_t batch)
{
    size_t part = PASS_BYTES / sizeof(float) / (linear->in_features + 1);
    part = part < 48 ? 48 : part;
    size_t panels = size_ceil_div(linear->out_features, linear->panel);
    return size_ceil_div(batch, part) * linear->out_features < panels * batch ? part : batch;
}

void host_linear_forward(const struct host_linear *linear, size_t batch, const float *x, size_t ldx, float *y,
                         size_t ldy)
{
    if (batch == 0 || linear->out_features == 0)
        return;
    const struct vector_kernels *kernels = vector_kernels();
    const struct activation *costly = activation_is_cheap(linear->activation.kind) ? NULL : &linear->activation;
    struct vector_block area = {.depth = linear->in_features,
                                .x = x,
                                .ldx = ldx,
                                .panel = linear->panel,
                                .ldy = ldy,
                                .epilogue = epilogue_of(&linear->activation)};
    if (area.depth == 0) { /* nothing of x and W is read; they may be NULL */
        area.x = zeros;
        area.ldx = 0;
    }
    size_t panel_elements = linear->in_features * linear->panel;
    size_t part = rows_per_pass(linear, batch);
    bool pairs = kernels->pair && batch == 1 && linear->panel == VECTOR_VECTORS_MAX / 2 * kernels->lanes;
    for (size_t m = 0; m < batch; m += part) {
        size_t rows = smaller(part, batch - m);
        for (size_t n = 0; n < linear->out_features; n += linear->panel) {
            area.x = area.depth ? x + m * ldx : zeros;
            area.w = area.depth ? linear->weights + n / linear->panel * panel_elements : zeros;
            area.init = linear->bias ? linear->bias + n : zeros;
            area.y = y + m * ldy + n;
            area.cols = smaller(linear->panel, linear->out_features - n);
            if (pairs && linear->out_features - n > linear->panel) {
                area.w_second = area.depth ? area.w + panel_elements : zeros;
                area.cols = smaller(2 * linear->panel, linear->out_features - n);
                kernels->pair(&area);
                if (costly)
                    kernels->activate(costly, area.y, 1, area.cols, ldy);
                n += linear->panel;
            } else {
                const bool last = linear->out_features - n <= linear->panel;
                panel_rows(kernels, &area, rows, last || !area.depth ? NULL : area.w + panel_elements, costly);
            }
        }
    }
}

void host_linear_forward_strided(const struct host_linear *linear, size_t batch, const float *x, size_t x_row,
                                 size_t x_col, float *y, size_t y_row, size_t y_col)
{
    if (batch == 0 || linear->out_features == 0)
        return;
    if ((x_col == 1 || linear->in_features <= 1) && (y_col == 1 || linear->out_features == 1)) {
        host_linear_forward(linear, batch, x, x_row, y, y_row);
        return;
    }
    const struct vector_kernels *kernels = vector_kernels();
    _Alignas(PACKED_ALIGNMENT) float gathered[GATHER_ROWS * GATHER_COLS];
    _Alignas(PACKED_ALIGNMENT) float sums[GATHER_ROWS * PACKED_PANEL_MAX];
    size_t in = linear->in_features, panel = linear->panel;
    for (size_t m = 0; m < batch; m += GATHER_ROWS) {
        size_t rows = smaller(GATHER_ROWS, batch - m);
        for (size_t n = 0; n < linear->out_features; n += panel) {
            size_t cols = smaller(panel, linear->out_features - n);
            struct vector_block area = {.x = gathered,
                                        .ldx = GATHER_COLS,
                                        .w = in ? linear->weights + n * in : zeros,
                                        .panel = panel,
                                        .init = linear->bias ? linear->bias + n : zeros,
                                        .y = sums,
                                        .ldy = PACKED_PANEL_MAX,
                                        .cols = panel};
            size_t k = 0;
            do { /* each part of the sum starts where the one before it ended, so the order is the same as in one go */
                area.depth = smaller(GATHER_COLS, in - k);
                for (size_t r = 0; r < rows; r++)
                    for (size_t i = 0; i < area.depth; i++)
                        gathered[r * GATHER_COLS + i] = x[(m + r) * x_row + (k + i) * x_col];
                panel_rows(kernels, &area, rows, NULL, NULL);
                area.w += area.depth * panel;
                area.init = sums;
                area.ldinit = PACKED_PANEL_MAX;
                k += area.depth;
            } while (k < in);
            activation_rows(&linear->activation, sums, rows, cols, PACKED_PANEL_MAX);
            for (size_t r = 0; r < rows; r++)
                for (size_t c = 0; c < cols; c++)
                    y[(m + r) * y_row + (n + c) * y_col] = sums[r * PACKED_PANEL_MAX + c];
        }
    }
}
