/* The loops of scans for AVX-512: to be compiled with the flags of fold/avx512.c. */
#include "cpu/scan/loops.h"

#ifdef __AVX512BW__
#include "cpu/scan/table.h"

const ndr_scan_isa *const ndr_scan_isa_avx512 = &isa;
#else
const ndr_scan_isa *const ndr_scan_isa_avx512 = NULL;
#endif
