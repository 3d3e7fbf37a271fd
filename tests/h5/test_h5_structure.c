/* What ranks share of the files that they open: those other than 0 do without the bytes that rank 0 has read, whatever
 * index a dataset has, and notice other files; and what this costs in messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/status.h"
#include "h5/run/job/job.h"
#include "h5/structure/structure.h"
#include "support/h5_any.h"
#include "support/suite.h"
#include "support/threads_comm.h"

enum { RANKS = 5, MANY_RANKS = 1024, ROWS = 4000, COLUMNS = 6 };

static double values[ROWS][COLUMNS];

static void fill_values(void) {
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i / COLUMNS][i % COLUMNS] = i % 997;
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

/* The indices that HDF5 has for chunks. In the old format all have a B-tree. */
enum { OLD, FIXED, IMPLICIT, EXTENSIBLE, TREE, KINDS };

static void write_indexed(int kind) {
  const hsize_t shape[] = {ROWS, COLUMNS}, chunk[] = {2, COLUMNS}, row[] = {H5S_UNLIMITED, COLUMNS};
  const hsize_t any[] = {H5S_UNLIMITED, H5S_UNLIMITED};
  const hsize_t *most = kind == EXTENSIBLE ? row : kind == TREE ? any : NULL;
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
  hid_t space = H5Screate_simple(2, shape, most);
  if (kind != OLD) H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  if (kind == IMPLICIT) H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  H5Pset_chunk(creation, 2, chunk);
  hid_t file = H5Fcreate(h5_input, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  hid_t data = H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  ck_assert_int_ge(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
  H5Dclose(data);
  H5Fclose(file);
  H5Sclose(space);
  H5Pclose(creation);
  H5Pclose(access);
}

static char *read_file(const char *path, size_t *count) {
  FILE *file = fopen(path, "rb");
  fseek(file, 0, SEEK_END);
  *count = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*count);
  ck_assert_uint_eq(fread(bytes, 1, *count, file), *count);
  fclose(file);
  return bytes;
}

static void write_file(const char *path, const char *bytes, size_t count) {
  FILE *file = fopen(path, "wb");
  fwrite(bytes, 1, count, file);
  fclose(file);
}

/* A copy of the file's bytes in which all is destroyed but chunks and the ends that ranks compare. */
static char *destroyed(size_t *count) {
  char *all = read_file(h5_input, count), *rest = malloc(*count);
  hsize_t bytes;
  haddr_t at;
  memset(rest, 'x', *count);
  memcpy(rest, all, 4096);
  memcpy(rest + *count - 4096, all + *count - 4096, 4096);
  hid_t file = H5Fopen(h5_input, H5F_ACC_RDONLY, H5P_DEFAULT), data = H5Dopen2(file, "x", H5P_DEFAULT);
  for (hsize_t row = 0; row < ROWS; row += 2) {
    ck_assert_int_ge(H5Dget_chunk_info_by_coord(data, (const hsize_t[]){row, 0}, NULL, &at, &bytes), 0);
    memcpy(rest + at, all + at, bytes);
  }
  H5Dclose(data);
  H5Fclose(file);
  free(all);
  return rest;
}

/* ---- Reductions that share ----------------------------------------------------------------------------------------
 */

typedef struct {
  const char *part;     /* of the dataset */
  const char *bytes;    /* what is made of the file once rank 0 has opened it; NULL: nothing */
  size_t count;         /* of them */
  bool fails;           /* rank 0 cannot open what it should */
  int again;            /* 1 + the rank that is in another call than the others at the end; 0: none */
  double sums[COLUMNS]; /* rank 0's */
  int64_t kept;         /* bytes that rank 0 has kept while it reduced */
  ndr_status statuses[RANKS];
  char sentences[RANKS][512];
} work;

static ndr_status reduce(ndr_h5_dataset *dataset, ndr_comm *comm, double *sums) {
  const ndr_op op = NDR_SUM;
  ndr_h5_options how = NDR_H5_OPTIONS_INIT;
  DLTensor result = ndr_tensor(sums, NDR_F64, NDR_SHAPE(COLUMNS)), *results[] = {&result};
  ndr_problem problem = *h5_problem(dataset, 1, (int[]){0}, 1, &op);
  how.comm = comm;
  how.threads = 1;
  return ndr_h5_reduce(dataset, &problem, results, &how);
}

/* Rank 0 goes on with the file that it has open. */
static void replace_file(const char *bytes, size_t count) {
  unlink(h5_input);
  write_file(h5_input, bytes, count);
}

/* One rank shares again, the others go on. */
static ndr_status share_again(ndr_comm *comm, ndr_h5_structure *structure, int again) {
  return comm->rank == again ? ndr_h5_structure_share(structure) : ndr_comm_agree(comm, NDR_OK, NULL);
}

static ndr_status share_and_reduce(work *w, ndr_comm *comm, ndr_h5_structure *structure) {
  double unused[COLUMNS];
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_h5_dataset *dataset;
  access.structure = structure;
  if (comm->rank == 0 && w->fails) return ndr_comm_agree(comm, NDR_ERR_FILE, "there is nothing to open");
  if (comm->rank != 0) NDR_TRY(ndr_h5_structure_share(structure));
  ndr_status status = ndr_h5_open(&dataset, h5_input, w->part, &access);
  if (status != NDR_OK) return ndr_comm_agree(comm, status, NULL);
  if (comm->rank == 0 && w->bytes) replace_file(w->bytes, w->count);
  if (comm->rank == 0) status = ndr_h5_structure_share(structure);
  int64_t room = structure->room;
  if (status == NDR_OK) status = reduce(dataset, comm, comm->rank == 0 ? w->sums : unused);
  if (comm->rank == 0) w->kept = room - structure->room;
  ndr_h5_close(dataset);
  if (status == NDR_OK && w->again) status = share_again(comm, structure, w->again - 1);
  return status;
}

static void body(ndr_comm *comm, void *user) {
  work *w = user;
  ndr_h5_structure *structure;
  ndr_status status = ndr_h5_structure_create(&structure, comm);
  if (status == NDR_OK) status = share_and_reduce(w, comm, structure);
  w->statuses[comm->rank] = status;
  snprintf(w->sentences[comm->rank], sizeof w->sentences[0], "%s", ndr_last_error());
  ndr_h5_structure_destroy(structure);
}

/* All ranks end with the status `wanted`, and a sentence that has these words; no message is left. */
static void run(work *w, uint64_t seed, ndr_status wanted, const char *words) {
  ndr_first_shift = 14; /* enough pieces for all */
  ck_assert_int_eq(threads_run(RANKS, seed, body, w, NULL), 0);
  ndr_first_shift = 0;
  for (int i = 0; i < RANKS; i++) {
    ck_assert_msg(w->statuses[i] == wanted, "rank %d: %d, %s", i, w->statuses[i], w->sentences[i]);
    ck_assert_msg(!words || strstr(w->sentences[i], words), "rank %d: %s", i, w->sentences[i]);
  }
}

static ndr_status reduce_alone(const char *part, double *sums) {
  ndr_h5_dataset *dataset;
  NDR_TRY(ndr_h5_open(&dataset, h5_input, part, NULL));
  ndr_status status = reduce(dataset, NULL, sums);
  ndr_h5_close(dataset);
  return status;
}

/* A file of which all is destroyed that other ranks have no need to read. A part has the index of its chunks alone. */
START_TEST(other_ranks_read_elements_alone) {
  static const char *const parts[] = {"/x", "/x[7:90]", "/x[3:3999:500]"};
  double sums[COLUMNS];
  h5_make_folder();
  for (int i = 0; i < KINDS * 3; i++) {
    work w = {.part = parts[i / KINDS]};
    write_indexed(i % KINDS);
    assert_ok(reduce_alone(w.part, sums));
    char *bytes = destroyed(&w.count);
    w.bytes = bytes;
    run(&w, (uint64_t)i + 1, NDR_OK, NULL);
    ck_assert_mem_eq(w.sums, sums, sizeof sums);
    ck_assert_int_lt(w.kept, 1000);       /* not the elements that rank 0 has read */
    bool indexed = i % KINDS != IMPLICIT; /* that has no index, and its header is in the first bytes */
    ck_assert_msg(!indexed || reduce_alone(w.part, sums) != NDR_OK || memcmp(w.sums, sums, sizeof sums) != 0, "%d", i);
    free(bytes);
    unlink(h5_input);
  }
  h5_remove_folder();
}
END_TEST

/* Of the same size, but with another first or last byte. */
START_TEST(other_files_are_noticed) {
  size_t count;
  h5_make_folder();
  for (int last = 0; last < 2; last++) {
    write_indexed(OLD);
    char *bytes = read_file(h5_input, &count);
    bytes[last ? count - 1 : 56] ^= 1; /* the latter has the root group's name in its link, which is not read */
    work w = {.part = "/x", .bytes = bytes, .count = count};
    run(&w, 3, NDR_ERR_ARGUMENT, "has another file or another job");
    free(bytes);
    unlink(h5_input);
  }
  h5_remove_folder();
}
END_TEST

/* Ranks read what rank 0 has no room to keep. */
START_TEST(little_can_be_shared) {
  double sums[COLUMNS];
  int64_t before = ndr_structure_bytes;
  h5_make_folder();
  write_indexed(OLD);
  assert_ok(reduce_alone("/x", sums));
  for (ndr_structure_bytes = 0; ndr_structure_bytes < 40000; ndr_structure_bytes += 5000) {
    work w = {.part = "/x"};
    run(&w, (uint64_t)ndr_structure_bytes + 1, NDR_OK, NULL);
    ck_assert_mem_eq(w.sums, sums, sizeof sums);
  }
  ndr_structure_bytes = before;
  unlink(h5_input);
  h5_remove_folder();
}
END_TEST

START_TEST(a_rank_that_cannot_open_ends_it_for_all) {
  h5_make_folder();
  write_indexed(OLD);
  work w = {.part = "/x", .fails = true};
  run(&w, 5, NDR_ERR_FILE, "there is nothing to open");
  w = (work){.part = "/x", .bytes = "gone", .count = 4};
  run(&w, 5, NDR_ERR_FILE, "(rank 1 of 5)");
  unlink(h5_input);
  h5_remove_folder();
}
END_TEST

START_TEST(a_rank_that_is_in_another_call_ends_it_for_all) {
  h5_make_folder();
  write_indexed(OLD);
  for (int again = 0; again < RANKS; again++) {
    work w = {.part = "/x", .again = 1 + again};
    run(&w, 9, NDR_ERR_ARGUMENT, "is in another call than rank 0");
  }
  unlink(h5_input);
  h5_remove_folder();
}
END_TEST

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Shares twice; the second time there is nothing new. */
static void share_twice(ndr_comm *comm, void *user) {
  bool *good = user;
  ndr_h5_structure *structure;
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_h5_dataset *dataset = NULL;
  ndr_status status = ndr_h5_structure_create(&structure, comm);
  access.structure = structure;
  if (status == NDR_OK && comm->rank == 0) status = ndr_h5_open(&dataset, h5_input, "/x", &access);
  for (int i = 0; i < 2 && status == NDR_OK; i++) status = ndr_h5_structure_share(structure);
  good[comm->rank] = status == NDR_OK && structure->file_count == 1 && structure->files[0]->image.count > 0;
  ndr_h5_close(dataset);
  ndr_h5_structure_destroy(structure);
}

/* By many-machines.md each rank but 0 says that it waits, gets the letter, and sends END and gets OUTCOME. The index of
 * 2,000 chunks is most of the letter. Rank 0 sends it to ten. */
START_TEST(a_thousand_ranks_send_what_the_model_says) {
  static threads_sent sent[MANY_RANKS];
  static bool good[MANY_RANKS];
  h5_make_folder();
  write_indexed(OLD);
  ck_assert_int_eq(threads_run(MANY_RANKS, 7, share_twice, good, sent), 0);
  int64_t messages = 0, bytes = 0;
  for (int i = 0; i < MANY_RANKS; i++) {
    ck_assert_msg(good[i], "rank %d", i);
    messages += sent[i].messages;
    bytes += sent[i].bytes;
  }
  ck_assert_int_eq(messages, 2 * 4 * (MANY_RANKS - 1));
  int64_t letter = bytes / (MANY_RANKS - 1);
  ck_assert_msg(letter > 80000 && letter < 160000, "a letter has %lld bytes", (long long)letter);
  ck_assert_msg(sent[0].bytes < 10 * letter + 150 * MANY_RANKS, "rank 0 has sent %lld bytes", (long long)sent[0].bytes);
  unlink(h5_input);
  h5_remove_folder();
}
END_TEST

/* ---- Images ------------------------------------------------------------------------------------------------------ */

/* Any reads, in any order: each byte is read from the file once, which is seen by what room is left. */
START_TEST(an_image_reads_each_byte_once) {
  enum { BYTES = 3000, BEYOND = 100 };
  rng random = {test_seed()};
  char bytes[BYTES + BEYOND] = "", got[BYTES + BEYOND];
  bool read[BYTES + BEYOND] = {false};
  ndr_image image = {0, 0, NULL};
  int64_t room = 2 * BYTES, count = 0;
  FILE *file = tmpfile();
  for (int i = 0; i < BYTES; i++) bytes[i] = (char)rng_next(&random);
  fwrite(bytes, 1, BYTES, file);
  fflush(file);
  for (int i = 0; i < 2000; i++) {
    int64_t begin = rng_between(&random, 0, BYTES + BEYOND - 1), size = rng_between(&random, 0, BYTES + BEYOND - begin);
    if (i < 1000 && size > 20) size = 20;
    ck_assert(ndr_image_read(&image, fileno(file), begin, size, got, &room));
    ck_assert_mem_eq(got, bytes + begin, (size_t)size);
    for (int64_t at = begin; at < begin + size; at++) count += !read[at], read[at] = true;
    ck_assert_int_eq(room, 2 * BYTES - count);
  }
  ck_assert(!ndr_image_read(&(ndr_image){0, 0, NULL}, -1, 0, 1, got, NULL));
  ndr_image_clear(&image);
  fclose(file);
}
END_TEST

int main(void) {
  fill_values();
  Suite *suite = suite_create("h5 structure");
  suite_case(suite, "images", 30, an_image_reads_each_byte_once, NULL);
  suite_case(suite, "files", 60, other_ranks_read_elements_alone, other_files_are_noticed, little_can_be_shared, NULL);
  suite_case(suite, "failures", 30, a_rank_that_cannot_open_ends_it_for_all,
             a_rank_that_is_in_another_call_ends_it_for_all, NULL);
  suite_case(suite, "many", 120, a_thousand_ranks_send_what_the_model_says, NULL);
  return suite_run(suite);
}
