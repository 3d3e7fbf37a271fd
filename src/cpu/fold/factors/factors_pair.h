/* The kernels of factors.h for elements with weights: those that take NaN as they are, and those that skip them. From
 *   WEIGHTED(kernel), SKIPPING(kernel)   how their functions are called
 *   ELEMENT, WEIGHT                      as factors.h has them
 *   WIDEN_ELEMENT(at), WIDEN_WEIGHT(at)  a run_part of them */

#define FACTOR(w, i) (row_factor ? BROADCAST(w) : WIDEN_WEIGHT((w) + (i)*RUN_PART))

#define NAME WEIGHTED
#define LANE_TERMS WEIGHTED_LANE
#define PART_TERMS(x, w, i) WEIGHTED_PART(WIDEN_ELEMENT((x) + (i)*RUN_PART), FACTOR(w, i))
#define ROW_FACTORS
#define MOMENTS
#include "cpu/fold/factors/factors.h"

#define NAME SKIPPING
#define LANE_TERMS SKIPPING_LANE
#define PART_TERMS(x, w, i) SKIPPING_PART(WIDEN_ELEMENT((x) + (i)*RUN_PART), FACTOR(w, i))
#define ROW_FACTORS
#define WEIGHT_DEPENDS_ON_ELEMENT
#define MOMENTS
#include "cpu/fold/factors/factors.h"

#undef FACTOR
#undef WEIGHTED
#undef SKIPPING
#undef ELEMENT
#undef WEIGHT
#undef WIDEN_ELEMENT
#undef WIDEN_WEIGHT
