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

/* Terms of a sum that may be added up one after the other. */
#define NDR_SECTIONS_TERMS 1024

/* Immutable. */
typedef struct ndr_sections {
  int64_t count, run_count;
  int64_t apart; /* so many sections in their order add about NDR_SECTIONS_TERMS terms to one state, or fewer */
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
  bool turned;          /* sections have no runs, and all their labels, as kernels of fold/across/turned.h take them */
} ndr_cutting;

/* Cuts the row of labels that a table lists into sections, which end where a label ends if one does in their second
 * half, unless they are turned. Runs are of neighbours, or those of a group in the section are together. Labels of
 * turned sections that belong to no group are of one more, the last. Free with ndr_sections_free. */
ndr_status ndr_sections_make(ndr_sections **made, const ndr_table *table, const ndr_cutting *cutting);
void ndr_sections_free(ndr_sections *sections);

#endif
