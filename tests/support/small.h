/* A small array, and a mask and weights to go with it. */
#ifndef TEST_SUPPORT_SMALL_H
#define TEST_SUPPORT_SMALL_H

#include "ndreduce/ndreduce.h"

extern float small_x[2][3];      /* 1 to 6 */
extern uint8_t small_live[2][3]; /* 1 0 1, 0 1 1 */
extern double small_w[3];        /* 0.5, 1, 2 */

/* [2,3] of f32, [2,3] of bool and [3] of f64, of these elements. */
DLTensor small_array(void);
DLTensor small_mask(void);
DLTensor small_weights(void);

#endif
