/* In the place of src/cuda/fatbins.c: the code of a dtype's kernels is where its module lies. */
#define DTYPE(NAME, value, name, ctype, bytes, class, code)                                                            \
  extern const unsigned char ndr_fatbin_##name[];                                                                      \
  const unsigned char ndr_fatbin_##name[] = SIMT_MODULE_DIR "/simt_" #name ".so";
#include "spec/dtypes.def"
