/* What the cost model of GPU kernels sees: reads problems in the mini-language, a line each, and prints for each of
 * them a line of JSON, for the GPU of the records: the operator and dtype whose op_cost is taken, and by family the
 * name of the weights and the terms (src/gpuplan/launch.h). For tools/bench/fit_costs.py. */
#include <stdio.h>
#include <string.h>

#include "gpuplan/launch.h"
#include "support/gpus.h"

static const char *const names[] = {"tree", "thread", "tile"};

/* For the launch of a family that was planned. */
static void print_launch(const ndr_plan *plan, const char *family, const ndr_device *gpu) {
  const ndr_launch *launch = &ndr_plan_launches(plan)->aligned;
  double terms[NDR_TERMS];
  const char *model = ndr_launch_model(launch);
  ndr_launch_terms(&plan->problem, gpu, launch, terms);
  printf(", \"%s\": [\"%s\"", family, model);
  for (int t = 0; t < NDR_TERMS; t++) printf(", %.9g", terms[t]);
  printf("]");
}

int main(void) {
  static ndr_plan plan;
  static char line[4096];
  const ndr_device *gpu = &gpus[GPU_COUNT - 1];
  while (fgets(line, sizeof line, stdin)) {
    ndr_op op;
    ndr_dtype dtype;
    line[strcspn(line, "\n")] = 0;
    if (gpu_plan(&plan, line, gpu, "tree") != NDR_OK) return 1;
    ndr_launch_op_cost(&plan.problem, &op, &dtype);
    printf("{\"op_cost\": [\"%s\", \"%s\"]", ndr_op_name(op), ndr_dtype_name(dtype));
    for (size_t f = 0; f < sizeof names / sizeof *names; f++)
      if (gpu_plan(&plan, line, gpu, names[f]) == NDR_OK) print_launch(&plan, names[f], gpu);
    printf("}\n");
  }
  return 0;
}
