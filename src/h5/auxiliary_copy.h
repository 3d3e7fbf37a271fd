/* Copies one variable to the output that another variable names. */
#ifndef NDR_H5_AUXILIARY_COPY_H
#define NDR_H5_AUXILIARY_COPY_H

#include "h5/auxiliary.h"
#include "h5/cf_axes.h"

/* What copying goes on in. */
typedef struct ndr_aux_context ndr_aux_context;
struct ndr_aux_context {
  ndr_auxiliaries *known;
  ndr_scales *scales;
  const ndr_h5_dataset *source;
  const bool *reduced;
  const char *variable; /* in the output, and where its dims come from */
  int ndim;
  const int *from;
  bool bounds;                    /* what is named has the units of the coordinates along the dim of a series */
  ndr_cf_axis axes[NDR_MAX_DIMS]; /* of the source */
  /* Copies what the attributes of a copy name, one step further. */
  ndr_status (*follow)(const ndr_aux_context *c, hid_t from, const char *variable);
};

ndr_status ndr_aux_fail_memory(const ndr_aux_context *c);

/* Where one of that name exists and may be copied, *copied is its name in the output, else NULL; *absent: the input has
 * none of that name. depth 0: what its own attributes name is not copied. */
ndr_status ndr_aux_copy(const ndr_aux_context *c, const char *name, int depth, const char **copied, bool *absent);

/* The name in the output of a scale that is attached to the variable; NULL where it is not there. */
const char *ndr_aux_scale(const ndr_aux_context *c, const char *path);

#endif
