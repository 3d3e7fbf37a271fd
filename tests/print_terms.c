/* What the cost model of GPU kernels sees: reads problems in the mini-language, a line each, and prints for each of
 * them a line of JSON, by family the name of the weights and the terms (src/family/launch.h), for the GPU of the
 * records. For tools/fit_costs.py. */
#include <stdio.h>
#include <string.h>

#include "family/launch.h"
#include "support/gpus.h"

static const char *const names[] = {"tree", "thread", "tile"};

int main(void) {
  static ndr_plan plan;
  static char line[4096];
  const ndr_device *gpu = &gpus[GPU_COUNT - 1];
  while (fgets(line, sizeof line, stdin)) {
    const char *before = "";
    line[strcspn(line, "\n")] = 0;
    printf("{");
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
      double terms[NDR_TERMS];
      if (gpu_plan(&plan, line, gpu, names[f]) != NDR_OK) continue;
      const char *weights = ndr_launch_terms(&plan.problem, gpu, &ndr_plan_launches(&plan)->aligned, terms);
      printf("%s\"%s\": [\"%s\"", before, names[f], weights);
      for (int t = 0; t < NDR_TERMS; t++) printf(", %.9g", terms[t]);
      printf("]");
      before = ", ";
    }
    printf("}\n");
  }
  return 0;
}
