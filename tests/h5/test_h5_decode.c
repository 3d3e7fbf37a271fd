/* Chunks that HDF5's own filters made are decoded to what HDF5 reads; damaged ones are refused, within their buffers.
 */
#include <stdlib.h>

#include "support/cases.h"
#include "support/h5_chunk.h"
#include "support/suite.h"

/* ---- What HDF5 wrote ----------------------------------------------------------------------------------------------
 */

/* Smooth or noise: with noise HDF5 leaves deflate out and sets the chunk's mask. */
static stored_chunk random_typed_chunk(rng *random, const char *letters, hid_t type, size_t count) {
  size_t width = H5Tget_size(type);
  uint8_t *data = malloc(count * width);
  ck_assert_ptr_nonnull(data);
  if (rng_once_in(random, 3))
    fill_noise(random, data, count * width);
  else
    fill_smooth(random, data, count * width, width);
  stored_chunk chunk = chunk_write(letters, type, count, data);
  free(data);
  return chunk;
}

static stored_chunk random_chunk(rng *random, const char *letters, size_t width, size_t count) {
  hid_t type = H5Tcreate(H5T_OPAQUE, width);
  ck_assert(type >= 0);
  stored_chunk chunk = random_typed_chunk(random, letters, type, count);
  H5Tclose(type);
  return chunk;
}

/* HDF5 can write it, and this build undoes it. */
static bool szip_is_here(void) {
  const ndr_filters filters = {.count = 1, .all = {{.id = H5Z_FILTER_SZIP, .value_count = 4, .values = {0, 8, 8, 8}}}};
  unsigned can = 0;
  return H5Zget_filter_info(H5Z_FILTER_SZIP, &can) >= 0 && can & H5Z_FILTER_CONFIG_ENCODE_ENABLED &&
         ndr_filters_known(&filters, NULL);
}

static const char *const pipelines[] = {"",   "s",   "d",  "f",   "sd",  "sdf", "fd",  "ds",    "df",   "sf",    "fs",
                                        "dd", "fsd", "ff", "dsd", "dfd", "ssd", "fdf", "sdfsd", "dddd", "ssssss"};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines };

/* A build without libdeflate leaves deflate to HDF5. */
static bool is_here(const char *letters) {
  const ndr_filters filters = {.count = 1, .all = {{.id = H5Z_FILTER_DEFLATE, .value_count = 1}}};
  return !strchr(letters, 'd') || ndr_filters_known(&filters, NULL);
}

START_TEST(chunks_decode_to_what_hdf5_reads) {
  static const size_t counts[] = {1, 2, 15, 16, 17, 64, 65, 100, 1023};
  rng random = {test_seed()};
  for (int p = 0; p < PIPELINES; p++)
    for (size_t width = 1; width <= 17 && is_here(pipelines[p]); width++)
      for (size_t i = 0; i < sizeof counts / sizeof *counts; i += (size_t)test_share()) {
        stored_chunk chunk = random_chunk(&random, pipelines[p], width, counts[i]);
        chunk_check(&chunk, pipelines[p]);
        chunk_free(&chunk);
      }
}
END_TEST

/* HDF5 sets the mask itself for whole filters only in optional ones; here any filter may be missing. */
START_TEST(masked_filters_are_left_out) {
  rng random = {test_seed()};
  for (int round = 0; round < 200; round++) {
    const char *letters = pipelines[rng_between(&random, 1, PIPELINES - 1)];
    char left[8] = "";
    size_t width = (size_t)rng_between(&random, 1, 9), count = (size_t)rng_between(&random, 1, 500),
           all = strlen(letters);
    uint32_t mask = (uint32_t)rng_between(&random, 0, (1 << all) - 1), bit = 0, seen = 0;
    if (!is_here(letters)) continue;
    for (size_t i = 0; i < all; i++)
      if (!(mask >> i & 1)) left[strlen(left)] = letters[i];
    stored_chunk chunk = random_chunk(&random, left, width, count),
                 whole = random_chunk(&random, letters, width, count);
    for (size_t i = 0; i < all; i++) {
      if (mask >> i & 1) continue;
      whole.filters.all[i] = chunk.filters.all[bit];
      seen |= (chunk.mask >> bit++ & 1) << i;
    }
    chunk.filters = whole.filters;
    chunk.mask = mask | seen;
    chunk_check(&chunk, letters);
    chunk_free(&chunk);
    chunk_free(&whole);
  }
}
END_TEST

/* Any width of integers and floats, in both byte orders, and scanlines that are no whole number of blocks; HDF5 leaves
 * szip out of chunks that have fewer elements than a block. */
START_TEST(szip_decodes_to_what_hdf5_reads) {
  static const char *const letters[] = {"z", "Z", "zf", "sz", "Zd", "zs", "Zsdf"};
  const hid_t types[] = {H5T_STD_I8LE,  H5T_STD_U16LE,  H5T_STD_I16BE,  H5T_STD_I32LE, H5T_STD_U32BE,
                         H5T_STD_I64LE, H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F64BE};
  const size_t type_count = sizeof types / sizeof *types;
  rng random = {test_seed()};
  if (!szip_is_here()) return;
  for (int round = 0; round < 500; round++) {
    const char *pipeline = letters[round % 7];
    if (!is_here(pipeline)) continue;
    hid_t type = types[(size_t)round % type_count];
    size_t count = (size_t)rng_between(&random, 32, rng_once_in(&random, 5) ? 20000 : 400);
    stored_chunk chunk = random_typed_chunk(&random, pipeline, type, count);
    chunk_check(&chunk, pipeline);
    if (round % 50 == 0) chunk_flip(&random, &chunk, 300);
    chunk_free(&chunk);
  }
}
END_TEST

/* Unlike libaec's own szip interface, which gives what was in its buffer before for what is missing. */
START_TEST(szip_that_ends_early_is_refused) {
  rng random = {test_seed()};
  if (!szip_is_here()) return;
  stored_chunk chunk = random_typed_chunk(&random, "z", H5T_STD_I32LE, 4000);
  ndr_decoder *decoder;
  uint8_t *out = malloc(chunk.bytes);
  assert_ok(ndr_decoder_create(&decoder, &chunk.filters, chunk.bytes));
  for (size_t bytes = 0; bytes < chunk.stored_bytes - 64; bytes += 1 + bytes / 16)
    assert_fails(chunk_decode(decoder, &chunk, bytes, 0, out), NDR_ERR_FILE, "szip: the");
  ndr_decoder_destroy(decoder);
  free(out);
  chunk_free(&chunk);
}
END_TEST

/* A shuffle's element need not be the type's, so that bytes are left over at the end. */
START_TEST(bytes_of_no_whole_element_stay) {
  uint8_t stored[11] = {0, 3, 6, 1, 4, 7, 2, 5, 8, 9, 10}, out[11];
  ndr_filters filters = {.count = 1, .all = {{.id = H5Z_FILTER_SHUFFLE, .value_count = 1, .values = {3}}}};
  ndr_decoder *decoder;
  assert_ok(ndr_decoder_create(&decoder, &filters, 11));
  assert_ok(ndr_decoder_run(decoder, stored, 11, 0, out));
  for (int i = 0; i < 11; i++) ck_assert_int_eq(out[i], i);
  ndr_decoder_destroy(decoder);
  filters.all[0].values[0] = 12;
  assert_ok(ndr_decoder_create(&decoder, &filters, 11));
  assert_ok(ndr_decoder_run(decoder, stored, 11, 0, out));
  ck_assert_mem_eq(out, stored, 11);
  ndr_decoder_destroy(decoder);
}
END_TEST

/* HDF5 1.6.2 and before took the words in the machine's order, and HDF5 still takes both sums. */
START_TEST(both_sums_of_fletcher32_are_accepted) {
  rng random = {test_seed()};
  for (int round = 0; round < 50; round++) {
    stored_chunk chunk = random_chunk(&random, "f", 1, (size_t)rng_between(&random, 1, 5000));
    uint8_t *sum = chunk.stored + chunk.stored_bytes - 4, old[4] = {sum[1], sum[0], sum[3], sum[2]};
    memcpy(sum, old, 4);
    chunk_check(&chunk, "f");
    sum[round % 4] ^= 1;
    ndr_decoder *decoder;
    uint8_t *out = malloc(chunk.bytes);
    assert_ok(ndr_decoder_create(&decoder, &chunk.filters, chunk.bytes));
    assert_fails(chunk_decode(decoder, &chunk, chunk.stored_bytes, 0, out), NDR_ERR_FILE, "fletcher32: the checksum");
    ndr_decoder_destroy(decoder);
    free(out);
    chunk_free(&chunk);
  }
}
END_TEST

/* Multiples of 65535 have two representations in the sums, and only one of them is HDF5's. */
START_TEST(fletcher32_of_extreme_bytes) {
  hid_t type = H5Tcreate(H5T_OPAQUE, 1);
  for (size_t bytes = 1; bytes < 200000; bytes = bytes * 2 + bytes % 3) {
    uint8_t *data = malloc(bytes);
    for (int value = 0; value <= 255; value += 255) {
      memset(data, value, bytes);
      stored_chunk chunk = chunk_write("f", type, bytes, data);
      chunk_check(&chunk, "f");
      chunk_free(&chunk);
    }
    free(data);
  }
  H5Tclose(type);
}
END_TEST

/* ---- What nobody wrote --------------------------------------------------------------------------------------------
 */

START_TEST(truncated_chunks_are_refused) {
  rng random = {test_seed()};
  for (int p = 1; p < PIPELINES; p++) {
    if (!is_here(pipelines[p])) continue;
    stored_chunk chunk = random_chunk(&random, pipelines[p], 4, 100);
    chunk_truncate(&chunk);
    chunk_free(&chunk);
  }
}
END_TEST

START_TEST(flipped_bits_do_no_harm) {
  rng random = {test_seed()};
  for (int p = 1; p < PIPELINES; p++) {
    if (!is_here(pipelines[p])) continue;
    stored_chunk chunk = random_chunk(&random, pipelines[p], 4, 300);
    chunk_flip(&random, &chunk, 300);
    chunk_free(&chunk);
  }
}
END_TEST

/* A stream of a larger chunk than the dataset's: the size is known before, so nothing grows. */
START_TEST(bombs_are_refused) {
  hid_t type = H5Tcreate(H5T_OPAQUE, 1);
  size_t bytes = (size_t)4 << 20;
  uint8_t *zeros = calloc(1, bytes);
  static const char *const bombs[] = {"d", "sd", "dd", "ddd", "fd"};
  for (size_t i = 0; i < sizeof bombs / sizeof *bombs && is_here("d"); i++) {
    stored_chunk chunk = chunk_write(bombs[i], type, bytes, zeros);
    ndr_decoder *decoder;
    uint8_t *out = malloc(100);
    chunk.bytes = 100;
    assert_ok(ndr_decoder_create(&decoder, &chunk.filters, chunk.bytes));
    ck_assert_uint_lt(ndr_decoder_bytes(&chunk.filters, chunk.bytes), (size_t)1 << 20);
    assert_fails(chunk_decode(decoder, &chunk, chunk.stored_bytes, 0, out), NDR_ERR_FILE, "");
    ndr_decoder_destroy(decoder);
    free(out);
    chunk_free(&chunk);
  }
  free(zeros);
  H5Tclose(type);
}
END_TEST

/* ---- What is left to HDF5 -----------------------------------------------------------------------------------------
 */

static void check_left_to_hdf5(const ndr_filters *filters, const char *name) {
  const char *unknown = NULL;
  ndr_decoder *decoder = NULL;
  ck_assert(!ndr_filters_known(filters, &unknown));
  ck_assert_str_eq(unknown, name);
  assert_fails(ndr_decoder_create(&decoder, filters, 100), NDR_ERR_UNSUPPORTED, name);
  ck_assert_ptr_null(decoder);
}

START_TEST(other_filters_are_left_to_hdf5) {
  static const struct {
    const char *letters, *name;
  } left[] = {{"n", "nbit"}, {"o", "scaleoffset"}, {"fod", "scaleoffset"}, {"fn", "nbit"}};
  ndr_filters filters = {.count = 0};
  for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
    hid_t creation = pipeline_create(left[i].letters);
    assert_ok(ndr_filters_read(creation, &filters));
    check_left_to_hdf5(&filters, left[i].name);
    H5Pclose(creation);
  }
  hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  ck_assert(H5Pset_filter(creation, 300, H5Z_FLAG_OPTIONAL, 0, NULL) >= 0);
  assert_ok(ndr_filters_read(creation, &filters));
  check_left_to_hdf5(&filters, "filter 300");
  H5Pclose(creation);
}
END_TEST

/* Parameters that no version of HDF5 writes. */
START_TEST(nonsense_parameters_are_left_to_hdf5) {
  ndr_filters filters = {.count = 1, .all = {{.id = H5Z_FILTER_SHUFFLE, .name = "shuffle"}}};
  check_left_to_hdf5(&filters, "shuffle");
  filters.all[0].value_count = 1;
  check_left_to_hdf5(&filters, "shuffle");
  filters.all[0].values[0] = 4;
  ck_assert(ndr_filters_known(&filters, NULL));
  filters.all[0].value_count = NDR_FILTER_VALUES + 1;
  check_left_to_hdf5(&filters, "shuffle");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5 decode");
  suite_case(suite, "what HDF5 wrote", 300, chunks_decode_to_what_hdf5_reads, masked_filters_are_left_out,
             szip_decodes_to_what_hdf5_reads, szip_that_ends_early_is_refused, bytes_of_no_whole_element_stay,
             both_sums_of_fletcher32_are_accepted, fletcher32_of_extreme_bytes, NULL);
  suite_case(suite, "what nobody wrote", 300, truncated_chunks_are_refused, flipped_bits_do_no_harm, bombs_are_refused,
             NULL);
  suite_case(suite, "what is left to HDF5", 60, other_filters_are_left_to_hdf5, nonsense_parameters_are_left_to_hdf5,
             NULL);
  return suite_run(suite);
}
