/* The kernels for AVX2: to be compiled with -mavx2 -mfma -mf16c -mbmi2. */
#include "cpu/fold/fold.h"

#ifdef __AVX2__
#define ISA_NAME "avx2"
#include "cpu/fold/table.h"

const ndr_isa *const ndr_isa_avx2 = &isa;
#else
const ndr_isa *const ndr_isa_avx2 = NULL;
#endif
