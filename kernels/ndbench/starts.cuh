// Where segments of one length start, as CUB wants it told.
#ifndef NDBENCH_STARTS_CUH
#define NDBENCH_STARTS_CUH

#include <stdint.h>

// Where segment number `at` starts.
struct starts {
  int64_t length, at;

  using iterator_category = std::random_access_iterator_tag;
  using value_type = int64_t;
  using difference_type = int64_t;
  using pointer = const int64_t *;
  using reference = int64_t;

  __host__ __device__ int64_t operator*() const { return at * length; }
  __host__ __device__ int64_t operator[](int64_t i) const { return (at + i) * length; }
  __host__ __device__ starts operator+(int64_t n) const { return {length, at + n}; }
};

#endif
