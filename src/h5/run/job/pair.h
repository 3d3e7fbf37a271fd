/* Along which dims of a dataset the dims of an array beside it lie. */
#ifndef NDR_H5_RUN_PAIR_H
#define NDR_H5_RUN_PAIR_H

#include "h5/group/groups.h"
#include "h5/read/beside.h"

enum { NDR_PAIR_TEXT = 512 };

/* How an array is to be paired, beside what it is itself. */
typedef struct ndr_pairing {
  const int *dims;             /* of the dataset, along which those of the array lie; NULL: they are found */
  const ndr_h5_groups *groups; /* of the dataset, one step of the array for each; NULL: there are none */
  bool left_out;               /* what is in none of the groups is not reduced */
  const char *what;            /* names the array in errors */
  bool *needs_groups;          /* set where groups would pair the array, and errors do not say so; or NULL */
} ndr_pairing;

/* Sets the array's dims: those given, else by their names, else by NumPy's rule, which aligns the last ones. In the
 * first two cases an array of a whole dim of the file is cut as the dataset is, and longitudes go on around its end
 * where they begin elsewhere. If the array has the dataset's coordinates in reverse along a dim, turns it. If it cannot
 * be paired so, and `groups` are given, its steps are paired by these. Fails if coordinates differ otherwise. */
ndr_status ndr_pair(ndr_beside *array, const ndr_h5_dataset *dataset, const ndr_pairing *how);

#endif
