/* The labels of a row in sections, each of which is folded as a tile. */
#ifndef NDR_CPU_SECTIONS_H
#define NDR_CPU_SECTIONS_H

#include "core/request/canonical.h"
#include "cpu/fold/fold.h"

typedef struct ndr_section {
  int64_t first, length; /* of the row's labels */
  int64_t run, end;      /* its runs are runs[run] to runs[end - 1] */
  int64_t label, labels; /* its labels of groups are order[label] to order[label + labels - 1] */
  bool neighbours;       /* the labels of each run are neighbours, and enough of them to fold where they lie */
  bool single;           /* no runs: its labels are in their order in the row, each with its group */
} ndr_section;

/* Immutable. */
typedef struct ndr_sections {
  int64_t count, run_count;
  ndr_section *sections;
  ndr_label_run *runs;
  int32_t *order; /* labels, counted from their section's first */
  int32_t *group; /* of each of them */
} ndr_sections;

/* How a row of labels is cut. */
typedef struct ndr_cutting {
  int64_t length, most; /* labels of the row, and the most of a section */
  int64_t long_run;     /* the fewest neighbours of one group, on average, that are folded where they lie */
  int64_t few;          /* sections whose groups have fewer labels, on average, have no runs */
  bool apart;           /* runs are of neighbours in all sections */
} ndr_cutting;

/* Cuts the row of labels that a table lists into sections, which end where a label ends if one does in their second
 * half. Runs are of neighbours, or those of a group in the section are together. Free with ndr_sections_free. */
ndr_status ndr_sections_make(ndr_sections **made, const ndr_table *table, const ndr_cutting *cutting);
void ndr_sections_free(ndr_sections *sections);

#endif
