/* Selections piece by piece. A piece is at most NDR_PIECE neighbouring places along one axis. The places of a piece
 * that the mask keeps are listed, and what lies there is moved. */
#ifndef NDR_CPU_SCAN_SELECT_H
#define NDR_CPU_SCAN_SELECT_H

#include "scan/selection.h"

#define NDR_PIECE 1024

typedef struct ndr_select_axis {
  int64_t size, stride, mask, result; /* strides in elements */
} ndr_select_axis;

/* A selection, its axes innermost first. Places lie along `places`; each is an element, or a slice with the axes
 * `rest`. */
typedef struct ndr_select_job {
  const ndr_selection *made;
  const char *array;
  const uint8_t *mask;
  char *result;
  int place_axes, rest_axes;
  ndr_select_axis places[NDR_MAX_DIMS], rest[NDR_MAX_DIMS];
  int64_t rest_size;   /* elements of a slice */
  int64_t result_step; /* from a place of the result to the next, unless the result has the array's shape */
  int64_t element;     /* bytes */
  int64_t kept;        /* how many places are kept; set before anything is moved. A partition puts the others behind */
} ndr_select_job;

typedef struct ndr_select_piece {
  int64_t first, count;        /* places */
  int64_t at, stride;          /* where the first one lies in the array, and how far it is to the next, in elements */
  int64_t index[NDR_MAX_DIMS]; /* of the first place along each of the axes `places` */
} ndr_select_piece;

/* Writes 1 for each place of a piece that the mask keeps, else 0. The mask of the first place is element `mask`, and
 * those of neighbours are `stride` elements apart. */
void ndr_select_truth(const ndr_select_job *job, int64_t mask, int64_t stride, int64_t count, uint8_t *kept);

/* Moves the places of a piece that `list` numbers, from its first on, to the result's places from `to` on, as far as
 * there is room. Of slices it moves the elements from_rest to before to_rest. */
void ndr_select_move(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                     int64_t to, int64_t from_rest, int64_t to_rest);

#endif
