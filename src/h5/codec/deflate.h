/* Template: the codec of deflate, whichever library undoes it. Needs open_deflate, close_deflate, and
 *   ndr_inflated inflate_all(void *state, const ndr_span *data, uint8_t *out, size_t room, size_t *made)
 * which inflates a zlib stream to at most `room` bytes. As in HDF5, bytes behind the stream's end do not matter. */

/* The tables of libdeflate's decompressor are about 12 KiB in 1.14; zlib has a window of 32 KiB and about 10 KiB of
 * them.
 */
static size_t deflate_state_bytes(const ndr_filter *filter, size_t bytes) {
  (void)filter, (void)bytes;
  return (size_t)64 << 10;
}

static ndr_status undo_deflate(const ndr_filter *filter, void *state, ndr_span *data, uint8_t *out, size_t room) {
  size_t made = 0;
  (void)filter;
  switch (inflate_all(state, data, out, room, &made)) {
  case NDR_INFLATED: break;
  case NDR_INFLATED_MORE:
    return ndr_fail(NDR_ERR_FILE, "deflate: the stream holds more than the %zu bytes that are due", room);
  case NDR_INFLATED_NOT: return ndr_fail(NDR_ERR_FILE, "deflate: the stream is damaged or ends early");
  }
  *data = (ndr_span){out, made};
  return NDR_OK;
}

const ndr_codec ndr_codec_deflate = {
    .packs = true,
    .growth_shift = 4,
    .state_bytes = deflate_state_bytes,
    .open = open_deflate,
    .close = close_deflate,
    .undo = undo_deflate,
};
