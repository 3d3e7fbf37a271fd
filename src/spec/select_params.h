/* The argument of the kernels of selections (kernels/scan/select*.cuh), which are compiled at run time only. C code
 * fills it in. Strides are in bytes, but for the mask's, which are in elements. */
#ifndef NDR_SPEC_SELECT_PARAMS_H
#define NDR_SPEC_SELECT_PARAMS_H

#include "scan_params.h"

/* Places of a tile: a word of 32 bits for each thread of a block, which has NDR_SCAN_BLOCK. */
#define NDR_SELECT_TILE 8192

/* Tiles that a block of select_sums has. */
#define NDR_SELECT_CHUNK 2048

/* Elements that a thread of select_slices has on their way, by their bytes. */
#define NDR_SELECT_LOADS(bytes) ((bytes) > 4 ? 4 : 8)

typedef struct ndr_select_param_axis {
  ndr_scan_divisor size;
  long long stride;
} ndr_select_param_axis;

/* Axes that numbers are counted over, innermost first. */
typedef struct ndr_select_walk {
  int count;
  ndr_select_param_axis axes[NDR_PARAM_AXES];
} ndr_select_walk;

/* A place is an element, or a slice, that may be kept. Places are counted in row-major order, and tiles of them are a
 * block's each. */
typedef struct ndr_select_params {
  const void *array, *mask; /* elements 0 */
  void *result;
  long long *count;   /* the caller's: how many places are kept */
  long long *total;   /* the same in the workspace, for select_slices */
  ndr_posted *posted; /* as in ndr_scan_params: the tiles' totals */
  /* By kernel: what each tile keeps, then what is kept before it in its chunk, and behind these what each chunk keeps;
   * or the numbers of places that are kept, and from the end backwards those that are not. */
  void *list;
  unsigned *words; /* which places select_count found kept, by tile and thread */
  long long places, tiles;
  long long room;               /* places of the result that may be written */
  long long from_step, to_step; /* slices: from a place of the array, and of the result, to the next */
  long long run, outer;     /* select_slices: elements that a slice has along its first axis, and how many such runs */
  ndr_select_walk read;     /* the mask, by places */
  ndr_select_walk from, to; /* the array and the result: by places; for select_slices by elements of a slice */
} ndr_select_params;

/* What is known of a launch, as bits of a kernel's template argument. */
#define NDR_SELECT_DENSE_MASK 0x1u /* masks of neighbouring places lie side by side */
#define NDR_SELECT_DENSE_FROM 0x2u /* so do elements of the array; of a slice, along its first axis */
#define NDR_SELECT_DENSE_TO 0x4u   /* likewise in the result */
#define NDR_SELECT_COLUMNS 0x8u    /* select_slices: neighbouring threads have neighbouring slices */
#define NDR_SELECT_BOTH 0x10u      /* places that are not kept are wanted, too */
#define NDR_SELECT_FAR 0x20u       /* numbers of places take 64 bits */

#endif
