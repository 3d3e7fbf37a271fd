/* The parts of `ndbench ladder`: the reductions, prefix sums and selections that are taught, rung by rung, timed on a
 * GPU or counted under emulation. */
#ifndef NDBENCH_LADDER_H
#define NDBENCH_LADDER_H

#include "../../kernels/ladder/job.h"
#include "ndbench/ndbench.h"
#include "simt/count.h"

/* REDUCE: an array to one value. AXES: a matrix along either axis. ND: five dims. SCAN: prefix sums of an array.
 * SELECT: the elements of an array that are less than a limit; and sorting it. */
typedef enum ladder_kind {
  LADDER_REDUCE,
  LADDER_AXES,
  LADDER_ND,
  LADDER_SCAN,
  LADDER_SELECT,
  LADDER_KINDS
} ladder_kind;

/* What a rung runs: a kernel of the ladder (or of CUB or Thrust, by the same call), cuBLAS, or the library in one call
 * or in one call a dim. */
typedef enum ladder_way { LADDER_BY_KERNEL, LADDER_BY_CUBLAS, LADDER_BY_US, LADDER_BY_US_TWICE } ladder_way;

typedef struct ladder_rung {
  ladder_kind kind;
  const char *number; /* a number, with a letter where one has several rows */
  const char *name;
  /* The number of the rung that this one improves on by one idea, with the same result from the same data. NULL: it is
   * an altogether different way. */
  const char *mends;
  ladder_way way;
  ladder_kernel kernel;
  int dim_count, dims[2]; /* what is reduced, for AXES and ND */
  const char *idea;       /* what --explain prints */
} ladder_rung;

typedef struct ladder_options {
  bench_options bench;
  bool kinds[LADDER_KINDS];
  ladder_op op;
  bool has_op; /* --op is given */
  ladder_dtype dtype;
  int block, overlap;
  const char *rung, *explain, *source; /* a number, or NULL; explain and source may also be "all" */
  int64_t length;
  int shape_count; /* of matrices */
  int64_t shapes[8][2];
  int64_t dims[5]; /* of ND */
  int keep_count;  /* of SELECT */
  int keeps[8];    /* per cent that are selected */
} ladder_options;

/* The kernels of SELECT count elements in ints. */
#define LADDER_MOST_SELECTED (INT64_C(1) << 30)

/* An array in row-major order. */
typedef struct ladder_data {
  ladder_kind kind;
  ladder_op op;
  ladder_dtype dtype;
  int ndim;
  int64_t shape[5];
  int keep; /* of SELECT: per cent of the elements */
  int64_t elements;
  void *host, *placed; /* the same on the device */
  void *expected;      /* the right results for the goal expected_for; NULL: not known yet */
  unsigned expected_for;
  int64_t expected_count; /* of them */
} ladder_data;

/* Elements for SELECT are whole numbers below VALUES. */
enum { LADDER_VALUES = 1000000 };

/* The goal of a rung of SELECT: what is selected, in its order; the same in any order (compared sorted); or all
 * elements sorted. The goal of any other rung is the dims that it reduces, as bits. */
enum { LADDER_IN_ORDER = 1, LADDER_ANY_ORDER = 2, LADDER_SORTED = 4 };

/* How a rung did. On a GPU `time` is filled in, under emulation `counts`. */
typedef struct ladder_record {
  const ladder_rung *rung;
  char shape[64];
  int keep; /* of SELECT: per cent of the elements */
  bench_row time;
  simt_counts counts;
  double gain; /* how many times as fast as the rung that it improves on; 0: there is none */
  bool correct, left_out;
  char complaint[160]; /* why it is not, or why it was left out; else "" */
} ladder_record;

/* ---- rungs.c */
extern const ladder_rung ladder_rungs[];
extern const int ladder_rung_count;

/* Loads from the array that a thread of a rung's kernel has in flight before it uses the first of them. */
int ladder_loads(const ladder_rung *rung, const ladder_options *options);

/* Whether a thread of the rung's kernel takes as many elements as options.overlap says. */
bool ladder_overlaps(const ladder_rung *rung);

/* Whether text is the rung's number, with or without the letter that it may have. */
bool ladder_rung_is(const ladder_rung *rung, const char *text);
extern const char *const ladder_kind_names[LADDER_KINDS];
extern const char *const ladder_op_names[LADDER_OPS];
extern const char *const ladder_dtype_names[LADDER_DTYPES];

/* ---- source.c: the text of a rung's kernel, and which file it is in; false where it has none. */
bool ladder_source_print(const ladder_rung *rung, FILE *to);
bool ladder_has_source(const ladder_rung *rung);

/* ---- data.c */

size_t ladder_bytes(ladder_dtype dtype);

/* Whole numbers and powers of two, such that sums and products are exact in whatever order they are formed: an element
 * that is lost or taken twice shows. False when memory is short. */
bool ladder_data_make(ladder_data *data, const ladder_options *options);
void ladder_data_free(ladder_data *data);

/* The results that are right for a goal; reductions are made one element after the other. Kept until the next goal.
 * NULL when memory is short. */
const void *ladder_expected(ladder_data *data, unsigned goal);

/* Says in the complaint where results differ. */
bool ladder_same(ladder_dtype dtype, int64_t outputs, const void *got, const void *expected, char *complaint,
                 size_t capacity);

/* The goal of a rung, and how many results it has; of SELECT, how many it has at the most. */
unsigned ladder_goal(const ladder_data *data, const ladder_rung *rung);
int64_t ladder_outputs(const ladder_data *data, unsigned goal);

/* The job for a kernel of the ladder, without results and scratch memory. */
ladder_job ladder_job_of(const ladder_options *options, const ladder_data *data);

/* Bytes from a row to the next where rows are padded, as cudaMallocPitch pads them. */
size_t ladder_padded_row(const ladder_data *data);

/* ---- check.c */

/* SELECT selects elements less than this. */
int ladder_limit(const ladder_data *data);

/* The order in which a rung of SELECT leaves elements. */
unsigned ladder_order_of(const ladder_rung *rung);

/* For ladder_expected: fills data->expected, which holds as many elements as there are, and sets its count; false when
 * memory is short. */
bool ladder_select(ladder_data *data, unsigned order);

/* Whether what a rung of any ladder left is right; of SELECT, where `selected` is how many elements it counted, `got`
 * may be sorted. Says in the complaint what is wrong. */
bool ladder_check(ladder_data *data, const ladder_rung *rung, void *got, int64_t selected, char *complaint,
                  size_t capacity);

/* ---- count.c, cuda.c: run a rung on data->placed; false when it failed. */
bool ladder_count(const ladder_options *options, ladder_data *data, ladder_record *record);
#ifdef NDBENCH_WITH_CUDA
bool ladder_time(const ladder_options *options, ladder_data *data, ladder_record *record);
#endif

/* ---- options.c */
void ladder_options_read(ladder_options *options, int argc, char **argv);

/* ---- report.c */
void ladder_table_head(const ladder_options *options, const ladder_data *data, FILE *to);
void ladder_table_row(const ladder_options *options, const ladder_record *record, FILE *to);

/* Explains the columns of counts, and what they do not tell. */
void ladder_table_legend(const ladder_options *options, FILE *to);
bool ladder_json(const ladder_options *options, const ladder_record *records, int count);

#endif
