#include "bench/report.h"

#include <math.h>
#include <string.h>

static const char *const colours[PEER_COUNT] = {
    [PEER_CLAYER] = "#0072b2",  [PEER_CLBLAST] = "#e69f00",  [PEER_ONEDNN] = "#009e73",
    [PEER_ONEDNN1] = "#7fceb9", [PEER_OPENBLAS] = "#cc79a7",
};

const char *report_colour(enum peer_id peer)
{
    return colours[peer];
}

void report_mark(FILE *page, enum peer_id peer, double x, double y, const char *title)
{
    static const char *const paths[PEER_COUNT] = {
        [PEER_CLAYER] = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0Z", /* circle */
        [PEER_CLBLAST] = "M-4-4h8v8h-8Z",                       /* square */
        [PEER_ONEDNN] = "M0-5L5 4H-5Z",                         /* triangle */
        [PEER_ONEDNN1] = "M0 5L5-4H-5Z",                        /* triangle on its tip */
        [PEER_OPENBLAS] = "M0-5L5 0L0 5L-5 0Z",                 /* diamond */
    };
    fprintf(page,
            "<path transform=\"translate(%.1f %.1f)\" d=\"%s\" fill=\"%s\" fill-opacity=\"0.8\" stroke=\"#fff\" "
            "stroke-width=\"0.7\">",
            x, y, paths[peer], colours[peer]);
    if (*title) {
        fputs("<title>", page);
        report_text(page, title);
        fputs("</title>", page);
    }
    fputs("</path>\n", page);
}

static bool measured(const struct row *row, enum peer_id peer)
{
    return row->result[peer].call.count > 0 && row->result[PEER_CLAYER].call.count > 0;
}

/* A logarithmic axis. */
struct axis {
    double low, high;  /* values at its ends: powers of ten */
    double start, end; /* places of the ends */
};

static double place(const struct axis *axis, double value)
{
    double clamped = value < axis->low ? axis->low : value > axis->high ? axis->high : value;
    return axis->start + (axis->end - axis->start) * log(clamped / axis->low) / log(axis->high / axis->low);
}

static struct axis axis_around(double least, double most, double start, double end)
{
    return (struct axis){.low = pow(10, floor(log10(least))),
                         .high = pow(10, fmax(ceil(log10(most)), floor(log10(least)) + 1)),
                         .start = start,
                         .end = end};
}

/* "0.01", "10", "1e+06" as people write them. */
static void tick_text(FILE *page, double value)
{
    if (value >= 1e5 || value < 1e-3)
        fprintf(page, "10<tspan dy=\"-4\" font-size=\"9\">%.0f</tspan>", log10(value));
    else
        fprintf(page, "%g", value);
}

enum { LABELS = 220, BARS_WIDTH = 900, BAR = 9, GAP = 10, SHAPES_A_PICTURE = 10, TOP = 26 };

static void bars_of_row(FILE *page, const struct row *row, const struct axis *axis, double *y)
{
    char label[SHAPE_TEXT];
    size_t bars = 0;
    for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++)
        bars += measured(row, peer);
    if (bars == 0)
        return;
    shape_label(&row->shape, label);
    fprintf(page, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" dominant-baseline=\"middle\">", LABELS - 8,
            *y + (double)(bars * BAR) / 2);
    report_text(page, label);
    fprintf(page, "%s</text>\n", row->shape.cold ? ", cold" : "");
    for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++) {
        if (!measured(row, peer))
            continue;
        double one = place(axis, 1), at = place(axis, ratio(row, peer));
        fprintf(page, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>", fmin(one, at), *y,
                fmax(fabs(at - one), 0.5), BAR - 1, colours[peer]);
        report_text(page, label);
        fprintf(page, ": %.2f times as fast as %s</title></rect>\n", ratio(row, peer), peer_name(peer));
        fprintf(page,
                "<text class=\"value\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" dominant-baseline=\"middle\">%.2f"
                "</text>\n",
                at < one ? at - 3 : at + 3, *y + (BAR - 1) / 2.0, at < one ? "end" : "start", ratio(row, peer));
        *y += BAR;
    }
    *y += GAP;
}

static double bars_height(const struct session *session, size_t first, size_t last)
{
    double height = TOP + 6;
    for (size_t i = first; i < last; i++) {
        size_t bars = 0;
        for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++)
            bars += measured(&session->rows[i], peer);
        height += bars > 0 ? (double)(bars * BAR + GAP) : 0;
    }
    return height;
}

static void bars_picture(FILE *page, const struct session *session, const struct axis *axis, size_t first, size_t last)
{
    double height = bars_height(session, first, last), y = TOP;
    if (height <= TOP + 6)
        return;
    fprintf(page, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"ratios of times\">\n", BARS_WIDTH, height);
    for (double tick = axis->low; tick <= axis->high * 1.001; tick *= 10) {
        double x = place(axis, tick);
        fprintf(page,
                "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.0f\"/>"
                "<text x=\"%.1f\" y=\"14\" text-anchor=\"middle\">%g&#215;</text>\n",
                fabs(tick - 1) < 1e-9 ? "one" : "grid", x, x, TOP - 6, height - 4, x, tick);
    }
    for (size_t i = first; i < last; i++)
        bars_of_row(page, &session->rows[i], axis, &y);
    fputs("</svg>\n", page);
}

void report_ratios(FILE *page, const struct session *session)
{
    double least = 0.5, most = 2;
    for (size_t i = 0; i < session->row_count; i++) {
        for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++) {
            if (measured(&session->rows[i], peer)) {
                least = fmin(least, ratio(&session->rows[i], peer));
                most = fmax(most, ratio(&session->rows[i], peer));
            }
        }
    }
    struct axis axis = axis_around(least, most, LABELS + 36, BARS_WIDTH - 44);
    for (size_t first = 0; first < session->row_count; first += SHAPES_A_PICTURE) {
        size_t last = first + SHAPES_A_PICTURE < session->row_count ? first + SHAPES_A_PICTURE : session->row_count;
        bars_picture(page, session, &axis, first, last);
    }
}

static double intensity(const struct shape *shape)
{
    return shape_flops(shape) / shape_bytes(shape);
}

static void axes(FILE *page, const struct axis *x, const struct axis *y)
{
    for (double tick = x->low; tick <= x->high * 1.001; tick *= 10) {
        fprintf(page,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                place(x, tick), place(x, tick), y->start, y->end, place(x, tick), y->start + 16);
        tick_text(page, tick);
        fputs("</text>\n", page);
    }
    for (double tick = y->low; tick <= y->high * 1.001; tick *= 10) {
        fprintf(page,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" dominant-baseline=\"middle\">",
                x->start, x->end, place(y, tick), place(y, tick), x->start - 6, place(y, tick));
        tick_text(page, tick);
        fputs("</text>\n", page);
    }
    fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">FLOP per byte of x, W, b and y</text>\n",
            (x->start + x->end) / 2, y->start + 34);
    fprintf(page, "<text transform=\"translate(14 %.1f) rotate(-90)\" text-anchor=\"middle\">GFLOP/s</text>\n",
            (y->start + y->end) / 2);
}

/* One roof: a slope of a bandwidth up to the peak. */
static void roof(FILE *page, const struct axis *x, const struct axis *y, double peak, double bandwidth,
                 const char *name, const char *dash)
{
    double ridge = peak / bandwidth, left = fmax(x->low, y->low / bandwidth);
    double corner = ridge < x->low ? x->low : ridge > x->high ? x->high : ridge;
    fprintf(page, "<polyline class=\"roof\" stroke-dasharray=\"%s\" points=\"", dash);
    if (left < corner)
        fprintf(page, "%.1f,%.1f ", place(x, left), place(y, left * bandwidth));
    fprintf(page, "%.1f,%.1f %.1f,%.1f\"/>\n", place(x, corner), place(y, fmin(peak, corner * bandwidth)),
            place(x, x->high), place(y, fmin(peak, x->high * bandwidth)));
    double at = left < corner ? left * pow(corner / left, 0.25) : corner;
    fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"start\">%s, %.1f GB/s</text>\n", place(x, at) + 8,
            place(y, fmin(peak, at * bandwidth)) + 12, name, bandwidth);
}

void report_roofline(FILE *page, const struct session *session)
{
    enum { WIDTH = 900, HEIGHT = 520 };
    const struct roofline *r = &session->roofline;
    double least_x = INFINITY, most_x = 0, least_y = INFINITY, most_y = 0;
    for (size_t i = 0; i < session->row_count; i++) {
        const struct row *row = &session->rows[i];
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++) {
            if (row->result[peer].call.count == 0)
                continue;
            double speed = shape_flops(&row->shape) / row->result[peer].call_median * 1e-9;
            least_x = fmin(least_x, intensity(&row->shape)), most_x = fmax(most_x, intensity(&row->shape));
            least_y = fmin(least_y, speed), most_y = fmax(most_y, speed);
        }
    }
    if (most_x == 0)
        return;
    if (r->known)
        most_y = fmax(most_y, r->peak_flops * 1e-9);
    struct axis x = axis_around(least_x, most_x, 70, WIDTH - 20), y = axis_around(least_y, most_y, HEIGHT - 50, 16);
    fprintf(page, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"roofline\">\n", WIDTH, HEIGHT);
    axes(page, &x, &y);
    if (r->known) {
        double peak = r->peak_flops * 1e-9;
        roof(page, &x, &y, peak, r->bytes_per_second[r->points - 1] * 1e-9, "memory", "none");
        if (r->points > 1)
            roof(page, &x, &y, peak, r->bytes_per_second[0] * 1e-9, "cache", "6 4");
        fprintf(page, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">peak, %.1f GFLOP/s</text>\n", x.end - 4,
                place(&y, peak) - 5, peak);
    }
    /* clayer last, so that its marks lie on top. */
    for (int peer = PEER_COUNT - 1; peer >= 0; peer--) {
        for (size_t i = 0; i < session->row_count; i++) {
            const struct row *row = &session->rows[i];
            char label[SHAPE_TEXT], title[SHAPE_TEXT + 96];
            if (row->result[peer].call.count == 0)
                continue;
            double speed = shape_flops(&row->shape) / row->result[peer].call_median * 1e-9;
            shape_label(&row->shape, label);
            snprintf(title, sizeof title, "%s, %s: %.1f GFLOP/s", peer_name((enum peer_id)peer), label, speed);
            report_mark(page, (enum peer_id)peer, place(&x, intensity(&row->shape)), place(&y, speed), title);
        }
    }
    fputs("</svg>\n", page);
}
