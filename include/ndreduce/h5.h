/* Reductions of HDF5 and netCDF-4 datasets of any size, read piece by piece within a memory budget.
 *
 *   float mean; // what ndr_problem_result says: of f32 elements f32
 *   DLTensor result = ndr_tensor(&mean, NDR_F32, 0, NULL), *results[] = {&result};
 *   ndr_h5_dataset *dataset;
 *   ndr_problem problem = NDR_PROBLEM_INIT;
 *   ndr_op op = NDR_MEAN;
 *   ndr_status status = ndr_h5_open(&dataset, "data/ocean.nc", "/temp", NULL);
 *   if (status == NDR_OK) status = ndr_h5_problem(&problem, dataset, NDR_ALL_DIMS, 1, &op);
 *   if (status == NDR_OK) status = ndr_h5_reduce(dataset, &problem, results, NULL);
 *   if (status == NDR_OK) printf("%g\n", mean); // prints 12.75
 *   else fprintf(stderr, "%s\n", ndr_last_error());
 *   ndr_h5_close(dataset);
 *
 * Files are not trusted: sizes are checked before memory is taken, and other files that they lead to (external links,
 * external storage, sources of virtual datasets) are read only where they lie in the folder of the input or below it,
 * symbolic links resolved, unless that is allowed. The sentences of ndr_last_error() on what is wrong with a file name
 * it, and the dataset.
 *
 * Threads: the functions may be called from any thread; those on one dataset or writer, from one thread at a time. All
 * HDF5 calls made here are serialised by a lock of our own. A program that calls HDF5 in other threads itself needs an
 * HDF5 library built thread-safe. The error printing and plugin settings of HDF5 are as the program left them after
 * each call; when the program ends, error printing is turned off.
 *
 * Callbacks run in the thread that made the call. The lock is not recursive, so a callback must not call functions of
 * this header unless its text here says that it may. It may call those of ndreduce.h, plan.h and device.h, print, and
 * fork. What it is handed lives until it returns. If it returns something other than 0, the call that it was called by
 * stops and fails with NDR_ERR_CANCELLED, unless its text here says otherwise.
 *
 * Malformed files: what the library can tell of a file is checked before HDF5 reads it, and refused. That is not all:
 * HDF5 1.10 has defects by which a malformed file crashes it, or keeps it busy for ever, inside the process that reads
 * it, and no error comes back from there. h5gpured catches the crash, names the file and ends with status 1, which a
 * library cannot do for a program that goes on; signals end it wherever it is. A program that reads files of strangers
 * and must not be lost with them should read them in a child process with a limit of time, or run h5gpured, and use
 * HDF5 1.14 or later. In a library of its own, libndreduce_h5. */
#ifndef NDREDUCE_H5_H
#define NDREDUCE_H5_H

#include "ndreduce/comm.h"
#include "ndreduce/groups.h"
#include "ndreduce/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Names: what a user types ----------------------------------------------------------------------------------- */

/* Splits FILE:/DATASET or FILE/DATASET, or just FILE, where the longest prefix that is an existing file wins. *file and
 * *dataset are to be given to free(); *dataset is NULL where none is named, else starts with "/". Fails with
 * NDR_ERR_FILE, naming the file that would have been meant, and with NDR_ERR_ARGUMENT on an empty text. */
NDR_API ndr_status ndr_h5_split(const char *text, char **file, char **dataset);

/* Reads "all" or a comma list of dims: numbers, negative ones counting from the end, or names. names[d] is the name of
 * dim d or NULL; dims needs room for ndim numbers, which come out in the order of the text and not negative. Fails with
 * NDR_ERR_PARSE on text that no array would take (whatever ndim), and with NDR_ERR_DIMS on a dim that this array lacks
 * or that is named twice. Reads no file; callbacks may call it. */
NDR_API ndr_status ndr_h5_dims_parse(const char *text, int ndim, const char *const *names, int *dim_count, int *dims);

/* ---- Datasets --------------------------------------------------------------------------------------------------- */

typedef struct ndr_h5_dataset ndr_h5_dataset;

/* What opening a file may do. Start from NDR_H5_ACCESS_INIT; NULL means exactly that. */
typedef struct ndr_h5_access {
  size_t size;
  int no_plugins;     /* not 0: HDF5 loads no filter plugin while it reads the file */
  int raw;            /* not 0: elements are reduced as stored, whatever the attributes say of their meaning */
  int allow_external; /* not 0: other files that the file leads to may lie outside its folder */
  /* Called once for each attribute that cannot be read and that the numbers can do without, and for each that should be
   * a number and is not; may be NULL. Called under the lock. */
  int (*on_remark)(void *user, const char *sentence);
  void *user;
  int any_type; /* not 0: also opens what can be described, or copied, but not reduced: elements that are no numbers,
                   and netCDF dimensions without coordinates */
} ndr_h5_access;
#define NDR_H5_ACCESS_INIT                                                                                             \
  { sizeof(ndr_h5_access), 0, 0, 0, NULL, NULL, 0 }

/* A virtual dataset is made of pieces of other datasets. */
typedef enum ndr_h5_layout {
  NDR_H5_COMPACT = 0,
  NDR_H5_CONTIGUOUS = 1,
  NDR_H5_CHUNKED = 2,
  NDR_H5_VIRTUAL = 3
} ndr_h5_layout;

/* A dataset as its file describes it. Lives as long as the dataset, or as the call that hands it out. */
typedef struct ndr_h5_info {
  const char *file;    /* as given; of a series of several the first and how many more, "FILE and 2 more" */
  const char *dataset; /* absolute path inside the file, /TABLE.FIELD of a field; netCDF's name of a netCDF variable */
  /* What elements are stored as: the smallest dtype that holds the file's type, in native byte order. Floats wider than
   * f64 are rounded to f64; enumerations count as their integers, except FALSE/TRUE, which is bool; bit fields as
   * unsigned integers; a compound {r, i}, {real, imag} or {re, im} of two equal floats is complex. */
  ndr_dtype stored_dtype;
  /* What they are reduced as. The same, unless netCDF's and CF's attributes give integers and floats a meaning, which
   * ndr_h5_access.raw turns off:
   *   _Unsigned = "true"                               signed integers are the unsigned ones of the same bits
   *   _FillValue, missing_value (up to 15), valid_range, or valid_min and valid_max: `masked`
   *   scale_factor, add_offset other than 1 and 0      element * scale_factor + add_offset, in f64: `scaled`
   *   dtype = "bool", of bytes neither masked nor scaled    bool, as xarray writes it
   * Elements that are equal to a missing value or out of the valid range, and all NaN then, are missing. They are
   * compared as stored, with attributes in the stored dtype; what an integer dtype does not hold exactly masks nothing,
   * and nothing is done where no integer could be missing. Missing elements are NaN to reductions, which skip them:
   * integers with a mask are reduced as f64, where those beyond 2^53 are rounded. A scale_factor or add_offset that is
   * not one number is NDR_ERR_FILE; others that are not numbers, or too many, count for nothing, and are remarked on;
   * scales of 0 and NaN count as they stand. */
  ndr_dtype dtype;
  int masked, scaled;
  int ndim;
  int64_t shape[NDR_MAX_DIMS]; /* along an unlimited dim of netCDF, as long as the dim: what lacks is the fill value */
  /* From the dimension scales, else the attribute _ARRAY_DIMENSIONS, else DIMENSION_LABELS; NULL where nothing says. */
  const char *dim_names[NDR_MAX_DIMS];
  ndr_h5_layout layout;
  int64_t chunk[NDR_MAX_DIMS]; /* NDR_H5_CHUNKED only */
  const char *filters;         /* in the order of writing, "shuffle,deflate"; "" for none */
  int64_t stored_bytes;        /* in the file; 0 for data that was never written, -1 where other files hold it */
  int is_scale;                /* a dimension scale: a coordinate variable */
  const char *units;           /* as the attribute says; NULL where there is none, and of a field */
  int other_count;             /* where no path was given: datasets of lower rank that could be meant, too */
  double scale_factor;         /* what elements are multiplied by where they are `scaled`; else 1 */
  const char *elements; /* what they are where they are no numbers, like "strings"; its dtype then says nothing */
} ndr_h5_info;

/* Opens a dataset of a file, or a part of one. `path` is one of these; a dataset of exactly that name comes first:
 *   PATH                   a dataset
 *   NULL                   the only array of the largest rank of ndr_h5_candidates
 *   TABLE.FIELD            a field of compound elements: an array by itself, without the table's attributes
 *   TABLE.FIELD.FIELD      a field of a compound field
 *   PATH[PART], /[PART]    a part of a dataset; "/[PART]" is a part of what NULL means
 *
 * PART is as in NumPy: for each dim START:STOP:STEP with a positive step, or an index, which leaves the dim with size
 * 1; "..." stands for all dims not mentioned. Or by coordinates, NAME=FROM:TO and NAME=VALUE, among the others:
 *   lat=30:60    all between the two, both included, in either order; either may be left out
 *   lev=850      the nearest, the greater one of two; leaves the dim with size 1
 *   time=2001-03:2001-05   times, by dates of the axis's calendar; each is the whole period that it names
 *   lon=350:10   longitudes, eastwards from one to the other, over the seam of the axis if need be; ndr_h5_coordinate
 *                then has 350 to 370, as it has -10 to 10 for lon=-10:10. A whole turn is all of a region, as it is
 * They are in the units of the file, and unpacked even where the dataset is opened raw. Fails with NDR_ERR_PARSE on
 * text that is no part, and with NDR_ERR_DIMS on a dim that is not there or has no coordinates, on coordinates that
 * nothing is selected by, and where the elements do not lie together. A part on both sides of a seam cannot be one of a
 * series.
 *
 * On success *dataset must be given to ndr_h5_close; on failure it is NULL. Fails with NDR_ERR_FILE on all that is
 * wrong with the file, and with NDR_ERR_DTYPE on elements that are no numbers and on netCDF dimensions without
 * coordinates. */
NDR_API ndr_status ndr_h5_open(ndr_h5_dataset **dataset, const char *file, const char *path,
                               const ndr_h5_access *access);

/* Opens datasets of several files, each as ndr_h5_open does, as one that is as long as all of them along `dim`, a name
 * or a number. They must be of one dtype and, that dim apart, of one shape. Names, attributes and coordinates of other
 * dims are those of the first; unless opened raw, NDR_ERR_DIMS names the first file with coordinates that are more than
 * a thousandth of a step from these. Coordinates along `dim` are one axis in the units of the first file that has
 * elements: those stored in other units or packing are converted, times of any reference date if they are of one
 * calendar, or of standard and proleptic_gregorian after the former's change in October 1582. Fails with NDR_ERR_DIMS
 * where units cannot be converted; opened raw, such a series has no coordinates along dim. A range of coordinates along
 * `dim` may select nothing of a file, but not of all. Elements of different units (none, and blank ones, fit any) are
 * NDR_ERR_DIMS, too, unless opened raw. On failure *dataset is NULL.
 *
 * A `dim` "new:NAME" stacks the datasets, which then have one shape, along a new first dim NAME, as the members of an
 * ensemble. Its coordinate is the files' scalar variable `realization`, or the one of that standard_name which the
 * attribute `coordinates` names, if all files have one; else it has none. Coordinates of the other dims must agree:
 * times are the same instants, in whatever units, in one calendar, or in standard and proleptic_gregorian after October
 * 1582; others are no more than a thousandth of a step apart. Else NDR_ERR_DIMS names the file and what differs. */
NDR_API ndr_status ndr_h5_open_series(ndr_h5_dataset **dataset, int count, const char *const *files,
                                      const char *const *paths, const char *dim, const ndr_h5_access *access);

NDR_API void ndr_h5_close(ndr_h5_dataset *dataset);

NDR_API const ndr_h5_info *ndr_h5_describe(const ndr_h5_dataset *dataset);

/* The problem of reducing the dataset over dims by ops, as ndr_problem_make; its members can then be changed. With
 * weights (ndr_h5_options) its dtype may be set to NDR_F64: real elements are then reduced as f64. */
NDR_API ndr_status ndr_h5_problem(ndr_problem *problem, const ndr_h5_dataset *dataset, int dim_count, const int *dims,
                                  int op_count, const ndr_op *ops);

/* Reads the coordinates of a dim as f64: the values of the scale attached to it, values[shape[dim]]; with NULL, only
 * finds out whether there are any. They are unpacked as elements are, by the scale's attributes, and missing ones are
 * NaN; they are as stored where the dataset was opened raw. dim may count from the end. Fails with NDR_ERR_DIMS where
 * the dim has no coordinates (no scale, or one that was never written, has another length, holds no numbers, or keeps
 * them in a file that may not be read), with NDR_ERR_FILE where they cannot be read. */
NDR_API ndr_status ndr_h5_coordinate(const ndr_h5_dataset *dataset, int dim, double *values);

/* The same as weights (ndr_h5_options.weights): unpacked even where the dataset was opened raw, which is about its
 * elements. Where `cosine` is not 0, the cosines of latitudes, which is how grid cells shrink towards the poles. The
 * scale's units are degrees (degrees_north, degree, degrees, degree_N, ... in any case) or radians (radian, radians,
 * rad); without units they are taken for degrees where the dim is called a latitude. Fails as ndr_h5_coordinate does,
 * and for cosines with NDR_ERR_ARGUMENT on other units, on longitudes (known by units like degrees_east, else by the
 * attribute standard_name, else by the dim's name), and on latitudes beyond a pole. */
NDR_API ndr_status ndr_h5_coordinate_weights(const ndr_h5_dataset *dataset, int dim, int cosine, double *values);

/* The lengths of a dim's steps in days, as weights, from the times that are its coordinates: days[shape[dim]]. They are
 *   - what lies between the bounds of a step, if the attribute `bounds` names some;
 *   - else the days of its month in the axis's calendar, if steps are months: each is of a month of its own, at least
 * two follow each other, and all are on one day and hour of their months, in the middle, or on the last day;
 *   - else half of what lies between its neighbours, and at the ends all that lies between it and its neighbour, if
 * steps go up or down and are no more than 1.5 to 1 as far apart. Times are read as CF means them even where the
 * dataset was opened raw. Fails with NDR_ERR_DIMS where the dim has no coordinates, or none that are times, and with
 * NDR_ERR_ARGUMENT where a time is missing, where bounds are not two numbers for each time, of dims with dimension
 * scales, or where nothing says the lengths. */
NDR_API ndr_status ndr_h5_time_weights(const ndr_h5_dataset *dataset, int dim, double *days);

/* Room for a date and the final 0. */
#define NDR_H5_DATE_CHARS 40

/* Writes coordinates of a dim that are times ("days since 2001-01-01", in the calendar of CF that the scale names) as
 * ISO dates: "2001-01-31", or where one of values[count] is not midnight "2001-01-31T12:00:00", all of them with
 * fractions of seconds where one needs them. As values are rounded where they are stored, a date is the whole second
 * within that error, else the whole millisecond, else the nearest microsecond. A value that is no time (NaN, or a
 * billion years away) becomes "". Months and years are units only in calendars where all are of one length. The
 * standard calendar is Julian before 15 October 1582; it has no year 0, as the Julian has not, unless the units count
 * from that. Fails with NDR_ERR_DIMS where the dim has no coordinates, or none that are times, as in a dataset opened
 * raw. */
NDR_API ndr_status ndr_h5_dates(const ndr_h5_dataset *dataset, int dim, int64_t count, const double *values,
                                char (*texts)[NDR_H5_DATE_CHARS]);

/* Called for each dataset of a file, and in place of a table for each of its fields: info is NULL for one that cannot
 * be reduced, reason then says why. Not 0 ends the visit, which is no failure. Called under the lock. */
typedef int (*ndr_h5_visitor)(void *user, const char *path, const ndr_h5_info *info, const char *reason);

/* Visits the datasets of a file in the order of their names, each object once; then those that external links lead to,
 * directly or as members of a group: those in other files that may not be read, or are not there, with the reason. */
NDR_API ndr_status ndr_h5_list(const char *file, const ndr_h5_access *access, ndr_h5_visitor visit, void *user);

/* Called for paths; not 0 ends the visit, which is no failure. Called under the lock: to open what is found, keep the
 * path. */
typedef int (*ndr_h5_path_visitor)(void *user, const char *path);

/* Visits the datasets that can be meant where none is named: all that can be reduced, but for dimension scales,
 * fields of tables, and what the attributes bounds, climatology, coordinates and grid_mapping of others name; those
 * only where there is nothing else; and those of which it cannot be read what they are. Fails with NDR_ERR_FILE where
 * there is none that can be reduced. */
NDR_API ndr_status ndr_h5_candidates(const char *file, const ndr_h5_access *access, ndr_h5_path_visitor visit,
                                     void *user);

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
 * dataset is a part; then the same part of it counts. Labels of k dims, like the zones of a map, lie along dims
 * dim .. dim + k - 1: those of the same names if all have them, else in order. Where one of these is the dim of a
 * series, labels may be a series of as many files. Groups are the labels that occur, in ascending order; a missing or
 * negative one is in no group. Reads the labels, which must live as long as the groups: 12 bytes for each step, of
 * which there are at most 2^28. Fails with NDR_ERR_DTYPE on labels that are no integers, NDR_ERR_DIMS on other shapes,
 * NDR_ERR_ARGUMENT where no step is in a group, and on a label of 2^63 or more, or of 2^53 or more if labels may be
 * missing. */
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
 * times are summed over the threads that read; the last two are the calling thread's, which reads while it waits. On a
 * GPU reduce_seconds are those in which the calling thread waits for it, to copy, unpack and reduce: unpack_seconds are
 * of threads alone. write_seconds are the calling thread's, too: those that ndr_h5_writer_add_reduced and
 * ndr_h5_writer_add_scan take to write results, which reduce_seconds leave out. */
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
 * others it has the dataset's size, or if its dims are given or found by names, that of the whole dim of the file of
 * which the dataset is a part: the same part of it is then read.
 *
 * Elements of a dataset are what its own attributes say, as for the dataset that is reduced. An array that is repeated
 * is read once if it takes no more than an eighth of the memory there is for buffers; others are read slab by slab.
 *   NDR_WHERE    a mask: elements where it is 0, NaN or missing are left out
 *   NDR_WEIGHTS  weights, reduced as f64: finite and not negative, and not all of them 0. Missing ones count as 0. For
 *                sum, mean, var, std, norm2 and valid, which counts unweighted elements
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
} ndr_h5_operand;
#define NDR_H5_OPERAND_INIT                                                                                            \
  { sizeof(ndr_h5_operand), NDR_WITH, NULL, NULL, NULL, NULL }

/* How a dataset is reduced. Start from NDR_H5_OPTIONS_INIT; NULL means exactly that. */
typedef struct ndr_h5_options {
  size_t size;
  ndr_h5_device device;
  int device_id; /* of the GPU, for NDR_H5_AUTO and NDR_H5_CUDA; with a comm each rank says its own */
  int threads;   /* CPU threads at most; 0: ndr_thread_count() */
  /* Bytes for buffers and partial states, results not counted, and as many on a GPU; 0: a quarter of what is free on
   * this machine and to this process's control groups, 64 MiB at least. */
  int64_t memory;
  /* Called after each slab; may be NULL. Without the lock: it may call functions of this header, but none on the
   * dataset that is being reduced. */
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
   * where a file is damaged, and with NDR_ERR_UNSUPPORTED for a GPU where the CPU has reduced the parts. */
  int state_count;
  const char *const *states;
  /* Ranks that do the reduction together, each of which has opened the dataset itself; NULL: this process does it
   * alone. The call is collective (comm.h). Half of the dataset's pieces are dealt to the ranks at the beginning,
   * the others one range after the other to whoever is ready. Where several ranks have pieces of the same outputs,
   * one of them merges their states. Rank 0 gets the results, with the same bits as without ranks; on others
   * `results` may be NULL. Where rank 0 calls ndr_h5_writer_add_reduced, the others call ndr_h5_reduce. memory and
   * threads are each rank's; by default ranks that share a machine divide what it has. NDR_H5_AUTO is the CPU. With
   * NDR_H5_CUDA each rank names its GPU; by NDR_H5_ALL the GPUs of a machine are dealt to the ranks there, some to
   * each, or one to several. They should be of one kind. on_progress gets the progress of all on rank 0, that of its
   * own rank elsewhere. Fails with NDR_ERR_ARGUMENT where ranks differ in their problems, files (sizes, first and last
   * bytes are compared) or cuts, or in whether GPUs reduce, or have a part or states too; with NDR_ERR_UNSUPPORTED for
   * scans. */
  ndr_comm *comm;
} ndr_h5_options;
#define NDR_H5_OPTIONS_INIT                                                                                            \
  {                                                                                                                    \
    sizeof(ndr_h5_options), NDR_H5_AUTO, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, 0, NULL, NULL, 0,    \
        NULL, NULL                                                                                                     \
  }

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

/* ---- Writing results -------------------------------------------------------------------------------------------- */

/* A file of results. Until ndr_h5_writer_commit has succeeded, nothing is at `path` that was not there before: the
 * bytes go to a temporary file in the same folder, which commit renames and ndr_h5_writer_destroy removes. Once a
 * commit has returned, or on_remark or on_progress has stopped a call, the writer can only be destroyed: other calls
 * fail.
 *
 * In whatever order results and copies are added, the file has them, and what comes with them, as netCDF lists their
 * sources in the input: those of a group before those of its groups, in the order of creation if the group keeps it,
 * else by name. Results of one source are in the order in which they are added, and files in that of the first result
 * or copy of each. */
typedef struct ndr_h5_writer ndr_h5_writer;

/* How a file of results is made. Start from NDR_H5_WRITER_OPTIONS_INIT; NULL means exactly that. */
typedef struct ndr_h5_writer_options {
  size_t size;
  int overwrite;       /* not 0: a file that exists is replaced */
  int deflate;         /* 1 .. 9: level of compression, behind a shuffle; 0: none; -1: results of at least 64 KiB are
                          compressed if their source is, by deflate at its level, in chunks that follow the source's */
  const char *history; /* a line that is put before the input's attribute `history`, as "DATE: COMMAND"; NULL: none */
  const char *comment; /* what cell_methods says in brackets of results other than valid, "weighted by lat"; or NULL */
  /* Called once for each thing of the inputs that the file will not have though it belongs there; may be NULL. Called
   * under the lock. Once it has stopped a call, the writer can only be destroyed. */
  int (*on_remark)(void *user, const char *sentence);
  /* Called every few MiB while the file is written, without the lock; may be NULL. Once it has stopped a call, the
   * writer can only be destroyed. */
  int (*on_progress)(void *user, int64_t bytes, int64_t total_bytes);
  void *user;        /* for both */
  const char *where; /* a condition that cell_methods says in brackets of all results, "where x > 273.15"; or NULL. One
                        that has brackets itself, which would end these, is called a condition only */
  int threads;       /* at most so many CPU threads compress; 0: ndr_thread_count() */
} ndr_h5_writer_options;
#define NDR_H5_WRITER_OPTIONS_INIT                                                                                     \
  { sizeof(ndr_h5_writer_options), 0, -1, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* Starts a file. Fails with NDR_ERR_FILE if path is one of the input files (same file, whatever its name), exists and
 * may not be overwritten or written to, is a folder or not a regular file, or its folder cannot be written to. A
 * symbolic link is followed and stays; a file that is replaced hands its permissions on, and owner and group where that
 * is allowed. On failure *writer is NULL. */
NDR_API ndr_status ndr_h5_writer_create(ndr_h5_writer **writer, const char *path, int input_count,
                                        const char *const *inputs, const ndr_h5_writer_options *options);

/* Fails with NDR_ERR_FILE if the file at the writer's path is one that the dataset is made of: its own, or one that
 * external links, external storage or a virtual dataset have led to. ndr_h5_writer_add finds that out for its source;
 * this call, before the work, and for what is read without being added, like weights. */
NDR_API ndr_status ndr_h5_writer_protect(const ndr_h5_writer *writer, const ndr_h5_dataset *dataset);

/* Says what the groups of the results are that are added from now on; they must live until then. NULL: these results
 * have no groups. */
NDR_API ndr_status ndr_h5_writer_groups(ndr_h5_writer *writer, const ndr_h5_groups *groups);

/* Adds the result of the problem's ops[i] over `source` as dataset `name`, which is not "" or ".". A name with "/",
 * GROUP/NAME, puts it into a group; then all that belongs to it lies in groups as in the input, and groups have the
 * attributes that those of the same path have there. With it are written:
 *   scales       copies of those of the dims that are left. A dim that is unlimited in the source (by its scale, or
 *                where it has none by the dataset) stays so. A reduced time axis leaves the time that it covered, with
 *                its bounds. A dim of groups of times, or windows, has the dim's name and a coordinate with
 *                bounds; of climatologies these are climatology_bounds, as in CF's section 7.4. A dim of labels is
 *                called as their dataset, and has its attributes. Windows over several dims have a dim for each, which
 *                the result may have, too, or the one dim of groups (ndr_h5_groups_unfold).
 *   variables    copies of those that the scales' attributes bounds, climatology and formula_terms name, and the
 *                source's coordinates, grid_mapping, mesh, geometry and cell_measures: all that have no reduced dim, of
 *                64 MiB together at most. They are cut as the source is; of a series those of all files are joined,
 *                where they have the dim along which the files follow each other.
 *   attributes   of the source, where they hold for the result: those of packing and of valid values only if it is of
 *                the packed type; units squared for a variance and none for indices; cell_methods extended. An
 *                attribute may be of any size. One of more than 65,536 texts of variable length, one of numbers with
 *                several dims, which netCDF cannot read, and one of neither numbers nor texts is left out, and
 *                on_remark told. Attributes of the whole file are those of the first source's root, and of its groups
 *                where no outer one has the name and results do not lie in groups.
 * f16 and bf16 are written as f32, because readers of netCDF crash on them. HDF5's times of creation are not kept.
 *
 * Where missing elements were left out, NaN is written as the source's _FillValue if the dtype has that value and no
 * element does. The attribute _FillValue says so, and missing_value where the source has one.
 *
 * The result is copied: memory for it is needed a second time until the writer is destroyed, and a third time during
 * the call if missing elements are marked. */
NDR_API ndr_status ndr_h5_writer_add(ndr_h5_writer *writer, const ndr_h5_dataset *source, const ndr_problem *problem,
                                     int i, const char *name, const DLTensor *result);

/* Adds what ndr_h5_locate has found along dim as dataset `name`: f64 of the shape of the indices, described as the
 * coordinates of dim are. NaN is marked as missing. */
NDR_API ndr_status ndr_h5_writer_add_located(ndr_h5_writer *writer, const ndr_h5_dataset *source,
                                             const ndr_problem *problem, int dim, const char *name,
                                             const DLTensor *values);

/* Reduces the dataset as ndr_h5_reduce does, and adds the result of each operator as ndr_h5_writer_add does, of ops[i]
 * as names[i], without holding it in memory: blocks of results are written to the temporary file as they are finished.
 * Of options->memory, or its default, three quarters are for reading and reducing, and the rest for the chunks that are
 * being written. A file of less than an eighth of it is put together in memory.
 *
 * Chunks that follow those of the source, and whole ones of the blocks, are compressed by all threads. Where a part of
 * the source was opened that does not begin with a chunk, some chunks are read again to be completed. If an element
 * turns out to be equal to the value that is to mark missing ones, all is done again with NaN as the mark.
 *
 * Fails as the two do, and with NDR_ERR_FILE, before anything is read, if results that are not compressed need more
 * bytes than the file system has left; what compressed ones need is not known before. The writer then can only be
 * destroyed.
 */
NDR_API ndr_status ndr_h5_writer_add_reduced(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_problem *problem,
                                             const char *const *names, const ndr_h5_options *options);

/* Scans the dataset as ndr_h5_scan_to does, and adds the result as dataset `name` in the same way. It has all dims of
 * the source with their scales; cell_methods says "time: sum (running)", or "(running from the last, exclusive)" of a
 * scan that is reversed and exclusive. */
NDR_API ndr_status ndr_h5_writer_add_scan(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_h5_scan *scan,
                                          const char *name, const ndr_h5_options *options);

/* Copies a dataset, or the part of it that was opened, into the groups that it lies in: elements as they are stored,
 * its attributes, and the scales and variables that ndr_h5_writer_add brings with a result. Does nothing where the file
 * has it already, because a result brought it or it has been copied, also from another input in which it is the same.
 * If its name is taken it is called NAME_2. *name receives what it is called, which lives as long as the writer, or
 * NULL where nothing was done. Enumerations in netCDF files become their integers; floats that netCDF lacks are
 * widened. Fails with NDR_ERR_DTYPE on elements that are neither numbers nor texts and where the files of a series
 * differ in how they store elements, with NDR_ERR_MEMORY where there is too little memory for the elements twice. */
NDR_API ndr_status ndr_h5_writer_copy(ndr_h5_writer *writer, const ndr_h5_dataset *source, const char **name);

/* Whether one copy can stand for two datasets: *same is 1 if their shapes, types, stored elements, and the attributes
 * that say what elements mean are equal, else 0. Fails with NDR_ERR_ARGUMENT if one is a series, and with NDR_ERR_DTYPE
 * and NDR_ERR_MEMORY as ndr_h5_writer_copy does. */
NDR_API ndr_status ndr_h5_same(const ndr_h5_dataset *a, const ndr_h5_dataset *b, int *same);

/* Finishes the file and puts it at path. A writer commits once; after that only ndr_h5_writer_destroy may be called,
 * and other calls fail with NDR_ERR_ARGUMENT, or NDR_ERR_CANCELLED if on_progress stopped the commit. */
NDR_API ndr_status ndr_h5_writer_commit(ndr_h5_writer *writer);

/* The same with these bytes, a file of another format, in place of the results that were added. */
NDR_API ndr_status ndr_h5_writer_commit_bytes(ndr_h5_writer *writer, const void *data, size_t bytes);

/* Frees a writer and removes its temporary file, if there still is one; NULL is allowed. */
NDR_API void ndr_h5_writer_destroy(ndr_h5_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
