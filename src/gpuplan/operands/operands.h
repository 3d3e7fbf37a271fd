/* Launches of the kernels that read several arrays (kernels/program/operands.cuh). Families thread and tree run them
 * for problems that have operands or place indices. All of them are compiled at run time. */
#ifndef NDR_GPUPLAN_OPERANDS_H
#define NDR_GPUPLAN_OPERANDS_H

#include "gpuplan/launch.h"

/* Whether the problem needs these kernels: it has operands, place indices or a table (table.h). */
bool ndr_operands_needed(const ndr_canonical *problem);

/* Why the family cannot run such a problem; NULL if it can. */
const char *ndr_operands_reject_columns(const ndr_canonical *problem, const ndr_device *device);
const char *ndr_operands_reject_runs(const ndr_canonical *problem, const ndr_device *device);

/* Fill in a launch of family thread, and one of family tree. on_boundary: all arrays begin on 16-byte boundaries. */
ndr_launch_configure ndr_operands_columns, ndr_operands_runs;

/* Predicted seconds of a launch: bytes of the sectors that it touches over bandwidth, and what starts and joins cost.
 */
double ndr_operands_cost(const ndr_canonical *problem, const ndr_device *device, const ndr_launch *launch);

size_t ndr_operands_describe(const ndr_canonical *problem, const ndr_launch *launch, char *text, size_t capacity);

/* Chooses the plan's launch for arrays whose elements 0 are here (the problem's array, then its operands), and fills in
 * its arguments: all but the results, the partial states and the parameters. The kernel to compile is
 *   NAME<operator, array_list<types>, launch->operands.elements, launch->operands.steps, *ways>
 * with *ways in place of launch->operands.ways: arrays off their boundaries are shifted into place, or read element by
 * element where the kernel cannot shift, or by a launch that reads single elements. */
const ndr_launch *ndr_operands_launch(const ndr_plan *plan, const void *const *arrays, ndr_program_params *params,
                                      unsigned *ways);

#endif
