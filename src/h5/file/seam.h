/* Parts that go on behind the end of an axis which goes round, such as longitudes from 350 to 10: two runs of the
 * file's dim, and of several such dims a box that lies in several places of the file. */
#ifndef NDR_H5_FILE_SEAM_H
#define NDR_H5_FILE_SEAM_H

#include "h5/file/dataset.h"

/* Whether the part has a seam along dim d. */
static inline bool ndr_has_seam(const ndr_h5_dataset *dataset, int d) {
  return dataset->seam[d].at > 0;
}

/* Elements of a part, along one dim, that lie in one direction in the file, a step apart. */
typedef struct ndr_run {
  int64_t begin, count; /* in the part */
  int64_t from;         /* of the first one, in the file */
  double turn;          /* to be added to their coordinates */
} ndr_run;

/* Finds the runs of elements begin .. begin + count - 1 of dim d, which are selected: two where the seam is among them,
 * else one. Returns how many there are. */
int ndr_seam_runs(const ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count, ndr_run runs[2]);

/* The index in the file of element k of dim d. */
int64_t ndr_seam_index(const ndr_h5_dataset *dataset, int d, int64_t k);

/* Keeps elements begin .. begin + count - 1 of dim d. */
void ndr_seam_narrow(ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count);

/* Makes dim i of a dataset the part that dim d of another one is; its extent stays. */
void ndr_seam_copy(ndr_h5_dataset *dataset, int i, const ndr_h5_dataset *from, int d);

/* What of a box lies on one side of all seams. */
typedef struct ndr_side {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS]; /* in the part */
  int64_t from[NDR_MAX_DIMS];                      /* of the first element, in the file */
} ndr_side;

/* How many sides a box has, one where it crosses no seam; and the side of that number. */
int ndr_seam_sides(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size);
ndr_side ndr_seam_side(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size, int number);

#endif
