/* Selections in pieces: neighbouring places, at most NDR_PIECE of them, that lie along one axis. Of each piece a list
 * is made of the places that the mask keeps, and what lies there is moved. */
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
  int64_t kept;        /* how many places are kept, which the others are put behind; set before anything is moved */
} ndr_select_job;

typedef struct ndr_select_piece {
  int64_t first, count;        /* places */
  int64_t at, stride;          /* elements to the array's first of the piece, and from one to the next */
  int64_t index[NDR_MAX_DIMS]; /* of the first place along each of the axes `places` */
} ndr_select_piece;

/* Writes 0 or 1 for each place of a piece whose masks lie `mask` elements from the first and `stride` apart. */
void ndr_select_truth(const ndr_select_job *job, int64_t mask, int64_t stride, int64_t count, uint8_t *kept);

/* Moves the places `list` of a piece, counted from its first, to the result's places from `to` on, as far as there is
 * room. Of slices, the elements from_rest to before to_rest. */
void ndr_select_move(const ndr_select_job *job, const ndr_select_piece *piece, const uint16_t *list, int64_t count,
                     int64_t to, int64_t from_rest, int64_t to_rest);

#endif
