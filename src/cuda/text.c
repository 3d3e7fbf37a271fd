#include "cuda/text.h"

/* NDR_KERNEL_DIR and NDR_SPEC_DIR are the source folders. */
#define EMBED(name, path)                                                                                              \
  extern const char ndr_text_##name[];                                                                                 \
  __asm__(".section .rodata\n"                                                                                         \
          ".global ndr_text_" #name "\n"                                                                               \
          ".hidden ndr_text_" #name "\n"                                                                               \
          "ndr_text_" #name ":\n"                                                                                      \
          ".incbin \"" path "\"\n"                                                                                     \
          ".byte 0\n"                                                                                                  \
          ".previous\n");

#define KERNEL_FILES(X)                                                                                                \
  X(machine)                                                                                                           \
  X(types)                                                                                                             \
  X(algebra) X(moments) X(ops) X(walk) X(tree) X(thread) X(tile) X(triples) X(narrow) X(runs) X(packets) X(fused)

#define EMBED_KERNEL(name) EMBED(name, NDR_KERNEL_DIR "/" #name ".cuh")
KERNEL_FILES(EMBED_KERNEL)
EMBED(params, NDR_SPEC_DIR "/params.h")

#define NAME(name) #name ".cuh",
#define TEXT(name) ndr_text_##name,
const char *const ndr_kernel_text_names[] = {KERNEL_FILES(NAME) "params.h"};
const char *const ndr_kernel_texts[] = {KERNEL_FILES(TEXT) ndr_text_params};
const int ndr_kernel_text_count = sizeof ndr_kernel_texts / sizeof *ndr_kernel_texts;
