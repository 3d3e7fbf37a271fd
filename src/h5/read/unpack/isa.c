/* See isa.h. */
#include "h5/read/unpack/isa.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has(ndr_unpack_isa isa) {
#ifdef __x86_64__
  switch (isa) {
  case NDR_UNPACK_AVX512:
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  case NDR_UNPACK_AVX2: return __builtin_cpu_supports("avx2");
  case NDR_UNPACK_BASELINE: break;
  }
#endif
  return isa == NDR_UNPACK_BASELINE;
}

ndr_unpack_isa ndr_unpack_isa_up_to(const char *name) {
  static const char *const names[] = {"baseline", "avx2", "avx512"};
  ndr_unpack_isa isa = NDR_UNPACK_BASELINE;
  while (isa < NDR_UNPACK_AVX512 && has(isa + 1) && !(name && strcmp(name, names[isa]) == 0)) isa++;
  return isa;
}

ndr_unpack_isa ndr_unpack_isa_here(void) {
  static atomic_int chosen; /* one more; 0: none yet */
  int isa = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (!isa) {
    isa = 1 + (int)ndr_unpack_isa_up_to(getenv("NDR_CPU_ISA")); /* two threads that come here at once find the same */
    atomic_store_explicit(&chosen, isa, memory_order_relaxed);
  }
  return (ndr_unpack_isa)(isa - 1);
}
