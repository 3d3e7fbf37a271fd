/* See slab_iterator.h: nested loops over blocks, the parts of a series and the slabs of a part. */
#include "h5/read/slab_iterator.h"

static bool series_is_reduced(const ndr_slab_iterator *iterator) {
  return iterator->part_count > 1 && iterator->parts[0].reduced[iterator->dim];
}

static bool next_part(ndr_slab_iterator *iterator) {
  if (iterator->part + 1 == iterator->part_count) return false;
  iterator->offset += iterator->parts[iterator->part++].shape[iterator->dim];
  return true;
}

static void first_part(ndr_slab_iterator *iterator) {
  iterator->part = 0;
  iterator->offset = 0;
}

/* Moves on within the block; start[] of the reduced dims is 0 again when that fails. */
static bool next_in_block(ndr_slab_iterator *iterator) {
  if (ndr_slabs_next(&iterator->parts[iterator->part], true, iterator->start)) return true;
  return series_is_reduced(iterator) && next_part(iterator);
}

static bool next_block(ndr_slab_iterator *iterator) {
  if (series_is_reduced(iterator)) first_part(iterator);
  if (ndr_slabs_next(&iterator->parts[iterator->part], false, iterator->start)) return true;
  return !series_is_reduced(iterator) && next_part(iterator);
}

static bool is_last_in_block(const ndr_slab_iterator *iterator) {
  ndr_slab_iterator copy = *iterator;
  return !next_in_block(&copy);
}

bool ndr_slab_iterator_next(ndr_slab_iterator *iterator, ndr_slab *slab) {
  bool first = !iterator->started || !next_in_block(iterator);
  if (iterator->started && first && !next_block(iterator)) return false;
  iterator->started = true;
  *slab = (ndr_slab){.part = iterator->part, .first = first, .last = is_last_in_block(iterator)};
  ndr_slabs_box(&iterator->parts[iterator->part], iterator->start, slab->begin, slab->size);
  for (int d = 0; d < NDR_MAX_DIMS; d++) slab->whole[d] = slab->begin[d] + iterator->origin[d];
  slab->whole[iterator->dim] += iterator->offset;
  return true;
}
