/* Copies of the variables that describe a result (CF conventions): bounds of its coordinates, coordinates of several
 * dims or of none, its grid mapping, cell measures, and the terms that vertical coordinates are computed from. Each is
 * copied once, cut as the source was, unless one of its dims was reduced. Dimension scales are copied by scales.h. */
#ifndef NDR_H5_WRITE_CF_COPY_H
#define NDR_H5_WRITE_CF_COPY_H

#include "h5/write/scale/label.h"
#include "h5/write/scale/period_put.h"
#include "h5/write/scale/scales.h"

typedef struct ndr_cf_copy {
  char *origin; /* what it was in the input, and which part of that */
  char *name;   /* in the output */
} ndr_cf_copy;

typedef struct ndr_cf_copies {
  int deflate; /* as ndr_h5_writer_options has it */
  int64_t bytes;
  int count;
  ndr_cf_copy *all;
  ndr_periods periods;
} ndr_cf_copies;

/* Copies the variables that the attributes coordinates, grid_mapping, mesh, geometry and cell_measures of the label's
 * source name, and those that bounds, climatology and formula_terms of the variable's scales name. Where the time axis
 * is reduced, writes the times that it covers. Then writes the same attributes to the variable and to the scales, with
 * the names that the copies have in the output. ndim and from as in ndr_scales_attach. */
ndr_status ndr_cf_copies_attach(ndr_cf_copies *known, ndr_scales *scales, const ndr_label *label, const char *variable,
                                int ndim, const int *from);

void ndr_cf_copies_free(ndr_cf_copies *known);

#endif
