/* See slot.h. */
#include "h5/read/slab/slot.h"

static bool comes_with_slabs(const ndr_beside *beside) {
  return !beside->once && !beside->memory;
}

static int64_t own_pieces(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t *task) {
  return ndr_reader_pieces(&plan->readers[slab->part], (ndr_box){slab->begin, slab->size}, task);
}

int64_t ndr_slot_pieces(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t *task) {
  int64_t count = own_pieces(plan, slab, task);
  for (int i = 0; count > 0 && i < plan->beside_count; i++)
    if (comes_with_slabs(&plan->besides[i])) count += ndr_beside_pieces(&plan->besides[i], slab);
  return count;
}

/* Reads piece number `piece` of all those of the arrays beside the dataset. */
static ndr_status read_beside(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t piece, ndr_slot_scratch *scratch,
                              void *data) {
  for (int i = 0; i < plan->beside_count; i++) {
    const ndr_beside *beside = &plan->besides[i];
    int64_t count = comes_with_slabs(beside) ? ndr_beside_pieces(beside, slab) : 0;
    if (piece < count) return ndr_beside_read(beside, &scratch->besides[i], slab, piece, data);
    piece -= count;
  }
  return NDR_OK;
}

ndr_status ndr_slot_read(const ndr_slot_plan *plan, const ndr_slab *slab, int64_t first, int64_t count,
                         ndr_slot_scratch *scratch, void *data) {
  const ndr_reader *reader = &plan->readers[slab->part];
  const ndr_box box = {slab->begin, slab->size};
  int64_t task, own = own_pieces(plan, slab, &task);
  for (int64_t i = first; i < first + count; i++)
    NDR_TRY(i < own ? ndr_reader_read(reader, &scratch->dataset, box, i, data)
                    : read_beside(plan, slab, i - own, scratch, data));
  return NDR_OK;
}

void ndr_slot_scratch_clear(ndr_slot_scratch *scratch) {
  ndr_reader_scratch_clear(&scratch->dataset);
  for (int i = 0; i < NDR_MOST_BESIDES; i++) ndr_reader_scratch_clear(&scratch->besides[i]);
}
