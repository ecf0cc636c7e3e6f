#include "bench/report.h"

#include "common.h"

#include <clayer/version.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>

static const char style[] =
    "<style>\n"
    "body{font:15px/1.45 system-ui,sans-serif;color:#1b1f24;background:#fff;max-width:60rem;margin:2rem auto;"
    "padding:0 1rem}\n"
    "h1{font-size:1.6rem;margin-bottom:.2rem}h2{font-size:1.2rem;margin-top:2rem}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.82rem}\n"
    "th,td{padding:.15rem .45rem;text-align:right;border-bottom:1px solid #d8dde3;vertical-align:top;"
    "white-space:nowrap}td.text{white-space:normal}\n"
    "th{border-bottom:1px solid #57606a}th:first-child,td:first-child,td.text,th.text{text-align:left}\n"
    "tr.shape td{border-bottom:none;padding-top:.6rem;font-weight:600}\n"
    ".missed{font-weight:700;color:#a40e26}.met{color:#1a7f37}.note{color:#57606a}\n"
    ".key span{margin-right:1.2rem;white-space:nowrap}.key svg{width:14px;height:14px;vertical-align:-2px}\n"
    "svg{width:100%;height:auto;font:11px system-ui,sans-serif;fill:#1b1f24;break-inside:avoid;display:block}\n"
    ".key svg{display:inline}.value{font-size:9px;fill:#57606a}\n"
    ".grid{stroke:#e3e7eb;stroke-width:1}.one{stroke:#1b1f24;stroke-width:1.2}\n"
    ".roof{fill:none;stroke:#1b1f24;stroke-width:1.5}\n"
    "@media print{body{margin:0;max-width:none;font-size:10pt}tr{break-inside:avoid}h2{break-after:avoid}"
    "*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}\n"
    "</style>\n";

void report_text(FILE *page, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            fputs("&amp;", page);
            break;
        case '<':
            fputs("&lt;", page);
            break;
        case '>':
            fputs("&gt;", page);
            break;
        case '"':
            fputs("&quot;", page);
            break;
        case '\'':
            fputs("&#39;", page);
            break;
        default:
            fputc(*text, page);
        }
    }
}

static bool took_part(const struct session *session, enum peer_id peer)
{
    for (size_t i = 0; i < session->row_count; i++)
        if (session->rows[i].result[peer].call.count > 0)
            return true;
    return false;
}

static void key(FILE *page, const struct session *session, enum peer_id first)
{
    fputs("<p class=\"key\">", page);
    for (enum peer_id peer = first; peer < PEER_COUNT; peer++) {
        if (!took_part(session, peer))
            continue;
        fputs("<span><svg viewBox=\"-7 -7 14 14\">", page);
        if (first == PEER_CLAYER)
            report_mark(page, peer, 0, 0, "");
        else
            fprintf(page, "<rect x=\"-6\" y=\"-6\" width=\"12\" height=\"12\" fill=\"%s\"/>", report_colour(peer));
        fprintf(page, "</svg> %s</span>", peer_name(peer));
    }
    fputs("</p>\n", page);
}

static void head(FILE *page, const struct session *session)
{
    const clayer_device_info *device = &session->options->device;
    const struct roofline *r = &session->roofline;
    char date[64];
    time_t now = time(NULL);
    struct tm parts;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &parts));
    fputs("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n<title>clayer-bench: ",
          page);
    report_text(page, device->name);
    fprintf(page, "</title>\n%s</head><body>\n<h1>Fused linear layers on ", style);
    report_text(page, device->name);
    fputs("</h1>\n<p class=\"note\">", page);
    report_text(page, *device->platform ? device->platform : "calling thread");
    fprintf(page, ", driver ");
    report_text(page, *device->driver_version ? device->driver_version : "none");
    fprintf(page, "; clayer %s; %s; %.0f s</p>\n", clayer_version_string(), date, session->seconds);
    if (r->known)
        fprintf(page, "<p>This device reached %.1f GFLOP/s in float32 multiply-adds, read memory at %.1f GB/s%s",
                r->peak_flops * 1e-9, r->bytes_per_second[r->points - 1] * 1e-9,
                r->launch_seconds > 0 ? ", and takes " : ".</p>\n");
    if (r->known && r->launch_seconds > 0)
        fprintf(page, "%.1f &#181;s to launch an empty kernel and wait for it.</p>\n", r->launch_seconds * 1e6);
}

static void means(FILE *page, const struct session *session)
{
    fputs("<table><tr><th>clayer against</th><th>geometric mean</th><th>shapes</th></tr>\n", page);
    for (enum peer_id peer = PEER_CLAYER + 1; peer < PEER_COUNT; peer++) {
        size_t count;
        double mean = geometric_mean(session, peer, NULL, &count);
        if (count > 0)
            fprintf(page, "<tr><td>%s</td><td>%.2f &#215;</td><td>%zu</td></tr>\n", peer_name(peer), mean, count);
    }
    fputs("</table>\n", page);
}

static void goals(FILE *page, const struct session *session)
{
    struct target target[MAX_TARGETS];
    size_t count = targets_judge(session, target), judged = 0;
    for (size_t i = 0; i < count; i++)
        judged += target[i].rows > 0;
    if (judged == 0)
        return;
    fputs("<h2>Targets</h2>\n<table><tr><th></th><th>reached</th><th>goal</th><th class=\"text\">of</th>"
          "<th class=\"text\">decided by</th></tr>\n",
          page);
    for (size_t i = 0; i < count; i++) {
        const struct target *t = &target[i];
        if (t->rows == 0)
            continue;
        fprintf(page, "<tr><td class=\"%s\">%s</td><td>%.2f</td><td>%s %.2f</td><td class=\"text\">",
                t->met ? "met" : "missed", t->met ? "met" : "missed", t->worst, t->at_most ? "&#8804;" : "&#8805;",
                t->goal);
        report_text(page, t->text);
        fputs("</td><td class=\"text\">", page);
        report_text(page, *t->where ? t->where : "mean");
        fputs("</td></tr>\n", page);
    }
    fputs("</table>\n", page);
}

static void time_cell(FILE *page, double seconds)
{
    if (!(seconds >= 0))
        fputs("<td></td>", page);
    else if (seconds < 1e-3)
        fprintf(page, "<td>%.2f &#181;s</td>", seconds * 1e6);
    else
        fprintf(page, "<td>%.3f ms</td>", seconds * 1e3);
}

static void result_line(FILE *page, const struct session *session, const struct row *row, enum peer_id peer)
{
    const struct result *result = &row->result[peer];
    fprintf(page, "<tr><td>%s</td>", peer_name(peer));
    if (result->call.count == 0) {
        fputs("<td class=\"text\" colspan=\"7\">", page);
        report_text(page, *result->error ? result->error : "not measured: time was up");
        fputs("</td></tr>\n", page);
        return;
    }
    time_cell(page, result->call_median);
    fprintf(page, "<td>%.0f %%</td>", 100 * result->call_spread);
    time_cell(page, result->chained_median);
    fprintf(page, "<td>%.1f</td>", shape_flops(&row->shape) / result->call_median * 1e-9);
    if (session->roofline.known)
        fprintf(page, "<td>%.0f %%</td>", 100 * row->bound_seconds / result->call_median);
    else
        fputs("<td></td>", page);
    if (peer != PEER_CLAYER && row->result[PEER_CLAYER].call.count > 0)
        fprintf(page, "<td>%.2f &#215;</td>", ratio(row, peer));
    else
        fputs("<td></td>", page);
    fputs("<td class=\"text\">", page);
    report_text(page, result->plan);
    fputs("</td></tr>\n", page);
}

static void results(FILE *page, const struct session *session)
{
    fputs("<h2>Results</h2>\n<table><tr><th></th><th>call</th><th>&#177;</th><th>chained</th><th>GFLOP/s</th>"
          "<th>of roof</th><th>clayer is</th><th class=\"text\">plan</th></tr>\n",
          page);
    for (size_t i = 0; i < session->row_count; i++) {
        const struct row *row = &session->rows[i];
        char label[SHAPE_TEXT];
        shape_label(&row->shape, label);
        fputs("<tr class=\"shape\"><td colspan=\"8\">", page);
        report_text(page, label);
        fprintf(page, " <span class=\"note\">%s%s%s%s</span></td></tr>\n",
                clayer_activation_string(row->shape.activation), row->shape.cold ? ", weights from memory" : "",
                row->bound && *row->bound ? ", bound by " : "", row->bound ? row->bound : "");
        for (enum peer_id peer = 0; peer < PEER_COUNT; peer++)
            if (row->result[peer].present)
                result_line(page, session, row, peer);
    }
    fputs("</table>\n", page);
}

static void notes(FILE *page, const struct session *session)
{
    fputs("<p class=\"note\">Every result was compared with a float64 reference before it was timed. Times are "
          "medians of samples taken in turn; &#177; is half the distance between the quartiles. A call includes the "
          "wait for its result; chained calls are enqueued together and waited for once.",
          page);
    if (session->out_of_time || session->row_count < session->options->shape_count)
        fprintf(page, " The time limit came first: %zu of %zu shapes were begun.", session->row_count,
                session->options->shape_count);
    fputs("</p>\n", page);
}

bool report_write(const struct session *session, const char *path)
{
    FILE *page = fopen(path, "w");
    if (!page) {
        tool_failed("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    head(page, session);
    means(page, session);
    goals(page, session);
    fputs("<h2>How many times as fast clayer is</h2>\n", page);
    key(page, session, PEER_CLAYER + 1);
    report_ratios(page, session);
    fputs("<h2>Under the device's roofs</h2>\n", page);
    key(page, session, PEER_CLAYER);
    report_roofline(page, session);
    results(page, session);
    notes(page, session);
    fputs("</body></html>\n", page);
    bool written = !ferror(page);
    if (fclose(page) != 0 || !written) {
        tool_failed("cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
