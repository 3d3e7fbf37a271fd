/* Datasets of HDF5 and netCDF-4 files: which one a user means, what its file says of it, its coordinates, and what else
 * a file has. Nothing here reads elements but those of coordinates. h5.h tells what is true of all these headers.
 *
 *   double lat[2];
 *   ndr_h5_dataset *dataset;
 *   ndr_status status = ndr_h5_open(&dataset, "data/ocean.nc", "/temp[lat=0:60]", NULL);
 *   if (status == NDR_OK) status = ndr_h5_coordinate(dataset, 1, lat);
 *   if (status == NDR_OK) printf("lat %g, %g\n", lat[0], lat[1]); // prints lat 15, 45
 *   else fprintf(stderr, "%s\n", ndr_last_error());
 *   ndr_h5_close(dataset);
 */
#ifndef NDREDUCE_H5_DATASET_H
#define NDREDUCE_H5_DATASET_H

#include "ndreduce/comm.h"

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

/* What ranks share of the files that they read; see "Many ranks" below. */
typedef struct ndr_h5_structure ndr_h5_structure;

/* What opening a file may do. Start from NDR_H5_ACCESS_INIT; NULL means exactly that. */
typedef struct ndr_h5_access {
  size_t size;
  int no_plugins;     /* not 0: HDF5 loads no filter plugin while it reads the file */
  int raw;            /* not 0: elements are reduced as stored, whatever the attributes say of their meaning */
  int allow_external; /* not 0: other files that the file leads to may lie outside its folder */
  /* Called once for each attribute that cannot be read and that the numbers can do without, for each that should be a
   * number and is not, where an operator reads the dataset beside another that has other units, where two files of a
   * series have the same coordinate, and where a part by longitudes reaches beyond an axis on which turns do not
   * count; may be NULL. Called under the lock. */
  int (*on_remark)(void *user, const char *sentence);
  void *user;
  int any_type;  /* not 0: also opens what can be described, or copied, but not reduced: elements that are no numbers,
                    and netCDF dimensions without coordinates */
  int all_paths; /* not 0: ndr_h5_list visits a dataset by each of its paths */
  ndr_h5_structure *structure; /* of a comm whose ranks open the same files; NULL: this process reads all by itself */
  int by_number; /* not 0: as an operand or as labels it is paired by numbers along dims of which it has other
                    coordinates; along those of which it has the same ones in reverse it is still turned */
} ndr_h5_access;
#define NDR_H5_ACCESS_INIT                                                                                             \
  { sizeof(ndr_h5_access), 0, 0, 0, NULL, NULL, 0, 0, NULL, 0 }

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
  const char *same_as;  /* where ndr_h5_list visits the dataset again, by another path: the first one; else NULL */
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
 * nothing is selected by, and where the elements do not lie together.
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
 * NDR_ERR_DIMS, too, unless opened raw. A coordinate along `dim` that two files have is remarked on, and its elements
 * count in both. On failure *dataset is NULL.
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

/* Visits the datasets of a file in the order of their names, each object once. If several hard links lead to one, it is
 * visited by the path in the fewest groups; with ndr_h5_access.all_paths, one that can be reduced, and is no table,
 * also by the others, at once after that. Then those that external links lead to, directly or as members of a group:
 * those in other files that may not be read, or are not there, with the reason. */
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

/* ---- Many ranks -------------------------------------------------------------------------------------------------- */

/* Ranks that reduce a dataset together (ndr_h5_options.comm) all open it, and each would read all that its files have
 * beside elements: headers, coordinates, the index of chunks. With a structure (ndr_h5_access) rank 0 alone reads that.
 * For each reduction
 *   - rank 0 opens the dataset and all else that the reduction needs, then calls ndr_h5_structure_share;
 *   - the others call ndr_h5_structure_share, then open the same.
 *
 * Files have the same names on all ranks. They are opened, and what is opened is used, in the thread that makes the
 * collective calls. A rank with another file than rank 0, or that needs more of it than rank 0 has read, reads what it
 * lacks: results never depend on what is shared. Two files are one if their sizes, inodes and times are the same, else
 * if their sizes and the first and last 4 KiB are, which the rank reads.
 *
 * Each rank keeps at most 256 MiB, of all files together. Files must not change while a structure has them. The comm
 * must outlive the structure. */
NDR_API ndr_status ndr_h5_structure_create(ndr_h5_structure **structure, ndr_comm *comm);

/* Hands the other ranks what rank 0 has read of files since it was last called, by a tree of letters. Collective: the
 * others call it before they open the files, rank 0 after that. Fails on all ranks if one lacks memory, or calls
 * ndr_comm_agree in its place because it cannot open a file; a call that cannot begin, on its rank alone (comm.h). */
NDR_API ndr_status ndr_h5_structure_share(ndr_h5_structure *structure);

/* Call when all that was opened with it is closed. NULL: does nothing. */
NDR_API void ndr_h5_structure_destroy(ndr_h5_structure *structure);

#ifdef __cplusplus
}
#endif
#endif
