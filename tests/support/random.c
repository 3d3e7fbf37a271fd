#include "random.h"

/* SplitMix64 (Steele, Lea and Flood, 2014): any seed, 0 included, starts a good sequence. */
uint64_t rng_next(rng *random) {
  uint64_t z = random->state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

int64_t rng_between(rng *random, int64_t low, int64_t high) {
  uint64_t span = (uint64_t)high - (uint64_t)low + 1;
  return (int64_t)((uint64_t)low + (span ? rng_next(random) % span : rng_next(random)));
}

int rng_once_in(rng *random, int times) {
  return rng_next(random) % (uint64_t)times == 0;
}

double rng_unit(rng *random) {
  return (double)(rng_next(random) >> 11) * 0x1p-53;
}

void rng_shuffle(rng *random, int count, int *order) {
  for (int i = 0; i < count; i++) {
    int at = (int)rng_between(random, 0, i);
    order[i] = order[at];
    order[at] = i;
  }
}
