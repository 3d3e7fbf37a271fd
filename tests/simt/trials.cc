/* Small kernels that try the emulation itself; most of them are wrong on purpose. */
#include "machine.cuh"

struct trial {
  int *out;
  const void *in;
};

template <class T> inline T *shared_array() {
  NDR_SHARED T values[1024];
  return values;
}

NDR_KERNEL trial_identity(const trial t) {
  t.out[machine::block() * machine::threads() + machine::thread()] =
      (int)(machine::blocks() * 10000 + machine::block() * 1000 + machine::thread());
}

/* Threads but the last wait for what runs before the launch; where `in` is not NULL, all do. */
NDR_KERNEL trial_begins(const trial t) {
  if (t.in != NULL || machine::thread() < machine::threads() - 1) machine::begin();
  t.out[machine::thread()] = machine::thread();
}

/* Each thread hands a value to the thread opposite, through memory. */
NDR_KERNEL trial_reverse(const trial t) {
  int *values = shared_array<int>(), last = machine::threads() - 1;
  for (int round = 0; round < 3; round++) {
    values[machine::thread()] = 100 * round + machine::thread();
    machine::barrier();
    t.out[machine::thread()] = values[last - machine::thread()];
    machine::barrier();
  }
}

/* Each thread keeps the number of its block over a few turns. */
NDR_KERNEL trial_keeps(const trial t) {
  int *values = shared_array<int>();
  values[machine::thread()] = (int)machine::block();
  for (int turn = 0; turn < 4; turn++) machine::barrier();
  t.out[machine::block() * machine::threads() + machine::thread()] = values[machine::thread()];
}

NDR_KERNEL trial_race(const trial t) {
  int *values = shared_array<int>(), last = machine::threads() - 1;
  values[machine::thread()] = machine::thread();
  t.out[machine::thread()] = values[last - machine::thread()];
}

NDR_KERNEL trial_butterfly(const trial t) {
  unsigned sum = 1u << machine::thread() % 32 / 4 * 4;
  for (int mask = 16; mask > 0; mask >>= 1) sum += machine::shuffle_xor(sum, mask);
  t.out[machine::thread()] = (int)sum;
}

NDR_KERNEL trial_unset(const trial t) {
  t.out[0] = shared_array<int>()[machine::thread()];
  t.out[1] = ((int *)machine::shared_bytes())[machine::thread()];
  machine::barrier();
  shared_array<int>()[machine::thread()] = 7;
  ((int *)machine::shared_bytes())[machine::thread()] = 7;
}

NDR_KERNEL trial_lonely_barrier(const trial /*t*/) {
  if (machine::thread() != 40) machine::barrier();
}

NDR_KERNEL trial_two_barriers(const trial /*t*/) {
  if (machine::thread() < 64) /* NOLINT(bugprone-branch-clone): two places is what is tried */
    machine::barrier();
  else
    machine::barrier();
}

NDR_KERNEL trial_lonely_shuffle(const trial t) {
  if (machine::thread() % 2 != 0) t.out[0] = (int)machine::shuffle_xor(1, 1);
}

NDR_KERNEL trial_uneven_shuffle(const trial t) {
  t.out[0] = (int)machine::shuffle_xor(1, machine::thread() == 5 ? 2 : 1);
}

NDR_KERNEL trial_unaligned(const trial t) {
  t.out[0] = (int)machine::load_vector((const char *)t.in + (machine::thread() == 3 ? 8 : 0)).word[0];
}

NDR_KERNEL trial_beyond_shared(const trial /*t*/) {
  machine::shared_bytes()[machine::thread()] = 0;
}

/* Conversions of the machine, for the host to compare with the library's. */
extern "C" __attribute__((visibility("default"))) float trial_from_half(unsigned short bits) {
  return machine::half_to_float(bits);
}
extern "C" __attribute__((visibility("default"))) unsigned short trial_to_half(double x) {
  return machine::double_to_half(x);
}
extern "C" __attribute__((visibility("default"))) float trial_truncate(double x) {
  return machine::truncate_to_float(x);
}
extern "C" __attribute__((visibility("default"))) unsigned trial_dot4(unsigned a, unsigned b, unsigned c) {
  return machine::dot4(a, b, c);
}
extern "C" __attribute__((visibility("default"))) int trial_dot4_signed(int a, int b, int c) {
  return machine::dot4(a, b, c);
}
