/* The HTML report's parts. */
#ifndef TOOLS_BENCH_REPORT_H
#define TOOLS_BENCH_REPORT_H

#include "bench/bench.h"

#include <stdio.h>

/* Colours that colour-blind people can tell apart (Okabe and Ito), and marks that tell the peers apart without them. */
const char *report_colour(enum peer_id peer);
void report_mark(FILE *page, enum peer_id peer, double x, double y, const char *title);

/* Text with the five characters that mean something in HTML replaced. */
void report_text(FILE *page, const char *text);

/* Bars of peer's time over clayer's, some shapes a picture so that print can break between them. */
void report_ratios(FILE *page, const struct session *session);

/* GFLOP/s over FLOP per byte, under the device's roofs. */
void report_roofline(FILE *page, const struct session *session);

#endif
