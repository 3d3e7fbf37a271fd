/* The loops of scans for any machine that the compiler targets by default. */
#include "cpu/scan/table.h"

const ndr_scan_isa *const ndr_scan_isa_baseline = &isa;
