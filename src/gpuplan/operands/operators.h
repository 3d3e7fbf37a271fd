/* Operators as the planner and the launches see them: which are programs, and what their results take. */
#ifndef NDR_GPUPLAN_OPERATORS_H
#define NDR_GPUPLAN_OPERATORS_H

#include "core/request/canonical.h"

/* Whether the problem's operator i is a built-in one, or a program that is no more than that; *op is then that. */
bool ndr_launch_builtin(const ndr_canonical *problem, int i, ndr_op *op);

/* The built-in operator whose cost stands for that of operator 0. */
ndr_op ndr_launch_operator(const ndr_canonical *problem);

/* Bytes of a result of operator 0. */
int64_t ndr_launch_result_bytes(const ndr_canonical *problem);

/* Whether an operator of the problem is a program that must be compiled. */
bool ndr_launch_has_program(const ndr_canonical *problem);

#endif
