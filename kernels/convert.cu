/* The kernels that convert stored elements, one a dtype: ndr_convert_<dtype>. Built once, not once a dtype. */
#include "convert.cuh"

#define DTYPE(NAME, value, name, ctype, bytes, class, code)                                                            \
  NDR_KERNEL NDR_BOUNDS(NDR_CONVERT_THREADS) ndr_convert_##name(const __grid_constant__ ndr_convert_params p) {        \
    machine::begin();                                                                                                  \
    convert<name>(p);                                                                                                  \
  }
#include "dtypes.def"
