#include "support/h5_chunk.h"

#include <stdlib.h>

#include "support/suite.h"

/* HDF5 sets the element's size in the first one of a pipeline alone, when the dataset is created. */
static herr_t add_shuffle(hid_t creation, bool first) {
  const unsigned size = 3;
  return first ? H5Pset_shuffle(creation) : H5Pset_filter(creation, H5Z_FILTER_SHUFFLE, H5Z_FLAG_OPTIONAL, 1, &size);
}

static herr_t add_registered(hid_t creation, char letter) {
  static const struct {
    char letter;
    H5Z_filter_t id;
    size_t count;
    unsigned values[7];
  } registered[] = {
      {'2', 307, 1, {9}},         {'b', 32001, 7, {0, 0, 0, 0, 5, 1, 1}},
      {'l', 32004, 1, {1000}},    {'t', 32015, 1, {3}},
      {'0', 32008, 2, {0, 0}},    {'4', 32008, 2, {0, 2}},
      {'5', 32008, 3, {0, 3, 3}},
  };
  for (size_t i = 0; i < sizeof registered / sizeof *registered; i++)
    if (registered[i].letter == letter)
      return H5Pset_filter(creation, registered[i].id, H5Z_FLAG_OPTIONAL, registered[i].count, registered[i].values);
  return -1;
}

hid_t pipeline_create(const char *letters) {
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  for (const char *letter = letters; *letter; letter++) {
    herr_t status = -1;
    switch (*letter) {
    case 's': status = add_shuffle(creation, strchr(letters, 's') == letter); break;
    case 'd': status = H5Pset_deflate(creation, 6); break;
    case 'f': status = H5Pset_fletcher32(creation); break;
    case 'z': status = H5Pset_szip(creation, H5_SZIP_NN_OPTION_MASK, 8); break;
    case 'Z': status = H5Pset_szip(creation, H5_SZIP_EC_OPTION_MASK, 16); break;
    case 'n': status = H5Pset_nbit(creation); break;
    case 'o': status = H5Pset_scaleoffset(creation, H5Z_SO_INT, 0); break;
    default: status = add_registered(creation, *letter); break;
    }
    ck_assert_msg(status >= 0, "filter '%c' cannot be set", *letter);
  }
  return creation;
}

static void read_stored(hid_t dataset, stored_chunk *chunk) {
  hsize_t size = 0;
  const hsize_t start = 0;
  ck_assert(H5Dget_chunk_storage_size(dataset, &start, &size) >= 0);
  chunk->stored_bytes = (size_t)size;
  chunk->stored = malloc(chunk->stored_bytes);
  ck_assert_ptr_nonnull(chunk->stored);
#if H5_VERSION_GE(2, 0, 0)
  size_t room = chunk->stored_bytes;
  ck_assert(H5Dread_chunk(dataset, H5P_DEFAULT, &start, &chunk->mask, chunk->stored, &room) >= 0);
#else
  ck_assert(H5Dread_chunk(dataset, H5P_DEFAULT, &start, &chunk->mask, chunk->stored) >= 0);
#endif
}

stored_chunk chunk_write(const char *letters, hid_t type, size_t count, const uint8_t *data) {
  stored_chunk chunk = {.bytes = count * H5Tget_size(type)};
  hsize_t size = count;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = pipeline_create(letters);
  ck_assert(H5Pset_fapl_core(access, 1 << 20, 0) >= 0 && H5Pset_chunk(creation, 1, &size) >= 0);
  hid_t file = H5Fcreate("chunk.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access), space = H5Screate_simple(1, &size, NULL);
  hid_t dataset = H5Dcreate2(file, "d", type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ck_assert_msg(dataset >= 0 && H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0,
                "pipeline '%s' cannot be written", letters);
  ck_assert(H5Fflush(file, H5F_SCOPE_LOCAL) >= 0);
  read_stored(dataset, &chunk);
  chunk.data = malloc(chunk.bytes);
  ck_assert_ptr_nonnull(chunk.data);
  ck_assert(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, chunk.data) >= 0);
  hid_t stored_creation = H5Dget_create_plist(dataset);
  assert_ok(ndr_filters_read(stored_creation, &chunk.filters));
  H5Pclose(stored_creation);
  H5Dclose(dataset);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(creation);
  H5Pclose(access);
  return chunk;
}

void chunk_free(stored_chunk *chunk) {
  free(chunk->data);
  free(chunk->stored);
  *chunk = (stored_chunk){.bytes = 0};
}

enum { GUARD = 64 };

ndr_status chunk_decode(ndr_decoder *decoder, const stored_chunk *chunk, size_t stored_bytes, uint32_t mask,
                        uint8_t *out) {
  uint8_t *stored = malloc(stored_bytes ? stored_bytes : 1), *guarded = malloc(chunk->bytes + GUARD);
  ck_assert(stored && guarded);
  memcpy(stored, chunk->stored, stored_bytes);
  memset(guarded, 0xa5, chunk->bytes + GUARD);
  ndr_status status = ndr_decoder_run(decoder, stored, stored_bytes, mask, guarded);
  for (size_t i = 0; i < GUARD; i++) ck_assert_msg(guarded[chunk->bytes + i] == 0xa5, "byte %zu behind the chunk", i);
  ck_assert_int_eq(ndr_decoder_run(decoder, stored, stored_bytes, mask, out), status);
  if (status == NDR_OK) ck_assert(memcmp(out, guarded, chunk->bytes) == 0);
  free(stored);
  free(guarded);
  return status;
}

void chunk_check(const stored_chunk *chunk, const char *letters) {
  ndr_decoder *decoder;
  const char *unknown = "";
  uint8_t *out = malloc(chunk->bytes);
  ck_assert_ptr_nonnull(out);
  ck_assert_msg(ndr_filters_known(&chunk->filters, &unknown), "pipeline '%s': %s is not known", letters, unknown);
  ck_assert_uint_le(chunk->stored_bytes, ndr_decoder_stored_limit(&chunk->filters, chunk->bytes));
  assert_ok(ndr_decoder_create(&decoder, &chunk->filters, chunk->bytes));
  ndr_status status = chunk_decode(decoder, chunk, chunk->stored_bytes, chunk->mask, out);
  ck_assert_msg(status == NDR_OK, "pipeline '%s', %zu bytes, mask %x: %s", letters, chunk->bytes, chunk->mask,
                ndr_last_error());
  ck_assert_msg(memcmp(out, chunk->data, chunk->bytes) == 0, "pipeline '%s', %zu bytes: other values", letters,
                chunk->bytes);
  ndr_decoder_destroy(decoder);
  free(out);
}

static void check_damaged(ndr_decoder *decoder, const stored_chunk *chunk, size_t stored_bytes, uint32_t mask) {
  uint8_t *out = malloc(chunk->bytes);
  ck_assert_ptr_nonnull(out);
  ndr_status status = chunk_decode(decoder, chunk, stored_bytes, mask, out);
  ck_assert_msg(status == NDR_OK || status == NDR_ERR_FILE, "%s: %s", ndr_status_name(status), ndr_last_error());
  ck_assert(status == NDR_OK || strlen(ndr_last_error()) > 10);
  free(out);
}

void chunk_flip(rng *random, stored_chunk *chunk, int rounds) {
  ndr_decoder *decoder;
  assert_ok(ndr_decoder_create(&decoder, &chunk->filters, chunk->bytes));
  for (int round = 0; round < rounds; round++) {
    size_t at = (size_t)rng_between(random, 0, (int64_t)chunk->stored_bytes - 1);
    uint8_t before = chunk->stored[at];
    chunk->stored[at] ^= (uint8_t)(1 << rng_between(random, 0, 7));
    check_damaged(decoder, chunk, chunk->stored_bytes, rng_once_in(random, 4) ? (uint32_t)rng_next(random) : 0);
    if (rng_once_in(random, 3)) chunk->stored[at] = before;
  }
  ndr_decoder_destroy(decoder);
}

void chunk_truncate(const stored_chunk *chunk) {
  ndr_decoder *decoder;
  uint8_t *out = malloc(chunk->bytes);
  assert_ok(ndr_decoder_create(&decoder, &chunk->filters, chunk->bytes));
  for (size_t bytes = 0; bytes < chunk->stored_bytes; bytes++)
    ck_assert_int_eq(chunk_decode(decoder, chunk, bytes, chunk->mask, out), NDR_ERR_FILE);
  assert_ok(chunk_decode(decoder, chunk, chunk->stored_bytes, chunk->mask, out));
  ndr_decoder_destroy(decoder);
  free(out);
}

void fill_smooth(rng *random, uint8_t *data, size_t bytes, size_t element) {
  uint64_t value = rng_next(random);
  for (size_t i = 0; i < bytes; i++) {
    if (i % element == 0) value += (uint64_t)rng_between(random, 0, 40);
    data[i] = (uint8_t)(value >> 8 * (i % element % 8));
  }
}

void fill_noise(rng *random, uint8_t *data, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) data[i] = (uint8_t)rng_next(random);
}
