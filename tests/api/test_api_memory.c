/* Memory, streams and copies of the host; what they refuse. tests/simt and tests/cuda have those of GPUs. */
#include <string.h>

#include "ndreduce/device.h"
#include "support/suite.h"

static const DLDevice cpu = {kDLCPU, 0};

/* Also where there is no such device: it is the build that is asked. */
START_TEST(a_build_says_what_it_has) {
  int count;
  ck_assert(ndr_device_supported(kDLCPU));
  ck_assert(!ndr_device_supported(kDLVulkan) && !ndr_device_supported((DLDeviceType)-1));
  ck_assert(ndr_device_supported(kDLCUDA) || ndr_device_count(kDLCUDA, &count) == NDR_ERR_NO_DEVICE);
}
END_TEST

START_TEST(there_is_one_cpu) {
  int count = 0;
  assert_ok(ndr_device_count(kDLCPU, &count));
  ck_assert_int_eq(count, 1);
  assert_fails(ndr_device_count(kDLCPU, NULL), NDR_ERR_ARGUMENT, "count");
  assert_fails(ndr_device_count(kDLMetal, &count), NDR_ERR_NO_DEVICE, "type 8");
  ck_assert_int_eq(count, 1);
}
END_TEST

START_TEST(memory_is_aligned) {
  for (size_t bytes = 0; bytes < 2000; bytes += 77) {
    void *memory = NULL;
    assert_ok(ndr_memory_allocate(cpu, bytes, &memory));
    ck_assert_ptr_nonnull(memory);
    ck_assert_uint_eq((uintptr_t)memory % 256, 0);
    memset(memory, 1, bytes);
    ndr_memory_free(cpu, memory);
  }
  ndr_memory_free(cpu, NULL);
}
END_TEST

START_TEST(memory_that_is_not_to_be_had_is_refused) {
  void *memory = &memory;
  assert_fails(ndr_memory_allocate(cpu, SIZE_MAX, &memory), NDR_ERR_MEMORY, "bytes");
  ck_assert_ptr_null(memory);
  assert_fails(ndr_memory_allocate(cpu, SIZE_MAX / 2, &memory), NDR_ERR_MEMORY, "bytes");
  assert_fails(ndr_memory_allocate(cpu, 1, NULL), NDR_ERR_ARGUMENT, "memory");
}
END_TEST

START_TEST(another_cpu_is_refused) {
  const DLDevice other = {kDLCPU, 7};
  char byte = 1, copy = 0;
  void *place = &place;
  assert_fails(ndr_memory_allocate(other, 1, &place), NDR_ERR_NO_DEVICE, "CPU device 7");
  ck_assert_ptr_null(place);
  assert_fails(ndr_stream_create(other, &place), NDR_ERR_NO_DEVICE, "CPU device 7");
  assert_fails(ndr_stream_follow(other, NULL, NULL), NDR_ERR_NO_DEVICE, "CPU device 7");
  assert_fails(ndr_stream_wait(other, NULL), NDR_ERR_NO_DEVICE, "CPU device 7");
  assert_fails(ndr_copy(other, &copy, &byte, 1, NULL), NDR_ERR_NO_DEVICE, "CPU device 7");
  ck_assert_int_eq(copy, 0);
}
END_TEST

START_TEST(copies_are_done_at_once) {
  char from[] = "from here", to[sizeof from] = "";
  void *stream = &stream;
  assert_ok(ndr_stream_create(cpu, &stream));
  ck_assert_ptr_null(stream);
  assert_ok(ndr_copy(cpu, to, from, sizeof from, stream));
  ck_assert_str_eq(to, from);
  assert_ok(ndr_copy(cpu, NULL, NULL, 0, stream));
  assert_fails(ndr_copy(cpu, to, NULL, 1, stream), NDR_ERR_ARGUMENT, "two places");
  assert_ok(ndr_stream_follow(cpu, stream, stream));
  assert_ok(ndr_stream_wait(cpu, stream));
  ndr_stream_destroy(cpu, stream);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("memory");
  suite_case(suite, "host", 30, a_build_says_what_it_has, there_is_one_cpu, memory_is_aligned,
             memory_that_is_not_to_be_had_is_refused, another_cpu_is_refused, copies_are_done_at_once, NULL);
  return suite_run(suite);
}
