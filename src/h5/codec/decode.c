/* See decode.h: the table of filters, and the loop that undoes them. Each filter has a file of its own here. */
#include "h5/codec/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5/codec/codec.h"

/* What undoes a filter, where the library for it is here. */
#if defined NDR_WITH_LIBDEFLATE || defined NDR_WITH_ZLIB
#define BY_LIBDEFLATE(codec) &(codec)
#else
#define BY_LIBDEFLATE(codec) NULL
#endif
#ifdef NDR_WITH_LIBAEC
#define BY_LIBAEC(codec) &(codec)
#else
#define BY_LIBAEC(codec) NULL
#endif
#ifdef NDR_WITH_LZ4
#define BY_LZ4(codec) &(codec)
#else
#define BY_LZ4(codec) NULL
#endif
#ifdef NDR_WITH_ZSTD
#define BY_ZSTD(codec) &(codec)
#else
#define BY_ZSTD(codec) NULL
#endif
#ifdef NDR_WITH_BLOSC
#define BY_BLOSC(codec) &(codec)
#else
#define BY_BLOSC(codec) NULL
#endif
#ifdef NDR_WITH_BLOSC2
#define BY_BLOSC2(codec) &(codec)
#else
#define BY_BLOSC2(codec) NULL
#endif
#ifdef NDR_WITH_BZIP2
#define BY_BZIP2(codec) &(codec)
#else
#define BY_BZIP2(codec) NULL
#endif
#ifdef NDR_WITH_ZFP
#define BY_ZFP(codec) &(codec)
#else
#define BY_ZFP(codec) NULL
#endif

/* Every filter with a name here. Numbers above 255 are from the HDF Group's registry. Without a codec it is left to
 * HDF5; library is what the codec takes, or NULL. */
static const struct {
  H5Z_filter_t id;
  const char *name, *library;
  const ndr_codec *codec;
} known[] = {
    {H5Z_FILTER_DEFLATE, "deflate", "libdeflate", BY_LIBDEFLATE(ndr_codec_deflate)},
    {H5Z_FILTER_SHUFFLE, "shuffle", NULL, &ndr_codec_shuffle},
    {H5Z_FILTER_FLETCHER32, "fletcher32", NULL, &ndr_codec_fletcher32},
    {H5Z_FILTER_SZIP, "szip", "libaec", BY_LIBAEC(ndr_codec_szip)},
    {H5Z_FILTER_NBIT, "nbit", NULL, NULL},
    {H5Z_FILTER_SCALEOFFSET, "scaleoffset", NULL, NULL},
    {305, "lzo", NULL, NULL},
    {307, "bzip2", "libbz2", BY_BZIP2(ndr_codec_bzip2)},
    {32000, "lzf", NULL, &ndr_codec_lzf},
    {32001, "blosc", "libblosc", BY_BLOSC(ndr_codec_blosc)},
    {32004, "lz4", "liblz4", BY_LZ4(ndr_codec_lz4)},
    {32008, "bitshuffle", NULL, &ndr_codec_bitshuffle},
    {32013, "zfp", "libzfp", BY_ZFP(ndr_codec_zfp)},
    {32015, "zstd", "libzstd", BY_ZSTD(ndr_codec_zstd)},
    {32017, "sz", NULL, NULL},
    {32022, "bitgroom", NULL, &ndr_codec_rounding},
    {32023, "granularbr", NULL, &ndr_codec_rounding},
    {32026, "blosc2", "libblosc2", BY_BLOSC2(ndr_codec_blosc2)},
};

static const ndr_codec *find_codec(H5Z_filter_t id) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].id == id) return known[i].codec;
  return NULL;
}

const char *ndr_filter_name(H5Z_filter_t id) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].id == id) return known[i].name;
  return NULL;
}

const char *ndr_filter_library(H5Z_filter_t id) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].id == id && !known[i].codec) return known[i].library;
  return NULL;
}

bool ndr_filter_is_rounding(H5Z_filter_t id) {
  return find_codec(id) == &ndr_codec_rounding;
}

/* A file's own name for a filter is any bytes, so it is not used. */
static void name_filter(ndr_filter *filter) {
  const char *name = ndr_filter_name(filter->id);
  if (name)
    snprintf(filter->name, sizeof filter->name, "%s", name);
  else
    snprintf(filter->name, sizeof filter->name, "filter %d", filter->id);
}

ndr_status ndr_filters_read(hid_t creation, ndr_filters *filters) {
  int count = H5Pget_nfilters(creation);
  memset(filters, 0, sizeof *filters);
  if (count < 0 || count > NDR_FILTERS_MAX) return ndr_fail(NDR_ERR_FILE, "its filters cannot be understood");
  for (int i = 0; i < count; i++) {
    ndr_filter *filter = &filters->all[i];
    filter->value_count = NDR_FILTER_VALUES;
    filter->id =
        H5Pget_filter2(creation, (unsigned)i, &filter->flags, &filter->value_count, filter->values, 0, NULL, NULL);
    if (filter->id < 0) return ndr_fail(NDR_ERR_FILE, "its filters cannot be understood");
    name_filter(filter);
  }
  filters->count = count;
  return NDR_OK;
}

static bool is_known(const ndr_filter *filter) {
  const ndr_codec *codec = find_codec(filter->id);
  return codec && filter->value_count <= NDR_FILTER_VALUES && (!codec->takes || codec->takes(filter));
}

bool ndr_filters_known(const ndr_filters *filters, const char **unknown) {
  for (int i = 0; i < filters->count; i++) {
    if (is_known(&filters->all[i])) continue;
    if (unknown) *unknown = filters->all[i].name;
    return false;
  }
  return true;
}

/* Undoing one filter, as planned from the sizes: encoding went from the chunk's size upwards. */
typedef struct {
  const ndr_codec *codec; /* NULL: the filter is left out */
  size_t room;            /* the most bytes that it can give */
  bool exact;             /* and it must give that many */
  bool to_out;            /* it is the last one to write anything, and what it writes is the chunk */
} step;

typedef struct {
  step steps[NDR_FILTERS_MAX];
  size_t stored; /* the most bytes that can be stored */
  bool exact;
  int scratch_count; /* buffers between steps, and the bytes of each */
  size_t scratch_bytes;
} plan;

static size_t plus(size_t a, size_t b) {
  size_t sum;
  return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

/* Filters that pack what is packed already could each claim to have made it larger; no encoder is that bad, and a limit
 * that grew with their number would be none. */
static size_t packed_limit(const ndr_filter *filter, size_t bytes, size_t chunk_bytes) {
  const ndr_codec *codec = find_codec(filter->id);
  size_t limit = codec->packed_bytes ? codec->packed_bytes(filter, bytes)
                                     : plus(plus(bytes, bytes >> codec->growth_shift), NDR_CODEC_HEADERS);
  size_t twice = plus(chunk_bytes, chunk_bytes), most = codec->packed_bytes ? plus(twice, twice) : twice;
  size_t ceiling = plus(most, (size_t)NDR_FILTERS_MAX * NDR_CODEC_HEADERS);
  return limit < ceiling ? limit : ceiling;
}

static plan make_plan(const ndr_filters *filters, uint32_t mask, size_t chunk_bytes) {
  plan made = {.stored = chunk_bytes, .exact = true};
  int writers = 0;
  for (int i = 0; i < filters->count; i++) {
    const ndr_codec *codec = find_codec(filters->all[i].id);
    if (mask >> i & 1 || (codec->is_idle && codec->is_idle(&filters->all[i]))) continue;
    bool to_out = !codec->in_place && writers == 0 && made.exact && made.stored == chunk_bytes;
    made.steps[i] = (step){codec, made.stored, made.exact, to_out};
    if (!codec->in_place && !to_out) {
      if (made.scratch_count < 2) made.scratch_count++;
      if (made.scratch_bytes < made.stored) made.scratch_bytes = made.stored;
    }
    writers += !codec->in_place;
    made.stored =
        codec->packs ? packed_limit(&filters->all[i], made.stored, chunk_bytes) : plus(made.stored, codec->adds);
    made.exact = made.exact && !codec->packs;
  }
  return made;
}

struct ndr_decoder {
  ndr_filters filters;
  size_t chunk_bytes;
  void *states[NDR_FILTERS_MAX];
  uint8_t *scratch[2];
};

size_t ndr_decoder_bytes(const ndr_filters *filters, size_t chunk_bytes) {
  plan full = make_plan(filters, 0, chunk_bytes);
  size_t bytes = sizeof(ndr_decoder);
  for (int i = 0; i < full.scratch_count; i++) bytes = plus(bytes, full.scratch_bytes);
  for (int i = 0; i < filters->count; i++) {
    const step *each = &full.steps[i];
    if (each->codec && each->codec->state_bytes)
      bytes = plus(bytes, each->codec->state_bytes(&filters->all[i], each->room));
  }
  return bytes;
}

size_t ndr_decoder_stored_limit(const ndr_filters *filters, size_t chunk_bytes) {
  return make_plan(filters, 0, chunk_bytes).stored;
}

static bool open_parts(ndr_decoder *decoder) {
  plan full = make_plan(&decoder->filters, 0, decoder->chunk_bytes);
  for (int i = 0; i < full.scratch_count; i++)
    if (!(decoder->scratch[i] = malloc(full.scratch_bytes ? full.scratch_bytes : 1))) return false;
  for (int i = 0; i < decoder->filters.count; i++) {
    const step *each = &full.steps[i];
    if (!each->codec || !each->codec->open) continue;
    if (!(decoder->states[i] = each->codec->open(&decoder->filters.all[i], each->room))) return false;
  }
  return true;
}

ndr_status ndr_decoder_create(ndr_decoder **decoder, const ndr_filters *filters, size_t chunk_bytes) {
  const char *unknown = NULL;
  *decoder = NULL;
  if (!ndr_filters_known(filters, &unknown))
    return ndr_fail(NDR_ERR_UNSUPPORTED, "%s: this build cannot undo it", unknown);
  ndr_decoder *made = calloc(1, sizeof *made);
  if (made) {
    made->filters = *filters;
    made->chunk_bytes = chunk_bytes;
    if (open_parts(made)) {
      *decoder = made;
      return NDR_OK;
    }
  }
  ndr_decoder_destroy(made);
  return ndr_fail(NDR_ERR_MEMORY, "there is no memory for a decoder of chunks of %zu bytes", chunk_bytes);
}

void ndr_decoder_destroy(ndr_decoder *decoder) {
  if (!decoder) return;
  for (int i = 0; i < decoder->filters.count; i++)
    if (decoder->states[i]) find_codec(decoder->filters.all[i].id)->close(decoder->states[i]);
  for (int i = 0; i < 2; i++) free(decoder->scratch[i]);
  free(decoder);
}

/* Reports a size that is not what it has to be. */
static ndr_status check_size(const char *what, size_t bytes, size_t due, bool exact) {
  if (bytes == due || (bytes < due && !exact)) return NDR_OK;
  return ndr_fail(NDR_ERR_FILE, "%s %zu bytes where %s%zu are due", what, bytes, exact ? "" : "at most ", due);
}

ndr_status ndr_decoder_run(ndr_decoder *decoder, const void *stored, size_t stored_bytes, uint32_t mask, void *out) {
  plan full = make_plan(&decoder->filters, mask, decoder->chunk_bytes);
  ndr_span data = {stored, stored_bytes};
  int turn = 0;
  NDR_TRY(check_size("the chunk has", stored_bytes, full.stored, full.exact));
  for (int i = decoder->filters.count - 1; i >= 0; i--) {
    const step *each = &full.steps[i];
    const ndr_filter *filter = &decoder->filters.all[i];
    char what[48];
    if (!each->codec) continue;
    uint8_t *target = each->to_out ? out : decoder->scratch[turn];
    if (!each->to_out && !each->codec->in_place) turn ^= 1;
    NDR_TRY(each->codec->undo(filter, decoder->states[i], &data, target, each->room));
    snprintf(what, sizeof what, "%s: gives", filter->name);
    NDR_TRY(check_size(what, data.count, each->room, each->exact));
  }
  if (data.bytes != out && data.count) memcpy(out, data.bytes, data.count);
  return NDR_OK;
}
