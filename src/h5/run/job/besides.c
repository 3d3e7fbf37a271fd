/* See besides.h: which arrays there are, and weights. Along which dims they lie is found in pair.c, how in lay.c;
 * conditions are in condition.c. */
#include "h5/run/job/besides.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/sized.h"
#include "h5/run/job/condition.h"
#include "h5/run/job/host.h"
#include "h5/run/job/pair.h"
#include "h5/structure/structure.h"
#include "ndreduce/operator.h"

/* ---- Which there are --------------------------------------------------------------------------------------------- */

/* An operand that the caller gives, after its struct has been read. */
static ndr_status check_operand(const ndr_h5_operand *given, bool for_condition, char *what) {
  static const char *const roles[] = {"where", "weights", "with"};
  if ((int)given->role < NDR_WHERE || (int)given->role > NDR_WITH)
    return ndr_fail(NDR_ERR_ARGUMENT, "unknown role number %d", (int)given->role);
  if (!given->dataset == !given->tensor)
    return ndr_fail(NDR_ERR_ARGUMENT, "operand %s: has a dataset or a tensor, not both", roles[given->role]);
  const char *name = given->dataset ? given->dataset->where : given->name ? given->name : "";
  snprintf(what, NDR_PAIR_TEXT, "operand %s%s%.300s", roles[for_condition ? NDR_WHERE : given->role], *name ? " " : "",
           name);
  return NDR_OK;
}

static ndr_status take_tensor(ndr_beside *array, const DLTensor *tensor, const char *what) {
  NDR_TRY(ndr_host_check(tensor, what, &array->dtype));
  if (tensor->strides) return ndr_fail(NDR_ERR_ARGUMENT, "%s: not compact, there are strides", what);
  array->ndim = tensor->ndim;
  for (int i = 0; i < tensor->ndim; i++) array->shape[i] = tensor->shape[i];
  array->memory = tensor->data ? ndr_host_address(tensor) : "";
  array->once = true;
  return NDR_OK;
}

static ndr_status take_dataset(ndr_beside *array, const ndr_h5_dataset *dataset) {
  array->dataset = dataset;
  array->ndim = dataset->info.ndim;
  memcpy(array->shape, dataset->info.shape, sizeof array->shape);
  array->dtype = dataset->info.dtype;
  return ndr_hdf_check_numbers(dataset);
}

/* `options` are those of the reduction; of weights that they have themselves NULL. */
static ndr_status add_array(ndr_besides *operands, const ndr_h5_dataset *dataset, const ndr_h5_operand *given,
                            const ndr_h5_options *options, bool for_condition) {
  char what[NDR_PAIR_TEXT];
  if (operands->array_count == NDR_MOST_BESIDES)
    return ndr_fail(NDR_ERR_ARGUMENT, "more than %d arrays beside the dataset, those that a condition names included",
                    NDR_MOST_BESIDES);
  ndr_beside *array = &operands->arrays[operands->array_count];
  *array = (ndr_beside){.dataset = NULL};
  NDR_TRY(check_operand(given, for_condition, what));
  operands->names[operands->array_count++] = given->name;
  if (given->dataset)
    NDR_TRY(take_dataset(array, given->dataset));
  else
    NDR_TRY(take_tensor(array, given->tensor, what));
  const ndr_h5_groups *groups = given->groups, *reduced = options ? options->groups : NULL;
  bool *needs_groups = options && options->needs_groups ? &operands->needs_groups : NULL;
  bool left_out = groups && reduced && reduced->how == NDR_GROUPING_TIME && reduced->dim == groups->dim;
  return ndr_pair(array, dataset, &(ndr_pairing){given->dims, groups, left_out, what, needs_groups});
}

/* The problem reads an operand more: the array, or what a condition computes. */
static ndr_status add_operand(ndr_besides *operands, ndr_role role, int array, ndr_dtype dtype) {
  if (operands->count == NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "more than %d arrays beside the dataset, a mask or condition included",
                    NDR_MAX_OPERANDS);
  operands->sources[operands->count] = array;
  operands->problem[operands->count++] = (ndr_operand){.role = role, .dtype = dtype};
  return NDR_OK;
}

static ndr_status add_mask(ndr_besides *operands) {
  int array = operands->array_count - 1;
  const ndr_beside *mask = &operands->arrays[array];
  if (mask->dtype == NDR_BOOL) return add_operand(operands, NDR_WHERE, array, NDR_BOOL);
  NDR_TRY(ndr_condition_of_mask(operands, array));
  return add_operand(operands, NDR_WHERE, NDR_COMPUTED, NDR_BOOL);
}

static ndr_status add_weights(ndr_besides *operands) {
  ndr_beside *weights = &operands->arrays[operands->array_count - 1];
  if (weights->dtype == NDR_C64 || weights->dtype == NDR_C128)
    return ndr_fail(NDR_ERR_DTYPE, "operand weights: complex numbers are no weights");
  if (!weights->dataset && weights->dtype != NDR_F64)
    return ndr_fail(NDR_ERR_ARGUMENT, "weights are not compact f64 in host memory");
  if (operands->weights >= 0) return ndr_fail(NDR_ERR_ARGUMENT, "there are two operands with the role weights");
  weights->dtype = NDR_F64;
  operands->weights = operands->array_count - 1;
  return add_operand(operands, NDR_WEIGHTS, operands->weights, NDR_F64);
}

/* How many arrays beside the dataset the operators read. */
static int arrays_read(const ndr_problem *problem) {
  int most = 0;
  for (int i = 0; i < problem->op_count; i++) {
    int count = ndr_operator_arrays(problem->ops[i]) - 1;
    if (count > most) most = count;
  }
  return most;
}

/* Whether an operator reads array number `array`, rather than only naming it. */
static bool is_read(const ndr_problem *problem, int array) {
  for (int i = 0; i < problem->op_count; i++)
    if (ndr_operator_reads(problem->ops[i], array)) return true;
  return false;
}

/* Whether an operator adds, subtracts or compares it and the dataset. */
static bool is_mixed(const ndr_problem *problem, int array) {
  for (int i = 0; i < problem->op_count; i++)
    if (ndr_operator_mixes(problem->ops[i], array)) return true;
  return false;
}

/* Arrays with the role NDR_WITH beyond those that are wanted belong to the condition. */
static ndr_status add_roles(ndr_besides *operands, const ndr_h5_dataset *dataset, const ndr_h5_options *options,
                            ndr_role role, int wanted, int *found) {
  for (int i = 0; i < options->operand_count; i++) {
    ndr_h5_operand given;
    if (!options->operands || !options->operands[i])
      return ndr_fail(NDR_ERR_ARGUMENT, "operand %d is a null pointer", i);
    NDR_TRY(ndr_sized_read(options->operands[i], &given, sizeof given, "operand", "NDR_H5_OPERAND_INIT"));
    bool strange = (int)given.role < NDR_WHERE || (int)given.role > NDR_WITH;
    if (given.role != role && !(strange && role == NDR_WHERE)) continue;
    bool for_condition = options->where && role == NDR_WITH && *found >= wanted;
    ndr_status status = add_array(operands, dataset, &given, options, for_condition);
    if (operands->needs_groups) *options->needs_groups = i;
    if (status != NDR_OK) return status;
    ++*found;
    if (role == NDR_WHERE && *found > 1)
      return ndr_fail(NDR_ERR_ARGUMENT, "there are two operands with the role where");
    if (role == NDR_WHERE) NDR_TRY(add_mask(operands));
    if (role == NDR_WEIGHTS) NDR_TRY(add_weights(operands));
  }
  return NDR_OK;
}

static ndr_status add_own_weights(ndr_besides *operands, const ndr_h5_dataset *dataset, const ndr_h5_options *options) {
  ndr_h5_operand given = NDR_H5_OPERAND_INIT;
  if (!options->weights) return NDR_OK;
  if (options->weights->strides) return ndr_fail(NDR_ERR_ARGUMENT, "weights are not compact f64 in host memory");
  given.role = NDR_WEIGHTS;
  given.tensor = options->weights;
  given.dims = options->weight_dims;
  if (!given.dims) return ndr_fail(NDR_ERR_DIMS, "the weights have no dims: weight_dims is a null pointer");
  NDR_TRY(add_array(operands, dataset, &given, NULL, false));
  return add_weights(operands);
}

static const char *units_of(const ndr_h5_dataset *dataset) {
  const char *units = dataset->info.units;
  units = units ? units + strspn(units, " ") : "";
  return *units ? units : NULL;
}

/* Not a failure: a formula may mix units on purpose. Only rank 0 says it. */
static void remark_units(const ndr_h5_dataset *dataset, const ndr_h5_dataset *array) {
  const char *own = units_of(dataset), *other = array ? units_of(array) : NULL;
  if (!own || !other || dataset->raw || strcmp(own, other) == 0) return;
  if (dataset->structure && dataset->structure->comm->rank > 0) return;
  ndr_remarks remarks = array->remarks;
  ndr_hdf_scope scope;
  remarks.told = NULL;
  ndr_hdf_enter(&scope, dataset->no_plugins);
  ndr_remark(&remarks, "%s: its units are '%.80s', those of %s are '%.80s', and both are taken as they are",
             array->where, other, dataset->where, own);
  ndr_hdf_leave(&scope);
  ndr_remarks_free(&remarks);
}

/* The arrays of operators are the first that are given; those that only a condition names may follow. */
static ndr_status add_with(ndr_besides *operands, const ndr_h5_dataset *dataset, const ndr_problem *problem,
                           const ndr_h5_options *options) {
  int first = operands->array_count, wanted = arrays_read(problem), found = 0;
  NDR_TRY(add_roles(operands, dataset, options, NDR_WITH, wanted, &found));
  if (found < wanted)
    return ndr_fail(NDR_ERR_ARGUMENT, "an operator reads %d array%s beside the dataset, and %d %s given", wanted,
                    NDR_PLURAL(wanted), found, found == 1 ? "is" : "are");
  for (int i = first; i < operands->array_count; i++) {
    const ndr_beside *array = &operands->arrays[i];
    if (i - first >= wanted && !(options->where && operands->names[i]))
      return ndr_fail(NDR_ERR_ARGUMENT, "no operator reads operand with %d", i - first);
    if (i - first >= wanted) continue;
    NDR_TRY(add_operand(operands, NDR_WITH, i, array->dtype));
    if (!is_read(problem, i - first + 1)) continue;
    operands->masked |= array->dataset && array->dataset->info.masked;
    if (is_mixed(problem, i - first + 1)) remark_units(dataset, array->dataset);
  }
  return NDR_OK;
}

static ndr_status make(ndr_besides *operands, const ndr_h5_dataset *dataset, const ndr_problem *problem,
                       const ndr_h5_options *options) {
  int masks = 0, weights = 0;
  if (options->operand_count < 0) return ndr_fail(NDR_ERR_ARGUMENT, "operand_count is %d", options->operand_count);
  NDR_TRY(add_roles(operands, dataset, options, NDR_WHERE, 1, &masks));
  if (options->where && masks) return ndr_fail(NDR_ERR_ARGUMENT, "where is given as a condition and as an operand");
  if (options->where) NDR_TRY(add_operand(operands, NDR_WHERE, NDR_COMPUTED, NDR_BOOL));
  NDR_TRY(add_own_weights(operands, dataset, options));
  NDR_TRY(add_roles(operands, dataset, options, NDR_WEIGHTS, 1, &weights));
  NDR_TRY(add_with(operands, dataset, problem, options));
  if (!options->where) return NDR_OK;
  NDR_TRY(ndr_condition_parse(operands, options->where, &dataset->info));
  const ndr_condition *c = &operands->condition;
  for (int i = 0; i < c->count && c->of_elements; i++)
    if (ndr_operator_mixes(c->op, i + 1)) remark_units(dataset, operands->arrays[c->arrays[i]].dataset);
  return NDR_OK;
}

ndr_status ndr_besides_make(ndr_besides **made, const ndr_h5_dataset *dataset, const ndr_problem *problem,
                            const ndr_h5_options *options) {
  ndr_besides *operands = *made = calloc(1, sizeof *operands);
  if (!operands) return ndr_fail(NDR_ERR_MEMORY, "out of memory");
  operands->weights = -1;
  return make(operands, dataset, problem, options);
}

void ndr_besides_free(ndr_besides *operands) {
  if (!operands) return;
  if (operands->condition.op) ndr_operator_destroy(operands->condition.op);
  for (int i = 0; i < operands->array_count; i++) ndr_beside_close(&operands->arrays[i]);
  free(operands);
}

/* ---- Weights ----------------------------------------------------------------------------------------------------- */

static ndr_status refuse_weight(const ndr_beside *array, const ndr_beside_box *box, int64_t i, double weight) {
  char index[24 * NDR_MAX_DIMS] = "";
  int64_t inner = 1;
  for (int d = 0; d < array->ndim; d++) inner *= box->size[d];
  for (int d = 0, length = 0; d < array->ndim; d++) {
    inner /= box->size[d];
    long long at = box->begin[d] + i / inner % box->size[d];
    length += snprintf(index + length, sizeof index - (size_t)length, "%s%lld", d ? ", " : "", at);
  }
  if (!array->dataset && array->ndim <= 1)
    return ndr_fail(NDR_ERR_ARGUMENT, "weight %s is %.9g: weights are finite and not negative", index, weight);
  return ndr_fail(NDR_ERR_ARGUMENT,
                  "operand weights%s%s: %.9g at [%s] is no weight: weights are finite and not negative",
                  array->dataset ? " " : "", array->dataset ? array->dataset->where : "", weight, index);
}

/* What is missing weighs nothing, as an area on land has it. */
ndr_status ndr_besides_weigh(ndr_besides *operands, const ndr_slab *slab, double *weights) {
  const ndr_beside *array = &operands->arrays[operands->weights];
  bool masked = array->dataset && array->dataset->info.masked, any = false;
  ndr_beside_box box = ndr_beside_find(array, slab);
  int64_t count = ndr_beside_elements(array, &box);
  for (int64_t i = 0; i < count; i++) {
    if (masked && isnan(weights[i])) weights[i] = 0;
    if (!(weights[i] >= 0 && isfinite(weights[i]))) return refuse_weight(array, &box, i, weights[i]);
    any |= weights[i] > 0;
  }
  if (any || count == 0) atomic_store(&operands->has_weight, true);
  return NDR_OK;
}

/* Of an array in memory, where nothing is written. */
static ndr_status look_at_weights(ndr_besides *operands) {
  ndr_beside *array = &operands->arrays[operands->weights];
  ndr_slab all = {.part = 0};
  for (int i = 0; i < array->ndim; i++)
    if (array->dims[i] >= 0) all.size[array->dims[i]] = array->shape[i];
  NDR_TRY(ndr_besides_weigh(operands, &all, (double *)(uintptr_t)array->memory));
  return ndr_besides_check_weights(operands);
}

ndr_status ndr_besides_load(ndr_besides *operands) {
  for (int i = 0; operands && i < operands->array_count; i++)
    if (operands->arrays[i].once && !operands->arrays[i].memory) NDR_TRY(ndr_beside_load(&operands->arrays[i]));
  if (!operands || operands->weights < 0 || !operands->arrays[operands->weights].once) return NDR_OK;
  return look_at_weights(operands);
}

bool ndr_besides_weighed(const ndr_besides *operands) {
  return !operands || operands->weights < 0 || atomic_load(&operands->has_weight);
}

ndr_status ndr_besides_check_weights(const ndr_besides *operands) {
  if (ndr_besides_weighed(operands)) return NDR_OK;
  const ndr_beside *array = &operands->arrays[operands->weights];
  if (!array->dataset) return ndr_fail(NDR_ERR_ARGUMENT, "all weights are 0");
  return ndr_fail(NDR_ERR_ARGUMENT, "operand weights %s: all weights are 0", array->dataset->where);
}
