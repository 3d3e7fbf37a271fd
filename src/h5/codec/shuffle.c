/* Shuffle: the first bytes of all elements, then all second bytes, and so on. */
#include <string.h>

#include "h5/codec/codec.h"
#include "h5/codec/planes.h"

static bool takes_shuffle(const ndr_filter *filter) {
  return filter->value_count == 1 && filter->values[0] > 0;
}

static bool is_idle_shuffle(const ndr_filter *filter) {
  return filter->values[0] == 1;
}

/* Bytes that make no whole element stay where they are. */
static ndr_status undo_shuffle(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  (void)state, (void)room;
  size_t size = filter->values[0], count = data->count / size, whole = count * size;
  if (count) ndr_join_bytes(data->bytes, out, count, size);
  if (data->count > whole) memcpy(out + whole, data->bytes + whole, data->count - whole);
  data->bytes = out;
  return NDR_OK;
}

const ndr_codec ndr_codec_shuffle = {
    .takes = takes_shuffle,
    .is_idle = is_idle_shuffle,
    .undo = undo_shuffle,
};
