/* Embeds the bytes of the kernels' files by the assembler's .incbin. */
#include "cuda/text.h"

#include "spec/kernels.h"

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
  X(algebra)                                                                                                           \
  X(moments)                                                                                                           \
  X(arg)                                                                                                               \
  X(ops)                                                                                                               \
  X(walk)                                                                                                              \
  X(tree)                                                                                                              \
  X(listed)                                                                                                            \
  X(column)                                                                                                            \
  X(emit)                                                                                                              \
  X(thread)                                                                                                            \
  X(phased)                                                                                                            \
  X(dense)                                                                                                             \
  X(few)                                                                                                               \
  X(tile)                                                                                                              \
  X(columns3)                                                                                                          \
  X(groups)                                                                                                            \
  X(stage)                                                                                                             \
  X(tile_rows)                                                                                                         \
  X(staged)                                                                                                            \
  X(runs)                                                                                                              \
  X(vectors)                                                                                                           \
  X(row)                                                                                                               \
  X(scan)                                                                                                              \
  X(scan_tile)                                                                                                         \
  X(scan_lines)                                                                                                        \
  X(scan_columns)                                                                                                      \
  X(scan_totals)                                                                                                       \
  X(select)                                                                                                            \
  X(select_slices)                                                                                                     \
  X(posted)                                                                                                            \
  X(chunks) X(operands) X(table) X(zones) X(fused) X(states) X(numbers) X(parts) X(weighted) X(program) X(facts)

#define EMBED_KERNEL(name) EMBED(name, NDR_KERNEL_DIR "/" #name ".cuh")
KERNEL_FILES(EMBED_KERNEL)
EMBED(params, NDR_SPEC_DIR "/params.h")
EMBED(scan_params, NDR_SPEC_DIR "/scan_params.h")
EMBED(select_params, NDR_SPEC_DIR "/select_params.h")
EMBED(kernels, NDR_SPEC_DIR "/kernels.h")
EMBED(rows, NDR_SPEC_DIR "/kernels.def")

/* A kernel whose file is not among them does not compile here. */
#define EMBEDDED(name) EMBEDDED_##name,
#define OF_KERNEL(NAME, name, family, file, ...) EMBEDDED_##file +
enum { KERNEL_FILES(EMBEDDED) OF_KERNELS = NDR_KERNEL_ROWS(OF_KERNEL, ) NDR_OPERAND_KERNEL_ROWS(OF_KERNEL, ) 0 };

#define NAME(name) #name ".cuh",
#define TEXT(name) ndr_text_##name,
const char *const ndr_kernel_text_names[] = {KERNEL_FILES(NAME) "params.h", "scan_params.h", "select_params.h",
                                             "kernels.h", "kernels.def"};
const char *const ndr_kernel_texts[] = {KERNEL_FILES(TEXT) ndr_text_params, ndr_text_scan_params,
                                        ndr_text_select_params, ndr_text_kernels, ndr_text_rows};
const int ndr_kernel_text_count = sizeof ndr_kernel_texts / sizeof *ndr_kernel_texts;
