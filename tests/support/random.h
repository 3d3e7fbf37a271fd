/* A small seeded generator, so that a failure can be repeated from the number that the test prints. */
#ifndef TEST_SUPPORT_RANDOM_H
#define TEST_SUPPORT_RANDOM_H

#include <stdint.h>

typedef struct rng {
  uint64_t state;
} rng;

uint64_t rng_next(rng *random);

/* Uniform in low..high, both included. */
int64_t rng_between(rng *random, int64_t low, int64_t high);

/* True once in `times` on average. */
int rng_once_in(rng *random, int times);

/* Uniform in [0, 1). */
double rng_unit(rng *random);

/* A random order of 0..count-1. */
void rng_shuffle(rng *random, int count, int *order);

#endif
