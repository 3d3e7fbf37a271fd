/* Another variable of a dataset's file that says more of it, by name: bounds, coordinates of several dims, a grid
 * mapping. It is cut as the dataset is: along the dims that both have it is that part of the whole which has been
 * selected, and where several files are one dataset, what they hold of it follows each other, too. */
#ifndef NDR_H5_COMPANION_H
#define NDR_H5_COMPANION_H

#include "h5/dataset.h"

typedef struct ndr_companion {
  int count; /* files that it is read from; 0: there is none of that name */
  ndr_h5_dataset **pieces;
  ndr_h5_dataset whole; /* borrows the texts and the id of the first piece */
  bool converted;       /* only its values are those of the whole: see ndr_companion_read_values */
  bool fits;            /* it has none of the reduced dims, and the same meaning in all files: whole is what to copy */
} ndr_companion;

/* Looks in the group of the dataset and in those above it, as CF does. Of numbers or not: info.dtype need not be set. A
 * dim that it shares with several of the dataset's is taken for those that are not reduced. `bounds`: it has the units
 * of the coordinates along the dim of a series, and is converted with them. Fails where what is there cannot be read.
 * To be closed even then. */
ndr_status ndr_companion_open(ndr_companion *companion, const ndr_h5_dataset *source, const bool *reduced,
                              const char *name, bool bounds);

void ndr_companion_close(ndr_companion *companion);

/* The bytes that its elements take, if they are numbers or texts, `most` + 1 where there are more, or others; negative
 * where that cannot be told. */
int64_t ndr_companion_bytes(const ndr_companion *companion, int64_t most);

/* Reads all of `whole` as `type`, its own; texts of variable length are to be reclaimed, even after a failure. */
bool ndr_companion_read(const ndr_companion *companion, hid_t type, void *data);

/* Reads what the numbers of `whole` mean, unpacked and converted, of pieces that are not short. */
bool ndr_companion_read_values(const ndr_companion *companion, double *values);

/* Where it comes from and which part of that it is, in words that differ where these do; to be freed, NULL where there
 * is no memory. */
char *ndr_companion_origin(const ndr_companion *companion);

#endif
