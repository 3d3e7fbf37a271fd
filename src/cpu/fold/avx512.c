/* The kernels for AVX-512. Compile with -mavx512f -mavx512bw -mavx512dq -mavx512vl and the options of avx2.c. */
#include "cpu/fold/fold.h"

#ifdef __AVX512BW__
#define ISA_NAME "avx512"
#include "cpu/fold/table.h"

const ndr_isa *const ndr_isa_avx512 = &isa;
#else
const ndr_isa *const ndr_isa_avx512 = NULL;
#endif
