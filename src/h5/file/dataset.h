/* An open dataset and what its file says of it. */
#ifndef NDR_H5_FILE_DATASET_H
#define NDR_H5_FILE_DATASET_H

#include "h5/file/links.h"
#include "h5/file/netcdf.h"
#include "h5/file/remarks.h"
#include "h5/read/unpack/unpack.h"
#include "h5/time/time.h"
#include "ndreduce/h5.h"

/* How the coordinates of a series' files, along the dim in which the files follow each other, make one axis: not at
 * all, as they are stored, or after they are unpacked and converted to the units of the file `axis_part`. */
typedef enum ndr_axis_kind { NDR_AXIS_NONE = 0, NDR_AXIS_STORED, NDR_AXIS_CONVERTED } ndr_axis_kind;

/* Coordinates of a file of a series along the dim in which the files follow each other, as they are unpacked: to
 * find whether files overlap, and for groups, weights and the time of results. */
typedef struct ndr_kept_values {
  const ndr_h5_dataset *of; /* not of a copy of it, whose dims may be others */
  int d;
  int64_t from, step, count;
  double *values; /* NULL: they have not been read */
} ndr_kept_values;

/* Where the part of a dim goes on at the beginning of the file's dim, as on an axis that goes round: element `at` of
 * the part lies at index `from` of the file's dim, and the next ones follow it, a step apart. seam.h finds elements so.
 */
typedef struct ndr_seam {
  int64_t at; /* 0: the part has no seam */
  int64_t from;
  double turn; /* to be added to the coordinates behind the seam, in place of the dataset's */
} ndr_seam;

struct ndr_h5_dataset {
  ndr_h5_info info;            /* its pointers are to the members below */
  char *file, *path, *filters; /* path: as users know it */
  char *where;                 /* FILE:/PATH, which every sentence starts with */
  char *field;                 /* of a table, as field.h names it; NULL for whole elements */
  char *units;                 /* as the attribute says, or NULL */
  char *names[NDR_MAX_DIMS];
  char *scales[NDR_MAX_DIMS]; /* path of the scale attached to the dim, or NULL */
  int new_dims;               /* 1: dim 0 is not the file's, but that along which a series stacks its files; else 0 */
  hid_t file_id, id;          /* the file is the one that holds the dataset, also behind an external link */
  ndr_links *links;
  int64_t source_chunk_bytes; /* of a virtual dataset: the largest chunk that its sources decode */
  H5T_class_t type_class;
  const char *elements;         /* what they are where they are no numbers; else NULL */
  bool table;                   /* of compound elements, which are no numbers: its fields may be */
  size_t element_bytes;         /* in the file */
  int64_t extent[NDR_MAX_DIMS]; /* of the whole dataset; info.shape is that of the part which is selected: */
  int64_t from[NDR_MAX_DIMS], step[NDR_MAX_DIMS];
  double turn[NDR_MAX_DIMS];   /* to be added to the coordinates: whole turns of longitudes */
  ndr_seam seam[NDR_MAX_DIMS]; /* where a part goes on around the end of the file's dim */
  /* The part of the extent that the file has. A netCDF variable may have fewer records than its unlimited dim: the rest
   * counts as never written. */
  int64_t stored[NDR_MAX_DIMS];
  bool unlimited[NDR_MAX_DIMS]; /* the scale of the dim may grow, or, where the dim has none, the dataset */
  bool bare;                    /* a netCDF dimension and no variable */
  ndr_unpack unpack;
  /* A series of files: datasets that follow each other along a dim. Else part_count is 0. */
  int part_count, series_dim;
  ndr_h5_dataset **parts;
  ndr_axis_kind axis;
  int axis_part;
  bool timed; /* of a part: its coordinates along that dim are times, in these units */
  ndr_time_units time;
  char *series_name;
  ndr_kept_values *kept; /* of a part, or NULL */
  bool no_plugins, allow_external, raw, any_type, all_paths, by_number;
  bool elsewhere;              /* the file that holds it is another one than `file`, which links to it */
  ndr_h5_structure *structure; /* what ranks share of its files, or NULL */
  ndr_remarks remarks;
  const char *along;       /* while it is opened: the dim along which a series is joined, or NULL */
  char *nothing;           /* of a series: why nothing of that dim is selected, or NULL */
  bool unknown_attributes; /* some have names that cannot be read */
  bool unnamed;            /* not all that names its dims could be read */
};

/* Fills in the rest from the two ids, the file and the field; path is absolute. Fails with the reason if the dataset
 * cannot be reduced, and keeps what has been found by then. */
ndr_status ndr_hdf_describe(ndr_h5_dataset *dataset, const char *path);

/* Fails if the bytes of the elements in memory are more than an int64_t counts. */
ndr_status ndr_hdf_check_size(const ndr_h5_dataset *dataset);

/* Closes the dataset of one file. */
void ndr_hdf_close(ndr_h5_dataset *dataset);

/* As ndr_h5_open, for a file that is joined with others along a dim, unless `along` is NULL: a range of that dim may
 * select nothing (dataset->nothing). */
ndr_status ndr_hdf_open_along(ndr_h5_dataset **opened, const char *file, const char *path, const ndr_h5_access *access,
                              const char *along);

/* Frees the texts, not the ids, and leaves a dataset that can be described again. */
void ndr_hdf_forget(ndr_h5_dataset *dataset);

/* Fills in names, scales and is_scale; a file that says nothing or nonsense leaves them empty. Fails where it cannot be
 * read. */
ndr_status ndr_hdf_name_dims(ndr_h5_dataset *dataset);

/* As ndr_h5_list, inside the lock; `dataset` has its file open, and is the scratch in which each one is described. */
ndr_status ndr_hdf_list(ndr_h5_dataset *dataset, ndr_h5_visitor visit, void *user);

/* As ndr_h5_candidates, inside the lock; `dataset` as above. */
ndr_status ndr_hdf_each_candidate(ndr_h5_dataset *dataset, ndr_h5_path_visitor visit, void *user);

/* The path of the only candidate of the largest rank, to be freed, and how many others there are. */
ndr_status ndr_hdf_find_largest(ndr_h5_dataset *dataset, char **path, int *others);

/* Writes the value of elements that were never written, unpacked in this way, to at most 16 bytes. It is HDF5's fill
 * value, or if a short dataset has none, its attribute _FillValue, as in netCDF. To be called inside the lock. */
ndr_status ndr_hdf_fill(const ndr_h5_dataset *dataset, const ndr_unpack *unpack, void *fill);

/* Whether the file has less of some dim than the dataset's extent. */
bool ndr_hdf_is_short(const ndr_h5_dataset *dataset);

/* How many of `size` elements of dim d, a step apart from index `from` of the file's dim on, the file has. */
int64_t ndr_hdf_present(const ndr_h5_dataset *dataset, int d, int64_t from, int64_t size);

/* Fails if the elements are no numbers, as those of a dataset that was opened with any_type may be. */
ndr_status ndr_hdf_check_numbers(const ndr_h5_dataset *dataset);

/* As ndr_hdf_describe; a netCDF dimension without coordinates is no data, and an error. */
ndr_status ndr_hdf_describe_data(ndr_h5_dataset *dataset, const char *path);

#endif
