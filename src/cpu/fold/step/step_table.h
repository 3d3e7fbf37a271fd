/* The instructions of step.h by kind and dtype, for the table of an instruction set. */
#define BY_SIZE(kind)                                                                                                  \
  [NDR_I8] = step_##kind##_8, [NDR_U8] = step_##kind##_8, [NDR_I16] = step_##kind##_16, [NDR_U16] = step_##kind##_16,  \
  [NDR_I32] = step_##kind##_32, [NDR_U32] = step_##kind##_32, [NDR_I64] = step_##kind##_64,                            \
  [NDR_U64] = step_##kind##_64
#define BY_SIGN(kind)                                                                                                  \
  [NDR_BOOL] = step_##kind##_u8, [NDR_I8] = step_##kind##_i8, [NDR_U8] = step_##kind##_u8,                             \
  [NDR_I16] = step_##kind##_i16, [NDR_U16] = step_##kind##_u16, [NDR_I32] = step_##kind##_i32,                         \
  [NDR_U32] = step_##kind##_u32, [NDR_I64] = step_##kind##_i64, [NDR_U64] = step_##kind##_u64
#define OF_FLOATS(kind) [NDR_F32] = step_##kind##_f32, [NDR_F64] = step_##kind##_f64
#define OF_COMPLEX(kind) [NDR_C64] = step_##kind##_c64, [NDR_C128] = step_##kind##_c128

#define HORNER_ROW(k) [NDR_STEP_HORNER_##k] = {OF_FLOATS(horner_##k)},

#define STEP_TABLE                                                                                                     \
  {                                                                                                                    \
    [NDR_NODE_NEGATE] = {BY_SIZE(negate), OF_FLOATS(negate), OF_COMPLEX(negate)},                                      \
    [NDR_NODE_ABS] = {[NDR_I8] = step_abs_8,   [NDR_I16] = step_abs_16, [NDR_I32] = step_abs_32,                       \
                      [NDR_I64] = step_abs_64, OF_FLOATS(abs),          OF_COMPLEX(abs)},                              \
    [NDR_NODE_NOT] = {[NDR_BOOL] = step_not_bool}, [NDR_NODE_SQRT] = {OF_FLOATS(sqrt)},                                \
    [NDR_NODE_EXP] = {OF_FLOATS(exp)}, [NDR_NODE_LOG] = {OF_FLOATS(log)}, [NDR_NODE_SIN] = {OF_FLOATS(sin)},           \
    [NDR_NODE_COS] = {OF_FLOATS(cos)}, [NDR_NODE_FLOOR] = {OF_FLOATS(floor)},                                          \
    [NDR_NODE_ISNAN] = {OF_FLOATS(isnan), OF_COMPLEX(isnan)}, [NDR_NODE_REAL_PART] = {OF_COMPLEX(real)},               \
    [NDR_NODE_IMAGINARY_PART] = {OF_COMPLEX(imaginary)}, [NDR_NODE_CONJUGATE] = {OF_COMPLEX(conjugate)},               \
    [NDR_NODE_ADD] = {BY_SIZE(add), OF_FLOATS(add), OF_COMPLEX(add)},                                                  \
    [NDR_NODE_SUBTRACT] = {BY_SIZE(subtract), OF_FLOATS(subtract), OF_COMPLEX(subtract)},                              \
    [NDR_NODE_MULTIPLY] = {BY_SIZE(multiply), OF_FLOATS(multiply), OF_COMPLEX(multiply)},                              \
    [NDR_NODE_DIVIDE] = {OF_FLOATS(divide), OF_COMPLEX(divide)}, [NDR_NODE_POWER] = {OF_FLOATS(power)},                \
    [NDR_NODE_MINIMUM] = {BY_SIGN(minimum), OF_FLOATS(minimum)},                                                       \
    [NDR_NODE_MAXIMUM] = {BY_SIGN(maximum), OF_FLOATS(maximum)}, [NDR_NODE_LESS] = {BY_SIGN(less), OF_FLOATS(less)},   \
    [NDR_NODE_LESS_EQUAL] = {BY_SIGN(less_equal), OF_FLOATS(less_equal)},                                              \
    [NDR_NODE_EQUAL] = {[NDR_BOOL] = step_equal_8, BY_SIZE(equal), OF_FLOATS(equal), OF_COMPLEX(equal)},               \
    [NDR_NODE_UNEQUAL] = {[NDR_BOOL] = step_unequal_8, BY_SIZE(unequal), OF_FLOATS(unequal), OF_COMPLEX(unequal)},     \
    [NDR_NODE_AND] = {[NDR_BOOL] = step_and_bool}, [NDR_NODE_OR] = {[NDR_BOOL] = step_or_bool},                        \
    [NDR_STEP_MULTIPLY_ADD] = {OF_FLOATS(multiply_add)},                                                               \
    NDR_EACH_HORNER(HORNER_ROW)[NDR_STEP_SCALE] = {[NDR_C128] = step_scale_c128}, [NDR_NODE_SELECT] = {                \
      [NDR_BOOL] = step_select_8,                                                                                      \
      [NDR_I8] = step_select_8,                                                                                        \
      [NDR_U8] = step_select_8,                                                                                        \
      [NDR_I16] = step_select_16,                                                                                      \
      [NDR_U16] = step_select_16,                                                                                      \
      [NDR_I32] = step_select_32,                                                                                      \
      [NDR_U32] = step_select_32,                                                                                      \
      [NDR_F32] = step_select_32,                                                                                      \
      [NDR_I64] = step_select_64,                                                                                      \
      [NDR_U64] = step_select_64,                                                                                      \
      [NDR_F64] = step_select_64,                                                                                      \
      [NDR_C64] = step_select_64,                                                                                      \
      [NDR_C128] = step_select_128                                                                                     \
    }                                                                                                                  \
  }
