/* The kernels for any machine that the compiler targets by default. */
#define ISA_NAME "baseline"
#include "cpu/fold/table.h"

const ndr_isa *const ndr_isa_baseline = &isa;
