#include "cases.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t number_from(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

uint64_t test_seed(void) {
  return number_from("NDR_TEST_SEED", 20240607);
}

uint64_t test_seed_of_day(void) {
  return number_from("NDR_TEST_SEED", (uint64_t)time(NULL) / 86400 * 1000);
}

int test_share(void) {
  return (int)number_from("NDR_TEST_SHARE", 1);
}

int test_case_count(int usual) {
  int share = test_share();
  return (int)number_from("NDR_TEST_CASES", (uint64_t)((usual + share - 1) / share));
}

int test_many_ranks(void) {
  return test_share() > 1 ? 128 : 1024;
}

uint64_t test_orders(uint64_t usual) {
  return test_share() > 1 ? 2 : usual;
}

double test_seconds(double usual) {
  const char *text = getenv("NDR_TEST_SECONDS");
  return text && *text ? strtod(text, NULL) : usual;
}

bool test_has_dtype(ndr_dtype dtype) {
  const char *names = getenv("NDR_TEST_DTYPES"), *name = ndr_dtype_name(dtype);
  size_t length = strlen(name);
  for (const char *at = names; at && (at = strstr(at, name)); at += length)
    if ((at == names || at[-1] == ' ') && (at[length] == 0 || at[length] == ' ')) return true;
  return !names;
}

double test_clock(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool op_defined(ndr_op op, ndr_dtype dtype) {
  bool ordered = (op >= NDR_MIN && op <= NDR_ARGMAX) || op == NDR_LOGSUMEXP || op == NDR_PTP;
  return !(ordered && is_complex(dtype));
}

bool op_has_empty(ndr_op op) {
  return !(op >= NDR_MIN && op <= NDR_ARGMAX) && op != NDR_PTP;
}

bool op_exact(ndr_op op, ndr_dtype dtype, bool small) {
  switch (op) {
  case NDR_SUM:
  case NDR_PROD: return small || is_integer(dtype);
  case NDR_MEAN: return small;
  case NDR_NORM1:
  case NDR_NORM2: return small && !is_complex(dtype);
  case NDR_VAR:
  case NDR_STD:
  case NDR_LOGSUMEXP: return false;
  case NDR_NORMINF: return !is_complex(dtype);
  default: return true;
  }
}

int64_t case_elements(const ndr_problem *problem) {
  int64_t count = 1;
  for (int d = 0; d < problem->ndim; d++) count *= problem->shape[d];
  return count;
}

const char *case_text(const ndr_problem *problem) {
  static _Thread_local char text[CASE_TEXT];
  ndr_problem_print(problem, text, sizeof text);
  return text;
}

/* Sizes around vector widths, blocks and tiles, where loops have their edges. */
static int64_t random_size(rng *random, int64_t most) {
  static const int64_t edges[] = {15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 511, 1000, 1025, 4099};
  int64_t size = rng_once_in(random, 3)    ? edges[rng_between(random, 0, 17)]
                 : rng_once_in(random, 12) ? 1
                 : rng_once_in(random, 40) ? 0
                                           : rng_between(random, 2, 9);
  return size > most ? most : size;
}

static void random_shape(rng *random, int64_t most, ndr_problem *made) {
  made->ndim = rng_once_in(random, 30) ? (int)rng_between(random, 7, NDR_MAX_DIMS) : (int)rng_between(random, 0, 6);
  for (int d = 0; d < made->ndim; d++) {
    /* Beyond six dims most are 1; otherwise nothing but tiny sizes would fit. */
    made->shape[d] = made->ndim > 6 && !rng_once_in(random, 6) ? 1 : random_size(random, most);
    if (made->shape[d] > 0) most /= made->shape[d];
  }
}

/* Compact, or the strides of a view: dims in any order of memory, with gaps, steps, reversals and broadcasts. */
static void random_strides(rng *random, ndr_problem *made) {
  int order[NDR_MAX_DIMS];
  bool compact = rng_once_in(random, 3);
  int64_t span = !compact && rng_once_in(random, 5) ? rng_between(random, 2, 3) : 1;
  rng_shuffle(random, made->ndim, order);
  for (int i = 0; i < made->ndim; i++) {
    int d = compact ? made->ndim - 1 - i : order[i];
    bool broadcast = !compact && rng_once_in(random, 16), backwards = !compact && rng_once_in(random, 5);
    made->strides[d] = broadcast ? 0 : backwards ? -span : span;
    if (broadcast) continue;
    span *= made->shape[d] > 0 ? made->shape[d] : 1;
    if (!compact && rng_once_in(random, 4)) span += rng_between(random, 1, 5);
  }
}

static void random_dims(rng *random, ndr_problem *made) {
  int order[NDR_MAX_DIMS];
  rng_shuffle(random, made->ndim, order);
  made->dim_count = made->ndim ? (int)rng_between(random, 0, made->ndim) : 0;
  for (int i = 0; i < made->dim_count; i++) made->dims[i] = rng_once_in(random, 4) ? order[i] - made->ndim : order[i];
}

void random_case(rng *random, int64_t most, ndr_problem *made) {
  ndr_dtype dtype = (ndr_dtype)rng_between(random, 0, NDR_DTYPE_COUNT - 1);
  random_case_of(random, dtype, most, made);
}

void random_case_of(rng *random, ndr_dtype dtype, int64_t most, ndr_problem *made) {
  *made = (ndr_problem)NDR_PROBLEM_INIT;
  made->dtype = dtype;
  random_shape(random, most, made);
  random_strides(random, made);
  random_dims(random, made);
  made->op_count = 1;
  do made->ops[0] = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
  while (!op_defined(made->ops[0], made->dtype) || (!op_has_empty(made->ops[0]) && case_elements(made) == 0));
  made->keepdims = rng_once_in(random, 4);
  made->skip_nan = rng_once_in(random, 4);
  made->ddof = rng_once_in(random, 3) ? 1 : rng_once_in(random, 8) ? 2.5 : 0;
  made->accumulate = rng_once_in(random, 6) ? NDR_ACCUMULATE_F64 : NDR_ACCUMULATE_DEFAULT;
}

static int64_t directed_size(rng *random, int64_t most) {
  static const int64_t edges[] = {1,  2,   3,   15,  16,  17,  31,  32,   33,   63,  64,
                                  65, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025};
  int64_t size = rng_once_in(random, 3) ? rng_between(random, 2, 12) : edges[rng_between(random, 0, 20)];
  return size > most ? most : size;
}

/* Dims in memory order, innermost first: whether the innermost is kept decides what a family makes of the problem, and
 * tile wants the next one to be of the other kind, dense around it. */
void directed_case(rng *random, ndr_dtype dtype, ndr_op op, const char *family, int64_t most, ndr_problem *made) {
  bool tile = strcmp(family, "tile") == 0, reduced[NDR_MAX_DIMS];
  int order[NDR_MAX_DIMS];
  int64_t span = !tile && rng_once_in(random, 5) ? rng_between(random, 2, 3) : 1;
  *made = (ndr_problem)NDR_PROBLEM_INIT;
  made->dtype = dtype;
  made->op_count = 1;
  made->ops[0] = op;
  made->ddof = rng_once_in(random, 2);
  made->ndim = (int)rng_between(random, tile ? 2 : 1, 5);
  rng_shuffle(random, made->ndim, order);
  for (int i = 0; i < made->ndim; i++) {
    int d = order[i];
    bool usual = strcmp(family, "tree") == 0 || (tile && rng_once_in(random, 2));
    reduced[i] = i == 0 ? usual != rng_once_in(random, 8) : i == 1 && tile ? !reduced[0] : rng_once_in(random, 2);
    made->shape[d] = directed_size(random, most);
    bool plain = i < 2 && tile;
    made->strides[d] = !plain && rng_once_in(random, 16) ? 0 : rng_once_in(random, 5) ? -span : span;
    most /= made->shape[d];
    if (made->strides[d]) span *= made->shape[d];
    if (!(i == 0 && tile) && rng_once_in(random, 4)) span += rng_between(random, 1, 5);
    if (reduced[i]) made->dims[made->dim_count++] = d;
  }
}

void random_ops(rng *random, ndr_problem *made) {
  made->op_count = (int)rng_between(random, 1, 3);
  for (int i = 1; i < made->op_count; i++) do
      made->ops[i] = (ndr_op)rng_between(random, 0, NDR_OP_COUNT - 1);
    while (!op_defined(made->ops[i], made->dtype) || !op_has_empty(made->ops[i]));
}

filling random_filling(rng *random, ndr_op op) {
  if (op == NDR_PROD) return rng_once_in(random, 2) ? FILL_UNIT : FILL_SPARSE;
  return (filling)rng_between(random, 0, FILL_COUNT - 1);
}

filling random_filling_of(rng *random, const ndr_problem *problem) {
  for (int i = 0; i < problem->op_count; i++)
    if (problem->ops[i] == NDR_PROD) return random_filling(random, NDR_PROD);
  return random_filling(random, problem->ops[0]);
}
