/* The table of the CUDA backend's functions and families. */
#include "cuda/backend.h"

#include "cuda/device.h"
#include "cuda/launch.h"
#include "cuda/measure.h"
#include "cuda/memory.h"
#include "cuda/scan/scan.h"
#include "cuda/states.h"
#include "cuda/table.h"
#include "cuda/workspace.h"
#include "gpuplan/launch.h"

static bool owns(DLDeviceType type) {
  return type == kDLCUDA || type == kDLCUDAManaged || type == kDLCUDAHost;
}

static const ndr_family *const families[] = {&ndr_family_tree, &ndr_family_thread, &ndr_family_tile, NULL};

const ndr_backend ndr_backend_cuda = {
    .name = "cuda",
    .owns = owns,
    .device = ndr_cuda_device,
    .calls = &ndr_cuda_calls,
    .families = families,
    .scans = &ndr_cuda_scans,
    .execute = ndr_cuda_execute,
    .make_table = ndr_cuda_make_table,
    .free_table = ndr_cuda_free_table,
    .allocate = ndr_cuda_allocate,
    .release = ndr_cuda_release,
    .borrow_workspace = ndr_cuda_borrow_workspace,
    .return_workspace = ndr_cuda_return_workspace,
    .clear_workspace = ndr_cuda_clear_workspace,
    .clock_start = ndr_cuda_clock_start,
    .clock_stop = ndr_cuda_clock_stop,
    .states_identity = ndr_cuda_states_identity,
    .states_merge = ndr_cuda_states_merge,
    .states_finish = ndr_cuda_states_finish,
};
