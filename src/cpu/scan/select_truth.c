/* Which places a mask keeps, or an array that is one: whether its elements are nonzero. */
#include "cpu/scan/select.h"

#define TRUTH(type, is_true)                                                                                           \
  do {                                                                                                                 \
    const type *from = (const type *)(const void *)job->mask + mask;                                                   \
    if (stride == 1)                                                                                                   \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const type x = from[i];                                                                                        \
        kept[i] = is_true;                                                                                             \
      }                                                                                                                \
    else                                                                                                               \
      for (int64_t i = 0; i < count; i++) {                                                                            \
        const type x = from[i * stride];                                                                               \
        kept[i] = is_true;                                                                                             \
      }                                                                                                                \
  } while (0)

/* Of floats -0 is 0, and NaN is not. */
void ndr_select_truth(const ndr_select_job *job, int64_t mask, int64_t stride, int64_t count, uint8_t *kept) {
  switch (job->made->kind == NDR_SELECTION_NONZERO ? job->made->dtype : NDR_BOOL) {
  case NDR_BOOL:
  case NDR_I8:
  case NDR_U8: TRUTH(uint8_t, x != 0); break;
  case NDR_I16:
  case NDR_U16: TRUTH(uint16_t, x != 0); break;
  case NDR_F16:
  case NDR_BF16: TRUTH(uint16_t, (uint16_t)(x << 1) != 0); break;
  case NDR_I32:
  case NDR_U32: TRUTH(uint32_t, x != 0); break;
  case NDR_F32: TRUTH(float, x != 0); break;
  case NDR_I64:
  case NDR_U64: TRUTH(uint64_t, x != 0); break;
  case NDR_F64: TRUTH(double, x != 0); break;
  case NDR_C64: TRUTH(ndr_c64, (x.re != 0) | (x.im != 0)); break;
  case NDR_C128: TRUTH(ndr_c128, (x.re != 0) | (x.im != 0)); break;
  }
}
