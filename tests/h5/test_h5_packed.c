/* What attributes say of elements: their numbers in the packed dtype, the masks and scales that they make, the stored
 * types that may be unpacked as they are, and attributes that are not what their names promise. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "h5/cf/packed.h"
#include "h5/cf/unpack_cf.h"
#include "h5/file/dtype.h"
#include "support/element.h"
#include "support/random.h"
#include "support/suite.h"

/* ---- Numbers ---------------------------------------------------------------------------------------------------- */

static ndr_number real(double value) {
  return (ndr_number){NDR_F64, {.f = value}};
}

static ndr_number whole(int64_t value) {
  return (ndr_number){NDR_I64, {.i = value}};
}

static ndr_number natural(uint64_t value) {
  return (ndr_number){NDR_U64, {.u = value}};
}

static bool packs(ndr_number number, ndr_dtype dtype) {
  ndr_packed packed;
  return ndr_number_pack(number, dtype, &packed);
}

static long double value_of(ndr_dtype dtype, ndr_packed packed) {
  return !is_integer(dtype) ? (long double)packed.f : is_signed(dtype) ? packed.i : (long double)packed.u;
}

START_TEST(integers_hold_numbers_exactly_or_not_at_all) {
  for (int d = NDR_I8; d <= NDR_U64; d++) {
    ndr_dtype dtype = (ndr_dtype)d;
    int bits = 8 * (int)ndr_dtype_bytes(dtype) - is_signed(dtype);
    long double most = ldexpl(1, bits) - 1, least = is_signed(dtype) ? -most - 1 : 0;
    ck_assert(value_of(dtype, ndr_packed_most(dtype)) == most && value_of(dtype, ndr_packed_least(dtype)) == least);
    ck_assert(packs(natural((uint64_t)most), dtype) && packs(real((double)least), dtype));
    ck_assert(!packs(real(ldexp(1, bits)), dtype) && !packs(real((double)least * 2 - 1), dtype));
    if (bits < 64) ck_assert(!packs(natural((uint64_t)most + 1), dtype));
    if (bits < 63) ck_assert(!packs(whole((int64_t)most + 1), dtype));
    if (bits < 63) ck_assert(!packs(whole((int64_t)least - 1), dtype));
    ck_assert(!packs(real(0.5), dtype) && !packs(real(1e20), dtype) && !packs(real(NAN), dtype));
    ck_assert(!packs(real(INFINITY), dtype) && !packs(real(-INFINITY), dtype));
    ck_assert(packs(whole(-1), dtype) == is_signed(dtype));
  }
}
END_TEST

START_TEST(floats_round_numbers_and_stay_finite) {
  static const ndr_dtype floats[] = {NDR_F16, NDR_BF16, NDR_F32, NDR_F64};
  rng random = {1};
  for (int f = 0; f < 4; f++) {
    ndr_dtype dtype = floats[f];
    format made = format_of(dtype);
    ndr_packed packed;
    for (int i = 0; i < 20000; i++) {
      double value = ldexp(rng_unit(&random) - 0.5, (int)rng_between(&random, made.lowest - 30, made.top + 2));
      long double rounded = round_to(made, value);
      if (!isfinite(value)) continue;
      ck_assert(ndr_number_pack(real(value), dtype, &packed) == (isfinite((double)rounded) != 0));
      if (isfinite((double)rounded)) ck_assert(packed.f == (double)rounded);
    }
    ck_assert(ndr_number_pack(real(NAN), dtype, &packed) && isnan(packed.f));
    ck_assert(ndr_number_pack(real(-INFINITY), dtype, &packed) && packed.f == -INFINITY);
  }
  ck_assert(!packs(real(65520), NDR_F16) && packs(real(65519), NDR_F16) && !packs(natural(1 << 16), NDR_F16));
}
END_TEST

START_TEST(bits_of_signed_numbers_are_unsigned_ones) {
  ndr_packed packed;
  ck_assert(ndr_number_pack_bits(whole(-1), NDR_U8, &packed) && packed.u == 255);
  ck_assert(ndr_number_pack_bits(whole(-128), NDR_U8, &packed) && packed.u == 128);
  ck_assert(ndr_number_pack_bits(natural(255), NDR_U8, &packed) && packed.u == 255);
  ck_assert(ndr_number_pack_bits(real(-1), NDR_U64, &packed) && packed.u == UINT64_MAX);
  ck_assert(!ndr_number_pack_bits(whole(-129), NDR_U8, &packed) && !ndr_number_pack_bits(whole(256), NDR_U8, &packed));
}
END_TEST

/* ---- Attributes ------------------------------------------------------------------------------------------------- */

static char path[64];
static hid_t file, dataset;

static void begin(hid_t type) {
  hid_t space = H5Screate_simple(1, (hsize_t[]){4}, NULL);
  snprintf(path, sizeof path, "/tmp/ndreduce-packed-%ld.h5", (long)getpid());
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  dataset = H5Dcreate2(file, "x", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(dataset >= 0);
  H5Sclose(space);
}

static void put(const char *name, hid_t type, hsize_t count, const void *values) {
  hid_t space = count == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(dataset, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  ck_assert(attribute >= 0 && H5Awrite(attribute, type, values) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

static void put_reals(const char *name, hsize_t count, const double *values) {
  put(name, H5T_NATIVE_DOUBLE, count, values);
}

static void put_text(const char *name, const char *text, bool variable) {
  hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, variable ? H5T_VARIABLE : strlen(text));
  put(name, type, 1, variable ? (const void *)&text : text);
  H5Tclose(type);
}

static ndr_misfits misfits; /* those of the dataset that was found last */

/* Ends what begin has begun. */
static ndr_unpack find(bool raw) {
  ndr_unpack unpack;
  ndr_dtype stored = NDR_BOOL;
  hid_t type = H5Dget_type(dataset);
  ck_assert_ptr_null(ndr_hdf_dtype(type, &stored));
  ndr_hdf_find_unpack(dataset, type, H5Tget_class(type), stored, raw, &unpack, &misfits);
  H5Tclose(type);
  H5Dclose(dataset);
  H5Fclose(file);
  unlink(path);
  return unpack;
}

static bool is_plain(const ndr_unpack *u) {
  return u->from == u->to && !u->masked && !u->ranged && !u->scaled && u->missing_count == 0 && u->scale == 1 &&
         u->offset == 0;
}

START_TEST(every_attribute_has_its_effect) {
  begin(H5T_STD_I16BE);
  put("_FillValue", H5T_NATIVE_SHORT, 1, &(short){-1});
  put_reals("missing_value", 4, (double[]){-1, 7, 7.5, 9});
  put("valid_range", H5T_STD_I8LE, 2, (int8_t[]){-100, 100});
  put_reals("valid_min", 1, (double[]){0});
  put("scale_factor", H5T_NATIVE_FLOAT, 1, &(float){0.5f});
  put("add_offset", H5T_STD_U8BE, 1, &(uint8_t){200});
  ndr_unpack u = find(false);
  ck_assert_int_eq(misfits.count, 0);
  ck_assert(u.from == NDR_I16 && u.to == NDR_F64 && u.masked && u.scaled && u.direct);
  ck_assert(u.missing_count == 3 && u.missing[0].i == -1 && u.missing[1].i == 7 && u.missing[2].i == 9);
  ck_assert(u.ranged && u.least.i == -100 && u.most.i == 100 && u.scale == 0.5 && u.offset == 200);
}
END_TEST

START_TEST(raw_leaves_the_byte_order) {
  begin(H5T_STD_I16BE);
  put("_FillValue", H5T_NATIVE_SHORT, 1, &(short){-1});
  put_text("_Unsigned", "true", false);
  put_reals("scale_factor", 1, (double[]){2});
  ndr_unpack u = find(true);
  ck_assert(is_plain(&u) && u.from == NDR_I16 && u.direct && u.swap);
}
END_TEST

/* Nothing that an integer could be is missing, so that integers stay integers. */
START_TEST(masks_that_no_integer_meets_are_none) {
  begin(H5T_STD_U8LE);
  put_reals("_FillValue", 1, (double[]){NAN});
  put_reals("missing_value", 3, (double[]){1e20, -1, 0.5});
  put_reals("valid_range", 2, (double[]){0, 255});
  put_reals("scale_factor", 1, (double[]){1});
  ndr_unpack u = find(false);
  ck_assert(is_plain(&u) && u.from == NDR_U8);
}
END_TEST

START_TEST(one_bound_is_enough) {
  begin(H5T_STD_U8LE);
  put_reals("valid_max", 1, (double[]){200});
  ndr_unpack u = find(false);
  ck_assert(u.masked && u.ranged && u.least.u == 0 && u.most.u == 200 && u.to == NDR_F64);
  begin(H5T_IEEE_F32LE);
  put_reals("valid_min", 1, (double[]){0.1});
  u = find(false);
  ck_assert(u.masked && u.ranged && u.least.f == (double)0.1f && u.most.f == (double)INFINITY && u.to == NDR_F32);
}
END_TEST

/* NaN is missing once there is a mask, and needs no comparison. */
START_TEST(nan_is_a_mask_of_floats) {
  begin(H5T_IEEE_F32BE);
  put_reals("_FillValue", 1, (double[]){NAN});
  ndr_unpack u = find(false);
  ck_assert(u.masked && u.missing_count == 0 && !u.ranged && u.to == NDR_F32 && u.swap);
  begin(H5T_IEEE_F32LE);
  put_reals("missing_value", 2, (double[]){1e300, -1e20});
  u = find(false);
  ck_assert(u.masked && u.missing_count == 1 && u.missing[0].f == (double)-1e20f);
}
END_TEST

START_TEST(unsigned_is_read_of_both_kinds_of_text) {
  for (int variable = 0; variable < 2; variable++) {
    begin(H5T_STD_I8LE);
    put_text("_Unsigned", "true", variable);
    put("_FillValue", H5T_STD_I8LE, 1, &(int8_t){-1});
    ndr_unpack u = find(false);
    ck_assert(u.from == NDR_U8 && u.to == NDR_F64 && u.missing_count == 1 && u.missing[0].u == 255);
    begin(H5T_STD_I8LE);
    put_text("_Unsigned", "false", variable);
    u = find(false);
    ck_assert(is_plain(&u) && u.from == NDR_I8);
  }
}
END_TEST

/* ---- Types ------------------------------------------------------------------------------------------------------ */

static ndr_unpack find_of(hid_t type) {
  begin(type);
  put_reals("_FillValue", 1, (double[]){1});
  put_reals("scale_factor", 1, (double[]){2});
  ndr_unpack unpack = find(false);
  H5Tclose(type);
  return unpack;
}

static hid_t complex_of(hid_t part, bool swapped) {
  size_t bytes = H5Tget_size(part);
  hid_t type = H5Tcreate(H5T_COMPOUND, 2 * bytes);
  H5Tinsert(type, "r", swapped ? bytes : 0, part);
  H5Tinsert(type, "i", swapped ? 0 : bytes, part);
  return type;
}

static hid_t truth_of(hid_t base) {
  hid_t type = H5Tenum_create(base);
  H5Tenum_insert(type, "FALSE", &(int8_t){0});
  H5Tenum_insert(type, "TRUE", &(int8_t){1});
  return type;
}

START_TEST(only_integers_and_floats_have_a_meaning) {
  hid_t weather = H5Tenum_create(H5T_NATIVE_SHORT);
  H5Tenum_insert(weather, "dry", &(short){1});
  ndr_unpack found[] = {find_of(truth_of(H5T_NATIVE_INT8)), find_of(complex_of(H5T_NATIVE_FLOAT, false)),
                        find_of(H5Tcopy(H5T_NATIVE_B16)), find_of(weather)};
  for (size_t i = 0; i < sizeof found / sizeof *found; i++) ck_assert(is_plain(&found[i]) && found[i].direct);
}
END_TEST

START_TEST(what_is_stored_otherwise_is_not_direct) {
  hid_t narrow = H5Tcopy(H5T_STD_I16LE), wide = H5Tcopy(H5T_NATIVE_LDOUBLE);
  H5Tset_precision(narrow, 12);
  ndr_unpack u = find_of(narrow);
  ck_assert(!u.direct && !u.swap && u.from == NDR_I16 && u.masked && u.scaled);
  u = find_of(wide);
  ck_assert(!u.direct && u.from == NDR_F64 && u.masked);
  u = find_of(complex_of(H5T_NATIVE_FLOAT, true));
  ck_assert(!u.direct && u.from == NDR_C64);
}
END_TEST

START_TEST(both_byte_orders_are_direct) {
  struct {
    hid_t type;
    bool swap;
  } cases[] = {
      {H5Tcopy(H5T_IEEE_F64BE), true},
      {H5Tcopy(H5T_IEEE_F32LE), false},
      {H5Tcopy(H5T_STD_U64BE), true},
      {H5Tcopy(H5T_STD_I8BE), false},
      {H5Tcopy(H5T_STD_B32BE), true},
      {truth_of(H5T_STD_U8BE), false},
      {complex_of(H5T_IEEE_F32BE, false), true},
      {complex_of(H5T_IEEE_F64LE, false), false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    ndr_unpack u = find_of(cases[i].type);
    ck_assert_msg(u.direct && u.swap == cases[i].swap, "case %zu: direct %d, swap %d", i, u.direct, u.swap);
  }
}
END_TEST

/* ---- Attributes that are not what they seem --------------------------------------------------------------------- */

static void assert_misfit(const char *name, bool scales, const char *what) {
  int at = 0;
  while (at < misfits.count && strcmp(misfits.list[at].name, name) != 0) at++;
  ck_assert_msg(at < misfits.count, "%s is taken", name);
  ck_assert(misfits.list[at].scales == scales);
  ck_assert_str_eq(misfits.list[at].what, what);
}

START_TEST(nonsense_counts_for_nothing_and_is_noted) {
  static const double many[100000];
  hid_t pair = complex_of(H5T_NATIVE_DOUBLE, false), list = H5Tvlen_create(H5T_NATIVE_INT);
  begin(H5T_STD_I16LE);
  put_text("_FillValue", "-1", true);
  put_reals("missing_value", 4000, many);
  put("valid_range", pair, 2, many);
  put_reals("valid_min", 2, many);
  put("valid_max", list, 1, &(hvl_t){2, (int[]){1, 2}});
  put_text("scale_factor", "2", false);
  put_reals("add_offset", 3, (double[]){1, 2, 3});
  put("_Unsigned", H5T_NATIVE_INT, 1, &(int){1});
  ndr_unpack u = find(false);
  ck_assert(is_plain(&u));
  ck_assert_int_eq(misfits.count, 8);
  assert_misfit("_FillValue", false, "is the text '-1', not one number");
  assert_misfit("missing_value", false, "has 4000 values, not up to 15 numbers");
  assert_misfit("valid_range", false, "is complex, not two numbers");
  assert_misfit("valid_min", false, "has 2 values, not one number");
  assert_misfit("valid_max", false, "has elements of variable length, not one number");
  assert_misfit("scale_factor", true, "is the text '2', not one number");
  assert_misfit("add_offset", true, "has 3 values, not one number");
  assert_misfit("_Unsigned", false, "is not the text 'true' or 'false'");
  H5Tclose(pair);
  H5Tclose(list);
  begin(H5T_STD_I16LE);
  put_text("_Unsigned", "true, or so it is said by someone", false);
  put_text("valid_range", "0 1", false);
  hid_t none = H5Screate(H5S_NULL);
  H5Aclose(H5Acreate2(dataset, "scale_factor", H5T_NATIVE_DOUBLE, none, H5P_DEFAULT, H5P_DEFAULT));
  H5Aclose(H5Acreate2(dataset, "valid_min", H5T_STD_REF_OBJ, none, H5P_DEFAULT, H5P_DEFAULT));
  H5Sclose(none);
  u = find(false);
  ck_assert(is_plain(&u));
  ck_assert_int_eq(misfits.count, 3);
  assert_misfit("scale_factor", true, "has 0 values, not one number");
  assert_misfit("valid_min", false, "has references, not one number");
  hid_t truth = H5Tenum_create(H5T_NATIVE_INT8), colour = H5Tenum_create(H5T_NATIVE_INT8);
  H5Tenum_insert(truth, "FALSE", &(int8_t){0});
  H5Tenum_insert(truth, "TRUE", &(int8_t){1});
  H5Tenum_insert(colour, "RED", &(int8_t){1});
  begin(H5T_STD_I16LE);
  put("valid_min", truth, 1, &(int8_t){1});
  put("valid_max", colour, 1, &(int8_t){1});
  put("add_offset", H5T_STD_B8LE, 1, &(uint8_t){1});
  find(false);
  assert_misfit("valid_min", false, "is bool, not one number");
  assert_misfit("valid_max", false, "is an enumeration, not one number");
  assert_misfit("add_offset", true, "is a bit field, not one number");
  H5Tclose(truth);
  H5Tclose(colour);
}
END_TEST

/* Sixteen values are as many as there is room for; a scale that destroys the data is the file's own affair. */
START_TEST(lists_may_be_full_and_scales_may_be_odd) {
  double values[NDR_UNPACK_MISSING];
  for (int i = 0; i < NDR_UNPACK_MISSING; i++) values[i] = i;
  begin(H5T_STD_I16LE);
  put_reals("_FillValue", 1, (double[]){-1});
  put_reals("missing_value", NDR_UNPACK_MISSING - 1, values);
  put_reals("scale_factor", 1, (double[]){NAN});
  ndr_unpack u = find(false);
  ck_assert(u.missing_count == NDR_UNPACK_MISSING && u.scaled && isnan(u.scale));
  begin(H5T_STD_I16LE);
  put_reals("missing_value", NDR_UNPACK_MISSING, values);
  u = find(false);
  ck_assert(is_plain(&u));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("h5_packed");
  suite_case(suite, "numbers", 20, integers_hold_numbers_exactly_or_not_at_all, floats_round_numbers_and_stay_finite,
             bits_of_signed_numbers_are_unsigned_ones, NULL);
  suite_case(suite, "attributes", 20, every_attribute_has_its_effect, raw_leaves_the_byte_order,
             masks_that_no_integer_meets_are_none, one_bound_is_enough, nan_is_a_mask_of_floats,
             unsigned_is_read_of_both_kinds_of_text, NULL);
  suite_case(suite, "types", 20, only_integers_and_floats_have_a_meaning, what_is_stored_otherwise_is_not_direct,
             both_byte_orders_are_direct, NULL);
  suite_case(suite, "nonsense", 20, nonsense_counts_for_nothing_and_is_noted, lists_may_be_full_and_scales_may_be_odd,
             NULL);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return suite_run(suite);
}
