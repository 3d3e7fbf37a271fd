/* Embeds the bytes of the kernels' files by the assembler's .incbin. */
#include "cuda/compile/text.h"

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

/* X(name, file), file within kernels/ and without its ending. */
#define KERNEL_FILES(X)                                                                                                \
  X(machine, "machine")                                                                                                \
  X(types, "types")                                                                                                    \
  X(algebra, "algebra")                                                                                                \
  X(moments, "moments")                                                                                                \
  X(arg, "arg")                                                                                                        \
  X(ops, "ops")                                                                                                        \
  X(facts, "facts")                                                                                                    \
  X(posted, "posted")                                                                                                  \
  X(walk, "walk")                                                                                                      \
  X(join, "join")                                                                                                      \
  X(tree, "tree")                                                                                                      \
  X(listed, "listed")                                                                                                  \
  X(column, "column")                                                                                                  \
  X(emit, "emit")                                                                                                      \
  X(thread, "thread")                                                                                                  \
  X(phased, "phased")                                                                                                  \
  X(dense, "dense")                                                                                                    \
  X(few, "few")                                                                                                        \
  X(tile, "tile")                                                                                                      \
  X(columns3, "columns3")                                                                                              \
  X(groups, "groups")                                                                                                  \
  X(stage, "stage")                                                                                                    \
  X(tile_rows, "tile_rows")                                                                                            \
  X(staged, "staged")                                                                                                  \
  X(runs, "runs")                                                                                                      \
  X(vectors, "vectors")                                                                                                \
  X(row, "row")                                                                                                        \
  X(states, "states")                                                                                                  \
  X(chunks, "program/chunks")                                                                                          \
  X(operands, "program/operands")                                                                                      \
  X(table, "program/table")                                                                                            \
  X(zones_tile, "program/zones_tile")                                                                                  \
  X(zones, "program/zones")                                                                                            \
  X(fused, "program/fused")                                                                                            \
  X(numbers, "program/numbers")                                                                                        \
  X(parts, "program/parts")                                                                                            \
  X(weighted, "program/weighted")                                                                                      \
  X(program, "program/program")                                                                                        \
  X(scan, "scan/scan")                                                                                                 \
  X(scan_tile, "scan/scan_tile")                                                                                       \
  X(scan_lines, "scan/scan_lines")                                                                                     \
  X(scan_bands, "scan/scan_bands")                                                                                     \
  X(scan_shifted, "scan/scan_shifted")                                                                                 \
  X(scan_streams, "scan/scan_streams")                                                                                 \
  X(scan_columns, "scan/scan_columns")                                                                                 \
  X(scan_totals, "scan/scan_totals")                                                                                   \
  X(select, "scan/select")                                                                                             \
  X(select_slices, "scan/select_slices")

#define EMBED_KERNEL(name, file) EMBED(name, NDR_KERNEL_DIR "/" file ".cuh")
KERNEL_FILES(EMBED_KERNEL)
EMBED(params, NDR_SPEC_DIR "/params.h")
EMBED(scan_params, NDR_SPEC_DIR "/scan_params.h")
EMBED(select_params, NDR_SPEC_DIR "/select_params.h")
EMBED(kernels, NDR_SPEC_DIR "/kernels.h")
EMBED(rows, NDR_SPEC_DIR "/kernels.def")

/* A kernel whose file is not among them does not compile here. */
#define EMBEDDED(name, file) EMBEDDED_##name,
#define OF_KERNEL(NAME, name, family, file, ...) EMBEDDED_##file +
enum { KERNEL_FILES(EMBEDDED) OF_KERNELS = NDR_KERNEL_ROWS(OF_KERNEL, ) NDR_OPERAND_KERNEL_ROWS(OF_KERNEL, ) 0 };

#define NAME(name, file) #name ".cuh",
#define TEXT(name, file) ndr_text_##name,
const char *const ndr_kernel_text_names[] = {KERNEL_FILES(NAME) "params.h", "scan_params.h", "select_params.h",
                                             "kernels.h", "kernels.def"};
const char *const ndr_kernel_texts[] = {KERNEL_FILES(TEXT) ndr_text_params, ndr_text_scan_params,
                                        ndr_text_select_params, ndr_text_kernels, ndr_text_rows};
const int ndr_kernel_text_count = sizeof ndr_kernel_texts / sizeof *ndr_kernel_texts;
