/* Makes plans of scans in the caller's memory, and executes them. */
#ifndef NDR_API_SCAN_PLAN_H
#define NDR_API_SCAN_PLAN_H

#include "scan/plan.h"

/* Makes the plan of a call, whose options are read into *options. Free what it holds with ndr_scan_plan_release. */
ndr_status ndr_scan_plan_make(ndr_scan_plan *plan, const ndr_scan_call *call, ndr_scan_options *options);
void ndr_scan_plan_release(ndr_scan_plan *plan);

/* Checks that a tensor that a call reads or writes, named `what` in errors, is where the array is. */
ndr_status ndr_scan_check_device(const ndr_backend *backend, DLDevice array_device, DLDevice device, const char *what,
                                 ndr_status failure);

#endif
