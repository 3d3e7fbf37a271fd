/* What the thread sanitizer must be silent about under OpenMP, and, with RACE, what it must report: without the first
 * its warnings mean nothing, without the second its silence does not. */
#include <stdio.h>

#define COUNT 64

int main(void) {
  static double parts[COUNT];
  double sum = 0;
  int visits = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp for
    for (int i = 0; i < COUNT; ++i) parts[i] = i;

#ifndef RACE
#pragma omp atomic
#endif
    ++visits;

#pragma omp for schedule(dynamic)
    for (int i = 0; i < COUNT; ++i) parts[i] += 1;
#pragma omp critical
    for (int i = 0; i < COUNT; ++i) sum += parts[i];
  }
  for (int i = 0; i < COUNT; ++i) sum += parts[i];
  printf("%g %d\n", sum, visits);
  return 0;
}
