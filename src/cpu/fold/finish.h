/* Template: ndr_state_finish in loops that vectorise, which matters where outputs have few elements. */

#include "cpu/fold/f16.h"

/* The significand cut to 24 bits, of which the last is 1 if anything was cut off: rounding that to a half gives the
 * same as rounding the value once. Not for values that are subnormal in f32. */
static inline float odd_f32(double value) {
  const uint64_t low = (UINT64_C(1) << 29) - 1, bits = word_of(value);
  return (float)f64_of((bits | ((bits & low) + low)) & ~low);
}

static void f16_of_odd(const float *restrict odd, ndr_f16 *restrict to, int64_t count) {
  int64_t i = 0;
#ifdef __F16C__
  const __m256 sign = _mm256_set1_ps(-0.0f), nan = _mm256_set1_ps(NAN);
  for (; i + 8 <= count; i += 8) {
    __m256 v = _mm256_loadu_ps(odd + i);
    v = _mm256_blendv_ps(v, _mm256_or_ps(_mm256_and_ps(v, sign), nan), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    _mm_storeu_si128((__m128i *)(void *)(to + i), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; i++) to[i] = F16_OF((double)odd[i]);
}

static void bf16_of_odd(const float *restrict odd, ndr_bf16 *restrict to, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const uint32_t bits = bits_of(odd[i]), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    const uint32_t nan = (bits >> 16 & 0x8000) | 0x7fc0;
    to[i] = (ndr_bf16)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
  }
}

/* By way of f32, in which blocks with subnormal values would be rounded twice. */
#define FINISH_HALF(type, all, each, value)                                                                            \
  do {                                                                                                                 \
    enum { HALVES = 64 };                                                                                              \
    type *restrict to_ = result;                                                                                       \
    for (int64_t first_ = 0, end_; first_ < count; first_ = end_) {                                                    \
      ALIGNED float odd_[HALVES];                                                                                      \
      uint64_t tiny_ = 0;                                                                                              \
      end_ = lower(first_ + HALVES, count);                                                                            \
      for (int64_t j = first_; j < end_; j++) {                                                                        \
        const double value_ = value;                                                                                   \
        odd_[j - first_] = odd_f32(value_);                                                                            \
        tiny_ |= (fabs(value_) < 0x1p-125) & (value_ != 0);                                                            \
      }                                                                                                                \
      if (tiny_)                                                                                                       \
        for (int64_t j = first_; j < end_; j++) to_[j] = each(value);                                                  \
      else                                                                                                             \
        all(odd_, to_ + first_, end_ - first_);                                                                        \
    }                                                                                                                  \
    return true;                                                                                                       \
  } while (0)
#define FINISH(type, value)                                                                                            \
  do {                                                                                                                 \
    type *restrict to_ = result;                                                                                       \
    for (int64_t j = 0; j < count; j++) to_[j] = value;                                                                \
    return true;                                                                                                       \
  } while (0)
#define FINISH_REAL(value)                                                                                             \
  switch (dtype) {                                                                                                     \
  case NDR_F16: FINISH_HALF(ndr_f16, f16_of_odd, F16_OF, value);                                                       \
  case NDR_BF16: FINISH_HALF(ndr_bf16, bf16_of_odd, BF16_OF, value);                                                   \
  case NDR_F32: FINISH(float, (float)(value));                                                                         \
  default: FINISH(double, value);                                                                                      \
  }
#define FINISH_COMPLEX(re, im)                                                                                         \
  do {                                                                                                                 \
    if (dtype == NDR_C64) FINISH(ndr_c64, ((ndr_c64){(float)(re), (float)(im)}));                                      \
    FINISH(ndr_c128, ((ndr_c128){re, im}));                                                                            \
  } while (0)
/* Minima of no element are limits of the word, and become those of the dtype. */
#define FINISH_INT(type, least, most)                                                                                  \
  FINISH(type, (type)((int64_t)states[j] < (least)  ? (least)                                                          \
                      : (int64_t)states[j] > (most) ? (most)                                                           \
                                                    : (int64_t)states[j]))
#define FINISH_UINT(type, most) FINISH(type, (type)(states[j] > (most) ? (most) : states[j]))

#define S(w) f64_of(states[(w)*pitch + j])
#define INDEX (states[pitch + j] == INT64_MAX ? -1 : (int64_t)states[pitch + j]) /* of no element: -1 */
#define VARIANCE (S(0) > 0 ? S(parts + 1) / (S(0) > state->ddof ? S(0) - state->ddof : 0) : (double)NAN)

/* Values of sum, prod, min and max. */
static bool finish_values(ndr_dtype dtype, const uint64_t *restrict states, int64_t pitch, int64_t count,
                          void *restrict result) {
  switch (dtype) {
  case NDR_BOOL: FINISH_UINT(uint8_t, 1);
  case NDR_U8: FINISH_UINT(uint8_t, UINT8_MAX);
  case NDR_U16: FINISH_UINT(uint16_t, UINT16_MAX);
  case NDR_U32: FINISH_UINT(uint32_t, UINT32_MAX);
  case NDR_I8: FINISH_INT(int8_t, INT8_MIN, INT8_MAX);
  case NDR_I16: FINISH_INT(int16_t, INT16_MIN, INT16_MAX);
  case NDR_I32: FINISH_INT(int32_t, INT32_MIN, INT32_MAX);
  case NDR_I64:
  case NDR_U64: FINISH(uint64_t, states[j]);
  case NDR_F16:
  case NDR_BF16:
  case NDR_F32:
  case NDR_F64: FINISH_REAL(S(0))
  case NDR_C64:
  case NDR_C128: FINISH_COMPLEX(S(0), S(1));
  }
  return false;
}

/* Finishes states that lie one after the other, as their results do; false if there is no loop for them. */
static bool finish_dense(const ndr_state *state, const uint64_t *restrict states, int64_t pitch, int64_t count,
                         void *restrict result) {
  ndr_dtype dtype = ndr_op_result(state->op, state->dtype);
  int parts = ndr_dtype_is_complex(state->dtype) ? 2 : 1;
  switch (state->op) {
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MIN:
  case NDR_MAX: return finish_values(dtype, states, pitch, count, result);
  case NDR_NORM1:
  case NDR_NORMINF: FINISH_REAL(S(0))
  case NDR_NORM2: FINISH_REAL(sqrt(S(0)))
  case NDR_MEAN:
    if (parts == 2) FINISH_COMPLEX(S(0) / S(2), S(1) / S(2));
    FINISH_REAL(S(0) / S(1))
  case NDR_VAR: FINISH_REAL(VARIANCE)
  case NDR_STD: FINISH_REAL(sqrt(VARIANCE))
  case NDR_COUNT:
  case NDR_VALID: FINISH(uint64_t, states[j]);
  case NDR_ARGMIN:
  case NDR_ARGMAX: FINISH(int64_t, INDEX);
  case NDR_ANY:
  case NDR_ALL: FINISH(uint8_t, states[j] != 0);
  case NDR_PTP:
  case NDR_LOGSUMEXP: break;
  }
  return false;
}

#undef FINISH
#undef FINISH_HALF
#undef FINISH_REAL
#undef FINISH_COMPLEX
#undef FINISH_INT
#undef FINISH_UINT
#undef S
#undef INDEX
#undef VARIANCE

#define SCATTER(size)                                                                                                  \
  case size:                                                                                                           \
    for (int64_t j = 0; j < count; j++) memcpy(to + j * step * (size), from + j * (size), size);                       \
    return

/* Copies results that lie one after the other to places `step` apart; complex ones may lie on half their size. */
static void scatter(const char *restrict from, int64_t count, size_t bytes, char *restrict to, int64_t step) {
  switch (bytes) {
    SCATTER(1);
    SCATTER(2);
    SCATTER(4);
    SCATTER(8);
    SCATTER(16);
  }
}
#undef SCATTER

/* Whether a program's results are those of one of its parts, whose loops are here; then *part is that one. */
static bool is_one_part(const ndr_state *state, ndr_state *part, int *before) {
  int only = ndr_program_result_part(state->program);
  if (only < 0) return false;
  *part = ndr_state_part(state, only, before);
  return !part->reliability && !(part->weighted && part->op == NDR_MEAN);
}

/* States or results that lie apart are moved to memory where they lie one after the other, a block at a time. */
static void finish(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                   void *result, int64_t result_step) {
  enum { BLOCK = 128 };
  ALIGNED uint64_t moved[NDR_MAX_WORDS * BLOCK], dense[2 * BLOCK];
  ndr_state part;
  if (state->program) {
    int before;
    if (!is_one_part(state, &part, &before)) {
      ndr_state_finish(state, states, pitch, step, count, result, result_step);
      return;
    }
    state = &part;
    states += before * pitch;
  }
  int words = ndr_state_words(state->op, state->dtype);
  size_t bytes = ndr_dtype_bytes(ndr_op_result(state->op, state->dtype));
  if (step == 1 && result_step == 1) {
    if (!finish_dense(state, states, pitch, count, result))
      ndr_state_finish(state, states, pitch, step, count, result, result_step);
    return;
  }
  for (int64_t done = 0, some; done < count; done += some) {
    some = count - done < BLOCK ? count - done : BLOCK;
    char *to = (char *)result + done * result_step * (int64_t)bytes;
    for (int w = 0; w < words; w++)
      for (int64_t j = 0; j < some; j++) moved[w * BLOCK + j] = states[w * pitch + (done + j) * step];
    if (finish_dense(state, moved, BLOCK, some, result_step == 1 ? (void *)to : dense)) {
      if (result_step != 1) scatter((const char *)dense, some, bytes, to, result_step);
      continue;
    }
    ndr_state_finish(state, moved, BLOCK, 1, some, to, result_step);
  }
}
