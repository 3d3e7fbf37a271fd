/* Whether programs keep the rules of lang/program.h. Uses nothing of the other helpers, so that fuzz targets can. */
#ifndef TEST_SUPPORT_PROGRAM_H
#define TEST_SUPPORT_PROGRAM_H

#include "lang/program.h"

/* What a program breaks, or NULL. *node is the number of the node or part that does. array_count is taken from the
 * program. */
const char *program_fault(const ndr_program *program, int *node);

/* Whether both have the same nodes, parts, parameters and results. */
bool program_equal(const ndr_program *a, const ndr_program *b);

#endif
