/* A file of results that is being made. */
#ifndef NDR_H5_WRITE_WRITER_H
#define NDR_H5_WRITE_WRITER_H

#include "common/atomic_file.h"
#include "h5/write/cf/cf_copy.h"
#include "h5/write/scale/scales.h"
#include "h5/write/storage/file_driver.h"

struct ndr_h5_writer {
  ndr_atomic_file file;
  hid_t image;            /* the HDF5 file: in memory, or under `spilled` the temporary one */
  ndr_file_driver driver; /* of the latter */
  bool spilled;
  int64_t streamed_bytes; /* of results that have been added block by block */
  ndr_scales scales;
  ndr_order order;
  ndr_cf_copies copies;
  int deflate, threads;
  char *history, *where;
  char *comment, *condition;       /* in brackets behind methods: of valid the latter only */
  char *weight_units;              /* as in ndr_label */
  ndr_array_sources array_sources; /* of results that are added from now on */
  ndr_remarks remarks;
  int (*on_progress)(void *user, int64_t bytes, int64_t total_bytes);
  bool labelled;       /* the attributes of the whole file are written */
  bool ended, stopped; /* a commit has returned, and on_progress had stopped it */
};

/* The status, or NDR_ERR_CANCELLED for good once on_remark has stopped a call. */
static inline ndr_status ndr_writer_heed(const ndr_h5_writer *writer, ndr_status status) {
  return ndr_remarks_heed(&writer->remarks, writer->file.path, status);
}

/* Moves what there is of the file from memory to the temporary file, where it continues. */
ndr_status ndr_writer_spill(ndr_h5_writer *writer);

/* Fails if that is no name of a dataset, or of one in groups. */
ndr_status ndr_writer_check_name(const ndr_h5_writer *writer, const char *name);

/* Fails once a commit has returned or a callback has stopped a call: nothing more can be written then. */
ndr_status ndr_writer_check(const ndr_h5_writer *writer);

#endif
