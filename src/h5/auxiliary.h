/* Variables that say more of a result than its scales do (CF conventions): bounds of its coordinates, coordinates of
 * several dims or of none, its grid mapping, cell measures, and the terms that vertical coordinates are computed from.
 * They are copied, each once, where none of their dims was reduced, cut as the source was. */
#ifndef NDR_H5_AUXILIARY_H
#define NDR_H5_AUXILIARY_H

#include "h5/label.h"
#include "h5/period_put.h"
#include "h5/scales.h"

typedef struct ndr_auxiliary {
  char *origin; /* what it was in the input, and which part of that */
  char *name;   /* in the output */
} ndr_auxiliary;

typedef struct ndr_auxiliaries {
  int64_t bytes;
  int count;
  ndr_auxiliary *all;
  ndr_periods periods;
} ndr_auxiliaries;

/* Copies what the attributes coordinates, grid_mapping, mesh, geometry and cell_measures of the label's source name,
 * writes the times that it covers where its time axis is reduced, and copies what bounds,
 * climatology and formula_terms of the scales that have been attached to the variable, and names in the variable's
 * attributes and in the scales' what is in the output. ndim and from as in ndr_scales_attach. */
ndr_status ndr_auxiliaries_attach(ndr_auxiliaries *known, ndr_scales *scales, const ndr_label *label,
                                  const char *variable, int ndim, const int *from);

void ndr_auxiliaries_free(ndr_auxiliaries *known);

#endif
