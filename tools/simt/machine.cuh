/* The machine of kernels/ladder/machine.cuh on the host: a thread is a fibre (see launch.h), and memory is reached
 * through objects that count what they are used for (see count.h). Taking the original's include guard keeps it out:
 * this header comes first. */
#ifndef LADDER_MACHINE_CUH
#define LADDER_MACHINE_CUH

#include <stddef.h>
#include <string.h>

#include "count.h"
#include "machine.h"

#define LADDER_KERNEL void
#define LADDER_DEVICE inline
#define LADDER_BOTH inline
#define LADDER_UNROLL
#define LADDER_UNROLL_BY(n)

namespace ladder {

enum { WARP = 32 };

/* An index, and where it stands: default arguments are evaluated where the call is written. */
struct place {
  long long i;      // NOLINT(misc-non-private-member-variables-in-classes)
  const char *file; // NOLINT(misc-non-private-member-variables-in-classes)
  int line;         // NOLINT(misc-non-private-member-variables-in-classes)
  place(long long index, const char *in = __builtin_FILE(), int at = __builtin_LINE()) : i(index), file(in), line(at) {}
};

template <class T> struct without_const { using type = T; };
template <class T> struct without_const<const T> { using type = T; };

/* What array[i] is: a load where its value is wanted, a store where one is assigned. */
template <class T, simt_event LOAD, simt_event STORE> class reference {
  using value_type = typename without_const<T>::type;
  T *address;
  place where;

public:
  reference(T *at, place from) : address(at), where(from) {}
  reference(const reference &) = default;
  operator value_type() const {
    simt_count_event(LOAD, address, sizeof(T), where.file, where.line);
    return *address;
  }
  // NOLINTNEXTLINE(misc-unconventional-assign-operator): what is assigned to is the element, not this
  const reference &operator=(value_type value) const {
    simt_count_event(STORE, address, sizeof(T), where.file, where.line);
    *address = value;
    return *this;
  }
  reference &operator=(const reference &) = delete;
};

template <class T, simt_event LOAD, simt_event STORE> struct array {
  T *first; // NOLINT(misc-non-private-member-variables-in-classes)
  array(T *at) : first(at) {}
  reference<T, LOAD, STORE> operator[](place at) const { return {first + at.i, at}; }
};
template <class T> using global = array<T, SIMT_GLOBAL_LOAD, SIMT_GLOBAL_STORE>;
template <class T> using shared = array<T, SIMT_SHARED_LOAD, SIMT_SHARED_STORE>;

inline int thread() {
  return simt_here->thread;
}
inline int threads() {
  return simt_here->threads;
}
inline long long block() {
  return simt_here->block;
}
inline long long blocks() {
  return simt_here->blocks;
}
inline void barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_count_wait(SIMT_BARRIER);
  simt_barrier(file, line);
}
inline void warp_barrier(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_count_wait(SIMT_WARP_WAIT);
  simt_shuffle_xor(0, 0, file, line);
}
inline bool branch(bool taken, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_count_event(SIMT_BRANCH, nullptr, taken ? 1 : 0, file, line);
  return taken;
}

template <class T> shared<T> shared_memory() {
  return (T *)simt_here->shared;
}

/* What a value becomes if each of its words is exchanged. It counts as one shuffle. */
template <class T, class EXCHANGE> T exchange(T value, EXCHANGE exchange_word) {
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  simt_count_wait(SIMT_WARP_WAIT);
  for (unsigned &word : words) word = exchange_word(word);
  memcpy(&value, words, sizeof value);
  return value;
}

template <class T> T shuffle_xor(T value, int mask, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  return exchange(value, [=](unsigned word) { return simt_shuffle_xor(word, mask, file, line); });
}

template <class T> T shuffle_from(T value, int lane, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  return exchange(value, [=](unsigned word) { return simt_shuffle_from(word, lane, file, line); });
}

template <class T> T shuffle_up(T value, int by, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  int lane = thread() % WARP;
  return shuffle_from(value, lane < by ? lane : lane - by, file, line);
}

inline unsigned ballot(bool vote, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  unsigned votes = vote ? 1U << thread() % WARP : 0;
  simt_count_wait(SIMT_WARP_WAIT);
  for (int mask = 1; mask < WARP; mask *= 2) votes |= simt_shuffle_xor(votes, mask, file, line);
  return votes;
}
inline int count_bits(unsigned bits) {
  return __builtin_popcount(bits);
}
inline int last_bit(unsigned bits) {
  return 31 - __builtin_clz(bits);
}

/* Nothing happens at once, so what another thread wrote is there. */
template <class T> T fresh(global<T> memory, long long i) {
  return memory[i];
}
template <class T> void publish(global<T> values, global<int> flags, long long i, T value, int flag) {
  values[i] = value;
  flags[i] = flag;
}
inline int flag_of(global<int> flags, long long i) {
  return flags[i];
}
inline void pause(const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
  simt_pause(file, line);
}
inline int fetch_add(global<int> counter, long long i, int amount) {
  simt_count_atomic(false);
  int before = counter.first[i];
  counter.first[i] = before + amount;
  return before;
}
inline unsigned take_ticket(global<unsigned> counter) {
  simt_count_atomic(false);
  return (*counter.first)++;
}

template <class T> T plus(T a, T b);
template <class T> T times(T a, T b);
template <class T> void atomic_plus(T *at, T value) {
  *at = plus(*at, value);
}
template <class T> void atomic_times(T *at, T value) {
  *at = times(*at, value);
}
template <class T> void atomic_smaller(T *at, T value) {
  if (value < *at) *at = value;
}
template <class T> void atomic_larger(T *at, T value) {
  if (*at < value) *at = value;
}

template <class OP, class T> void atomic_combine(global<T> memory, long long i, T value) {
  simt_count_atomic(false);
  OP::atomic(memory.first + i, value);
}
template <class OP, class T> void atomic_combine(shared<T> memory, long long i, T value) {
  simt_count_atomic(true);
  OP::atomic(memory.first + i, value);
}

} // namespace ladder
#endif
