/* Any attributes of any types in a file as netCDF-4 lays it out, which is read, reduced, and written again. The file
 * has /x [rows,2], a candidate for the scale of its rows /t [rows], one for bounds /b [rows,2], and a scalar /g.
 *
 * Input: how (bit 0: as stored; bits 1, 2: which dims; bit 3: in chunks; bit 4: nothing is written), rows, then the
 * types of /x and /t and their elements, then attributes: owner, name, type, shape and elements of each, as the
 * functions below take them. The answer is a result that is written and can be read, or a sentence, and nothing of the
 * file stays open. */
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "ndreduce/h5.h"

enum { MOST_ROWS = 4, COLUMNS = 2, MOST_ATTRIBUTES = 16, MOST_BYTES = 4096, MOST_DEPTH = 2 };

static const char *const objects[] = {"/x", "/t", "/b", "/g", "/"};
enum { OBJECTS = sizeof objects / sizeof *objects };

static const char *const names[] = {"_FillValue",
                                    "missing_value",
                                    "valid_range",
                                    "valid_min",
                                    "valid_max",
                                    "scale_factor",
                                    "add_offset",
                                    "_Unsigned",
                                    "units",
                                    "coordinates",
                                    "bounds",
                                    "cell_methods",
                                    "grid_mapping",
                                    "DIMENSION_LIST",
                                    "_Netcdf4Dimid",
                                    "NAME",
                                    "CLASS",
                                    "REFERENCE_LIST",
                                    "history",
                                    "DIMENSION_LABELS",
                                    "_ARRAY_DIMENSIONS",
                                    "_Netcdf4Coordinates",
                                    "flag_values",
                                    "comment"};
enum { NAMES = sizeof names / sizeof *names };

/* ---- Types ------------------------------------------------------------------------------------------------------ */

static hid_t take_integer(input *from) {
  unsigned form = take(from, 1);
  hid_t type = H5Tcopy(form & 8 ? H5T_STD_U8LE : H5T_STD_I8LE);
  H5Tset_size(type, form & 0x80 ? 16 : (size_t)1 << (form & 3));
  H5Tset_order(type, form & 16 ? H5T_ORDER_BE : H5T_ORDER_LE);
  if (form & 32) H5Tset_precision(type, 1 + take(from, 1) % (8 * H5Tget_size(type)));
  return type;
}

static hid_t take_float(input *from) {
  unsigned form = take(from, 1);
  hid_t type = H5Tcopy(form & 1 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE);
  if ((form & 6) == 2) {
    H5Tset_fields(type, 15, 10, 5, 0, 10);
    H5Tset_precision(type, 16);
    H5Tset_size(type, 2);
    H5Tset_ebias(type, 15);
  }
  if ((form & 6) == 4) {
    H5Tclose(type);
    type = H5Tcopy(H5T_NATIVE_LDOUBLE);
  }
  if (form & 16) H5Tset_order(type, H5T_ORDER_BE);
  return type;
}

static hid_t take_text(input *from, bool variable) {
  hid_t type = H5Tcopy(H5T_C_S1);
  unsigned form = take(from, 1);
  H5Tset_size(type, variable ? H5T_VARIABLE : 1 + form % 40);
  H5Tset_strpad(type, (H5T_str_t)(form / 40 % 3));
  if (form & 128) H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

static hid_t enumeration(void) {
  hid_t type = H5Tenum_create(H5T_STD_I8LE);
  H5Tenum_insert(type, "FALSE", &(int8_t){0});
  H5Tenum_insert(type, "TRUE", &(int8_t){1});
  return type;
}

static hid_t pair(const char *first, hid_t first_type, const char *second, hid_t second_type) {
  size_t bytes = H5Tget_size(first_type);
  hid_t type = H5Tcreate(H5T_COMPOUND, bytes + H5Tget_size(second_type));
  H5Tinsert(type, first, 0, first_type);
  H5Tinsert(type, second, bytes, second_type);
  return type;
}

static hid_t take_type(input *from, int depth);

static hid_t take_list(input *from, int depth, bool array) {
  hid_t base = depth ? take_type(from, depth - 1) : H5Tcopy(H5T_STD_REF_OBJ);
  hid_t type = array ? H5Tarray_create2(base, 1, &(hsize_t){1 + take(from, 1) % 3}) : H5Tvlen_create(base);
  H5Tclose(base);
  return type;
}

static hid_t take_type(input *from, int depth) {
  switch (take(from, 1) % 13) {
  case 0: return take_integer(from);
  case 1: return take_float(from);
  case 2: return take_text(from, false);
  case 3: return take_text(from, true);
  case 4: return H5Tcopy(H5T_STD_REF_OBJ);
  case 5: return take_list(from, 0, false);
  case 6: return pair("dataset", H5T_STD_REF_OBJ, "dimension", H5T_STD_I32LE);
  case 7: return pair("r", H5T_IEEE_F32LE, "i", H5T_IEEE_F32LE);
  case 8: return enumeration();
  case 9: return take_list(from, depth, true);
  case 10: return take_list(from, depth, false);
  case 11: return H5Tcopy(H5T_STD_B16BE);
  default: return H5Tcopy(H5T_STD_REF_DSETREG);
  }
}

/* ---- Elements --------------------------------------------------------------------------------------------------- */

/* Memory for what elements point to. */
typedef struct {
  uint8_t bytes[MOST_BYTES];
  size_t used;
} arena;

static void *lend(arena *memory, size_t bytes) {
  size_t start = (memory->used + 15) / 16 * 16;
  if (bytes > MOST_BYTES - start) return NULL;
  memory->used = start + bytes;
  return memset(memory->bytes + start, 0, bytes);
}

static void take_element(input *from, hid_t file, hid_t type, arena *memory, uint8_t *element);

static void take_variable_text(input *from, arena *memory, uint8_t *element) {
  size_t length = take(from, 1);
  char *text = length == 255 ? NULL : lend(memory, length + 1);
  for (size_t i = 0; text && i < length; i++) text[i] = (char)take(from, 1);
  memcpy(element, &text, sizeof text);
}

/* To an object, to none, or anywhere. */
static void take_reference(input *from, hid_t file, uint8_t *element) {
  unsigned to = take(from, 1) % (OBJECTS + 2);
  hobj_ref_t reference = 0;
  if (to < OBJECTS) H5Rcreate(&reference, file, objects[to], H5R_OBJECT, H5I_INVALID_HID);
  if (to == OBJECTS) reference = take(from, 4);
  memcpy(element, &reference, sizeof reference);
}

static void take_elements(input *from, hid_t file, hid_t type, size_t count, arena *memory, uint8_t *elements) {
  for (size_t i = 0, bytes = H5Tget_size(type); i < count; i++)
    take_element(from, file, type, memory, elements + i * bytes);
}

static void take_sequence(input *from, hid_t file, hid_t type, arena *memory, uint8_t *element) {
  hid_t base = H5Tget_super(type);
  hvl_t list = {take(from, 1) % 4, NULL};
  list.p = lend(memory, list.len * H5Tget_size(base));
  if (!list.p) list.len = 0;
  take_elements(from, file, base, list.len, memory, list.p);
  memcpy(element, &list, sizeof list);
  H5Tclose(base);
}

static void take_array(input *from, hid_t file, hid_t type, arena *memory, uint8_t *element) {
  hid_t base = H5Tget_super(type);
  take_elements(from, file, base, H5Tget_size(type) / H5Tget_size(base), memory, element);
  H5Tclose(base);
}

static void take_members(input *from, hid_t file, hid_t type, arena *memory, uint8_t *element) {
  for (unsigned i = 0; i < (unsigned)H5Tget_nmembers(type); i++) {
    hid_t member = H5Tget_member_type(type, i);
    take_element(from, file, member, memory, element + H5Tget_member_offset(type, i));
    H5Tclose(member);
  }
}

/* Region references stay null. */
static void take_element(input *from, hid_t file, hid_t type, arena *memory, uint8_t *element) {
  switch (H5Tget_class(type)) {
  case H5T_VLEN: take_sequence(from, file, type, memory, element); return;
  case H5T_ARRAY: take_array(from, file, type, memory, element); return;
  case H5T_COMPOUND: take_members(from, file, type, memory, element); return;
  case H5T_REFERENCE:
    if (H5Tequal(type, H5T_STD_REF_OBJ) > 0) take_reference(from, file, element);
    return;
  case H5T_STRING:
    if (H5Tis_variable_str(type) > 0) {
      take_variable_text(from, memory, element);
      return;
    }
    break;
  default: break;
  }
  for (size_t i = 0; i < H5Tget_size(type); i++) element[i] = (uint8_t)take(from, 1);
}

/* ---- The file --------------------------------------------------------------------------------------------------- */

static hid_t take_space(input *from) {
  unsigned form = take(from, 1);
  hsize_t size[2] = {form / 4 % 8, form / 32};
  if (form % 4 == 0) return H5Screate(H5S_SCALAR);
  if (form % 4 == 1) return H5Screate_simple(1, size, NULL);
  return form % 4 == 2 ? H5Screate_simple(2, size, NULL) : H5Screate(H5S_NULL);
}

/* NULL where there would be too much. */
static void *take_data(input *from, hid_t file, hid_t type, hid_t space, arena *memory) {
  size_t count = (size_t)H5Sget_simple_extent_npoints(space);
  void *data = lend(memory, (count + 1) * H5Tget_size(type));
  if (data) take_elements(from, file, type, count, memory, data);
  return data;
}

static void put_dataset(input *from, hid_t file, const char *name, hid_t type, hid_t space, hid_t creation) {
  arena memory = {.used = 0};
  hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  const void *data = from ? take_data(from, file, type, space, &memory) : NULL;
  if (data) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(dataset);
}

static void put_attribute(input *from, hid_t file) {
  arena memory = {.used = 0};
  hid_t object = H5Oopen(file, objects[take(from, 1) % OBJECTS], H5P_DEFAULT);
  const char *name = names[take(from, 1) % NAMES];
  hid_t type = take_type(from, MOST_DEPTH), space = take_space(from);
  const void *data = take_data(from, file, type, space, &memory);
  hid_t attribute = data && !H5Aexists(object, name) ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                                                     : H5I_INVALID_HID;
  if (attribute >= 0) {
    H5Awrite(attribute, type, data);
    H5Aclose(attribute);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Oclose(object);
}

static void put_datasets(input *from, hid_t file, hsize_t rows, bool chunked) {
  hsize_t size[2] = {rows, COLUMNS};
  hid_t matrix = H5Screate_simple(2, size, NULL), row = H5Screate_simple(1, size, NULL);
  hid_t scalar = H5Screate(H5S_SCALAR), creation = H5Pcreate(H5P_DATASET_CREATE);
  if (chunked) H5Pset_chunk(creation, 2, (hsize_t[]){1, COLUMNS});
  hid_t types[2] = {take_type(from, 0), take_type(from, 0)};
  put_dataset(NULL, file, "/g", H5T_STD_I32LE, scalar, H5P_DEFAULT);
  put_dataset(from, file, "/x", types[0], matrix, creation);
  put_dataset(from, file, "/t", types[1], row, H5P_DEFAULT);
  put_dataset(NULL, file, "/b", H5T_IEEE_F64LE, matrix, H5P_DEFAULT);
  for (int i = 0; i < 2; i++) H5Tclose(types[i]);
  H5Pclose(creation);
  H5Sclose(scalar);
  H5Sclose(row);
  H5Sclose(matrix);
}

/* Stays open: HDF5 then opens it again without a new cache, which takes longer than everything else. Flushed, as stored
 * elements may be read past HDF5. */
static hid_t put_file(input *from, const char *path, bool chunked) {
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  require(file >= 0);
  put_datasets(from, file, 1 + take(from, 1) % MOST_ROWS, chunked);
  for (int i = 0; i < MOST_ATTRIBUTES && from->size > 0; i++) put_attribute(from, file);
  require(H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0);
  return file;
}

/* ---- What is made of it ----------------------------------------------------------------------------------------- */

static const ndr_op ops[] = {NDR_MEAN, NDR_VALID, NDR_MIN};
enum { OPS = sizeof ops / sizeof *ops };

typedef struct {
  int count; /* of dims, -1 for all */
  int dim;
} choice;

static bool is_answered(ndr_status status) {
  require(status == NDR_OK || ndr_last_error()[0]);
  return status == NDR_OK;
}

/* Elements that count are as many as there are, and without any there is no least one. */
static void check_values(const ndr_h5_info *info, const int64_t *valid, const DLTensor *least) {
  int64_t count = 1;
  for (int d = 0; d < least->ndim; d++) count *= least->shape[d];
  for (int64_t i = 0; i < count; i++) {
    require(valid[i] >= 0 && valid[i] <= MOST_ROWS * COLUMNS);
    if (info->masked && info->dtype == NDR_F64) require((valid[i] == 0) == (isnan(((double *)least->data)[i]) != 0));
  }
}

static int visit(void *user, const char *path, const ndr_h5_info *info, const char *reason) {
  (void)user;
  require(path && (info || (reason && reason[0])));
  return 0;
}

static void check_opens(const char *path, const char *name, bool raw, bool surely) {
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_h5_dataset *dataset;
  access.raw = raw;
  require(is_answered(ndr_h5_open(&dataset, path, name, &access)) || !surely);
  ndr_h5_close(dataset);
}

/* A result that was added is there, as stored at least: attributes that mean nothing for bit fields, or as stored, are
 * kept, and may be refused where they mean something. */
static void check_output(const char *path, const bool *added) {
  hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT); /* as in put_file */
  require(file >= 0 && ndr_h5_list(path, NULL, visit, NULL) == NDR_OK);
  for (int i = 0; i < OPS; i++) {
    char name[32];
    snprintf(name, sizeof name, "/%s", ndr_op_name(ops[i]));
    check_opens(path, name, true, added[i]);
    check_opens(path, name, false, false);
  }
  require(H5Fclose(file) >= 0);
}

/* What one operator gives. */
typedef struct {
  bool made;
  ndr_problem problem;
  DLTensor result;
  int64_t shape[NDR_MAX_DIMS], elements[2 * MOST_ROWS * COLUMNS];
} answer;

static void describe(const ndr_h5_dataset *dataset, choice over, ndr_op op, answer *a) {
  const int *dims = over.count < 0 ? NULL : &over.dim;
  a->problem = (ndr_problem)NDR_PROBLEM_INIT;
  a->result = (DLTensor){.shape = a->shape};
  a->made = is_answered(ndr_h5_problem(&a->problem, dataset, over.count, dims, 1, &op)) &&
            is_answered(ndr_problem_result(&a->problem, 0, &a->result));
  a->result.data = a->elements;
}

/* All operators that the dtype has, at once, as each time that a dataset is reduced has its own buffers. */
static void compute(ndr_h5_dataset *dataset, choice over, answer *answers) {
  DLTensor *wanted[OPS];
  ndr_problem problem = NDR_PROBLEM_INIT;
  ndr_h5_options options = NDR_H5_OPTIONS_INIT;
  int count = 0;
  options.threads = 1;
  options.memory = 64 << 20; /* finding out how much is free takes as long as the rest */
  for (int i = 0; i < OPS; i++) {
    describe(dataset, over, ops[i], &answers[i]);
    if (!answers[i].made) continue;
    if (count == 0) problem = answers[i].problem;
    problem.ops[count] = ops[i];
    wanted[count++] = &answers[i].result;
  }
  problem.op_count = count;
  if (count == 0 || is_answered(ndr_h5_reduce(dataset, &problem, wanted, &options))) return;
  for (int i = 0; i < OPS; i++) answers[i].made = false;
}

/* Without a writer, results are only computed. */
static void reduce(ndr_h5_dataset *dataset, choice over, ndr_h5_writer *writer, bool *added) {
  answer answers[OPS];
  compute(dataset, over, answers);
  for (int i = 0; i < OPS; i++) {
    const answer *a = &answers[i];
    added[i] = a->made;
    if (a->made && writer)
      require(ndr_h5_writer_add(writer, dataset, &a->problem, 0, ndr_op_name(ops[i]), &a->result) == NDR_OK);
  }
  if (added[1] && added[2]) check_values(ndr_h5_describe(dataset), answers[1].elements, &answers[2].result);
}

/* Stands in for that of the system: waiting for the disk, twice a run, was most of the time. */
int fsync(int fd) {
  return fd >= 0 ? 0 : -1;
}

static void write_results(ndr_h5_dataset *dataset, const char *in, const char *out, choice over) {
  ndr_h5_writer_options options = NDR_H5_WRITER_OPTIONS_INIT;
  ndr_h5_writer *writer;
  bool added[OPS];
  options.history = "now: fuzz";
  require(ndr_h5_writer_create(&writer, out, 1, &in, &options) == NDR_OK);
  reduce(dataset, over, writer, added);
  require(ndr_h5_writer_commit(writer) == NDR_OK);
  check_output(out, added);
  ndr_h5_writer_destroy(writer);
}

static void read_all(const char *in, const char *out, bool raw, choice over) {
  ndr_h5_access access = NDR_H5_ACCESS_INIT;
  ndr_h5_dataset *dataset;
  double coordinates[MOST_ROWS];
  bool added[OPS];
  access.raw = raw;
  is_answered(ndr_h5_list(in, &access, visit, NULL));
  if (!is_answered(ndr_h5_open(&dataset, in, "/x", &access))) return;
  is_answered(ndr_h5_coordinate(dataset, 0, coordinates));
  if (out)
    write_results(dataset, in, out, over);
  else
    reduce(dataset, over, NULL, added);
  ndr_h5_close(dataset);
}

/* In memory where that can be, and kept for all inputs. */
static const char *folder(void) {
  static char path[64];
  if (path[0]) return path;
  snprintf(path, sizeof path, "%s/ndreduce-fuzz-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
  require(mkdtemp(path) != NULL);
  return path;
}

static void remove_folder(void) {
  rmdir(folder());
}

/* Without limits HDF5 keeps the megabyte of a file's cache for the next file. */
static void start(void) {
  static bool started;
  if (started) return;
  started = true;
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  require(H5set_free_list_limits(-1, -1, -1, -1, -1, -1) >= 0);
  require(atexit(remove_folder) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  input from = {data, size};
  unsigned how = take(&from, 1);
  choice over = {how & 2 ? -1 : 1, (how & 4) != 0};
  char in[96], out[96];
  start();
  snprintf(in, sizeof in, "%s/in.h5", folder());
  snprintf(out, sizeof out, "%s/out.h5", folder());
  hid_t file = put_file(&from, in, how & 8);
  read_all(in, how & 16 ? NULL : out, how & 1, over);
  require(H5Fclose(file) >= 0);
  require(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL) == 0);
  unlink(in);
  unlink(out);
  return 0;
}
