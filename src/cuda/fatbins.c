/* The fatbins that nvcc made of kernels/instantiate.cu, one a dtype, and of kernels/convert.cu, as read-only data.
 * NDR_FATBIN_DIR is the build's. */
#define EMBED(name)                                                                                                    \
  __asm__(".section .rodata\n"                                                                                         \
          ".balign 64\n"                                                                                               \
          ".global ndr_fatbin_" #name "\n"                                                                             \
          ".hidden ndr_fatbin_" #name "\n"                                                                             \
          "ndr_fatbin_" #name ":\n"                                                                                    \
          ".incbin \"" NDR_FATBIN_DIR "/" #name ".fatbin\"\n"                                                          \
          ".balign 16\n"                                                                                               \
          ".previous\n");
#define DTYPE(NAME, value, name, ctype, bytes, class, code) EMBED(name)
#include "spec/dtypes.def"
EMBED(convert)
typedef int ndr_fatbins_are_data; /* a translation unit needs a declaration */
