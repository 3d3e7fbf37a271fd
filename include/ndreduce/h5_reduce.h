/* Reductions and scans of datasets that h5_dataset.h has opened: with masks, weights and other arrays beside them, in
 * groups of their steps, on CPUs or GPUs, in parts or by many processes. Results are in memory; h5_writer.h writes them
 * to files. h5.h tells what is true of all these headers.
 *
 *   float mean;
 *   DLTensor result = ndr_tensor(&mean, NDR_F32, 0, NULL), *results[] = {&result};
 *   ndr_h5_dataset *dataset;
 *   ndr_problem problem = NDR_PROBLEM_INIT;
 *   ndr_h5_options options = NDR_H5_OPTIONS_INIT;
 *   ndr_op op = NDR_MEAN;
 *   options.where = "x > 25";
 *   ndr_status status = ndr_h5_open(&dataset, "data/ocean.nc", "/temp", NULL);
 *   if (status == NDR_OK) status = ndr_h5_problem(&problem, dataset, NDR_ALL_DIMS, 1, &op);
 *   if (status == NDR_OK) status = ndr_h5_reduce(dataset, &problem, results, &options);
 *   if (status == NDR_OK) printf("%.2f\n", mean); // prints 27.47
 *   else fprintf(stderr, "%s\n", ndr_last_error());
 *   ndr_h5_close(dataset);
 */
#ifndef NDREDUCE_H5_REDUCE_H
#define NDREDUCE_H5_REDUCE_H

#include "ndreduce/comm.h"
#include "ndreduce/groups.h"
#include "ndreduce/h5_dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups ------------------------------------------------------------------------------------------------------
 *
 *   ndr_h5_groups *months = NULL;
 *   ndr_h5_options options = NDR_H5_OPTIONS_INIT;
 *   status = ndr_h5_groups_by_time(&months, dataset, 0, "month");
 *   options.groups = months;
 *   if (status == NDR_OK) status = ndr_h5_problem_operands(&problem, dataset, &options);
 *
 * makes the problem one whose results have the dim of groups in the place of the dim of times, as groups.h says;
 * ndr_problem_result then gives their shapes, and ndr_h5_reduce takes the problem and the same options. */

/* Groups along one dim of a dataset, or labels along several, and what they are called. Immutable; of the datasets that
 * they were made of, only that of labels must live as long. */
typedef struct ndr_h5_groups ndr_h5_groups;

/* Puts steps into groups by their times, as the coordinates of dim say them (ndr_h5_dates), in ascending order of the
 * groups, whose times go up: each is dated by its first period behind that of the group before. Only groups with steps
 * exist, and a missing time is in none. `key` is, in any case:
 *   year, yearmonth, day     what the calendar calls so
 *   yearseason               December to February, which counts for the year of its January, March to May, ...
 *   month, season            1 to 12, and DJF, MAM, JJA, SON, of all years: climatologies
 *   dayofyear                1 to 366, of all years; 1 March is day 60 of a year without a 29 February
 *   monthday                 01-01 to 12-31, of all years: the same day of the same month
 *   hour                     0 to 23, of all days
 * Fails with NDR_ERR_ARGUMENT on another key and where no step has a time, with NDR_ERR_DIMS where the dim has no
 * coordinates, or none that are times. *groups is to be given to ndr_h5_groups_destroy; NULL after a failure. */
NDR_API ndr_status ndr_h5_groups_by_time(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim,
                                         const char *key);

/* Puts steps into groups by labels, a dataset of integers: as long as dim, or as the dim of the file of which the
 * dataset is a part; then the same part of it counts. Labels of k dims, like the zones of a map, lie along dims dim ..
 * dim + k - 1: those of the same names if all have them, else in order. Where one of these is the dim of a series,
 * labels may be a series of as many files. Their coordinates must agree with the dataset's, or are turned, by the rules
 * of ndr_h5_operand; those of a file's only label must agree, too. Groups are the labels that occur, in ascending
 * order; a missing or negative one is in no group. Reads the labels, which must live as long as the groups: 12 bytes
 * for each step, of which there are at most 2^28. Fails with NDR_ERR_DTYPE on labels that are no integers,
 * NDR_ERR_DIMS on other shapes or coordinates, NDR_ERR_ARGUMENT where no step is in a group, and on a label of 2^63
 * or more, or of 2^53 or more if labels may be missing. */
NDR_API ndr_status ndr_h5_groups_by_labels(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim,
                                           const ndr_h5_dataset *labels);

/* Makes groups of `window` neighbouring steps. What is left over at the end is treated as `rest` says. Fails with
 * NDR_ERR_ARGUMENT where that is NDR_REST_REFUSE and there is a rest, or there is no window. */
NDR_API ndr_status ndr_h5_groups_windows(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int64_t window,
                                         ndr_rest rest);

/* Makes groups of windows over dims dim .. dim + dim_count - 1 at once: windows[i] neighbouring steps along each, what
 * is left over as rests[i] says. The result has one dim of groups for all of them, in which the windows are in
 * row-major order: the same memory is an array with a dim for each. Dims may be of any size: the work is done in
 * stages along the first of them with several windows. Fails as ndr_h5_groups_windows does. */
NDR_API ndr_status ndr_h5_groups_boxes(ndr_h5_groups **groups, const ndr_h5_dataset *dataset, int dim, int dim_count,
                                       const int64_t *windows, const ndr_rest *rests);

/* Whether groups that were made of one dataset serve another one, too, so that the variables of a file share them. 1 if
 * the dims that they lie along have the same names, sizes and selected part in both, and coordinates of the same files;
 * else, or if there is no memory, 0. Of groups by labels it compares the dims alone, not the labels. Reads no elements.
 */
NDR_API int ndr_h5_groups_fit(const ndr_h5_groups *groups, const ndr_h5_dataset *dataset);

NDR_API int64_t ndr_h5_groups_count(const ndr_h5_groups *groups);

/* Those that lie along one dim of the dataset: of windows over several the windows along it, of which there are as many
 * as the unfolded result has there; of others the groups themselves. NULL where none lie along it. They live as long
 * as the groups, and are not to be destroyed. */
NDR_API const ndr_h5_groups *ndr_h5_groups_along(const ndr_h5_groups *groups, int dim);

/* Writes the shape of a result of the problem that has a dim for each that windows of several dims lie along, in place
 * of the one dim of groups, and returns its number of dims; of other groups those of the result. The result is compact:
 * it may be read with this shape. `shape` has room for NDR_MAX_DIMS. */
NDR_API int ndr_h5_groups_unfold(const ndr_h5_groups *groups, const ndr_problem *problem, const DLTensor *result,
                                 int64_t *shape);

/* The (first) dim that they lie along, which the dim of groups takes the place of, along how many they lie, and what
 * the dim of groups is called: as that dim, or as the dataset of labels; NULL where it has no name. */
NDR_API int ndr_h5_groups_dim(const ndr_h5_groups *groups);
NDR_API int ndr_h5_groups_dim_count(const ndr_h5_groups *groups);
NDR_API const char *ndr_h5_groups_dim_name(const ndr_h5_groups *groups);

/* What they were made by, like "time:month" and "time:12". */
NDR_API const char *ndr_h5_groups_text(const ndr_h5_groups *groups);

/* Room for a name and the final 0. */
#define NDR_H5_GROUP_CHARS 40

/* Writes what people call group i: "1", "DJF", "2001", "2001-01", "2001-DJF", "2001-01-31", "60", "23"; a label as a
 * number; of a window its coordinate (in results the mean of its steps' coordinates, or of times the middle), or where
 * there are none its number; "LAT, LON" of one over several dims. "" where there is no group i. */
NDR_API void ndr_h5_groups_name(const ndr_h5_groups *groups, int64_t i, char text[NDR_H5_GROUP_CHARS]);

/* NULL is allowed. */
NDR_API void ndr_h5_groups_destroy(ndr_h5_groups *groups);

/* ---- Reducing --------------------------------------------------------------------------------------------------- */

/* Who reduces; the CPU's threads read and decode in any case. What a GPU reduces it also unpacks: chunks, shuffled
 * bytes, byte order, packing and missing values are left as the file has them, unless only HDF5 can read them. AUTO
 * takes a GPU where there is one and 12 GiB or more to reduce, 3 GiB if they are filtered: below, it takes longer to
 * start than it saves. Results on a GPU are bitwise equal from run to run; they may differ from the
 * CPU's in the last digits, as sums are added in another order.
 *
 * Where a GPU's memory runs out, smaller slabs are tried; where that does not help, and where a GPU fails, AUTO starts
 * again on the CPU and says so (ndr_h5_progress.warning), and CUDA and ALL are an error.
 *
 * ALL takes every GPU of the machine, which should be of one kind: slabs go to them in turn, and what each comes to is
 * merged in the order of the slabs, so that results are bitwise those of the first GPU alone with as large slabs. */
typedef enum ndr_h5_device { NDR_H5_AUTO = 0, NDR_H5_CPU = 1, NDR_H5_CUDA = 2, NDR_H5_ALL = 3 } ndr_h5_device;

/* How far a reduction is, or how it went. Bytes are those of the elements in memory, after decoding. The first three
 * times are summed over the threads that read; the last two are the calling thread's, which reads while it waits. For
 * contiguous data on the CPU, which each thread reduces as it reads them, reduce_seconds is the mean over threads, and
 * wait_seconds the rest of the calling thread's time. On a GPU reduce_seconds are those in which the calling thread
 * waits for it, to copy, unpack and reduce: unpack_seconds are of threads alone. write_seconds are the calling
 * thread's, too: those that ndr_h5_writer_add_reduced and ndr_h5_writer_add_scan take to write results, which
 * reduce_seconds leave out. */
typedef struct ndr_h5_progress {
  int64_t bytes, total_bytes;
  int64_t slabs, total_slabs;
  int64_t stored_bytes; /* read from the file so far */
  int threads;          /* that read */
  double read_seconds, decode_seconds, unpack_seconds;
  double wait_seconds, reduce_seconds;
  DLDevice device;     /* that reduces */
  const char *warning; /* why not on the GPU chosen first, valid during the call; NULL where nothing is amiss */
  double write_seconds;
  /* With ndr_h5_options.comm, on rank 0: bytes, slabs and stored_bytes are sums of what all ranks have reported so far,
   * and of_ranks[i] is the last report of rank i, valid during the call. On other ranks, and without a comm: 0, NULL.
   */
  int ranks;
  const struct ndr_h5_progress *of_ranks;
  int64_t sent_bytes; /* from this rank to others */
} ndr_h5_progress;

/* An array that is read beside the dataset: another dataset, a series, or numbers in memory. Start from
 * NDR_H5_OPERAND_INIT. Its dims are the dataset's of the same names if each that is longer than 1 has such a name, else
 * the last ones, as NumPy aligns them. Along a dim that it lacks, or where its size is 1, it is repeated; along the
 * others it has the dataset's size. If its dims are given or found by names, it may also have the size of the whole dim
 * in the file of which the dataset is a part: the same part of the array is then read. Longitudes, all of
 * them or a part, are paired by place: the array's file may begin elsewhere, and go eastwards or westwards.
 *
 * Elements are paired by their numbers. If both have coordinates along a dim, these must agree or, in an array that was
 * opened with ndr_h5_access.by_number, do not count. Times agree if they are the same instants, in whatever units, and
 * their calendars have the same dates; those that cannot be decoded must be the same numbers of the same units and
 * calendar. Other coordinates may differ by a thousandth of a step or by what their dtypes round off, and longitudes by
 * whole turns as well. An array whose file has the same coordinates in reverse is turned, but not along the dim of a
 * series. Otherwise the call fails with NDR_ERR_DIMS, and its sentence names the first place that differs. Coordinates
 * do not count along a dim that is repeated, of which the array's own part leaves one step of several, or of which its
 * file has one step and the dataset's has several.
 *
 * An array that cannot be paired so is paired by its `groups`, if it has some: it has one step for each. Its own times
 * say of which group a step is; they may be in any order and, if the key takes all years together, of other years than
 * the dataset's. Each group of the dataset must be there, once; the array may have more groups. In place of times its
 * dim may have the name of the key, month, year, dayofyear or hour, and these numbers as coordinates. Days are paired
 * only between calendars that number them alike. Each step of the dataset must be in a group, unless the reduction is
 * by groups of the same dim, which leave out the others.
 *
 * Elements of a dataset are what its own attributes say, as for the dataset that is reduced. An array that is repeated
 * is read once if it takes no more than an eighth of the memory there is for buffers; others are read slab by slab.
 *   NDR_WHERE    a mask: elements where it is 0, NaN or missing are left out
 *   NDR_WEIGHTS  weights, reduced as f64: finite and not negative, and not all of them 0. Missing ones count as 0. For
 *                sum, mean, var, std and norm2; other operators may stand beside these, without weights, and valid
 *                also by itself
 *   NDR_WITH     the second, third ... array of operators of one's own, in the order in which they are given. Places
 *                where one is missing are left out; then NaN are skipped by all operators of the call. Arrays beyond
 *                those that operators read are for conditions (ndr_h5_options.where) */
typedef struct ndr_h5_operand {
  size_t size;
  ndr_role role;
  ndr_h5_dataset *dataset; /* an array in a file, or NULL */
  const DLTensor *tensor;  /* else one in host memory, compact; weights are f64 */
  const int *dims;         /* its dim i lies along dim dims[i] of the dataset; NULL: as described above */
  const char *name;        /* by which a condition calls it; NULL: none does */
  /* Groups of the dataset by time (ndr_h5_groups_by_time), for an array that has one step for each of them, such as a
   * climatology of months. If the array cannot be paired step by step, an element is paired with its step of the same
   * group, along the dim of that name. They must live as long as the call, and are ignored if `dims` are given. NULL:
   * none. */
  const ndr_h5_groups *groups;
} ndr_h5_operand;
#define NDR_H5_OPERAND_INIT                                                                                            \
  { sizeof(ndr_h5_operand), NDR_WITH, NULL, NULL, NULL, NULL, NULL }

/* What was wrong with the files of partial states that a reduction was to merge (ndr_h5_options.refused). */
typedef enum ndr_h5_refusal {
  NDR_H5_REFUSED_NONE = 0,  /* nothing: the call has succeeded, or has failed for another reason */
  NDR_H5_REFUSED_FILE = 1,  /* a file cannot be read, is damaged, or has states of the CPU where a GPU is to merge */
  NDR_H5_REFUSED_JOB = 2,   /* a file has states of another reduction, or of data files that have changed since */
  NDR_H5_REFUSED_PARTS = 3, /* a part is missing or there twice, or belongs to another number of parts */
} ndr_h5_refusal;

typedef struct ndr_h5_refused {
  ndr_h5_refusal why;
  int file; /* which one, an index in ndr_h5_options.states; -1: no single one, as where a part is missing */
} ndr_h5_refused;

/* How a dataset is reduced. Start from NDR_H5_OPTIONS_INIT; NULL means exactly that. */
typedef struct ndr_h5_options {
  size_t size;
  ndr_h5_device device;
  int device_id; /* of the GPU, for NDR_H5_AUTO and NDR_H5_CUDA; with a comm each rank says its own */
  int threads;   /* CPU threads at most; 0: ndr_thread_count() */
  /* Bytes for buffers and partial states, results not counted, and as many on a GPU; 0: a quarter of what is free on
   * this machine and to this process's control groups, 64 MiB at least. */
  int64_t memory;
  /* Called after each slab; where threads reduce what they read, a call may report several slabs or none. May be NULL.
   * Without the lock: it may call functions of these headers, but none on the dataset that is being reduced. */
  int (*on_progress)(void *user, const ndr_h5_progress *now);
  void *user;
  /* The same as an operand with the role weights: compact f64 in host memory, whose dim i lies along dim weight_dims[i]
   * of the dataset. NULL: none. */
  const DLTensor *weights;
  const int *weight_dims;
  int operand_count;
  const ndr_h5_operand *const *operands; /* at most one with the role where, and one with the role weights */
  /* A condition in place of a mask: an expression of operator.h, like "x > 273.15 && land", over x, the elements of the
   * dataset, and the names of operands with the role NDR_WITH. Elements where it is not true, or one of these arrays is
   * missing or NaN, are left out. index(d) counts along the whole dim. NULL: none. */
  const char *where;
  const ndr_h5_groups *groups; /* of the dataset; their dims are reduced, named by the problem or not. NULL: none */
  /* One part of several, as processes that know nothing of each other do: reads that part alone, and in place of
   * results, which may be NULL, writes its partial states to the file `state`, in place of others that are there. Parts
   * count from 1 to part_count; 0: all is reduced. NDR_H5_AUTO is the CPU; either the CPU or GPUs, of one kind, reduce
   * all parts, and nothing is tried again where a GPU fails. `note` is kept in the file, for ndr_h5_state_note; NULL:
   * none. */
  int part, part_count;
  const char *state, *note;
  /* Not 0: reads no element, but takes the results from the files of all parts of the same reduction of the same
   * dataset, in any order. They are the same to the last bit as without parts. NDR_H5_AUTO is what has reduced the
   * parts. The CPU can merge those of GPUs, too; var, std and what else is not a plain sum may then differ in the last
   * digits. Fails with NDR_ERR_ARGUMENT where a part is missing, there twice or of something else, with NDR_ERR_FILE
   * where a file is damaged, and with NDR_ERR_UNSUPPORTED for a GPU where the CPU has reduced the parts. The sentences
   * of these failures do not name the dataset; if a single file of states is wrong, they begin with its name. */
  int state_count;
  const char *const *states;
  /* Ranks that do the reduction together, each of which has opened the dataset itself, best with a structure
   * (h5_dataset.h), so that rank 0 alone reads all but elements; NULL: this process does it alone. The call is
   * collective (comm.h). Half of the dataset's pieces are dealt to the ranks at the beginning, the others one range
   * after the other to whoever is ready. Where several ranks have pieces of the same outputs, one of them merges their
   * states. Rank 0 gets the results, with the same bits as without ranks; on others `results` may be NULL. Where rank
   * 0 calls ndr_h5_writer_add_reduced, the others call ndr_h5_reduce. memory and threads are each rank's; by default
   * ranks that share a machine divide what it has. NDR_H5_AUTO is the CPU. With NDR_H5_CUDA each rank names its GPU;
   * by NDR_H5_ALL the GPUs of a machine are dealt to the ranks there, some to each, or one to several. They should be
   * of one kind. on_progress gets the progress of all on rank 0, that of its own rank elsewhere. Fails with
   * NDR_ERR_ARGUMENT where ranks differ in their problems, files (sizes, first and last bytes are compared) or cuts,
   * or in whether GPUs reduce, or have a part or states too; with NDR_ERR_UNSUPPORTED for scans. */
  ndr_comm *comm;
  ndr_h5_refused *refused; /* receives what was wrong with `states`, or that nothing was; NULL: not wanted */
  /* Receives the index in `operands` of the operand that cannot be paired step by step but could be by groups, such as
   * months; the error then leaves it to the caller to say so. Receives -1 otherwise. NULL: not wanted, and the error
   * says so itself. */
  int *needs_groups;
} ndr_h5_options;
#define NDR_H5_OPTIONS_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(ndr_h5_options), NDR_H5_AUTO, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, NULL, NULL, 0,    \
        NULL, NULL, NULL, NULL                                                                                         \
  }

/* Checks the syntax of a text for ndr_h5_options.where: any name counts as an array's. Fails with NDR_ERR_PARSE and the
 * column, and with NDR_ERR_ARGUMENT if there are too many names. Takes no lock. */
NDR_API ndr_status ndr_h5_condition_check(const char *text);

/* Adds what the options' operands, weights, `where` and groups are to a problem of the dataset, so that
 * ndr_problem_result says what results of operators of several arrays, and results by group, look like. ndr_h5_reduce
 * does without, but takes no groups other than the options'. Reads no element. */
NDR_API ndr_status ndr_h5_problem_operands(ndr_problem *problem, const ndr_h5_dataset *dataset,
                                           const ndr_h5_options *options);

/* Reduces the dataset, all operators from one read: results[i] receives that of problem->ops[i], in host memory, of the
 * shape and dtype that ndr_problem_result says. Shape and dtype of the problem are the dataset's, or f64 where there
 * are weights, a mask or a condition; its strides do not count, and its operands are those of the options. Data that
 * was never written is not read: it is the fill value. Of masked data NaN are skipped. Where no element is valid, of
 * masked data or under a mask or condition, sums, products, norms and logsumexp are NaN, and so are min, max and ptp,
 * but not if they are integers. Fails as ndreduce does, with NDR_ERR_FILE where the file cannot be read, NDR_ERR_MEMORY
 * where one chunk cannot be decoded in the budget, NDR_ERR_CANCELLED where on_progress asks for it. If it fails after
 * the work has begun, some results may have been written.
 *
 * Groups that follow each other along their dim are done in stages of 64 MiB or so, if all of them had many outputs:
 * partial states are then those of one stage. Other groups have partial states for all outputs of a block at once.
 *
 * What is rounded on the way, as f64 sums, depends in its last bits on shape, dims, dtype, packing and chunks, on how a
 * series is cut into files, on whether there are weights, and on whether the CPU or GPUs reduce: they say which leaves
 * of up to 1 MiB (on GPUs slabs of up to 16 MiB) the array is cut into, and in which order these are added. It depends
 * neither on threads, nor on parts, nor on the other ops, nor on the memory, unless that is less than a leaf takes with
 * what is needed to read it: ndr_h5_explain then says that leaves are short for lack of memory. */
NDR_API ndr_status ndr_h5_reduce(ndr_h5_dataset *dataset, const ndr_problem *problem, DLTensor *const *results,
                                 const ndr_h5_options *options);

/* The note in a file of partial states (ndr_h5_options.state), to be given to free(). */
NDR_API ndr_status ndr_h5_state_note(const char *path, char **note);

/* Bytes of memory that results may take: what is free on this machine, swap included, or to this process's control
 * groups where that is less. Who allocates more may be ended by the system. */
NDR_API int64_t ndr_h5_free_memory(void);

/* Writes what ndr_h5_reduce would do - layout, slabs, buffers - into text, at most capacity bytes with the final 0.
 * *length receives the length of the whole description. */
NDR_API ndr_status ndr_h5_explain(ndr_h5_dataset *dataset, const ndr_problem *problem, const ndr_h5_options *options,
                                  char *text, size_t capacity, size_t *length);

/* Where found elements are: indices is a result of argmin or argmax of the problem, in compact host memory, and
 * values[i] receives the coordinate along dim, one of the reduced ones, of the element that indices' element i is the
 * index of; NaN for -1. Fails as ndr_h5_coordinate does. */
NDR_API ndr_status ndr_h5_locate(const ndr_h5_dataset *dataset, const ndr_problem *problem, int dim,
                                 const DLTensor *indices, double *values);

/* ---- Scanning --------------------------------------------------------------------------------------------------- */

/* A scan of a dataset along one of its dims: running sums and the like, as scan.h says. Start from NDR_H5_SCAN_INIT.
 * Operators are sum, prod, min, max, logsumexp, any and all. Those of one's own are NDR_ERR_OP: ndr_scan gives their
 * results, not the states that would have to be carried from slab to slab. The result has the dataset's shape: nothing
 * like include_initial puts a further value before those, for which the dim would have no coordinate. */
typedef struct ndr_h5_scan {
  size_t size;
  int dim; /* negative numbers count from the end */
  ndr_op op;
  int exclusive, reverse, skip_nan; /* as in ndr_scan_options */
} ndr_h5_scan;
#define NDR_H5_SCAN_INIT                                                                                               \
  { sizeof(ndr_h5_scan), 0, NDR_SUM, 0, 0, 0 }

/* Fills in what the result looks like: result->shape has room for NDR_MAX_DIMS sizes, and is the dataset's shape.
 * Fails as ndr_scan does. */
NDR_API ndr_status ndr_h5_scan_result(const ndr_h5_dataset *dataset, const ndr_h5_scan *scan, DLTensor *result);

/* Scans the dataset into result, which is compact, in host memory, and as ndr_h5_scan_result says. A result that memory
 * does not take goes to a file: ndr_h5_writer_add_scan. The CPU scans, whatever options->device is.
 *
 * Slabs are read in the order of the scan, and what stands before a slab is carried to it unrounded: of floats as f64.
 * So integers, minima and maxima are those of ndr_scan to the bit. Running sums and products of floats may differ from
 * its in the last digits, as slabs begin at other places than its runs. They depend on what the sums of ndr_h5_reduce
 * depend on, and not on threads or, as there, memory.
 *
 * Elements that are missing, or that a mask or condition leaves out, change nothing: their places have the value of
 * what came before. Of masked data NaN are skipped. Where nothing came before that counts, results that are floats are
 * NaN, as those of reductions without a valid element are; of integers, any and all they are the value of no elements.
 * Weights and groups are NDR_ERR_ARGUMENT; else it fails as ndr_h5_reduce and ndr_scan do. */
NDR_API ndr_status ndr_h5_scan_to(ndr_h5_dataset *dataset, const ndr_h5_scan *scan, DLTensor *result,
                                  const ndr_h5_options *options);

/* As ndr_h5_explain. */
NDR_API ndr_status ndr_h5_scan_explain(ndr_h5_dataset *dataset, const ndr_h5_scan *scan, const ndr_h5_options *options,
                                       char *text, size_t capacity, size_t *length);

#ifdef __cplusplus
}
#endif
#endif
