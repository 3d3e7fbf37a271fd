/* The labels of a row in sections, each of which is folded as a tile. */
#ifndef NDR_CPU_SECTIONS_H
#define NDR_CPU_SECTIONS_H

#include "core/request/canonical.h"

/* Labels of one group, at most NDR_ROWS: label r of them is order[begin + r], or order[begin] + r * step. */
typedef struct ndr_label_run {
  int32_t group, count;
  int32_t step; /* 0: they lie anywhere */
  int64_t begin;
} ndr_label_run;

typedef struct ndr_section {
  int64_t first, length; /* of the row's labels */
  int64_t run, end;      /* its runs are runs[run] to runs[end - 1] */
  bool neighbours;       /* the labels of each run are neighbours, and enough of them to fold where they lie */
} ndr_section;

/* Immutable. */
typedef struct ndr_sections {
  int64_t count, run_count;
  ndr_section *sections;
  ndr_label_run *runs;
  int32_t *order; /* labels, counted from their section's first */
} ndr_sections;

/* Cuts the row of `length` labels that a table lists into sections of at most `most`, which end where a label ends if
 * one does in their second half. Runs are of neighbours where these are `long_run` or more on average, or `apart` is
 * true; else those of a group are together. Free with ndr_sections_free. */
ndr_status ndr_sections_make(ndr_sections **made, const ndr_table *table, int64_t length, int64_t most,
                             int64_t long_run, bool apart);
void ndr_sections_free(ndr_sections *sections);

#endif
