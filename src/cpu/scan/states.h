/* States of single elements, from which scans of any operator are merged. */
#ifndef NDR_CPU_SCAN_STATES_H
#define NDR_CPU_SCAN_STATES_H

#include "scan/problem.h"

/* The state of the problem's program. Word w of a state of this file is words[w]. */
ndr_state ndr_scan_state(const ndr_scan_problem *problem);

/* Makes the state of the element at a place. */
void ndr_scan_state_of(const ndr_scan_problem *problem, const ndr_state *state, const void *const *data,
                       const ndr_scan_place *place, uint64_t *words);

#endif
