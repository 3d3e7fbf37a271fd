/* Parts that go on at the beginning of the file's dim where it ends, as longitudes from 350 to 10 do. Along such a dim
 * a part is two runs of the file, and a box is two boxes of it, or four where two dims have a seam. */
#ifndef NDR_H5_FILE_SEAM_H
#define NDR_H5_FILE_SEAM_H

#include "h5/file/dataset.h"

/* Whether the part has a seam along dim d. */
static inline bool ndr_has_seam(const ndr_h5_dataset *dataset, int d) {
  return dataset->seam[d].at > 0;
}

/* Elements of a part, along one dim, that follow each other in the file, too, a step apart. */
typedef struct ndr_run {
  int64_t begin, count; /* in the part */
  int64_t from;         /* of the first one, in the file */
  double turn;          /* to be added to their coordinates */
} ndr_run;

/* Finds the runs of elements begin .. begin + count - 1 of the part along dim d: two where the seam is among them, else
 * one, which has no elements if count is 0. Returns how many there are. */
int ndr_seam_runs(const ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count, ndr_run runs[2]);

/* The index in the file of element k of dim d. */
int64_t ndr_seam_index(const ndr_h5_dataset *dataset, int d, int64_t k);

/* Cuts the part to its elements begin .. begin + count - 1 along dim d. */
void ndr_seam_narrow(ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count);

/* Selects along dim i of a dataset what is selected along dim d of another one. Their extents are the same. */
void ndr_seam_copy(ndr_h5_dataset *dataset, int i, const ndr_h5_dataset *from, int d);

/* What of a box lies between seams: one run of each dim. */
typedef struct ndr_side {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS]; /* in the part */
  int64_t from[NDR_MAX_DIMS];                      /* of the first element, in the file */
} ndr_side;

/* How many sides a box of the part has, one if it crosses no seam; and side `number` of them, from 0 on. */
int ndr_seam_sides(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size);
ndr_side ndr_seam_side(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size, int number);

#endif
