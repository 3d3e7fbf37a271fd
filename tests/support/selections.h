/* Random selections for a GPU, whose results are compared with the CPU's, byte for byte: what lies between and behind
 * the elements of a result must not change either. */
#ifndef TEST_SUPPORT_SELECTIONS_H
#define TEST_SUPPORT_SELECTIONS_H

#include "cases.h"
#include "ndreduce/scan.h"

typedef enum selection_call { CALL_SELECT, CALL_PARTITION, CALL_NONZERO, CALL_COUNT } selection_call;

typedef struct selection_case {
  selection_call call;
  int dim;
  test_array array, mask; /* of nonzero the mask has no elements, and is not used */
  test_array result;      /* poisoned */
  test_array expected;    /* the CPU's result, in the same layout */
  int64_t room, kept;
  char text[512];
} selection_case;

/* What to make, where it is not random. */
typedef struct selection_form {
  selection_call call;
  ndr_dtype dtype;
  int ndim, dim;
  int64_t shape[NDR_MAX_DIMS];
  int percent; /* of the places that are kept */
} selection_form;

/* Any call, dtype, strides, mask and room; sizes around the widths of words, warps and tiles. At most `most` elements
 * or so. Free with selection_free. */
void selection_random(selection_case *made, rng *random, int64_t most);

/* A case of this form: compact arrays, and a result with room for all places. */
void selection_of(selection_case *made, rng *random, const selection_form *form);
void selection_free(selection_case *made);

/* Calls for the case's arrays where they lie now. */
ndr_status selection_run(const selection_case *given, const DLTensor *array, const DLTensor *mask, DLTensor *result,
                         int64_t *count, void *stream);

#endif
