/* A file of results that is being made. */
#ifndef NDR_H5_WRITE_WRITER_H
#define NDR_H5_WRITE_WRITER_H

#include "common/atomic_file.h"
#include "h5/write/cf_copy.h"
#include "h5/write/scales.h"

struct ndr_h5_writer {
  ndr_atomic_file file;
  hid_t image;
  ndr_scales scales;
  ndr_cf_copies copies;
  int deflate;
  char *history, *comment;
  ndr_remarks remarks;
  bool labelled; /* the attributes of the whole file are written */
};

#endif
