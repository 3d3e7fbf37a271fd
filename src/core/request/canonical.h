/* The canonical form of a reduction, which every family plans from.
 *
 * From any strided tensor: size-1 dims are dropped, axes with negative strides are walked backwards (origin and index
 * step change instead), kept and reduced axes are each sorted by input stride, smallest first (stride 0 sorts last: it
 * brings no new data), and neighbours that one axis can express are merged. So axis 0 of each list is the innermost.
 *
 * The walk steps through operands at the same time. If an operand has more distinct bytes than the array, axes are
 * sorted by its strides; those along which it repeats come last, sorted by the array's. Axes merge only if they do in
 * all operands. */
#ifndef NDR_CORE_CANONICAL_H
#define NDR_CORE_CANONICAL_H

#include "core/groups/groups.h"
#include "core/groups/table.h"
#include "core/state.h"
#include "ndreduce/plan.h"

/* The most bytes that an array or a result may span, one more step along every axis included. Larger ones are refused,
 * so that planners may round up, double, and multiply sizes by strides without overflow. */
#define NDR_MOST_BYTES ((INT64_C(1) << 62) - 1)

/* The most dims whose index programs use (NDR_NODE_INDEX). */
#define NDR_MOST_PLACES 4

typedef struct ndr_axis {
  int64_t size;                      /* >= 2 after canonicalisation; every stride counts elements */
  int64_t stride;                    /* of the array, >= 0 */
  int64_t index;                     /* reduced: step of the flattened row-major index (may be negative) */
  int64_t result[NDR_MAX_OPS];       /* kept: stride in the result of each op (may be negative) */
  int64_t operand[NDR_MAX_OPERANDS]; /* stride of each operand (may be negative) */
  int64_t place[NDR_MOST_PLACES];    /* step of each place index (may be negative) */
  bool scattered;                    /* element r lies not at r, but where a table says (ndr_backend.execute_rows) */
} ndr_axis;

typedef struct ndr_canonical {
  ndr_dtype dtype;
  int op_count;
  ndr_op ops[NDR_MAX_OPS];
  bool skip_nan;
  bool accumulate_f64;
  bool partial; /* results are word-major state arrays of pitch `outputs`, in row-major order of the kept dims */
  bool merges;  /* under partial: states are merged into those that are there. Only on the CPU, without a table */
  double ddof;
  int kept_count, reduced_count;
  ndr_axis kept[NDR_MAX_DIMS], reduced[NDR_MAX_DIMS];
  int64_t row_stride; /* of the array along the scattered axis, of which there is one at most; may be negative */
  /* Not NULL: the scattered axis has the rows of all groups, and the table says which of them each group has. The
   * outputs of a group are those of the kept axes, and `group` has the steps of results from group to group. */
  const ndr_table *table;
  ndr_axis group;
  int64_t outputs;      /* product of the kept sizes; 0 when the result is empty */
  int64_t length;       /* product of the reduced sizes; 0 when outputs are reductions of no elements */
  int64_t origin;       /* elements from the array's element 0 to where the walk starts */
  int64_t index_origin; /* flattened index of that element */
  int64_t result_origin[NDR_MAX_OPS];

  /* Operators that are programs (lang/program.h); NULL: a built-in operator, which reads the array alone, or one's own
   * that is no more than the built-in one that `ops` then has. All programs of a problem are owned by `programs_owner`.
   */
  const ndr_program *programs[NDR_MAX_OPS];
  struct ndr_program_owner *programs_owner;
  int operand_count;
  ndr_role operand_roles[NDR_MAX_OPERANDS];
  ndr_dtype operand_dtypes[NDR_MAX_OPERANDS];
  int64_t operand_origin[NDR_MAX_OPERANDS]; /* elements from the operand's element 0 to where the walk starts */
  /* Place index k, which NDR_NODE_INDEX nodes of canonical programs name by `a`, is place_origin[k] where the walk
   * starts, and grows by axis.place[k] along each axis. */
  int place_count;
  int64_t place_origin[NDR_MOST_PLACES];
} ndr_canonical;

/* A problem that has been checked, with the layout of its results: what the canonical form is made from. */
typedef struct ndr_request {
  ndr_problem problem; /* checked; dims are written out, ascending */
  bool reduced[NDR_MAX_DIMS];
  bool partial, merges;         /* as in ndr_canonical */
  bool scattered[NDR_MAX_DIMS]; /* the elements of a reduced dim are placed by a table; at most one dim */
  const ndr_table *table;       /* as in ndr_canonical; not owned */
  int table_dim;                /* the kept dim of the table's groups; -1: there is one group */
  /* The flattened index of argmin and argmax counts in the whole array: its shape, and where this slab of it starts. */
  int64_t whole_shape[NDR_MAX_DIMS], offset[NDR_MAX_DIMS];
  int64_t begin[NDR_MAX_DIMS]; /* where that array begins in a larger one, in which programs count places */
  /* The dims of that array. The problem's dim d lies along its dim along[d], and steps along it by step[d]: only where
   * the problem is a piece of a grouped one (ndr_request_make_piece) is this not dim d by 1. */
  int whole_ndim, along[NDR_MAX_DIMS];
  bool whole_reduced[NDR_MAX_DIMS];
  int64_t step[NDR_MAX_DIMS];
  /* Strides of each result by array dim; entries of reduced dims are ignored. */
  int64_t result_strides[NDR_MAX_OPS][NDR_MAX_DIMS];
  ndr_dtype results[NDR_MAX_OPS]; /* the dtype of each result */
  /* As in ndr_canonical. NDR_NODE_INDEX nodes name a place by `a`, too, which is the index along its dim. */
  const ndr_program *programs[NDR_MAX_OPS];
  struct ndr_program_owner *programs_owner;
  int place_count, place_dims[NDR_MOST_PLACES];
} ndr_request;

/* Copies a caller's struct, whatever its size, and checks its numbers; NULL options are the defaults. out->device
 * points to the caller's, which ndr_device_read reads. Beside a problem, options must not say what is computed. */
ndr_status ndr_options_read(const ndr_options *given, ndr_options *out);
ndr_status ndr_options_read_beside_problem(const ndr_options *given, ndr_options *out);
ndr_status ndr_device_read(const ndr_device *given, ndr_device *device);

/* Copies a caller's problem, whatever its size. Checks nothing else. */
ndr_status ndr_problem_read(const ndr_problem *given, ndr_problem *problem);

/* As ndr_problem_print, for people: of many labels the first ones only. */
size_t ndr_problem_sketch(const ndr_problem *given, char *text, size_t capacity);

/* Checks all members; reduced has NDR_MAX_DIMS entries. Whether operators are defined for the dtypes of the operands is
 * left to ndr_request_make. The layout is all but the operators. */
ndr_status ndr_problem_check(const ndr_problem *problem, bool *reduced);
ndr_status ndr_problem_check_layout(const ndr_problem *problem, bool *reduced);

/* Checks an array's dtype, shape and strides, and copies them into the problem. Missing strides are filled in. */
ndr_status ndr_problem_take_array(ndr_problem *problem, const DLTensor *array);

/* Adds an operand to a struct that has all members. */
ndr_status ndr_problem_take_operand(ndr_problem *problem, ndr_role role, const DLTensor *tensor);

/* The strides of a tensor that has the problem's shape, or broadcasts to it: 0 along dims of size 1. `what` names it.
 */
ndr_status ndr_broadcast_strides(const ndr_problem *problem, const char *what, const DLTensor *tensor,
                                 int64_t *strides);

/* "where", "weights", "with". */
const char *ndr_role_name(ndr_role role);

/* As ndr_problem_make, but into a struct that has all members. */
ndr_status ndr_problem_fill(ndr_problem *problem, const DLTensor *array, int dim_count, const int *dims, int op_count,
                            const ndr_op *ops);

/* The checks that these are made of. */
ndr_status ndr_check_shape(int ndim, const int64_t *shape, size_t element_bytes);

/* Fails if what has that shape, "the array" say, has more than 62 bits of bytes. */
ndr_status ndr_check_bytes(const char *what, int ndim, const int64_t *shape, size_t element_bytes);
ndr_status ndr_check_dims(int ndim, int dim_count, const int *dims, bool *reduced);
/* The bytes from the first to behind the last element must fit in 62 bits, with one more step along every axis:
 * planners may then compute size * stride without a check. `what` names the tensor in errors. */
ndr_status ndr_check_span(const char *what, int ndim, const int64_t *shape, const int64_t *strides, size_t bytes);
/* Checks that a result of `op` over elements of `dtype` has the expected dtype and shape, and no dim that overlaps. */
ndr_status ndr_check_result(const char *op, ndr_dtype dtype, ndr_dtype expected, int ndim, const int64_t *shape,
                            const DLTensor *result);
void ndr_compact_strides(int ndim, const int64_t *shape, int64_t *strides);
/* Makes the strides of dims with fewer than two elements 0. They lead nowhere, and a caller's may be any number, so
 * that products with them overflow. */
void ndr_settle_strides(int ndim, const int64_t *shape, int64_t *strides);

/* Checks the problem, makes its programs and fills in a request with compact results. Free with ndr_request_free. */
ndr_status ndr_request_make(ndr_request *request, const ndr_problem *problem);
void ndr_request_free(ndr_request *request);

/* Another holder of the request's programs and groups, for a copy of the request; free with ndr_request_free. */
void ndr_request_share(const ndr_request *request);

/* Makes the request of a part of `whole`: `problem` differs from its problem in shape and strides only. It uses the
 * programs of `whole`, and is not freed. The operators may have been destroyed since. */
ndr_status ndr_request_make_part(ndr_request *request, const ndr_request *whole, const ndr_problem *problem);

/* Gives the results compact strides. */
void ndr_request_compact_results(ndr_request *request);

/* Makes the request of a piece of the labels of `whole`, without groups: the dims of the labels become up to three, of
 * which the piece's groups are kept. `row` is the number of the first label of the piece's row, and the piece counts
 * from there. Its results are compact if they are partial, else laid out as in the whole. Sets from[k] to the
 * elements from the first of array k to the piece's first. Uses the programs of `whole`, and is not freed. */
ndr_status ndr_request_make_piece(ndr_request *request, const ndr_request *whole, const ndr_piece *piece, int64_t row,
                                  bool partial, int64_t *from);

/* The same of a box of its windows: each of their dims becomes up to two, of which the windows are kept. */
ndr_status ndr_request_make_box(ndr_request *request, const ndr_request *whole, const ndr_box *box, bool partial,
                                int64_t *from);

/* Makes the request of `count` labels of `whole` that lie anywhere in a row, in its place, as ndr_request_make_piece:
 * a piece of one group whose dim is scattered. */
ndr_status ndr_request_make_scattered(ndr_request *request, const ndr_request *whole, int64_t count, int64_t row,
                                      bool partial, int64_t *from);

/* Makes the request of a row of labels of `whole` with a table: as ndr_request_make_piece, of one piece that has all
 * groups. The dim of the groups is kept, and that of `count` labels is scattered. */
ndr_status ndr_request_make_table(ndr_request *request, const ndr_request *whole, const ndr_table *table, int64_t count,
                                  int64_t row, bool partial, int64_t *from);

/* Labels that follow each other along one stride in all arrays of a request with groups: all of them, or a row. */
int64_t ndr_request_label_row(const ndr_request *request);

/* The number, among all labels of the groups, of the first of a row that begins at label `row` of the request. */
int64_t ndr_request_first_label(const ndr_request *request, int64_t row);

/* Whether op i's results differ along dim d, and how many there are: the groups along the first of their dims. */
bool ndr_request_keeps(const ndr_request *request, int d, int64_t *size);

/* Steps of the flattened index of argmin and argmax along the reduced dims of the whole array. */
void ndr_request_index_steps(const ndr_request *request, int64_t *steps);

/* Whether argmin or argmax is asked for. */
bool ndr_request_has_index(const ndr_request *request);

/* Whether the result of op i has a value over no elements. */
bool ndr_request_has_empty(const ndr_request *request, int i);

/* The state layout of op i: that of its results if the problem is a whole. */
ndr_state ndr_request_state(const ndr_request *request, int i);

/* Checks the shapes and dtypes of the results against the request, and copies their strides into it. */
ndr_status ndr_request_results(ndr_request *request, const DLTensor *const *results);

/* Writes the sizes of the result's dims to shape and returns how many there are. */
int ndr_request_result_shape(const ndr_request *request, int64_t *shape);

/* Holds the request's programs; free with ndr_canonical_free. */
ndr_status ndr_canonical_make(ndr_canonical *problem, const ndr_request *request);

/* Another holder of the same programs; each copy of a canonical problem that lives on its own needs one. Free with
 * ndr_canonical_free, which NULL programs allow, too. */
void ndr_canonical_share(const ndr_canonical *problem);
void ndr_canonical_free(ndr_canonical *problem);

/* The dtype of the result of op i, which is finished. */
ndr_dtype ndr_canonical_result(const ndr_canonical *problem, int i);

/* The state layout of op i of the problem. */
ndr_state ndr_canonical_state(const ndr_canonical *problem, int i);

/* Words of the states of `count` ops from number `first` on. */
int ndr_canonical_words(const ndr_canonical *problem, int first, int count);

#endif
