/* Template, part 10: ndr_state_finish in loops that vectorise, which matters where outputs have few elements. */

#define FINISH(type, value)                                                                                            \
  {                                                                                                                    \
    type *to = result;                                                                                                 \
    for (int64_t j = 0; j < count; j++) to[j] = (type)(value);                                                         \
    return;                                                                                                            \
  }
#define S(w) f64_of(states[(w)*pitch + j])
#define MEAN (S(0) / S(1))
#define INDEX (states[pitch + j] == INT64_MAX ? -1 : (int64_t)states[pitch + j]) /* of no element: -1 */
#define VARIANCE (S(0) > 0 ? S(2) / (S(0) > state->ddof ? S(0) - state->ddof : 0) : (double)NAN)

static void finish(const ndr_state *state, const uint64_t *states, int64_t pitch, int64_t step, int64_t count,
                   void *result, int64_t result_step) {
  ndr_dtype dtype = ndr_op_result(state->op, state->dtype);
  bool dense = step == 1 && result_step == 1 && ndr_dtype_class(state->dtype) != NDR_CLASS_COMPLEX;
  bool f32 = dense && dtype == NDR_F32, f64 = dense && dtype == NDR_F64;
  switch (state->op) {
  case NDR_SUM:
  case NDR_PROD:
  case NDR_MIN:
  case NDR_MAX:
  case NDR_NORM1:
  case NDR_NORMINF:
    if (f32) FINISH(float, S(0))
    if (f64) FINISH(double, S(0))
    if (dense && (dtype == NDR_I64 || dtype == NDR_U64)) FINISH(uint64_t, states[j])
    break;
  case NDR_COUNT:
  case NDR_VALID:
    if (dense) FINISH(uint64_t, states[j])
    break;
  case NDR_ARGMIN:
  case NDR_ARGMAX:
    if (dense) FINISH(int64_t, INDEX)
    break;
  case NDR_ANY:
  case NDR_ALL:
    if (dense) FINISH(uint8_t, states[j])
    break;
  case NDR_MEAN:
    if (f32) FINISH(float, MEAN)
    if (f64) FINISH(double, MEAN)
    break;
  case NDR_VAR:
    if (f32) FINISH(float, VARIANCE)
    if (f64) FINISH(double, VARIANCE)
    break;
  case NDR_STD:
  case NDR_NORM2:
  case NDR_LOGSUMEXP:
  case NDR_PTP: break;
  }
  ndr_state_finish(state, states, pitch, step, count, result, result_step);
}

#undef FINISH
#undef INDEX
#undef S
#undef MEAN
#undef VARIANCE
