/* Chunks that the plugins of registered filters made, where HDF5 finds any (in its own folder, or HDF5_PLUGIN_PATH). */
#include <stdio.h>
#include <stdlib.h>

#include "support/cases.h"
#include "support/h5_chunk.h"
#include "support/suite.h"

/* The letters of pipeline_create and their filters. */
static const struct {
  char letter;
  H5Z_filter_t id;
} registered[] = {{'2', 307}, {'b', 32001}, {'l', 32004}, {'t', 32015}, {'0', 32008}, {'4', 32008}, {'5', 32008}};
enum { REGISTERED = sizeof registered / sizeof *registered };

/* HDF5 finds the filter, and this build undoes it: bitshuffle with the packing that its fifth value says. */
static bool is_here(int i) {
  unsigned packing = registered[i].letter == '4' ? 2 : registered[i].letter == '5' ? 3 : 0;
  ndr_filters filters = {.count = 1,
                         .all = {{.id = registered[i].id, .value_count = 5, .values = {0, 0, 1, 0, packing}}}};
  return H5Zfilter_avail(registered[i].id) > 0 && ndr_filters_known(&filters, NULL);
}

/* The numeric types, since some plugins look at the type. */
static hid_t any_type(rng *random) {
  const hid_t types[] = {H5T_STD_I8LE, H5T_STD_U16BE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_STD_I64LE};
  return types[rng_between(random, 0, 4)];
}

static stored_chunk random_chunk(rng *random, const char *letters, hid_t type, size_t count) {
  size_t bytes = count * H5Tget_size(type);
  uint8_t *data = malloc(bytes);
  ck_assert_ptr_nonnull(data);
  if (rng_once_in(random, 3))
    fill_noise(random, data, bytes);
  else
    fill_smooth(random, data, bytes, H5Tget_size(type));
  stored_chunk chunk = chunk_write(letters, type, count, data);
  free(data);
  return chunk;
}

START_TEST(chunks_of_plugins_decode_to_what_hdf5_reads) {
  /* The last ones need libdeflate, too. */
  static const char *const shapes[] = {"%c", "%cf", "s%c", "f%c", "%cs", "s%cd", "d%c", "sd%cf"};
  const ndr_filters deflate = {.count = 1, .all = {{.id = H5Z_FILTER_DEFLATE, .value_count = 1}}};
  const int shape_count = ndr_filters_known(&deflate, NULL) ? 8 : 5;
  rng random = {test_seed()};
  if (!is_here(_i)) return;
  for (int round = 0; round < 120; round++) {
    char letters[8];
    snprintf(letters, sizeof letters, shapes[round % shape_count], registered[_i].letter);
    stored_chunk chunk = random_chunk(&random, letters, any_type(&random),
                                      (size_t)rng_between(&random, 1, rng_once_in(&random, 4) ? 20000 : 300));
    chunk_check(&chunk, letters);
    chunk_free(&chunk);
  }
}
END_TEST

START_TEST(damaged_chunks_of_plugins_do_no_harm) {
  rng random = {test_seed()};
  if (!is_here(_i)) return;
  for (int round = 0; round < 4; round++) {
    stored_chunk chunk = random_chunk(&random, (char[]){registered[_i].letter, 0}, any_type(&random), 150);
    chunk_truncate(&chunk);
    chunk_flip(&random, &chunk, 200);
    chunk_free(&chunk);
  }
}
END_TEST

int main(void) {
  int here = 0;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  for (int i = 0; i < REGISTERED; i++) {
    here += is_here(i);
    printf("filter %d ('%c'): %s\n", (int)registered[i].id, registered[i].letter, is_here(i) ? "tested" : "not here");
  }
  if (here == 0) {
    puts("skipped: HDF5 finds no plugin of a registered filter (Debian: hdf5-filter-plugin)");
    return 77;
  }
  Suite *suite = suite_create("h5 plugins");
  TCase *each = tcase_create("each filter");
  tcase_set_timeout(each, 300);
  tcase_add_loop_test(each, chunks_of_plugins_decode_to_what_hdf5_reads, 0, REGISTERED);
  tcase_add_loop_test(each, damaged_chunks_of_plugins_do_no_harm, 0, REGISTERED);
  suite_add_tcase(suite, each);
  return suite_run(suite);
}
