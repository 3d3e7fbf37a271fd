/* In which order a file of results has its variables: in that of the input, which programs like CDO pair the variables
 * of two files by. HDF5 keeps the order in which links are made, so the links of those that are out of order are made
 * again. */
#ifndef NDR_H5_WRITE_ORDER_H
#define NDR_H5_WRITE_ORDER_H

#include <sys/stat.h>

#include "h5/file/dataset.h"

/* A variable of the output: the position of what it was made of in the file of that number, as in position.h. */
typedef struct ndr_listed {
  char *name, *position;
  int file, number; /* number: which variables of one position were noted before it */
} ndr_listed;

typedef struct ndr_ordered_file {
  char *name;
  dev_t device;
  ino_t inode; /* 0: not known */
} ndr_ordered_file;

typedef struct ndr_order {
  int count, file_count;
  ndr_listed *all;
  ndr_ordered_file *files; /* in the order in which something of them was noted first */
} ndr_order;

/* Notes that the variable `name` of the output stands for a dataset of an input; or for the scale of dim d of one, or
 * where that has none for the dataset. Those that stand for one dataset are in the order in which they are noted.
 * Called inside the lock. */
ndr_status ndr_order_note(ndr_order *order, const ndr_h5_dataset *dataset, const char *name);
ndr_status ndr_order_note_scale(ndr_order *order, const ndr_h5_dataset *dataset, int d, const char *name);

/* Puts the links of the output in order: the files in the order in which they were noted first, and of each what was
 * noted as it stands there. A group is where the first of its variables is. */
ndr_status ndr_order_apply(ndr_order *order, hid_t file, const char *path);

void ndr_order_free(ndr_order *order);

#endif
