/* What `ndbench ladder --source` prints: the text of a rung's kernel. The files that have it are part of the program.
 */
#include <stdio.h>
#include <string.h>

#include "ladder/ladder.h"

/* NDBENCH_KERNEL_DIR is the source folder. */
#define EMBED(name)                                                                                                    \
  extern const char ndbench_text_##name[];                                                                             \
  __asm__(".section .rodata\n"                                                                                         \
          ".global ndbench_text_" #name "\n"                                                                           \
          ".hidden ndbench_text_" #name "\n"                                                                           \
          "ndbench_text_" #name ":\n"                                                                                  \
          ".incbin \"" NDBENCH_KERNEL_DIR "/" #name ".cuh\"\n"                                                         \
          ".byte 0\n"                                                                                                  \
          ".previous\n");
EMBED(ladder)
EMBED(axes)
EMBED(scan)
EMBED(select)

static const struct {
  const char *name, *text;
} files[] = {{"kernels/ladder/ladder.cuh", ndbench_text_ladder},
             {"kernels/ladder/axes.cuh", ndbench_text_axes},
             {"kernels/ladder/scan.cuh", ndbench_text_scan},
             {"kernels/ladder/select.cuh", ndbench_text_select}};

/* The function of each kernel; NULL for those of other libraries, and where there is no kernel. */
static const char *const functions[LADDER_KERNELS + 1] = {[LADDER_ATOMIC_EACH] = "atomic_each",
                                                          [LADDER_ATOMIC_SHARED] = "atomic_shared",
                                                          [LADDER_ONE_ADDS] = "one_adds",
                                                          [LADDER_TREE_MODULO] = "tree_modulo",
                                                          [LADDER_TREE_STRIDED] = "tree_strided",
                                                          [LADDER_TREE_SEQUENTIAL] = "tree_sequential",
                                                          [LADDER_TWO_ON_LOAD] = "two_on_load",
                                                          [LADDER_OVERLAP] = "overlapped",
                                                          [LADDER_LAST_WARP] = "last_warp",
                                                          [LADDER_UNROLLED] = "unrolled",
                                                          [LADDER_CASCADE] = "cascaded",
                                                          [LADDER_SHUFFLE] = "shuffled",
                                                          [LADDER_VECTOR] = "vectored",
                                                          [LADDER_RELAUNCH] = "partials",
                                                          [LADDER_LAST_BLOCK] = "last_block",
                                                          [LADDER_THREAD_ROWS] = "thread_a_row",
                                                          [LADDER_THREAD_COLUMNS] = "thread_a_column",
                                                          [LADDER_BLOCK_ROWS] = "block_a_row",
                                                          [LADDER_BLOCK_PITCHED] = "block_a_row",
                                                          [LADDER_TILE] = "tile",
                                                          [LADDER_TILE_PADDED] = "tile",
                                                          [LADDER_TILE_WIDE] = "tile",
                                                          [LADDER_HILLIS_STEELE] = "hillis_steele",
                                                          [LADDER_SWEEPS] = "sweeps",
                                                          [LADDER_SWEEPS_PADDED] = "sweeps",
                                                          [LADDER_SCAN_SHUFFLE] = "scan_shuffled",
                                                          [LADDER_SCAN_SERIAL] = "scan_serial",
                                                          [LADDER_SCAN_PHASES] = "scan_tiles",
                                                          [LADDER_LOOK_BACK] = "scan_looking_back",
                                                          [LADDER_LOOK_UP] = "scan_looking_up",
                                                          [LADDER_SELECT_ATOMIC] = "select_atomic",
                                                          [LADDER_SELECT_SCATTER] = "scatter",
                                                          [LADDER_SELECT_WARP] = "select_warp",
                                                          [LADDER_SELECT_LOOK_UP] = "select_looking_up",
                                                          [LADDER_QUICKSORT] = "quicksort"};

/* A function that a kernel calls or that is launched before it, if the rung's idea is there. It is printed first. */
static const char *const first_heads[LADDER_KERNELS + 1] = {[LADDER_SCAN_PHASES] = "LADDER_KERNEL reduce_tiles(",
                                                            [LADDER_LOOK_BACK] = "LADDER_DEVICE T look_back(",
                                                            [LADDER_LOOK_UP] = "LADDER_DEVICE T look_up(",
                                                            [LADDER_SELECT_SCATTER] = "LADDER_KERNEL mark(",
                                                            [LADDER_QUICKSORT] = "LADDER_DEVICE void partition("};

/* The last place in text, before `end`, where a line begins with `start`. */
static const char *last_line(const char *text, const char *end, const char *start) {
  const char *found = NULL;
  for (const char *line = text; line < end; line = strchr(line, '\n') + 1)
    if (strncmp(line, start, strlen(start)) == 0) found = line;
  return found;
}

static int line_number(const char *text, const char *at) {
  int number = 1;
  while (text < at) number += *text++ == '\n';
  return number;
}

/* From the comment before the function to the brace that closes it, which alone stands at the beginning of a line. */
static bool print_function(const char *name, const char *text, const char *head, FILE *to) {
  const char *at = strstr(text, head);
  const char *first = at ? last_line(text, at, "/*") : NULL;
  const char *last = at ? strstr(at, "\n}\n") : NULL;
  if (!first || !last) return false;
  fprintf(to, "%s, line %d:\n\n%.*s", name, line_number(text, first), (int)(last + 3 - first), first);
  return true;
}

bool ladder_has_source(const ladder_rung *rung) {
  return functions[rung->kernel] != NULL;
}

bool ladder_source_print(const ladder_rung *rung, FILE *to) {
  const char *function = functions[rung->kernel], *first = first_heads[rung->kernel];
  char head[64];
  if (!function) return false;
  snprintf(head, sizeof head, "LADDER_KERNEL %s(", function);
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (first && print_function(files[i].name, files[i].text, first, to)) fputc('\n', to);
    if (print_function(files[i].name, files[i].text, head, to)) return true;
  }
  return false;
}
