/* Plans of selections for a GPU, which is numbers here: launches cover every place, and walks lead where it lies. */
#include <stdlib.h>
#include <string.h>

#include "gpuplan/scan/select.h"
#include "support/gpus.h"
#include "support/selections.h"
#include "support/suite.h"

/* An H200 with NVRTC. */
static ndr_device compiling(void) {
  ndr_device device = gpus[2];
  device.compiles = 1;
  return device;
}

static const ndr_selection_kind kinds[] = {NDR_SELECTION_SELECT, NDR_SELECTION_PARTITION, NDR_SELECTION_NONZERO};

typedef struct planned {
  selection_case given;
  ndr_selection selection;
  ndr_selection_addresses addresses;
} planned;

static void make(planned *made, rng *random, int64_t most) {
  static int64_t count;
  selection_random(&made->given, random, most);
  const selection_case *c = &made->given;
  bool nonzero = c->call == CALL_NONZERO;
  assert_ok(ndr_selection_make(&made->selection, kinds[c->call], &c->array.tensor, nonzero ? NULL : &c->mask.tensor,
                               c->dim, &c->result.tensor));
  made->addresses = (ndr_selection_addresses){
      c->array.tensor.data, nonzero ? c->array.tensor.data : c->mask.tensor.data, c->result.tensor.data, &count};
}

START_TEST(no_compiler_is_the_reason) {
  rng random = {test_seed()};
  planned made;
  ndr_select_plan plan;
  ndr_device device = gpus[2];
  device.compiles = 0;
  make(&made, &random, 100);
  assert_fails(ndr_select_plan_make(&made.selection, &made.addresses, &device, &plan), NDR_ERR_UNSUPPORTED,
               "selections need NVRTC (libnvrtc.so)");
  selection_free(&made.given);
}
END_TEST

/* A row of ones repeated so often that its tiles cannot be counted in 31 bits. */
START_TEST(too_many_places_are_refused) {
  int64_t shape[2] = {INT64_C(1) << 30, INT64_C(1) << 20}, none[2] = {0, 0}, room = 0, count;
  ndr_selection selection;
  ndr_select_plan plan;
  ndr_device device = compiling();
  uint8_t one = 1;
  DLTensor array = ndr_tensor(&one, NDR_U8, 2, shape), result = ndr_tensor(NULL, NDR_U8, 1, &room), mask;
  array.strides = none;
  mask = array;
  mask.dtype = ndr_dtype_to_dlpack(NDR_BOOL);
  assert_ok(ndr_selection_make(&selection, NDR_SELECTION_SELECT, &array, &mask, NDR_SCAN_ALL, &result));
  const ndr_selection_addresses addresses = {&one, &one, NULL, &count};
  assert_fails(ndr_select_plan_make(&selection, &addresses, &device, &plan), NDR_ERR_UNSUPPORTED, "at most");
}
END_TEST

static int64_t walked(const ndr_select_walk *walk, int64_t n) {
  int64_t at = 0;
  for (int a = 0; a < walk->count; a++) {
    const ndr_scan_divisor *size = &walk->axes[a].size;
    int64_t whole = a + 1 < walk->count ? n / size->size : 0;
    if (size->magic) ck_assert_int_eq((int64_t)((uint64_t)n * size->magic >> (32 + size->shift)), n / size->size);
    at += (n - whole * size->size) * walk->axes[a].stride;
    n = whole;
  }
  return at;
}

/* Of place number n in row-major order, in elements. */
static int64_t place_of(const ndr_selection *s, const int64_t *strides, int64_t n) {
  int64_t at = 0;
  for (int d = s->ndim - 1; d >= 0; d--) {
    if (s->dim >= 0 && d != s->dim) continue;
    at += n % s->shape[d] * strides[d];
    n /= s->shape[d];
  }
  return at;
}

static void check_elements(const ndr_selection *s, const ndr_select_params *p, int64_t bytes, int64_t n) {
  ck_assert_int_eq(walked(&p->from, n), place_of(s, s->strides, n) * bytes);
  if (n < s->room)
    ck_assert_int_eq(walked(&p->to, n),
                     (s->by_dims ? place_of(s, s->result_strides, n) : n * s->result_strides[0]) * bytes);
}

/* All elements of a slice, summed up: each is moved once, and from where it goes to. */
static void check_slices(const ndr_selection *s, const ndr_select_params *p, const ndr_select_launch *l) {
  int64_t elements = 1, bytes = (int64_t)ndr_dtype_bytes(s->dtype), inner = l->known & NDR_SELECT_COLUMNS ? 1 : p->run;
  for (int d = 0; d < s->ndim; d++)
    if (d != s->dim) elements *= s->shape[d];
  ck_assert_int_eq(inner * p->outer * l->bytes, elements * bytes);
  int64_t expected[2] = {0, 0}, found[2] = {0, 0}, index[NDR_MAX_DIMS] = {0}, shape[NDR_MAX_DIMS];
  for (int d = 0; d < s->ndim; d++) shape[d] = d == s->dim ? 1 : s->shape[d];
  do
    for (int64_t byte = 0; byte < bytes; byte++) {
      int64_t from = byte, to = byte;
      for (int d = 0; d < s->ndim; d++)
        from += index[d] * s->strides[d] * bytes, to += index[d] * s->result_strides[d] * bytes;
      expected[0] += from * to, expected[1] += from;
    }
  while (next_index(s->ndim, shape, index));
  for (int64_t n = 0; n < inner * p->outer; n++)
    for (int64_t byte = 0; byte < l->bytes; byte++) {
      int64_t from = walked(&p->from, n) + byte, to = walked(&p->to, n) + byte;
      found[0] += from * to, found[1] += from;
    }
  ck_assert(found[0] == expected[0] && found[1] == expected[1]);
}

static void check_moves(const planned *made, const ndr_select_plan *plan) {
  const ndr_selection *s = &made->selection;
  const ndr_select_params *p = &plan->params;
  const ndr_select_launch *l = &plan->launches[plan->count - 1];
  if (l->kernel == NDR_SELECT_SLICES) {
    check_slices(s, p, l);
    ck_assert_int_eq(p->from_step, s->strides[s->dim] * (int64_t)ndr_dtype_bytes(s->dtype));
  }
  if (l->kernel != NDR_SELECT_ELEMENTS) return;
  int64_t bytes = (int64_t)ndr_dtype_bytes(s->dtype);
  for (int64_t n = 0; n < s->places; n += 1 + n / 50) check_elements(s, p, bytes, n);
  ck_assert(l->bytes % l->unit == 0 &&
            (l->known & NDR_SELECT_BOTH) == (s->kind == NDR_SELECTION_PARTITION ? NDR_SELECT_BOTH : 0));
}

START_TEST(launches_cover_every_place) {
  rng random = {test_seed() + (uint64_t)_i};
  planned made;
  ndr_select_plan plan;
  ndr_device device = compiling();
  char *workspace = NULL;
  make(&made, &random, 5000 + (_i % 7 == 0 ? 100000 : 0));
  const ndr_selection *s = &made.selection;
  assert_ok(ndr_select_plan_make(s, &made.addresses, &device, &plan));
  ck_assert_int_eq(plan.count == 0, s->places == 0);
  if (plan.count) {
    const ndr_select_params *p = &plan.params;
    ck_assert(p->tiles * NDR_SELECT_TILE >= s->places && (p->tiles - 1) * NDR_SELECT_TILE < s->places);
    ck_assert_uint_eq(plan.launches[0].grid, (unsigned)p->tiles);
    bool waits = plan.launches[0].kernel == NDR_SELECT_INDICES || plan.launches[0].kernel == NDR_SELECT_NUMBERS;
    ck_assert_uint_ge(plan.posted_bytes, waits && p->tiles > 1 ? (size_t)p->tiles * sizeof(ndr_posted) : 0);
    workspace = malloc(plan.workspace);
    ndr_select_plan_place(&plan, workspace);
    ck_assert((char *)p->list <= workspace + plan.workspace && (uintptr_t)p->list % 8 == 0);
    if (plan.launches[0].kernel == NDR_SELECT_COUNT) {
      ck_assert(plan.launches[1].kernel == NDR_SELECT_SUMS && plan.launches[2].grid == (unsigned)p->tiles);
      ck_assert_int_ge((int64_t)plan.launches[1].grid * NDR_SELECT_CHUNK, p->tiles);
      ck_assert_uint_ge(plan.workspace, ((size_t)p->tiles + plan.launches[1].grid) * 8);
    }
    for (int64_t n = 0; n < s->places; n += 1 + n / 50)
      ck_assert_int_eq(walked(&p->read, n), place_of(s, s->mask_strides, n));
    check_moves(&made, &plan);
  }
  free(workspace);
  selection_free(&made.given);
}
END_TEST

/* Slices that are short and lie together move as elements, long ones in vectors. */
START_TEST(kernels_are_chosen_by_layout) {
  static struct {
    int64_t shape[2];
    int dim;
    ndr_select_kernel kernel;
    int bytes;
    unsigned known;
  } cases[] = {{{1000, 3}, 0, NDR_SELECT_ELEMENTS, 12, NDR_SELECT_DENSE_FROM},
               {{1000, 4}, 0, NDR_SELECT_ELEMENTS, 16, NDR_SELECT_DENSE_FROM},
               {{1000, 5}, 0, NDR_SELECT_SLICES, 4, NDR_SELECT_DENSE_FROM},
               {{1000, 64}, 0, NDR_SELECT_SLICES, 16, NDR_SELECT_DENSE_FROM},
               {{1000, 64}, 1, NDR_SELECT_SLICES, 4, NDR_SELECT_COLUMNS},
               {{1000, 1}, 0, NDR_SELECT_ELEMENTS, 4, NDR_SELECT_DENSE_FROM}};
  static _Alignas(16) float memory[4], out[4];
  static uint8_t flags[16];
  ndr_device device = compiling();
  int64_t count;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_selection selection;
    ndr_select_plan plan;
    DLTensor array = ndr_tensor(memory, NDR_F32, 2, cases[i].shape),
             result = ndr_tensor(out, NDR_F32, 2, cases[i].shape),
             mask = ndr_tensor(flags, NDR_BOOL, 1, &cases[i].shape[cases[i].dim]);
    assert_ok(ndr_selection_make(&selection, NDR_SELECTION_SELECT, &array, &mask, cases[i].dim, &result));
    const ndr_selection_addresses addresses = {memory, flags, out, &count};
    assert_ok(ndr_select_plan_make(&selection, &addresses, &device, &plan));
    const ndr_select_launch *last = &plan.launches[plan.count - 1];
    ck_assert_msg(last->kernel == cases[i].kernel && last->bytes == cases[i].bytes &&
                      (last->known & cases[i].known) == cases[i].known,
                  "case %zu: kernel %d of %d bytes, known 0x%x", i, (int)last->kernel, last->bytes, last->known);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("plans of selections on a GPU");
  TCase *cases = tcase_create("plans");
  tcase_add_test(cases, no_compiler_is_the_reason);
  tcase_add_test(cases, too_many_places_are_refused);
  tcase_add_loop_test(cases, launches_cover_every_place, 0, test_case_count(200));
  tcase_add_test(cases, kernels_are_chosen_by_layout);
  suite_add_tcase(suite, cases);
  return suite_run(suite);
}
