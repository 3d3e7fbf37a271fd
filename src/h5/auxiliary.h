/* Variables that say more of a result than its scales do (CF conventions): bounds of its coordinates, coordinates of
 * several dims or of none, its grid mapping. They are copied, each once, where none of their dims was reduced. */
#ifndef NDR_H5_AUXILIARY_H
#define NDR_H5_AUXILIARY_H

#include "h5/label.h"
#include "h5/scales.h"

typedef struct ndr_auxiliary {
  char *origin; /* FILE:/PATH in the input */
  char *name;   /* in the output */
} ndr_auxiliary;

typedef struct ndr_auxiliaries {
  int64_t bytes;
  int count;
  ndr_auxiliary *all;
} ndr_auxiliaries;

/* Copies what the attributes coordinates and grid_mapping of the label's source name, and the bounds of the scales that
 * have been attached to the variable, and names in the variable's attributes and in the scales' what is in the output.
 * ndim and from as in ndr_scales_attach. Of a part of a dataset, or of several files, nothing is copied. */
ndr_status ndr_auxiliaries_attach(ndr_auxiliaries *known, ndr_scales *scales, const ndr_label *label,
                                  const char *variable, int ndim, const int *from);

void ndr_auxiliaries_free(ndr_auxiliaries *known);

#endif
