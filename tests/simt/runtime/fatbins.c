/* In the place of src/cuda/fatbins.c: the code of a dtype's kernels is where its module lies. */
#define MODULE(name)                                                                                                   \
  extern const unsigned char ndr_fatbin_##name[];                                                                      \
  const unsigned char ndr_fatbin_##name[] = SIMT_MODULE_DIR "/simt_" #name ".so";
#define DTYPE(NAME, value, name, ctype, bytes, class, code) MODULE(name)
#include "spec/dtypes.def"
MODULE(convert)
