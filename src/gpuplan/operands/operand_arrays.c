/* The arrays of a problem that reads several: their strides, their chunks and the ways to read them. */
#include "gpuplan/operands/operand_arrays.h"

#include <stdlib.h>

#include "gpuplan/operands/operands.h"

bool ndr_operands_needed(const ndr_canonical *problem) {
  return problem->operand_count > 0 || problem->place_count > 0 || problem->table;
}

int ndr_count_arrays(const ndr_canonical *problem) {
  return 1 + problem->operand_count;
}

int64_t ndr_array_bytes(const ndr_canonical *problem, int k) {
  return (int64_t)ndr_dtype_bytes(k == 0 ? problem->dtype : problem->operand_dtypes[k - 1]);
}

int64_t ndr_stride_of(const ndr_axis *axis, int k) {
  return k == 0 ? axis->stride : axis->operand[k - 1];
}

/* Axis number a of the problem: kept, then reduced. */
static const ndr_axis *axis_of(const ndr_canonical *problem, int a) {
  return a < problem->kept_count ? &problem->kept[a] : &problem->reduced[a - problem->kept_count];
}

int ndr_count_axes(const ndr_canonical *problem) {
  return problem->kept_count + problem->reduced_count;
}

/* An axis of one element, for problems that reduce none. */
static const ndr_axis one_element = {.size = 1};

const ndr_axis *ndr_run_axis(const ndr_canonical *problem) {
  return problem->reduced_count ? &problem->reduced[0] : &one_element;
}

int ndr_find_decider(const ndr_canonical *problem, const ndr_axis *along) {
  int widest = -1;
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if (ndr_stride_of(along, k) == 1 && (widest < 0 || ndr_array_bytes(problem, k) > ndr_array_bytes(problem, widest)))
      widest = k;
  for (int k = 0; widest >= 0 && k < ndr_count_arrays(problem); k++)
    if (llabs(ndr_stride_of(along, k)) > 1 && ndr_array_bytes(problem, k) >= ndr_array_bytes(problem, widest))
      widest = -1;
  return widest;
}

/* Whether strides of array k along all axes but `along` are multiples of `elements`; with `less` not negative, the
 * differences from those of array `less`. */
static bool strides_divide(const ndr_canonical *problem, const ndr_axis *along, int k, int less, int64_t elements) {
  for (int a = 0; a < ndr_count_axes(problem); a++) {
    const ndr_axis *axis = axis_of(problem, a);
    int64_t stride = ndr_stride_of(axis, k) - (less < 0 ? 0 : ndr_stride_of(axis, less));
    if (axis != along && stride % elements) return false;
  }
  return true;
}

/* Whether others than one thread read the same elements of array k. */
static bool is_read_again(const ndr_canonical *problem, int k) {
  for (int a = 0; a < ndr_count_axes(problem); a++)
    if (ndr_stride_of(axis_of(problem, a), k) == 0) return true;
  return false;
}

int ndr_aligned_elements(const ndr_canonical *problem, const ndr_axis *along) {
  int decider = ndr_find_decider(problem, along);
  int64_t elements = decider < 0 ? 1 : NDR_VECTOR_BYTES / ndr_array_bytes(problem, decider);
  while (elements > 1 && (along->size % elements || !strides_divide(problem, along, decider, -1, elements)))
    elements /= 2;
  return (int)elements;
}

unsigned ndr_ways_along(const ndr_canonical *problem, const ndr_axis *along, const ndr_axis *walked, int elements,
                        bool peeled) {
  unsigned ways = 0;
  int decider = ndr_find_decider(problem, along);
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    bool dense = ndr_stride_of(along, k) == 1, whole = peeled || along->size % elements == 0;
    bool aligned = elements == 1 || (whole && strides_divide(problem, along, k, peeled ? decider : -1, elements));
    unsigned way = !dense ? NDR_WAY_ELEMENTS : aligned ? NDR_WAY_VECTOR : NDR_WAY_SHIFTED;
    if (ndr_stride_of(along, k) == 0) way = NDR_WAY_SAME;
    if (walked && ndr_stride_of(walked, k) == 0) way |= NDR_WAY_FIXED;
    if (is_read_again(problem, k)) way |= NDR_WAY_AGAIN;
    ways |= way << (NDR_WAY_BITS * k);
  }
  return ways;
}

int64_t ndr_chunk_bytes(const ndr_canonical *problem, const ndr_axis *along, int64_t elements) {
  int64_t bytes = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if (ndr_stride_of(along, k) != 0) bytes += elements * ndr_array_bytes(problem, k);
  return bytes > 0 ? bytes : 1;
}

/* Of `steps` chunks of all arrays that are loaded again for each row: bytes that come from memory, and registers. */
static void count_chunk(const ndr_canonical *problem, unsigned ways, int elements, int steps, int *bytes,
                        int *registers) {
  *bytes = *registers = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++) {
    unsigned way = NDR_WAY_OF(ways, k), kind = way & 3;
    int size = (int)ndr_array_bytes(problem, k), words = (size + 3) / 4;
    if (way & NDR_WAY_FIXED) continue;
    if (!(way & NDR_WAY_AGAIN)) *bytes += (kind == NDR_WAY_SAME ? 1 : steps * elements) * size;
    *registers += kind == NDR_WAY_SAME       ? words
                  : kind == NDR_WAY_ELEMENTS ? steps * elements * words
                                             : steps * (kind == NDR_WAY_SHIFTED ? 2 : 1) * ((elements * size + 3) / 4);
  }
}

int ndr_fresh_bytes(const ndr_canonical *problem, unsigned ways, int elements) {
  int bytes, registers;
  count_chunk(problem, ways, elements, 1, &bytes, &registers);
  return bytes > 0 ? bytes : 1;
}

int ndr_chunk_registers(const ndr_canonical *problem, unsigned ways, int elements) {
  int bytes, registers;
  count_chunk(problem, ways, elements, 1, &bytes, &registers);
  return registers > 0 ? registers : 1;
}

bool ndr_shifts_fresh(const ndr_canonical *problem, unsigned ways) {
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if ((NDR_WAY_OF(ways, k) & (3 | NDR_WAY_AGAIN)) == NDR_WAY_SHIFTED) return true;
  return false;
}

_Static_assert(NDR_WAY_BITS *NDR_MOST_ARRAYS <= 28,
               "NDR_WAYS_TWICE, _OWN_RUNS, _WHOLE and _PAIRS are ways of no array");

int ndr_count_batch(const ndr_canonical *problem, unsigned ways, int elements, int steps) {
  int bytes, registers, batch = 1, enough = NDR_FLIGHT_BYTES(ways, steps);
  count_chunk(problem, ways, elements, steps, &bytes, &registers);
  while (batch < NDR_LOADS_OPERANDS_RUNS && batch * bytes < enough && 2 * batch * registers <= NDR_FLIGHT_REGISTERS)
    batch *= 2;
  return batch;
}

/* Registers of an accumulator: two for each word of the state, but mostly one if elements have up to 32 bits. Weighted
 * accumulators are f64, and those of moments have a pivot besides. */
static int part_registers(const ndr_canonical *problem, ndr_op op, ndr_dtype dtype, bool weighted) {
  int words = ndr_state_words(op, dtype), value_words = ndr_dtype_is_complex(dtype) ? 2 : 1;
  bool moments = words > value_words + 1;
  if (weighted) return 2 * (words + (moments ? value_words : 0));
  bool narrow =
      ndr_dtype_is_float(dtype) && ndr_dtype_bytes(dtype) <= 4 * (size_t)value_words && !problem->accumulate_f64;
  return narrow ? words : 2 * words;
}

int ndr_count_registers(const ndr_canonical *problem) {
  int registers = 0;
  for (int i = 0; i < problem->op_count; i++) {
    const ndr_program *program = problem->programs[i];
    if (!program) registers += part_registers(problem, problem->ops[i], problem->dtype, false);
    for (int k = 0; program && k < program->part_count; k++) {
      const ndr_part *part = &program->parts[k];
      registers += part_registers(problem, part->op, program->nodes[part->value].dtype, part->weight >= 0);
    }
  }
  return registers;
}

bool ndr_has_weights(const ndr_canonical *problem) {
  for (int i = 0; i < problem->op_count; i++)
    for (int k = 0; problem->programs[i] && k < problem->programs[i]->part_count; k++)
      if (problem->programs[i]->parts[k].weight >= 0) return true;
  return false;
}

/* Registers of a thread of operands_columns, without those of its loads. */
static int column_registers(const ndr_canonical *problem, int accumulators) {
  enum { OTHERS = 28, WALK = 12, WEIGHTED = 12 /* terms in f64 */ };
  int registers = OTHERS + accumulators * ndr_count_registers(problem) * 3 / 2;
  if (problem->reduced_count > 1) registers += WALK;
  if (ndr_has_weights(problem)) registers += WEIGHTED;
  return registers;
}

/* Registers of a chunk of the arrays that are shifted into place, after the shift: half of what was loaded. */
static int shifted_registers(const ndr_canonical *problem, unsigned ways, int elements) {
  int registers = 0;
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if ((NDR_WAY_OF(ways, k) & 7) == NDR_WAY_SHIFTED)
      registers += (elements * (int)ndr_array_bytes(problem, k) + 3) / 4;
  return registers;
}

/* Registers of the arrays that are the same for all outputs of operands_rows: of all of a lane's elements if it keeps
 * them, otherwise of those that are folded together. Each takes somewhat more than its own, because values are
 * converted on their way (fitted, as RUN_REGISTERS is). */
static int fixed_registers(const ndr_canonical *problem, const ndr_launch *launch) {
  int elements = launch->operands.elements * launch->operands.steps, registers = 0;
  if (launch->kernel != NDR_KERNEL_OPERANDS_ROWS) return 0;
  if (elements > NDR_KEPT_ELEMENTS) elements = NDR_KEPT_ELEMENTS;
  for (int k = 0; k < ndr_count_arrays(problem); k++)
    if (NDR_WAY_OF(launch->operands.ways, k) & NDR_WAY_FIXED)
      registers += elements * ((int)ndr_array_bytes(problem, k) + 3) / 4;
  return registers;
}

int ndr_row_chunks(const ndr_launch *launch) {
  return launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS ? launch->operands.steps : 1;
}

int ndr_rows_in_flight(const ndr_canonical *problem, const ndr_launch *launch) {
  const int chunks = ndr_row_chunks(launch), rows = launch->operands.steps / chunks; /* of a short run */
  const int batch = ndr_count_batch(problem, launch->operands.ways, launch->operands.elements, chunks);
  return batch > rows ? batch : rows;
}

/* Bytes and registers of all that a thread has in flight; registers after shifted chunks were put into place. */
static void count_flight(const ndr_canonical *problem, const ndr_launch *launch, int *bytes, int *registers) {
  const unsigned ways = launch->operands.ways;
  const int elements = launch->operands.elements, rows = ndr_rows_in_flight(problem, launch);
  count_chunk(problem, ways, elements, ndr_row_chunks(launch), bytes, registers);
  *bytes *= rows;
  *registers = rows * (*registers - shifted_registers(problem, ways, elements));
  *registers += fixed_registers(problem, launch);
}

int ndr_operands_registers(const ndr_canonical *problem, const ndr_launch *launch, int accumulators) {
  enum { RUN_REGISTERS = 40 }; /* of a thread that reduces runs; fitted as column_registers is */
  int bytes, registers;
  count_flight(problem, launch, &bytes, &registers);
  if (launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS) return registers + column_registers(problem, accumulators);
  return registers + RUN_REGISTERS + accumulators * ndr_count_registers(problem);
}

void ndr_operands_begin(const ndr_canonical *problem, ndr_launch *launch, int accumulators) {
  /* The time that a block takes to start and end, as bytes: fitted to an H200 and to what nvcc 13 makes for it. */
  enum { BLOCK_BYTES = 24 << 10, WORD_BYTES = 9 << 10 };
  bool columns = launch->kernel == NDR_KERNEL_OPERANDS_COLUMNS; /* whose blocks join each of a thread's accumulators */
  int registers = ndr_operands_registers(problem, launch, accumulators), bytes, of_flight;
  count_flight(problem, launch, &bytes, &of_flight);
  launch->words = ndr_canonical_words(problem, 0, problem->op_count);
  launch->block_bytes = BLOCK_BYTES;
  if (columns || ndr_has_weights(problem)) launch->block_bytes += (double)accumulators * launch->words * WORD_BYTES;
  launch->blocks = registers <= ndr_block_registers(4) ? 4 : registers <= ndr_block_registers(3) ? 3 : 2;
  if (launch->blocks < 4 && launch->blocks * bytes < NDR_ENOUGH_BYTES && registers <= 88) launch->blocks++;
}

int ndr_power_from(int64_t least, int most) {
  int count = 1;
  while (count < most && count < least) count *= 2;
  return count;
}
