/* See select_text.h. What is moved is not read as numbers, so kernels differ by its size, not by its dtype. */
#include "cuda/scan/select_text.h"

#include "cuda/compile/generate.h"

static void write_call(ndr_cuda_text *out, const ndr_select_launch *l) {
  const char *number = l->known & NDR_SELECT_FAR ? "i64" : "u32";
  switch (l->kernel) {
  case NDR_SELECT_ELEMENTS: ndr_cuda_write(out, "select_elements<%d, %d", l->bytes, l->unit); break;
  case NDR_SELECT_COUNT: ndr_cuda_write(out, "select_count<0x%xu>(p);\n}\n", l->known); return;
  case NDR_SELECT_SUMS: ndr_cuda_write(out, "select_sums(p);\n}\n"); return;
  case NDR_SELECT_INDICES: ndr_cuda_write(out, "select_indices<%s", ndr_cuda_storage(l->truth)); break;
  case NDR_SELECT_NUMBERS: ndr_cuda_write(out, "select_numbers<%s", number); break;
  case NDR_SELECT_SLICES: ndr_cuda_write(out, "select_slices<%d, %d, %s", l->bytes, l->unit, number); break;
  }
  ndr_cuda_write(out, ", 0x%xu>(p);\n}\n", l->known);
}

size_t ndr_cuda_generate_select(const ndr_select_launch *launch, char *text, size_t capacity) {
  ndr_cuda_text out = {text, capacity, 0};
  ndr_cuda_write(&out, "#include \"%s.cuh\"\n", launch->kernel == NDR_SELECT_SLICES ? "select_slices" : "select");
  ndr_cuda_write(&out, "NDR_KERNEL NDR_BOUNDS(NDR_SCAN_BLOCK, %d)\n", launch->residents);
  ndr_cuda_write(&out, "ndr_select(const __grid_constant__ ndr_select_params p) {\n  machine::begin();\n  ");
  write_call(&out, launch);
  return out.length;
}
