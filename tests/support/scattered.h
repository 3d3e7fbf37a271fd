/* Random problems with groups whose labels are scattered, for tests of GPUs. */
#ifndef TEST_SUPPORT_SCATTERED_H
#define TEST_SUPPORT_SCATTERED_H

#include "array.h"
#include "ndreduce/groups.h"

enum { SCATTERED_OPS = 3 };

/* An array [others, rows, columns] with labels along the rows, or along rows and columns. */
typedef struct scattered {
  ndr_dtype dtype;
  int64_t shape[3], strides[3];
  int label_dims;
  int64_t groups;
  bool rising; /* labels are in the order of the groups */
  bool even;   /* labels are drawn evenly, in no order */
  int dim_count, dims[3];
  int op_count;
  ndr_op ops[SCATTERED_OPS];
  bool skip_nan, where, weights;
  bool per_row; /* the mask and the weights have one element for each row */
  char text[512];
} scattered;

void scattered_draw(rng *random, ndr_dtype dtype, int64_t most_rows, int64_t most_columns, scattered *c);

/* An operator that knows where its elements are along rows and columns. */
ndr_op scattered_placed(void);

/* Labels in any order, most of them equal, in runs of random lengths, of few groups, or rising; some belong to none,
 * and some groups have none. */
ndr_groups *scattered_groups(rng *random, const scattered *c);

/* The array, and an operand; weights are positive. */
void scattered_array(rng *random, const scattered *c, test_array *made);
void scattered_operand(rng *random, const scattered *c, ndr_dtype dtype, test_array *made);

#endif
