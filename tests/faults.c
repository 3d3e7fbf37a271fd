/* A library to be preloaded into h5gpured that makes the k-th call of one class fail as the real one would.
 *   FAULTS_CRASH   a function of HDF5 that crashes when it is called
 *   FAULTS_CLASS   memory, hdf5, read, open, write, sync, name or thread
 *   FAULTS_CALL    which of its calls fails, from 1 on; 0 or nothing: none
 *   FAULTS_REPORT  a file for a line of each class with the number of its calls, and for what is alive at the end:
 *                  blocks of memory and handles of HDF5; and for the function that failed
 * Memory, HDF5's functions and files that are opened count where h5gpured and libndreduce ask for them: HDF5 itself
 * does not survive every allocation that fails. Reads count from HDF5 as well. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): RTLD_NEXT
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MEMORY, HDF5, READ, OPEN, WRITE, SYNC, NAME, THREAD, CLASSES };
static const char *const classes[CLASSES] = {"memory", "hdf5", "read", "open", "write", "sync", "name", "thread"};

static int failing = -1; /* the class */
static long failing_call, calls[CLASSES], handles;
static const char *failed = "nothing"; /* the function that was made to */
static const char *crashing;

/* ---- Whose calls count ------------------------------------------------------------------------------------------ */

enum { MOST_RANGES = 16 };
static struct { uintptr_t begin, end; } ranges[MOST_RANGES];
static int range_count;

static int add_object(struct dl_phdr_info *object, size_t bytes, void *user) {
  (void)bytes, (void)user;
  bool program = object->dlpi_name[0] == 0 && range_count == 0;
  if (!program && !strstr(object->dlpi_name, "libndreduce")) return 0;
  for (int i = 0; i < object->dlpi_phnum && range_count < MOST_RANGES; i++) {
    const ElfW(Phdr) *header = &object->dlpi_phdr[i];
    uintptr_t begin = object->dlpi_addr + header->p_vaddr;
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    ranges[range_count].begin = begin;
    ranges[range_count++].end = begin + header->p_memsz;
  }
  return 0;
}

static bool is_ours(const void *caller) {
  for (int i = 0; i < range_count; i++)
    if ((uintptr_t)caller >= ranges[i].begin && (uintptr_t)caller < ranges[i].end) return true;
  return false;
}

/* Whether this call is the one to fail. */
static bool fails_as(int class, int reason, const char *name) {
  long call = __atomic_add_fetch(&calls[class], 1, __ATOMIC_RELAXED);
  if (class != failing || call != failing_call) return false;
  failed = name;
  errno = reason;
  return true;
}
#define fails(class, reason) fails_as(class, reason, __func__)

#define OURS is_ours(__builtin_return_address(0))

/* The function that a call is passed on to, which has the type of the one that stands in for it. */
#define REAL(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

/* ---- Memory ----------------------------------------------------------------------------------------------------- */

/* dlsym itself allocates, so glibc's own names for its functions are used here. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *block);

/* Blocks of ours that are alive, by address: open addressing, where a block that is freed leaves GONE behind. */
enum { SLOTS = 1 << 16 };
#define GONE ((void *)1)
static void *alive[SLOTS];
static long alive_count;
static pthread_mutex_t alive_lock = PTHREAD_MUTEX_INITIALIZER;

static size_t slot_of(const void *block) {
  return (size_t)(((uintptr_t)block >> 4) * 0x9E3779B97F4A7C15u >> 48) % SLOTS;
}

static void *born(void *block) {
  if (!block) return NULL;
  pthread_mutex_lock(&alive_lock);
  size_t slot = slot_of(block);
  while (alive[slot] && alive[slot] != GONE) slot = (slot + 1) % SLOTS;
  alive[slot] = block;
  alive_count++;
  pthread_mutex_unlock(&alive_lock);
  return block;
}

static void dead(const void *block) {
  if (!block) return;
  pthread_mutex_lock(&alive_lock);
  size_t slot = slot_of(block), steps = 0;
  while (alive[slot] && alive[slot] != block && steps++ < SLOTS) slot = (slot + 1) % SLOTS;
  if (alive[slot] == block) {
    alive[slot] = GONE;
    alive_count--;
  }
  pthread_mutex_unlock(&alive_lock);
}

void *malloc(size_t bytes) {
  if (!OURS) return __libc_malloc(bytes);
  return fails(MEMORY, ENOMEM) ? NULL : born(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes) {
  if (!OURS) return __libc_calloc(count, bytes);
  return fails(MEMORY, ENOMEM) ? NULL : born(__libc_calloc(count, bytes));
}

void *realloc(void *block, size_t bytes) {
  if (!OURS) return __libc_realloc(block, bytes);
  if (fails(MEMORY, ENOMEM)) return NULL;
  dead(block);
  return born(__libc_realloc(block, bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  if (!OURS) return __libc_memalign(alignment, bytes);
  return fails(MEMORY, ENOMEM) ? NULL : born(__libc_memalign(alignment, bytes));
}

void free(void *block) {
  dead(block);
  __libc_free(block);
}

static char *copy(const char *text, size_t length, bool ours) {
  if (ours && fails(MEMORY, ENOMEM)) return NULL;
  char *made = __libc_malloc(length + 1);
  if (!made) return NULL;
  memcpy(made, text, length);
  made[length] = 0;
  return ours ? born(made) : made;
}

char *strdup(const char *text) {
  return copy(text, strlen(text), OURS);
}

char *strndup(const char *text, size_t most) {
  return copy(text, strnlen(text, most), OURS);
}

char *realpath(const char *restrict path, char *restrict resolved) {
  bool ours = OURS;
  if (ours && fails(MEMORY, ENOMEM)) return NULL;
  char *made = REAL(realpath)(path, resolved);
  return ours && !resolved ? born(made) : made;
}

FILE *open_memstream(char **text, size_t *length) {
  return OURS && fails(MEMORY, ENOMEM) ? NULL : REAL(open_memstream)(text, length);
}

/* ---- The system's functions ------------------------------------------------------------------------------------- */

ssize_t pread64(int fd, void *data, size_t bytes, off64_t from) {
  return fails(READ, EIO) ? -1 : REAL(pread64)(fd, data, bytes, from);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t from) {
  return fails(READ, EIO) ? -1 : REAL(pread)(fd, data, bytes, from);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return OURS && fails(OPEN, EACCES) ? -1 : REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return OURS && fails(OPEN, EACCES) ? -1 : REAL(open64)(path, flags, mode);
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
  return OURS && fails(OPEN, EMFILE) ? NULL : REAL(fopen)(path, mode);
}

int fchmod(int fd, mode_t mode) {
  return OURS && fails(OPEN, EPERM) ? -1 : REAL(fchmod)(fd, mode);
}

ssize_t write(int fd, const void *data, size_t bytes) {
  return OURS && fails(WRITE, ENOSPC) ? -1 : REAL(write)(fd, data, bytes);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at) {
  return OURS && fails(WRITE, ENOSPC) ? -1 : REAL(pwrite)(fd, data, bytes, at);
}

int ftruncate(int fd, off_t bytes) {
  return OURS && fails(WRITE, ENOSPC) ? -1 : REAL(ftruncate)(fd, bytes);
}

int fsync(int fd) {
  return OURS && fails(SYNC, EIO) ? -1 : REAL(fsync)(fd);
}

/* What close says of a file that it has closed. */
int close(int fd) {
  int result = REAL(close)(fd);
  return OURS && fails(SYNC, EIO) ? -1 : result;
}

int link(const char *from, const char *to) {
  return OURS && fails(NAME, EIO) ? -1 : REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags) {
  return OURS && fails(NAME, EIO) ? -1 : REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int rename(const char *from, const char *to) {
  return OURS && fails(NAME, EIO) ? -1 : REAL(rename)(from, to);
}

int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict how, void *(*run)(void *),
                   void *restrict user) {
  return OURS && fails(THREAD, EAGAIN) ? EAGAIN : REAL(pthread_create)(thread, how, run, user);
}

/* ---- HDF5 ------------------------------------------------------------------------------------------------------- */

/* Every argument is an integer or a pointer and none is looked at, so all functions can be passed on to as one of eight
 * arguments: those that were not given are whatever is in their places. That is why HDF5's header is not included. */
#define ARGUMENTS long a, long b, long c, long d, long e, long f, long g, long h
typedef long function(ARGUMENTS);

/* In place of strcmp, whose registers are those of arguments that are floats. */
static bool is_called(const char *name, const char *other) {
  while (*name && *name == *other) name++, other++;
  return *name == *other;
}

#define STAND_IN(name, body)                                                                                           \
  function name;                                                                                                       \
  long name(ARGUMENTS) {                                                                                               \
    static function *real;                                                                                             \
    if (!real) real = (function *)(uintptr_t)dlsym(RTLD_NEXT, #name);                                                  \
    bool ours = OURS;                                                                                                  \
    if (ours && crashing && is_called(crashing, #name)) raise(SIGSEGV);                                                \
    body                                                                                                               \
  }
/* Gives `failed`; gives -1 or a handle, to be closed; gives a handle and is not made to fail; closes one. */
#define ASKS(name, failed) STAND_IN(name, return ours && fails(HDF5, EIO) ? (failed) : real(a, b, c, d, e, f, g, h);)
#define OPENS(name)                                                                                                    \
  STAND_IN(name, if (ours && fails(HDF5, EIO)) return -1; long made = real(a, b, c, d, e, f, g, h);                    \
           if (ours && made >= 0) __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED); return made;)
#define FINDS(name)                                                                                                    \
  STAND_IN(name, long made = real(a, b, c, d, e, f, g, h);                                                             \
           if (ours && made >= 0) __atomic_add_fetch(&handles, 1, __ATOMIC_RELAXED); return made;)
#define CLOSES(name)                                                                                                   \
  STAND_IN(name, long result = real(a, b, c, d, e, f, g, h);                                                           \
           if (ours && (int)result >= 0) __atomic_sub_fetch(&handles, 1, __ATOMIC_RELAXED); return result;)

OPENS(H5Acreate2)
OPENS(H5Aget_space)
OPENS(H5Aget_type)
OPENS(H5Aopen)
OPENS(H5Dcreate2)
OPENS(H5Dget_create_plist)
OPENS(H5Dget_space)
OPENS(H5Dget_type)
OPENS(H5Dopen2)
OPENS(H5FDregister)
OPENS(H5Fcreate)
OPENS(H5Fget_access_plist)
OPENS(H5Fget_create_plist)
OPENS(H5Fopen)
OPENS(H5Gopen2)
OPENS(H5Iget_file_id)
OPENS(H5Iinc_ref) /* one more to be closed */
OPENS(H5Oopen)
OPENS(H5Pcreate)
OPENS(H5Screate)
OPENS(H5Screate_simple)
FINDS(H5Rdereference2) /* failing is what it does with a reference to something deleted */
OPENS(H5Tcopy)
OPENS(H5Tcreate)
OPENS(H5Tenum_create)
OPENS(H5Tget_member_type)
OPENS(H5Tget_super)
OPENS(H5Tvlen_create)
CLOSES(H5Aclose)
CLOSES(H5FDunregister)
CLOSES(H5Dclose)
CLOSES(H5Fclose)
CLOSES(H5Gclose)
CLOSES(H5Oclose)
CLOSES(H5Pclose)
CLOSES(H5Sclose)
CLOSES(H5Tclose)
ASKS(H5Aexists, -1)
ASKS(H5Aexists_by_name, -1)
ASKS(H5Aget_storage_size, 0)
ASKS(H5Aiterate2, -1)
ASKS(H5Aread, -1)
ASKS(H5Awrite, -1)
ASKS(H5Dchunk_iter, -1)
ASKS(H5Dget_chunk_info, -1)
ASKS(H5Dget_chunk_storage_size, -1)
ASKS(H5Dget_num_chunks, -1)
ASKS(H5Dget_offset, -1)
ASKS(H5Dget_space_status, -1)
ASKS(H5Dget_storage_size, 0)
ASKS(H5Dread, -1)
ASKS(H5Dread_chunk, -1)
ASKS(H5Dread_chunk2, -1)
ASKS(H5Dvlen_get_buf_size, -1)
ASKS(H5Dwrite, -1)
ASKS(H5Fflush, -1)
ASKS(H5Fget_file_image, -1)
ASKS(H5Fget_filesize, -1)
ASKS(H5Fget_name, -1)
ASKS(H5Fget_vfd_handle, -1)
ASKS(H5Fis_hdf5, -1)
ASKS(H5Iget_name, -1)
ASKS(H5Iget_type, -1)
ASKS(H5Lexists, -1)
ASKS(H5Oexists_by_name, -1)
ASKS(H5Oget_info_by_name2, -1)
ASKS(H5Oget_info_by_name3, -1)
ASKS(H5Ovisit2, -1)
ASKS(H5Ovisit3, -1)
ASKS(H5Pfill_value_defined, -1)
ASKS(H5Pget_chunk, -1)
ASKS(H5Pget_chunk_opts, -1)
ASKS(H5Pget_driver, -1)
ASKS(H5Pget_external, -1)
ASKS(H5Pget_external_count, -1)
ASKS(H5Pget_fill_value, -1)
ASKS(H5Pget_filter2, -1)
ASKS(H5Pget_layout, -1)
ASKS(H5Pget_nfilters, -1)
ASKS(H5Pget_userblock, -1)
ASKS(H5Pget_virtual_count, -1)
ASKS(H5Pget_virtual_dsetname, -1)
ASKS(H5Pget_virtual_filename, -1)
ASKS(H5Pset_attr_creation_order, -1)
ASKS(H5Pset_chunk, -1)
ASKS(H5Pset_chunk_cache, -1)
ASKS(H5Pset_deflate, -1)
ASKS(H5Pset_efile_prefix, -1)
ASKS(H5Pset_elink_cb, -1)
ASKS(H5Pset_fapl_core, -1)
ASKS(H5Pset_file_locking, -1)
ASKS(H5Pset_fill_value, -1)
ASKS(H5Pset_fletcher32, -1)
ASKS(H5Pset_libver_bounds, -1)
ASKS(H5Pset_link_creation_order, -1)
ASKS(H5Pset_obj_track_times, -1)
ASKS(H5Pset_shuffle, -1)
ASKS(H5Rcreate, -1)
ASKS(H5Sget_simple_extent_dims, -1)
ASKS(H5Sget_simple_extent_ndims, -1)
ASKS(H5Sget_simple_extent_npoints, -1)
ASKS(H5Sget_simple_extent_type, -1)
ASKS(H5Sselect_hyperslab, -1)
ASKS(H5Sset_extent_simple, -1)
ASKS(H5Tconvert, -1)
ASKS(H5Tenum_insert, -1)
ASKS(H5Tequal, -1)
ASKS(H5Tget_class, -1)
ASKS(H5Tget_fields, -1)
ASKS(H5Tget_member_index, -1)
ASKS(H5Tget_member_name, 0)
ASKS(H5Tget_member_value, -1)
ASKS(H5Tget_nmembers, -1)
ASKS(H5Tget_order, -1)
ASKS(H5Tget_precision, 0)
ASKS(H5Tget_sign, -1)
ASKS(H5Tget_size, 0)
ASKS(H5Tget_strpad, -1)
ASKS(H5Tinsert, -1)
ASKS(H5Tis_variable_str, -1)
ASKS(H5Tset_cset, -1)
ASKS(H5Tset_ebias, -1)
ASKS(H5Tset_fields, -1)
ASKS(H5Tset_order, -1)
ASKS(H5Tset_precision, -1)
ASKS(H5Tset_sign, -1)
ASKS(H5Tset_size, -1)

/* ---- What is asked for, and what has been ----------------------------------------------------------------------- */

__attribute__((constructor)) static void begin(void) {
  const char *class = getenv("FAULTS_CLASS"), *call = getenv("FAULTS_CALL");
  crashing = getenv("FAULTS_CRASH");
  dl_iterate_phdr(add_object, NULL);
  for (int i = 0; class && i < CLASSES; i++)
    if (strcmp(class, classes[i]) == 0) failing = i;
  failing_call = call ? atol(call) : 0;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULTS_REPORT");
  long blocks = alive_count;
  FILE *report = path ? REAL(fopen)(path, "w") : NULL;
  if (!report) return;
  for (int i = 0; i < CLASSES; i++) fprintf(report, "%s %ld\n", classes[i], calls[i]);
  fprintf(report, "blocks %ld\nhandles %ld\nfailed %s\n", blocks, handles, failed);
  fclose(report);
}
