/* The loops of scans for AVX2: to be compiled with the flags of fold/avx2.c. */
#include "cpu/scan/loops.h"

#ifdef __AVX2__
#include "cpu/scan/table.h"

const ndr_scan_isa *const ndr_scan_isa_avx2 = &isa;
#else
const ndr_scan_isa *const ndr_scan_isa_avx2 = NULL;
#endif
