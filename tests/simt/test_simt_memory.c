/* Memory, streams and copies of GPUs through the public calls, under emulation: what is kept, in which order work is
 * done, states merged across GPUs and by way of bytes, and what is refused. */
#include "memory.h"
#include "ndreduce/device.h"
#include "runtime/control.h"
#include "support/reduce.h"
#include "support/suite.h"

static const DLDevice gpu = {kDLCUDA, 1}, pinned = {kDLCUDAHost, 1};
enum { MIB = 1 << 20 };

START_TEST(devices_are_counted) {
  int count = 0;
  void *memory;
  assert_ok(ndr_device_count(kDLCUDA, &count));
  ck_assert_int_eq(count, SIMT_DEVICES);
  assert_fails(ndr_memory_allocate((DLDevice){kDLCUDA, SIMT_DEVICES}, 1, &memory), NDR_ERR_NO_DEVICE, "device");
  ck_assert_ptr_null(memory);
  simt_controls.driver = false;
  assert_fails(ndr_device_count(kDLCUDA, &count), NDR_ERR_NO_DEVICE, "there is no NVIDIA driver");
  simt_controls.driver_version = 11080;
  assert_fails(ndr_device_count(kDLCUDA, &count), NDR_ERR_NO_DEVICE, "it is for CUDA 11.8, and one for 13.0 is needed");
}
END_TEST

START_TEST(pinned_memory_is_kept_for_the_next) {
  void *first, *second, *third;
  assert_ok(ndr_memory_allocate(pinned, 3 * MIB, &first));
  int living = simt_living_blocks();
  ndr_memory_free(pinned, first);
  ck_assert_int_eq(simt_living_blocks(), living);
  assert_ok(ndr_memory_allocate(pinned, 2 * MIB, &second));
  ck_assert_ptr_eq(second, first);
  assert_ok(ndr_memory_allocate(pinned, 2 * MIB, &third));
  ck_assert_ptr_ne(third, second);
  ndr_memory_free(pinned, second);
  ndr_memory_free(pinned, third);
  assert_ok(ndr_memory_allocate(pinned, MIB / 2, &first)); /* what is kept is much too large for this */
  ck_assert(first != second && first != third);
  ndr_memory_free(pinned, first);
}
END_TEST

START_TEST(no_more_than_256_mib_are_kept) {
  void *blocks[5];
  int living = simt_living_blocks();
  for (int i = 0; i < 5; i++) assert_ok(ndr_memory_allocate(pinned, 64 * MIB, &blocks[i]));
  for (int i = 0; i < 5; i++) ndr_memory_free(pinned, blocks[i]);
  ck_assert_int_eq(simt_living_blocks(), living + 4);
}
END_TEST

/* Memory that is kept goes first where there is none left. */
START_TEST(what_is_kept_makes_room) {
  void *memory;
  assert_ok(ndr_memory_allocate(pinned, MIB, &memory));
  ndr_memory_free(pinned, memory);
  int living = simt_living_blocks();
  simt_controls.memory_left = 0;
  assert_fails(ndr_memory_allocate(pinned, 8 * MIB, &memory), NDR_ERR_MEMORY, "cudaHostAlloc");
  ck_assert_int_eq(simt_living_blocks(), living - 1);
}
END_TEST

START_TEST(streams_work_in_order) {
  void *first, *second, *there;
  int from = 1, to = 0;
  simt_controls.lazy = true;
  assert_ok(ndr_stream_create(gpu, &first));
  assert_ok(ndr_stream_create(gpu, &second));
  assert_ok(ndr_memory_allocate(gpu, sizeof from, &there));
  assert_ok(ndr_copy(gpu, there, &from, sizeof from, first));
  assert_ok(ndr_stream_follow(gpu, second, first));
  assert_ok(ndr_copy(gpu, &to, there, sizeof to, second));
  ck_assert_int_eq(to, 0);
  assert_ok(ndr_stream_wait(gpu, second));
  ck_assert_int_eq(to, 1);
  ndr_memory_free(gpu, there);
  ndr_stream_destroy(gpu, first);
  ndr_stream_destroy(gpu, second);
  ck_assert_int_eq(simt_living_streams(), 0);
}
END_TEST

/* An accumulator on a GPU of its own, which on a stream of its own is to see four of eight values, by way of *there. */
static ndr_accumulator *half(DLDevice device, void *stream, int64_t offset, void **there) {
  static const float values[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  ndr_accumulator *made;
  ndr_options options = NDR_OPTIONS_INIT;
  int64_t shape = 8, size = 4;
  options.stream = stream;
  assert_ok(ndr_memory_allocate(device, sizeof values, there));
  assert_ok(ndr_copy(device, *there, values + offset, 4 * sizeof *values, stream));
  assert_ok(
      accumulate_array(&made, device, NDR_F32, 1, &shape, NDR_ALL_DIMS, 2, (ndr_op[]){NDR_VAR, NDR_ARGMAX}, &options));
  DLTensor slab = {.data = *there, .device = device, .ndim = 1, .dtype = ndr_dtype_to_dlpack(NDR_F32), .shape = &size};
  assert_ok(ndr_accumulator_add(made, &slab, &offset));
  return made;
}

START_TEST(states_of_another_gpu_are_merged) {
  const DLDevice places[] = {{kDLCUDA, 0}, {kDLCUDA, 2}};
  void *streams[2], *slabs[2], *there;
  struct {
    float variance;
    _Alignas(256) int64_t where;
  } results;
  simt_controls.lazy = true;
  for (int i = 0; i < 2; i++) assert_ok(ndr_stream_create(places[i], &streams[i]));
  ndr_accumulator *low = half(places[0], streams[0], 0, &slabs[0]);
  ndr_accumulator *high = half(places[1], streams[1], 4, &slabs[1]);
  assert_ok(ndr_accumulator_merge(low, high));
  ndr_accumulator_destroy(high);
  assert_ok(ndr_memory_allocate(places[0], sizeof results, &there));
  DLTensor variance = {.data = there, .device = places[0], .dtype = ndr_dtype_to_dlpack(NDR_F32)};
  DLTensor where = {.data = there, .device = places[0], .dtype = ndr_dtype_to_dlpack(NDR_I64), .byte_offset = 256};
  assert_ok(ndr_accumulator_finish(low, (DLTensor *[]){&variance, &where}));
  assert_ok(ndr_copy(places[0], &results, there, sizeof results, streams[0]));
  assert_ok(ndr_stream_wait(places[0], streams[0]));
  ck_assert(results.variance == 5.25F);
  ck_assert_int_eq(results.where, 7);
  ndr_accumulator_destroy(low);
  ndr_memory_free(places[0], there);
  for (int i = 0; i < 2; i++) {
    ndr_memory_free(places[i], slabs[i]);
    ndr_stream_destroy(places[i], streams[i]);
  }
}
END_TEST

/* ---- states as bytes ---- */

typedef struct exported {
  unsigned char bytes[512];
  size_t count;
} exported;

/* At an address that no word is at. */
static exported export_of(const ndr_accumulator *a) {
  exported made;
  assert_ok(ndr_accumulator_export(a, made.bytes + 1, sizeof made.bytes - 1, &made.count));
  return made;
}

static void assert_same_bytes(const exported *a, const exported *b) {
  ck_assert_uint_eq(a->count, b->count);
  ck_assert(memcmp(a->bytes + 1, b->bytes + 1, a->count) == 0);
}

/* What two halves give on a device, by way of bytes. */
static exported total_of(DLDevice device, void *stream, const exported *halves) {
  ndr_accumulator *total;
  ndr_options options = NDR_OPTIONS_INIT;
  int64_t shape = 8;
  options.stream = stream;
  assert_ok(
      accumulate_array(&total, device, NDR_F32, 1, &shape, NDR_ALL_DIMS, 2, (ndr_op[]){NDR_VAR, NDR_ARGMAX}, &options));
  for (int i = 0; i < 2; i++) {
    exported given = halves[i];
    assert_ok(ndr_accumulator_import(total, given.bytes + 1, given.count));
    memset(&given, 0, sizeof given); /* the bytes are the caller's again */
  }
  exported made = export_of(total);
  ndr_accumulator_destroy(total);
  return made;
}

/* The values are such that no sum is rounded, in whatever order they are added. */
START_TEST(states_of_gpus_and_the_cpu_are_the_same_bytes) {
  const DLDevice cpu = {kDLCPU, 0}, places[] = {{kDLCUDA, 0}, {kDLCUDA, 2}};
  void *streams[2], *slabs[4];
  exported halves[2];
  simt_controls.lazy = true;
  for (int i = 0; i < 2; i++) assert_ok(ndr_stream_create(places[i], &streams[i]));
  ndr_accumulator *there[2], *here[2];
  for (int i = 0; i < 2; i++) {
    there[i] = half(places[i], streams[i], 4 * i, &slabs[i]);
    here[i] = half(cpu, NULL, 4 * i, &slabs[2 + i]);
    halves[i] = export_of(there[i]);
    exported other = export_of(here[i]);
    assert_same_bytes(&halves[i], &other);
  }
  assert_ok(ndr_accumulator_merge(there[0], there[1]));
  exported live = export_of(there[0]), on_cpu = total_of(cpu, NULL, halves),
           on_gpu = total_of(places[1], streams[1], halves);
  assert_same_bytes(&live, &on_cpu);
  assert_same_bytes(&live, &on_gpu);
  for (int i = 0; i < 2; i++) {
    ndr_accumulator_destroy(there[i]);
    ndr_accumulator_destroy(here[i]);
    ndr_memory_free(places[i], slabs[i]);
    ndr_memory_free(cpu, slabs[2 + i]);
    ndr_stream_destroy(places[i], streams[i]);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("simt memory");
  suite_case(suite, "memory", 60, devices_are_counted, pinned_memory_is_kept_for_the_next,
             no_more_than_256_mib_are_kept, what_is_kept_makes_room, streams_work_in_order,
             states_of_another_gpu_are_merged, states_of_gpus_and_the_cpu_are_the_same_bytes, NULL);
  return suite_run(suite);
}
