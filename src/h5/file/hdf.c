/* See hdf.h. Knows nothing of datasets' meaning. */
#include "h5/file/hdf.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fork.h"

/* Debian's serial HDF5 is not built thread-safe, and a thread-safe one holds one lock around every call anyway. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* This thread has the lock: it may be in a function of the caller's, who may fork there. */
static _Thread_local bool inside;

/* In this scope an allocation has failed that was noted. */
static _Thread_local bool lacks_memory;

NDR_GUARD_FORKS_UNLESS(inside, lock)

static void turn_printing_off(void) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* A malformed file can make HDF5 leave parts of itself open, which it would report on stderr when the program ends.
 * Exit handlers run in reverse order: this one is registered after HDF5's first call, so it runs before HDF5's own. */
static void quieten_exit(void) {
  atexit(turn_printing_off);
}

void ndr_hdf_enter(ndr_hdf_scope *scope, bool no_plugins) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutex_lock(&lock);
  inside = true;
  lacks_memory = false;
  H5Eget_auto2(H5E_DEFAULT, &scope->print, &scope->print_data);
  pthread_once(&once, quieten_exit);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  scope->no_plugins = no_plugins && H5PLget_loading_state(&scope->plugins) >= 0;
  if (scope->no_plugins) H5PLset_loading_state(0);
}

void ndr_hdf_leave(const ndr_hdf_scope *scope) {
  /* A thread-safe HDF5 keeps a stack of errors for each thread, and never frees that of one that has ended. */
  H5Eclear2(H5E_DEFAULT);
  if (scope->no_plugins) H5PLset_loading_state(scope->plugins);
  H5Eset_auto2(H5E_DEFAULT, scope->print, scope->print_data);
  inside = false;
  pthread_mutex_unlock(&lock);
}

/* The innermost entry of HDF5's error stack, which is the cause. */
typedef struct {
  hid_t major, minor;
  bool own; /* pushed by this library: the files of HDF5 that push entries are called H5... */
  char text[NDR_HDF_TEXT];
} cause;

/* The walk goes from the innermost entry outwards. */
static herr_t keep_first(unsigned n, const H5E_error2_t *entry, void *user) {
  cause *c = user;
  if (n > 0) return 0;
  const char *slash = entry->file_name ? strrchr(entry->file_name, '/') : NULL;
  const char *name = slash ? slash + 1 : entry->file_name;
  c->major = entry->maj_num;
  c->minor = entry->min_num;
  c->own = name && strncmp(name, "H5", 2) != 0;
  snprintf(c->text, sizeof c->text, "%s", entry->desc ? entry->desc : "");
  return 0;
}

static void find_cause(cause *c) {
  *c = (cause){.major = H5I_INVALID_HID};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, c);
  for (char *t = c->text; *t; t++)
    if (iscntrl((unsigned char)*t)) *t = ' ';
}

static hid_t find_major(void) {
  cause c;
  find_cause(&c);
  return c.major;
}

void ndr_hdf_text(char text[NDR_HDF_TEXT]) {
  cause c;
  find_cause(&c);
  memcpy(text, c.text, sizeof c.text);
}

/* What is damaged, by the part of HDF5 that failed; NULL where that says too little, or memory was short. */
static const char *damage_of(const cause *c) {
  const struct {
    hid_t major;
    const char *damage;
  } known[] = {{H5E_HEAP, "a heap of names or texts is damaged"},
               {H5E_SYM, "a group's table of links is damaged"},
               {H5E_BTREE, "an index of links or chunks is damaged"},
               {H5E_OHDR, "the header of a dataset or group is malformed"},
               {H5E_CACHE, "metadata have a wrong checksum or address"}};
  if (c->minor == H5E_CANTALLOC || c->minor == H5E_NOSPACE) return NULL;
  if (c->major == H5E_ARGS && c->minor == H5E_OVERFLOW) return "an address lies outside the file";
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].major == c->major) return known[i].damage;
  return NULL;
}

/* HDF5 has what the system said among numbers, as "errno = 5, error message = 'Input/output error'". */
static bool keep_system_error(const char *text, char reason[NDR_HDF_REASON]) {
  static const char before[] = "error message = '";
  const char *message = strstr(text, before), *end = message ? strchr(message + strlen(before), '\'') : NULL;
  if (!end) return false;
  message += strlen(before);
  snprintf(reason, NDR_HDF_REASON, "%.*s", (int)(end - message), message);
  return true;
}

void ndr_hdf_reason(char reason[NDR_HDF_REASON]) {
  cause c;
  find_cause(&c);
  const char *damage = damage_of(&c);
  *reason = 0;
  if (!*c.text || keep_system_error(c.text, reason)) return;
  if (c.own)
    snprintf(reason, NDR_HDF_REASON, "%.200s", c.text);
  else if (damage)
    snprintf(reason, NDR_HDF_REASON, "%s (HDF5: %.150s)", damage, c.text);
  else
    snprintf(reason, NDR_HDF_REASON, "HDF5: %.200s", c.text);
}

ndr_status ndr_hdf_fail(ndr_status status, const char *where, const char *what) {
  char reason[NDR_HDF_REASON];
  if (lacks_memory) return ndr_hdf_fail_late(where, what);
  ndr_hdf_reason(reason);
  return ndr_fail(status, "%s: %s%s%s", where, what, *reason ? ": " : "", reason);
}

ndr_status ndr_hdf_fail_late(const char *where, const char *what) {
  if (lacks_memory) return ndr_fail(NDR_ERR_MEMORY, "%s: %s: out of memory", where, what);
  return ndr_fail(NDR_ERR_FILE, "%s: %s", where, what);
}

void *ndr_hdf_noted(void *memory) {
  if (!memory) lacks_memory = true;
  return memory;
}

bool ndr_hdf_lacks_memory(void) {
  return lacks_memory;
}

bool ndr_hdf_storage_bytes(hid_t dataset, hsize_t *bytes) {
  H5D_space_status_t allocated = H5D_SPACE_STATUS_ERROR;
  *bytes = H5Dget_storage_size(dataset);
  if (*bytes > 0) return true;
  if (H5Dget_space_status(dataset, &allocated) < 0) return false;
  hid_t space = H5Dget_space(dataset);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  if (space >= 0) H5Sclose(space);
  return count == 0 || (count > 0 && allocated == H5D_SPACE_STATUS_NOT_ALLOCATED);
}

bool ndr_hdf_failed_to_read(void) {
  return find_major() == H5E_IO;
}

bool ndr_hdf_is_malformed(void) {
  hid_t major = find_major();
  return major >= 0 && major != H5E_IO && major != H5E_RESOURCE;
}

int64_t ndr_hdf_text_bytes(hid_t dataset, hid_t type) {
  hsize_t bytes = 0;
  hid_t space = H5Dget_space(dataset);
  bool good = space >= 0 && H5Dvlen_get_buf_size(dataset, type, space, &bytes) >= 0 && bytes <= INT64_MAX;
  if (space >= 0) H5Sclose(space);
  return good ? (int64_t)bytes : -1;
}

htri_t ndr_hdf_is_dataset(hid_t file, const char *path, hid_t access) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  herr_t done = H5Oget_info_by_name3(file, path, &info, H5O_INFO_BASIC, access);
#else
  H5O_info_t info;
  herr_t done = H5Oget_info_by_name2(file, path, &info, H5O_INFO_BASIC, access);
#endif
  return done < 0 ? -1 : info.type == H5O_TYPE_DATASET;
}

bool ndr_hdf_path(hid_t object, char **path) {
  ssize_t length = H5Iget_name(object, NULL, 0);
  *path = NULL;
  if (length <= 0 || length >= 4096) return length >= 0;
  *path = ndr_hdf_noted(calloc(1, (size_t)length + 1));
  return *path && H5Iget_name(object, *path, (size_t)length + 1) > 0;
}

bool ndr_hdf_identify(hid_t from, const char *path, hid_t access, ndr_hdf_object *object) {
#if H5_VERSION_GE(1, 12, 0)
  H5O_info2_t info;
  if (H5Oget_info_by_name3(from, path, &info, H5O_INFO_BASIC, access) < 0) return false;
  const void *place = &info.token;
  size_t bytes = sizeof info.token;
#else
  H5O_info_t info;
  if (H5Oget_info_by_name2(from, path, &info, H5O_INFO_BASIC, access) < 0) return false;
  const void *place = &info.addr;
  size_t bytes = sizeof info.addr;
#endif
  *object = (ndr_hdf_object){.file = info.fileno, .links = info.rc, .dataset = info.type == H5O_TYPE_DATASET};
  memcpy(object->place, place, bytes);
  return true;
}

bool ndr_hdf_same_object(const ndr_hdf_object *a, const ndr_hdf_object *b) {
  return a->file == b->file && memcmp(a->place, b->place, sizeof a->place) == 0;
}

typedef struct {
  ndr_hdf_link_visitor visit;
  void *user;
} link_context;

#if H5_VERSION_GE(1, 12, 0)
static herr_t visit_link(hid_t group, const char *name, const H5L_info2_t *info, void *user) {
  (void)group;
  const link_context *context = user;
  return context->visit(context->user, name, info->type);
}
#define ITERATE H5Literate2
#else
static herr_t visit_link(hid_t group, const char *name, const H5L_info_t *info, void *user) {
  (void)group;
  const link_context *context = user;
  return context->visit(context->user, name, info->type);
}
#define ITERATE H5Literate
#endif

static herr_t each_link(hid_t group, H5_index_t index, ndr_hdf_link_visitor visit, void *user) {
  link_context context = {visit, user};
  hsize_t at = 0;
  return ITERATE(group, index, H5_ITER_INC, &at, visit_link, &context);
}

herr_t ndr_hdf_each_link(hid_t group, ndr_hdf_link_visitor visit, void *user) {
  return each_link(group, H5_INDEX_NAME, visit, user);
}

herr_t ndr_hdf_each_link_made(hid_t group, ndr_hdf_link_visitor visit, void *user) {
  return each_link(group, H5_INDEX_CRT_ORDER, visit, user);
}

bool ndr_hdf_link_number(hid_t file, const char *path, hid_t access, int64_t *number) {
#if H5_VERSION_GE(1, 12, 0)
  H5L_info2_t info;
  herr_t done = H5Lget_info2(file, path, &info, access);
#else
  H5L_info_t info;
  herr_t done = H5Lget_info(file, path, &info, access);
#endif
  *number = done >= 0 && info.corder_valid ? info.corder : -1;
  return done >= 0;
}

typedef struct {
  ndr_hdf_visitor visit;
  void *user;
} visit_context;

static int visit_object(const char *name, H5O_type_t type, void *user) {
  visit_context *context = user;
  size_t capacity = strlen(name) + 2;
  if (type != H5O_TYPE_DATASET && type != H5O_TYPE_GROUP) return 0;
  char *path = ndr_hdf_noted(malloc(capacity)); /* groups in groups make paths of any length */
  if (!path) return -1;
  snprintf(path, capacity, "/%s", name[0] == '.' && !name[1] ? "" : name);
  int stop = context->visit(context->user, path, type == H5O_TYPE_DATASET);
  free(path);
  return stop;
}

#if H5_VERSION_GE(1, 12, 0)
static herr_t visit_entry(hid_t root, const char *name, const H5O_info2_t *info, void *user) {
  (void)root;
  return visit_object(name, info->type, user);
}
#define VISIT H5Ovisit3
#else
static herr_t visit_entry(hid_t root, const char *name, const H5O_info_t *info, void *user) {
  (void)root;
  return visit_object(name, info->type, user);
}
#define VISIT H5Ovisit2
#endif

herr_t ndr_hdf_visit(hid_t root, ndr_hdf_visitor visit, void *user) {
  visit_context context = {visit, user};
  return VISIT(root, H5_INDEX_NAME, H5_ITER_INC, visit_entry, &context, H5O_INFO_BASIC);
}

bool ndr_hdf_select(hid_t space, int ndim, const int64_t *from, const int64_t *step, const int64_t *count) {
  hsize_t start[NDR_MAX_DIMS], stride[NDR_MAX_DIMS], size[NDR_MAX_DIMS];
  for (int d = 0; d < ndim; d++) {
    start[d] = (hsize_t)from[d];
    stride[d] = step ? (hsize_t)step[d] : 1;
    size[d] = (hsize_t)count[d];
  }
  return space >= 0 && (ndim == 0 || H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, size, NULL) >= 0);
}

char *ndr_hdf_join(const char *a, const char *b, const char *c) {
  size_t capacity = strlen(a) + strlen(b) + strlen(c) + 1;
  char *text = ndr_hdf_noted(malloc(capacity));
  if (text) snprintf(text, capacity, "%s%s%s", a, b, c);
  return text;
}
