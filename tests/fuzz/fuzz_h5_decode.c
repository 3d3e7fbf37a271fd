/* Any filters with any parameters over any stored bytes. Input: the number of filters in one byte; of each one its
 * place in the list below and the number of its values in a byte each, and the values in four bytes each; then the
 * chunk's size in two bytes, the mask in one, and what is stored. The answer is a chunk, the same one whatever was in
 * memory before, or a sentence. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "h5/codec/decode.h"

static const H5Z_filter_t ids[] = {H5Z_FILTER_SHUFFLE,
                                   H5Z_FILTER_DEFLATE,
                                   H5Z_FILTER_FLETCHER32,
                                   H5Z_FILTER_SZIP,
                                   307,
                                   32001,
                                   32004,
                                   32008,
                                   32015,
                                   300,
                                   32022,
                                   32013,
                                   32026};
enum { IDS = sizeof ids / sizeof *ids, MOST_FILTERS = 4 };

static ndr_filters take_filters(input *from) {
  ndr_filters filters = {.count = (int)(take(from, 1) % (MOST_FILTERS + 1))};
  for (int i = 0; i < filters.count; i++) {
    ndr_filter *filter = &filters.all[i];
    filter->id = ids[take(from, 1) % IDS];
    filter->value_count = take(from, 1) % (NDR_FILTER_VALUES + 2);
    for (size_t v = 0; v < filter->value_count && v < NDR_FILTER_VALUES; v++) filter->values[v] = take(from, 4);
  }
  return filters;
}

/* The chunk in memory of exactly its size, filled before; NULL if it is refused. */
static uint8_t *run(ndr_decoder *decoder, input stored, uint32_t mask, size_t chunk_bytes, int before) {
  uint8_t *copy = calloc(stored.size ? stored.size : 1, 1), *out = malloc(chunk_bytes ? chunk_bytes : 1);
  require(copy && out);
  if (stored.size) memcpy(copy, stored.data, stored.size);
  memset(out, before, chunk_bytes);
  ndr_status status = ndr_decoder_run(decoder, copy, stored.size, mask, out);
  require(status == NDR_OK || (status == NDR_ERR_FILE && ndr_last_error()[0]));
  require(stored.size == 0 || memcmp(copy, stored.data, stored.size) == 0);
  free(copy);
  if (status == NDR_OK) return out;
  free(out);
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input from = {data, size};
  ndr_filters filters = take_filters(&from);
  size_t chunk_bytes = take(&from, 2);
  uint32_t mask = take(&from, 1);
  ndr_decoder *decoder;
  if (!ndr_filters_known(&filters, NULL)) {
    require(ndr_decoder_create(&decoder, &filters, chunk_bytes) == NDR_ERR_UNSUPPORTED && !decoder);
    return 0;
  }
  require(ndr_decoder_stored_limit(&filters, chunk_bytes) >= chunk_bytes);
  require(ndr_decoder_bytes(&filters, chunk_bytes) < MOST_FILTERS * (4 * chunk_bytes + ((size_t)5 << 20)));
  require(ndr_decoder_create(&decoder, &filters, chunk_bytes) == NDR_OK);
  uint8_t *first = run(decoder, from, mask, chunk_bytes, 0), *second = run(decoder, from, mask, chunk_bytes, 0xff);
  require(!first == !second);
  if (first) require(memcmp(first, second, chunk_bytes) == 0);
  free(first);
  free(second);
  ndr_decoder_destroy(decoder);
  return 0;
}
