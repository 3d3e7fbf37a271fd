/* Chooses the kernels for the instruction set of this machine. The kernels are in baseline.c, avx2.c and avx512.c. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/fold/fold.h"

bool ndr_op_is_listed(ndr_op op, ndr_dtype dtype) {
  return ndr_isa_baseline->listed[dtype][op] != NULL;
}

ndr_dtype ndr_fold_dtype(ndr_op op, ndr_dtype dtype, bool accumulate_f64) {
  bool real = ndr_op_is_real(op), truth = ndr_op_is_truth(op);
  bool moments = op == NDR_MEAN || op == NDR_VAR || op == NDR_STD || op == NDR_NORM2,
       places = op == NDR_ARGMIN || op == NDR_ARGMAX || op == NDR_PTP;
  switch (dtype) {
  case NDR_F16:
  case NDR_BF16: return truth || places || moments || op == NDR_MIN || op == NDR_MAX || op == NDR_SUM ? dtype : NDR_F32;
  case NDR_F32: return op == NDR_LOGSUMEXP && accumulate_f64 ? NDR_F64 : dtype;
  case NDR_BOOL:
    if (!real || moments) return places ? NDR_U8 : dtype;
    return op == NDR_LOGSUMEXP ? NDR_F64 : NDR_F32;
  case NDR_I8:
  case NDR_I16:
  case NDR_U8:
  case NDR_U16:
    if (!real || moments) return dtype;
    return op == NDR_LOGSUMEXP ? NDR_F64 : NDR_F32;
  case NDR_I32:
  case NDR_I64:
  case NDR_U32:
  case NDR_U64: return real && !moments ? NDR_F64 : dtype;
  case NDR_F64:
  case NDR_C64:
  case NDR_C128: break;
  }
  return dtype;
}

#if defined __x86_64__ && defined __GNUC__
/* F16C is older than AVX2 and every processor with the latter has it; clang 14 cannot ask for it. */
static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}

static bool has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

static const ndr_isa *widest(const char *only) {
  const ndr_isa *const known[] = {has_avx512() ? ndr_isa_avx512 : NULL, has_avx2() ? ndr_isa_avx2 : NULL};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i] && (!only || strcmp(only, known[i]->name) == 0)) return known[i];
  return ndr_isa_baseline;
}
#else
static const ndr_isa *widest(const char *only) {
  (void)only;
  return ndr_isa_baseline;
}
#endif

const ndr_isa *ndr_isa_here(void) {
  static _Atomic(const ndr_isa *) chosen;
  const ndr_isa *isa = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (isa) return isa;
  /* Two threads that come here at once find the same. */
  isa = widest(getenv("NDR_CPU_ISA"));
  atomic_store_explicit(&chosen, isa, memory_order_relaxed);
  return isa;
}
