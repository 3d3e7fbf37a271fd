/* An open dataset and what its file says of it. */
#ifndef NDR_H5_DATASET_H
#define NDR_H5_DATASET_H

#include "h5/links.h"
#include "h5/unpack.h"
#include "ndreduce/h5.h"

struct ndr_h5_dataset {
  ndr_h5_info info; /* its pointers are to the members below */
  char *file, *path, *filters;
  char *where; /* FILE:/PATH, which every sentence starts with */
  char *names[NDR_MAX_DIMS];
  char *scales[NDR_MAX_DIMS]; /* path of the scale attached to the dim, or NULL */
  hid_t file_id, id;          /* behind an external link the file is the one that holds the dataset */
  ndr_links *links;
  int64_t source_chunk_bytes; /* of a virtual dataset: the largest chunk that its sources decode */
  H5T_class_t type_class;
  size_t element_bytes;         /* in the file */
  int64_t extent[NDR_MAX_DIMS]; /* shape in the file, of which info.shape is what has been selected: */
  int64_t from[NDR_MAX_DIMS], step[NDR_MAX_DIMS];
  ndr_unpack unpack;
  /* A series of files: datasets that follow each other along a dim. Else part_count is 0. */
  int part_count, series_dim;
  ndr_h5_dataset **parts;
  char *series_name;
  bool no_plugins, allow_external, raw;
  ndr_status naming; /* whether all that names its dims could be read */
};

/* Fills in everything but the two ids and the file, from the two ids; path is absolute. Says why a dataset cannot be
 * reduced by failing; what has been found by then stays. */
ndr_status ndr_hdf_describe(ndr_h5_dataset *dataset, const char *path);

/* Fails where the elements, as they are in memory, have more bytes than a number has room for. */
ndr_status ndr_hdf_check_size(const ndr_h5_dataset *dataset);

void ndr_series_close(ndr_h5_dataset *series);

/* Frees the texts, not the ids, and leaves a dataset that can be described again. */
void ndr_hdf_forget(ndr_h5_dataset *dataset);

/* Fills in names, scales and is_scale; a file that says nothing or nonsense leaves them empty. Fails where it cannot be
 * read. */
ndr_status ndr_hdf_name_dims(ndr_h5_dataset *dataset);

/* As ndr_h5_list, inside the lock; `dataset` has its file open, and is the scratch in which each one is described. */
ndr_status ndr_hdf_list(ndr_h5_dataset *dataset, ndr_h5_visitor visit, void *user);

/* The path of the only dataset of the largest rank, to be freed; scales count only where there is nothing else. */
ndr_status ndr_hdf_find_largest(ndr_h5_dataset *dataset, char **path);

/* What an element is that was never written, unpacked so; room for 16 bytes. Inside the lock. */
ndr_status ndr_hdf_fill(const ndr_h5_dataset *dataset, const ndr_unpack *unpack, void *fill);

/* The last part of a path. */
const char *ndr_hdf_leaf(const char *path);

#endif
