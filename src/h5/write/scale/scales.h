/* The dimension scales of a file of results: copied from the inputs, each once, and tied to the variables that use them
 * (HDF5's dimension scale specification, which netCDF-4 builds on). */
#ifndef NDR_H5_WRITE_SCALES_H
#define NDR_H5_WRITE_SCALES_H

#include "h5/file/dataset.h"
#include "h5/file/remarks.h"
#include "h5/group/groups.h"
#include "h5/write/scale/order.h"

typedef struct ndr_scale_use {
  char *variable;
  int dim;
} ndr_scale_use;

typedef struct ndr_scale {
  char *name;   /* in the output, as in place.h */
  char *origin; /* what it was in the input, and which part of that */
  int64_t length;
  bool bare;      /* a dimension without coordinates */
  bool unlimited; /* it may grow, and with it the dims of all that uses it */
  int use_count;
  ndr_scale_use *uses;
} ndr_scale;

typedef struct ndr_scales {
  hid_t file;
  ndr_remarks *remarks;        /* what is left out of the file */
  ndr_order *order;            /* of the file's variables */
  bool in_groups;              /* what is written lies in the groups that it has in the input, else in the root */
  const ndr_h5_groups *groups; /* that a dim of the variable at hand may be of */
  int count;
  ndr_scale *all;
} ndr_scales;

/* Where a dim of a variable comes from: the dataset's dim d; ~d where keepdims has left the reduced dim d with size 1;
 * d + NDR_OF_GROUPS where it is the dim of groups along d. */
enum { NDR_OF_GROUPS = NDR_MAX_DIMS };

static inline int ndr_scales_dim(int from) {
  return from < 0 ? ~from : from % NDR_OF_GROUPS;
}

static inline bool ndr_scales_is_kept(int from) {
  return from >= 0 && from < NDR_OF_GROUPS;
}

static inline bool ndr_scales_is_of_groups(int from) {
  return from >= NDR_OF_GROUPS;
}

/* What the input, or the groups, call the dim; NULL where it has no name. */
const char *ndr_scales_input_name(const ndr_scales *scales, const ndr_h5_dataset *source, int from);

/* Ties all dims of a variable that has been written to the scales of the dataset that it was reduced from, creating
 * those that are not there yet. A dim that keepdims has left a dim has coordinates only if it is a time, and its name
 * only if no other dim keeps that. Where no dim has a name, none gets a scale; else all do: netCDF does not read a
 * variable only some of whose dims have scales. */
ndr_status ndr_scales_attach(ndr_scales *scales, const ndr_h5_dataset *source, const char *variable, int ndim,
                             const int *from);

/* Which dims of a variable that is about to be created and attached are unlimited: those that are unlimited in the
 * source, reduced or not. A dim that will share a scale of the output follows that scale. */
ndr_status ndr_scales_limits(ndr_scales *scales, const ndr_h5_dataset *source, int ndim, const int *from,
                             bool *unlimited);

/* The scale that dim `from` of the source, as above, is tied to; made if it is not there. It moves when another one is
 * made. */
ndr_status ndr_scales_find(ndr_scales *scales, const ndr_h5_dataset *source, int from, ndr_scale **found);

/* The name of the scale that has been attached to a dim of a variable; NULL if there is none. */
const char *ndr_scales_name(const ndr_scales *scales, const char *variable, int dim);

/* Whether a scale of the output has that name and no coordinates. */
bool ndr_scales_is_bare(const ndr_scales *scales, const char *name);

/* The name for what is called `name` and lies in the group of `path` in the input; to be freed, NULL where there is no
 * memory. */
char *ndr_scales_wanted_name(const ndr_scales *scales, const char *path, const char *name);

/* That name, or NAME_2, NAME_3 ... where the output has a dataset called so; to be freed, NULL where there is no
 * memory. */
char *ndr_scales_free_name(const ndr_scales *scales, const char *path, const char *name);

/* Whether a name of the output is the wanted one, or what ndr_scales_free_name may have made of it. */
bool ndr_scales_is_named(const char *name, const char *wanted);

/* The path that says which group the scale of dim `from` of the source lies in. */
const char *ndr_scales_path(const ndr_h5_dataset *source, int from);

/* Writes into each scale which variables use it. Called once, last. */
ndr_status ndr_scales_finish(ndr_scales *scales);

void ndr_scales_free(ndr_scales *scales);

#endif
