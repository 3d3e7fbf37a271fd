/* The order in which slabs are read and reduced, or scanned. Pure.
 *
 * The parts of a series lie one after the other along one dim of the whole array. Where that dim is reduced, each block
 * takes in the slabs of all parts; where it is kept, each part has blocks of its own. */
#ifndef NDR_H5_READ_SLAB_ITERATOR_H
#define NDR_H5_READ_SLAB_ITERATOR_H

#include "h5/read/slab/slabs.h"

typedef struct ndr_slab_iterator {
  int part_count;               /* may be 0: there are no slabs then */
  int dim;                      /* along which the parts lie; of a single part any */
  const ndr_slabs *parts;       /* cut alike in the kept dims if dim is reduced */
  int part;                     /* under `backward`, where dim is reduced, counted from the last */
  int64_t origin[NDR_MAX_DIMS]; /* where the parts begin in the whole array */
  int64_t start[NDR_MAX_DIMS];
  int64_t cells;     /* of the parts before this one along the reduced dims, if dim is reduced */
  int64_t pieces;    /* of the parts before this one, if dim is kept */
  int64_t stretches; /* of each cell along the kept dims */
  int64_t piece;     /* of the slab that came last */
  bool started;
  int64_t from, to; /* only the slabs of these pieces, if `to` is not 0; first and last mean nothing then */
  bool backward;    /* the slabs of a block, and the parts that they are of, come from the last to the first */
} ndr_slab_iterator;

/* A slab, or a leaf or column of leaves in it. */
typedef struct ndr_slab {
  int part;
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS]; /* in the part */
  int64_t whole[NDR_MAX_DIMS];                     /* where it begins in the whole array */
  bool first, last;                                /* of its block */
  int64_t piece;     /* that the slab is of: counted on over the cells along kept dims, and in these over stretches */
  bool begins, ends; /* it is the first, or the last, that its block has of that piece */
} ndr_slab;

/* The next slab; false after the last. Each block has at least one slab, which may have no elements. */
bool ndr_slab_iterator_next(ndr_slab_iterator *iterator, ndr_slab *slab);

/* How many pieces there are. */
int64_t ndr_slab_iterator_pieces(const ndr_slab_iterator *iterator);

/* Counts, at the beginning, what ndr_slab_iterator_alike would count each time: of a series it looks at all parts. */
void ndr_slab_iterator_prime(ndr_slab_iterator *iterator);

/* Pieces *begin .. *end - 1 are those of the same outputs as `piece`. The iterator is at its beginning. */
void ndr_slab_iterator_alike(const ndr_slab_iterator *iterator, int64_t piece, int64_t *begin, int64_t *end);

#endif
