/* What `ndbench gauge` is made of: problems whose sizes suit nobody, the memory that they must move, and the share of
 * what the machine allows that each reaches. */
#ifndef NDBENCH_GAUGE_H
#define NDBENCH_GAUGE_H

#include "ndbench/trial.h"

enum { LEAST_GAUGE_BYTES = 1 << 20 };

/* How an array lies in memory. Dims of stride 0 or of size 1, and signs of strides, do not count. */
typedef enum gauge_kind {
  GAUGE_COMPACT,  /* row-major, without gaps */
  GAUGE_PERMUTED, /* without gaps, in another order */
  GAUGE_PITCHED,  /* neighbours in the fastest dim, gaps between others */
  GAUGE_STEPPED,  /* gaps between neighbours in the fastest dim */
  GAUGE_KINDS
} gauge_kind;

/* A problem that was timed. */
typedef struct gauge_row {
  const bench_problem *problem;
  gauge_kind kind;
  bool copies;          /* results are so large a part that the ceiling is that of copies */
  char family[16];      /* the planner's choice */
  double read, written; /* bytes of the lines that must be read, and of those that must be written */
  double seconds;       /* of a call */
  /* Bytes a second; the least time that the machine allows, over `seconds`. 0 and NaN where no loop tells. */
  double ceiling, share;
  double burst_share; /* the same where memory hands over no less than a burst */
  double plain_share; /* that of the best plain loop over as many bytes; 1 where the ceiling is of that size */
} gauge_row;

typedef struct gauge_record {
  const bench_options *options;
  int count, failed;
  double launch;    /* seconds that any call takes; 0 on the CPU */
  double alternate; /* time to read every other line, as a part of that to read all; 0 if it was not measured */
  int burst;        /* bytes that memory hands over at least: a line, or two where `alternate` is near 1 */
  gauge_row *rows;
} gauge_record;

/* ---- gauge_random.c: adds options->count problems of at most options->largest bytes, of every kind in turn. Number i
 * depends on the seed, on the largest and on i alone. */
void gauge_list_add_random(bench_list *list, const bench_options *options);
const char *gauge_kind_name(gauge_kind kind);
gauge_kind gauge_kind_of(const ndr_problem *reduction);

/* ---- gauge_lines.c */

/* Lines of `line` bytes that hold an element of the array, each counted once; the element at the lowest address begins
 * a line. `line` is a power of two from 16 to 64. Exact unless dims interleave, such as [3:2,2:3]; the lines of the
 * whole extent bound the number there. 0 if the array is empty. */
double gauge_lines(const ndr_problem *reduction, int line);

/* ---- gauge_report.c: the table, and the record that options->json names. */
void gauge_print(const gauge_record *record, FILE *to);
bool gauge_write_json(const gauge_record *record);

#endif
