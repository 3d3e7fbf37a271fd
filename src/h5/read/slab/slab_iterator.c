/* See slab_iterator.h: nested loops over blocks, the parts of a series and the slabs of a part. */
#include "h5/read/slab/slab_iterator.h"

static bool series_is_reduced(const ndr_slab_iterator *iterator) {
  return iterator->part_count > 1 && iterator->parts[0].reduced[iterator->dim];
}

static int part_of(const ndr_slab_iterator *iterator) {
  bool mirrored = iterator->backward && series_is_reduced(iterator);
  return mirrored ? iterator->part_count - 1 - iterator->part : iterator->part;
}

static const ndr_slabs *slabs_of(const ndr_slab_iterator *iterator) {
  return &iterator->parts[part_of(iterator)];
}

/* Stretches go on from part to part where the parts lie along a reduced dim. */
static int64_t stretches(const ndr_slab_iterator *iterator) {
  const ndr_slabs *slabs = slabs_of(iterator);
  int64_t cells = 0;
  for (int i = 0; series_is_reduced(iterator) && i < iterator->part_count; i++)
    cells += ndr_slabs_cells(&iterator->parts[i], true);
  if (!series_is_reduced(iterator)) cells = ndr_slabs_cells(slabs, true);
  return (cells + slabs->stretch - 1) / slabs->stretch;
}

static bool next_part(ndr_slab_iterator *iterator) {
  if (iterator->part + 1 == iterator->part_count) return false;
  const ndr_slabs *slabs = slabs_of(iterator);
  if (series_is_reduced(iterator)) {
    iterator->cells += ndr_slabs_cells(slabs, true);
    iterator->part++;
  } else {
    iterator->pieces += ndr_slabs_cells(slabs, false) * iterator->stretches;
    iterator->part++;
    iterator->stretches = stretches(iterator);
  }
  return true;
}

/* Moves on within the block; start[] of the reduced dims is 0 again when that fails. */
static bool next_in_block(ndr_slab_iterator *iterator) {
  if (ndr_slabs_next(slabs_of(iterator), true, iterator->start)) return true;
  return series_is_reduced(iterator) && next_part(iterator);
}

static bool next_block(ndr_slab_iterator *iterator) {
  if (series_is_reduced(iterator)) iterator->part = 0, iterator->cells = 0;
  if (ndr_slabs_next(slabs_of(iterator), false, iterator->start)) return true;
  return !series_is_reduced(iterator) && next_part(iterator);
}

static bool is_last_in_block(const ndr_slab_iterator *iterator) {
  ndr_slab_iterator copy = *iterator;
  return !next_in_block(&copy);
}

/* Where a part begins along dim. */
static int64_t offset_of(const ndr_slab_iterator *iterator, int part) {
  int64_t offset = 0;
  for (int i = 0; i < part; i++) offset += iterator->parts[i].shape[iterator->dim];
  return offset;
}

static void find_box(const ndr_slab_iterator *iterator, ndr_slab *slab) {
  const ndr_slabs *slabs = &iterator->parts[slab->part];
  int64_t start[NDR_MAX_DIMS];
  for (int d = 0; d < slabs->ndim; d++) {
    bool mirrored = iterator->backward && slabs->reduced[d];
    start[d] = mirrored ? ndr_slabs_mirrored(slabs, d, iterator->start[d]) : iterator->start[d];
  }
  ndr_slabs_box(slabs, start, slab->begin, slab->size);
}

static int64_t piece_of(const ndr_slab_iterator *iterator) {
  const ndr_slabs *slabs = slabs_of(iterator);
  int64_t cell = iterator->cells + ndr_slabs_cell_at(slabs, true, iterator->start);
  int64_t outputs = ndr_slabs_cell_at(slabs, false, iterator->start);
  return iterator->pieces + outputs * iterator->stretches + cell / slabs->stretch;
}

static bool is_last_of_piece(const ndr_slab_iterator *iterator) {
  ndr_slab_iterator copy = *iterator;
  return !next_in_block(&copy) || piece_of(&copy) != piece_of(iterator);
}

int64_t ndr_slab_iterator_pieces(const ndr_slab_iterator *iterator) {
  ndr_slab_iterator last = *iterator;
  if (last.part_count == 0) return 0;
  last.stretches = stretches(&last);
  while (!series_is_reduced(&last) && next_part(&last)) continue;
  return last.pieces + ndr_slabs_cells(slabs_of(&last), false) * last.stretches;
}

void ndr_slab_iterator_prime(ndr_slab_iterator *iterator) {
  if (iterator->part_count) iterator->stretches = stretches(iterator);
}

void ndr_slab_iterator_alike(const ndr_slab_iterator *iterator, int64_t piece, int64_t *begin, int64_t *end) {
  ndr_slab_iterator at = *iterator;
  if (at.stretches == 0) at.stretches = stretches(&at);
  while (!series_is_reduced(&at) && piece - at.pieces >= ndr_slabs_cells(slabs_of(&at), false) * at.stretches)
    if (!next_part(&at)) break;
  *begin = piece - (piece - at.pieces) % at.stretches;
  *end = *begin + at.stretches;
}

/* Moves on to the next slab of any piece. */
static bool next(ndr_slab_iterator *iterator, ndr_slab *slab) {
  bool first = !iterator->started || !next_in_block(iterator);
  if (iterator->started && first && !next_block(iterator)) return false;
  if (!iterator->started) iterator->stretches = stretches(iterator);
  iterator->started = true;
  int64_t piece = piece_of(iterator);
  bool begins = first || piece != iterator->piece;
  iterator->piece = piece;
  *slab = (ndr_slab){.part = part_of(iterator), .first = first, .piece = piece, .begins = begins};
  return true;
}

bool ndr_slab_iterator_next(ndr_slab_iterator *iterator, ndr_slab *slab) {
  do
    if (!next(iterator, slab)) return false;
  while (iterator->to && (slab->piece < iterator->from || slab->piece >= iterator->to));
  slab->last = is_last_in_block(iterator);
  slab->ends = is_last_of_piece(iterator);
  find_box(iterator, slab);
  for (int d = 0; d < NDR_MAX_DIMS; d++) slab->whole[d] = slab->begin[d] + iterator->origin[d];
  slab->whole[iterator->dim] += offset_of(iterator, slab->part);
  return true;
}
