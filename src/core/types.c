/* Facts about single dtypes and operators. Arrays are checked in request/check.c. */
#include "core/types.h"

#include <math.h>
#include <string.h>

#include "core/own_ops.h"

typedef enum result_rule { RESULT_SUM, RESULT_SAME, RESULT_MEAN, RESULT_REAL, RESULT_INDEX, RESULT_TRUTH } result_rule;
typedef enum empty_rule { EMPTY_VALUE, EMPTY_ERROR } empty_rule;
typedef enum op_domain { DOMAIN_ANY, DOMAIN_ORDERED } op_domain;
typedef enum scan_rule { SCAN_SCANS, SCAN_NONE } scan_rule;
typedef enum weights_rule { WEIGHTS_UNWEIGHTED, WEIGHTS_WEIGHTED, WEIGHTS_BESIDE } weights_rule;

typedef struct dtype_facts {
  const char *name;
  uint8_t bytes, dlpack_code;
  ndr_class class;
} dtype_facts;

static const dtype_facts dtypes[NDR_DTYPE_COUNT] = {
#define DTYPE(NAME, value, name, ctype, bytes, class, code) [value] = {#name, bytes, code, NDR_CLASS_##class},
#include "spec/dtypes.def"
#undef DTYPE
};

typedef struct op_facts {
  const char *name, *help;
  result_rule result;
  empty_rule empty;
  op_domain domain;
  ndr_combine combine;
  weights_rule weights;
  scan_rule scan;
} op_facts;

static const op_facts ops[NDR_OP_COUNT] = {
#define OP(NAME, value, name, result, empty, domain, combine, words, kernel, finalize, cost, weights, nothing, scan,   \
           units, method, what)                                                                                        \
  [value] = {                                                                                                          \
      #name,      what, RESULT_##result, EMPTY_##empty, DOMAIN_##domain, NDR_COMBINE_##combine, WEIGHTS_##weights,     \
      SCAN_##scan},
#include "spec/ops.def"
#undef OP
};

/* What holds for an operator of one's own in the place of a built-in one's row. Its program says what its results are.
 */
static const op_facts own_facts = {NULL,       "operator of one's own", RESULT_SAME,        EMPTY_VALUE,
                                   DOMAIN_ANY, NDR_COMBINE_ADD,         WEIGHTS_UNWEIGHTED, SCAN_SCANS};

static bool is_built_in(ndr_op op) {
  return (unsigned)op < NDR_OP_COUNT;
}

static const op_facts *facts_of(ndr_op op) {
  return is_built_in(op) ? &ops[op] : &own_facts;
}

/* The public header writes the enumerators out for the reader; these assertions compare them with the tables. */
#define DTYPE(NAME, value, name, ctype, bytes, class, code)                                                            \
  _Static_assert((int)NDR_##NAME == (value) && sizeof(ctype) == (bytes), #name);
#include "spec/dtypes.def"
#undef DTYPE
#define OP(NAME, value, ...) _Static_assert((int)NDR_##NAME == (value), #NAME);
#include "spec/ops.def"
#undef OP
_Static_assert(NDR_MAX_OPS >= NDR_OP_COUNT, "all operators fit in one call");

bool ndr_dtype_valid(ndr_dtype dtype) {
  return (unsigned)dtype < NDR_DTYPE_COUNT;
}

bool ndr_op_valid(ndr_op op) {
  return is_built_in(op) || ndr_own_op_name(op) != NULL;
}

ndr_class ndr_dtype_class(ndr_dtype dtype) {
  return dtypes[dtype].class;
}

bool ndr_dtype_is_float(ndr_dtype dtype) {
  return dtypes[dtype].class == NDR_CLASS_FLOAT || dtypes[dtype].class == NDR_CLASS_COMPLEX;
}

bool ndr_dtype_is_integer(ndr_dtype dtype) {
  return !ndr_dtype_is_float(dtype);
}

bool ndr_dtype_is_signed(ndr_dtype dtype) {
  return dtypes[dtype].class == NDR_CLASS_INT;
}

bool ndr_dtype_is_complex(ndr_dtype dtype) {
  return dtypes[dtype].class == NDR_CLASS_COMPLEX;
}

ndr_dtype ndr_dtype_real(ndr_dtype dtype) {
  return dtype == NDR_C64 ? NDR_F32 : dtype == NDR_C128 ? NDR_F64 : dtype;
}

ndr_dtype ndr_dtype_widest(ndr_dtype dtype) {
  switch (dtypes[dtype].class) {
  case NDR_CLASS_INT: return NDR_I64;
  case NDR_CLASS_BOOL:
  case NDR_CLASS_UINT: return NDR_U64;
  case NDR_CLASS_FLOAT: return NDR_F64;
  case NDR_CLASS_COMPLEX: break;
  }
  return NDR_C128;
}

size_t ndr_dtype_alignment(ndr_dtype dtype) {
  return ndr_dtype_is_complex(dtype) ? dtypes[dtype].bytes / 2u : dtypes[dtype].bytes;
}

const char *ndr_device_type_name(DLDeviceType type) {
  switch (type) {
  case kDLCPU: return "cpu";
  case kDLCUDA: return "cuda";
  case kDLCUDAHost: return "cuda_host";
  case kDLOpenCL: return "opencl";
  case kDLVulkan: return "vulkan";
  case kDLMetal: return "metal";
  case kDLVPI: return "vpi";
  case kDLROCM: return "rocm";
  case kDLROCMHost: return "rocm_host";
  case kDLExtDev: return "ext_dev";
  case kDLCUDAManaged: return "cuda_managed";
  default: return "unknown";
  }
}

/* Each name with a comma before it. */
static const char dtype_list[] =
#define DTYPE(NAME, value, name, ctype, bytes, class, code) ", " #name
#include "spec/dtypes.def"
#undef DTYPE
    ;
static const char op_list[] =
#define OP(NAME, value, name, ...) ", " #name
#include "spec/ops.def"
#undef OP
    ;

const char *ndr_dtype_names(void) {
  return dtype_list + 2;
}

const char *ndr_op_names(void) {
  return op_list + 2;
}

const char *ndr_dtype_name(ndr_dtype dtype) {
  return ndr_dtype_valid(dtype) ? dtypes[dtype].name : NULL;
}

size_t ndr_dtype_bytes(ndr_dtype dtype) {
  return ndr_dtype_valid(dtype) ? dtypes[dtype].bytes : 0;
}

const char *ndr_op_name(ndr_op op) {
  return is_built_in(op) ? ops[op].name : ndr_own_op_name(op);
}

const char *ndr_op_help(ndr_op op) {
  return ndr_op_valid(op) ? facts_of(op)->help : NULL;
}

ndr_status ndr_op_parse(const char *name, ndr_op *out) {
  if (!name || !out) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_op_parse: null pointer");
  for (int i = 0; i < NDR_OP_COUNT; i++) {
    if (strcmp(name, ops[i].name) == 0) {
      *out = (ndr_op)i;
      return NDR_OK;
    }
  }
  return ndr_fail(NDR_ERR_OP, "there is no operator '%.40s'; there are %s", name, ndr_op_names());
}

ndr_status ndr_dtype_parse(const char *name, ndr_dtype *out) {
  if (!name || !out) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_dtype_parse: null pointer");
  for (int i = 0; i < NDR_DTYPE_COUNT; i++) {
    if (strcmp(name, dtypes[i].name) == 0) {
      *out = (ndr_dtype)i;
      return NDR_OK;
    }
  }
  return ndr_fail(NDR_ERR_DTYPE, "there is no dtype '%.40s'; there are %s", name, ndr_dtype_names());
}

ndr_status ndr_dtype_from_dlpack(DLDataType type, ndr_dtype *out) {
  if (!out) return ndr_fail(NDR_ERR_ARGUMENT, "ndr_dtype_from_dlpack: null pointer");
  for (int i = 0; i < NDR_DTYPE_COUNT && type.lanes == 1; i++) {
    if (dtypes[i].dlpack_code == type.code && dtypes[i].bytes * 8 == type.bits) {
      *out = (ndr_dtype)i;
      return NDR_OK;
    }
  }
  static const char *const codes[] = {
      [kDLInt] = "int",       [kDLUInt] = "uint",      [kDLFloat] = "float", [kDLOpaqueHandle] = "handle",
      [kDLBfloat] = "bfloat", [kDLComplex] = "complex"};
  bool named = type.code < sizeof codes / sizeof *codes;
  return ndr_fail(NDR_ERR_DTYPE,
                  "elements of DLPack type %s (code %u), %u bits, %u lanes are not supported; those of %s are",
                  named ? codes[type.code] : "unknown", type.code, type.bits, type.lanes, ndr_dtype_names());
}

DLDataType ndr_dtype_to_dlpack(ndr_dtype dtype) {
  DLDataType type = {0, 0, 0};
  if (ndr_dtype_valid(dtype)) type = (DLDataType){dtypes[dtype].dlpack_code, (uint8_t)(dtypes[dtype].bytes * 8), 1};
  return type;
}

ndr_status ndr_op_check(ndr_op op, ndr_dtype dtype) {
  if (!ndr_op_valid(op)) return ndr_fail(NDR_ERR_OP, "unknown operator number %d", (int)op);
  if (facts_of(op)->domain == DOMAIN_ORDERED && ndr_dtype_is_complex(dtype))
    return ndr_fail(NDR_ERR_OP, "%s is not defined for %s: complex numbers have no order", ndr_op_name(op),
                    dtypes[dtype].name);
  return NDR_OK;
}

ndr_dtype ndr_op_result(ndr_op op, ndr_dtype dtype) {
  bool integer = ndr_dtype_is_integer(dtype);
  switch (facts_of(op)->result) {
  case RESULT_SUM: return integer ? ndr_dtype_widest(dtype) : dtype;
  case RESULT_SAME: return dtype;
  case RESULT_MEAN: return integer ? NDR_F64 : dtype;
  case RESULT_REAL: return integer ? NDR_F64 : ndr_dtype_real(dtype);
  case RESULT_INDEX: return NDR_I64;
  case RESULT_TRUTH: break;
  }
  return NDR_BOOL;
}

bool ndr_op_has_empty(ndr_op op) {
  return facts_of(op)->empty == EMPTY_VALUE;
}

ndr_combine ndr_op_combine(ndr_op op) {
  return facts_of(op)->combine;
}

bool ndr_op_is_index(ndr_op op) {
  return facts_of(op)->result == RESULT_INDEX && facts_of(op)->combine == NDR_COMBINE_EXTREME;
}

int ndr_op_is_weighted(ndr_op op) {
  return is_built_in(op) && ops[op].weights == WEIGHTS_WEIGHTED;
}

bool ndr_op_is_truth(ndr_op op) {
  return facts_of(op)->result == RESULT_TRUTH || facts_of(op)->combine == NDR_COMBINE_COUNT;
}

bool ndr_op_scans(ndr_op op) {
  return facts_of(op)->scan == SCAN_SCANS;
}

bool ndr_op_is_real(ndr_op op) {
  return facts_of(op)->result == RESULT_MEAN || facts_of(op)->result == RESULT_REAL;
}

bool ndr_op_rounds(ndr_op op) {
  switch (facts_of(op)->combine) {
  case NDR_COMBINE_ADD:
  case NDR_COMBINE_ADD_REAL:
  case NDR_COMBINE_MULTIPLY:
  case NDR_COMBINE_MOMENTS:
  case NDR_COMBINE_LOGSUMEXP: return true;
  case NDR_COMBINE_COUNT:
  case NDR_COMBINE_EXTREME:
  case NDR_COMBINE_EXTREMES:
  case NDR_COMBINE_OR:
  case NDR_COMBINE_AND: break;
  }
  return false;
}

float ndr_bf16_to_float(ndr_bf16 bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

float ndr_f16_to_float(ndr_f16 bits) {
  uint32_t exponent = bits >> 10 & 31u, fraction = bits & 1023u;
  float magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                    : exponent     ? ldexpf((float)(fraction | 1024u), (int)exponent - 25)
                                   : ldexpf((float)fraction, -24);
  return bits & 0x8000u ? -magnitude : magnitude;
}

/* Rounds |value| to a format of `digits` significand bits (with the hidden one) whose smallest normal exponent is
 * `lowest` and whose largest finite value is below 2^`top`: returns the bits without the sign. The scaled significand
 * is rounded by rint, to nearest even, once, straight from f64. */
static uint32_t round_to_format(double magnitude, int digits, int lowest, int top) {
  uint32_t infinity = (uint32_t)(top - lowest + 1) << (digits - 1);
  if (isnan(magnitude)) return infinity | 1u << (digits - 2);
  if (isinf(magnitude)) return infinity;
  int exponent;
  frexp(magnitude, &exponent);
  exponent = magnitude == 0 || exponent - 1 < lowest ? lowest : exponent - 1;
  double significand = rint(ldexp(magnitude, digits - 1 - exponent));
  uint32_t bits = (uint32_t)(exponent - lowest) << (digits - 1);
  /* A significand with the hidden bit adds 1 to the exponent field, one that was rounded up to the next power 2. */
  bits += (uint32_t)significand;
  return exponent >= top || bits > infinity ? infinity : bits;
}

static uint16_t with_sign(double value, uint32_t magnitude) {
  return (uint16_t)(magnitude | (signbit(value) ? 0x8000u : 0u));
}

ndr_f16 ndr_f16_from_double(double value) {
  return with_sign(value, round_to_format(fabs(value), 11, -14, 16));
}

ndr_bf16 ndr_bf16_from_double(double value) {
  return with_sign(value, round_to_format(fabs(value), 8, -126, 128));
}
