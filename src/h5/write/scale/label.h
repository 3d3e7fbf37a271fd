/* The attributes of results: of the variables, and of the whole file. */
#ifndef NDR_H5_WRITE_LABEL_H
#define NDR_H5_WRITE_LABEL_H

#include "h5/file/dataset.h"
#include "h5/file/remarks.h"
#include "h5/group/groups.h"
#include "h5/write/array_sources.h"

/* One result: op over the dims of the source for which reduced[] holds. */
typedef struct ndr_label {
  const ndr_h5_dataset *source;
  ndr_op op;
  const ndr_problem *problem; /* with that operator */
  ndr_dtype dtype;            /* of the result */
  bool reduced[NDR_MAX_DIMS];
  const ndr_h5_groups *groups;            /* NULL: the result has none */
  const char *comment;                    /* in brackets behind the method; NULL for none */
  const char *where;                      /* the condition that elements met; NULL for none */
  const char *weight_units;               /* "": not known; NULL: weights are numbers, or there are none */
  const ndr_array_sources *array_sources; /* where arrays beside the source are from; NULL for none */
  ndr_remarks *remarks;
} ndr_label;

/* Whether results may be missing: where elements may be, or where a mask or condition leaves some out. */
bool ndr_label_may_miss(const ndr_label *label);

/* Writes the attributes that the variable has by itself; not those that name dims or other variables. */
ndr_status ndr_label_variable(const ndr_label *label, hid_t variable);

/* Writes cell_methods and what else says how elements became a result: names[d] is what dim d of the source, a reduced
 * one, is to be called, or NULL. */
ndr_status ndr_label_methods(const ndr_label *label, const char *const *names, hid_t variable);

/* Whether an attribute of packed numbers also holds for the unpacked ones; `user` is ignored. */
bool ndr_label_keeps_unpacked(void *user, const char *name);

/* Gives a variable of coordinates along dim d the attributes that the source's own coordinates have. */
ndr_status ndr_label_located(const ndr_label *label, int d, hid_t variable);

/* Writes the attributes of the input's root, and, unless results lie in groups, those of the groups around the source
 * that no outer group has. Puts `line` (NULL for none) before the history. */
ndr_status ndr_label_file(const ndr_h5_dataset *source, hid_t file, const char *line, bool in_groups,
                          ndr_remarks *remarks);

/* Gives the groups around the variable `name` the attributes that those of the same paths have in the source's file. */
ndr_status ndr_label_groups(const ndr_h5_dataset *source, hid_t file, const char *name, ndr_remarks *remarks);

#endif
