/* The labels of a row in sections, each of which is folded as a tile. */
#ifndef NDR_CPU_SECTIONS_H
#define NDR_CPU_SECTIONS_H

#include "core/request/canonical.h"
#include "cpu/fold/fold.h"

typedef struct ndr_section {
  int64_t first, length; /* of the row's labels */
  int64_t run, end;      /* its runs are runs[run] to runs[end - 1] */
  int64_t label, labels; /* its labels are entries label to label + labels - 1 of the lists below */
  bool neighbours;       /* the labels of each run are neighbours, and enough of them to fold where they lie */
  bool single;           /* no runs: its labels are in their order in the row, each with its group */
} ndr_section;

/* Terms of a sum that may be added one after the other. */
#define NDR_SECTIONS_TERMS 1024

/* Immutable. */
typedef struct ndr_sections {
  int64_t count, run_count;
  int64_t joined_after; /* sections, row after row, that together add about NDR_SECTIONS_TERMS terms to a state, or
                         * fewer; one, if a section alone adds more */
  ndr_section *sections;
  ndr_label_run *runs;
  /* Lists of labels. Turned sections list all of them, in the order of the row; others only those of groups. */
  int32_t *order; /* the label, counted from its section's first; NULL if sections are turned */
  int32_t *group; /* its group; if sections are turned, as ndr_fold_turned takes it */
} ndr_sections;

/* How a row of labels is cut. */
typedef struct ndr_cutting {
  int64_t length, most; /* labels of the row, and the most of a section */
  int64_t long_run;     /* the fewest neighbours of one group, on average, that are folded where they lie */
  int64_t few;          /* sections whose groups have fewer labels, on average, have no runs */
  bool neighbours;      /* runs are of neighbours in all sections */
  bool turned;          /* for the kernels of fold/across/turned.h, which take all labels of the row in their order */
} ndr_cutting;

/* Cuts the row of labels that a table lists into sections. Free with ndr_sections_free.
 *
 * Turned sections have `most` labels each, but for the last one, and no runs. Labels of no group are of one more group,
 * whose number is table->groups.
 *
 * Others end where a run of equal labels ends, if one does in their second half. Their runs are of neighbours, or of
 * all labels that a group has in the section. */
ndr_status ndr_sections_make(ndr_sections **made, const ndr_table *table, const ndr_cutting *cutting);
void ndr_sections_free(ndr_sections *sections);

#endif
