/* Opening NVRTC takes 5 ms, and a third of a second where its 100 MB do not lie in the page cache. So a process whose
 * kernels are all kept does not open it: the version that an earlier process found is kept with the kernels, and is
 * believed as long as the library's file is the same. */
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): dladdr
#include "cuda/compile/compiler.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/symbol.h"
#include "cuda/compile/kept.h"
#include "cuda/compile/text.h"

typedef struct nvrtc {
  nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
  nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
  nvrtcResult (*destroy)(nvrtcProgram *);
  nvrtcResult (*cubin_size)(nvrtcProgram, size_t *);
  nvrtcResult (*cubin)(nvrtcProgram, char *);
  nvrtcResult (*log_size)(nvrtcProgram, size_t *);
  nvrtcResult (*log)(nvrtcProgram, char *);
  nvrtcResult (*version)(int *, int *);
  const char *(*message)(nvrtcResult);
  bool open;
} nvrtc;

static nvrtc api;
static pthread_once_t opening = PTHREAD_ONCE_INIT, looking = PTHREAD_ONCE_INIT;
static bool is_there;
enum { VERSION = 24 };
static const char *version = ""; /* one thread may open NVRTC while others read this */
static const char known_key[] = "ndreduce: NVRTC";

static bool find(void *library, const char *name, void *function) {
  return ndr_set_function(function, dlsym(library, name));
}

/* What tells one file from another that may lie in its place later. */
static bool describe_file(const char *path, char *text, size_t capacity) {
  struct stat status;
  if (stat(path, &status) != 0) return false;
  int length = snprintf(text, capacity, "%lld %lld.%09ld", (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec);
  return length > 0 && (size_t)length < capacity;
}

/* Keeps the version, the file as it is now, and its path: a line each. */
static void keep_known(void) {
  Dl_info info;
  char file[64], known[4096];
  void *function;
  memcpy(&function, &api.create, sizeof function);
  if (!dladdr(function, &info) || !info.dli_fname || *info.dli_fname != '/' ||
      !describe_file(info.dli_fname, file, sizeof file))
    return;
  int length = snprintf(known, sizeof known, "%s\n%s\n%s", version, file, info.dli_fname);
  if (length > 0 && (size_t)length < sizeof known) ndr_cuda_kept_write(known_key, known, (size_t)length + 1);
}

static void open_nvrtc(void) {
  static const char *const libraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                          "/usr/local/cuda/lib64/libnvrtc.so"};
  void *library = NULL;
  int major, minor;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  api.open = find(library, "nvrtcCreateProgram", &api.create) && find(library, "nvrtcCompileProgram", &api.compile) &&
             find(library, "nvrtcDestroyProgram", &api.destroy) &&
             find(library, "nvrtcGetCUBINSize", &api.cubin_size) && find(library, "nvrtcGetCUBIN", &api.cubin) &&
             find(library, "nvrtcGetProgramLogSize", &api.log_size) && find(library, "nvrtcGetProgramLog", &api.log) &&
             find(library, "nvrtcGetErrorString", &api.message) && find(library, "nvrtcVersion", &api.version) &&
             api.version(&major, &minor) == NVRTC_SUCCESS;
  if (!api.open) return;
  static char found[VERSION];
  snprintf(found, sizeof found, "%d.%d", major, minor);
  if (strcmp(found, __atomic_load_n(&version, __ATOMIC_ACQUIRE)) == 0) return;
  __atomic_store_n(&version, found, __ATOMIC_RELEASE);
  keep_known();
}

/* Whether NVRTC is what an earlier process found. */
static bool is_known(void) {
  static char found[VERSION];
  size_t bytes;
  char file[64], *known = ndr_cuda_kept_read(known_key, &bytes);
  if (!known) return false;
  known[bytes - 1] = 0;
  char *then = strchr(known, '\n'), *path = then ? strchr(then + 1, '\n') : NULL;
  bool same = false;
  if (path && (size_t)(then - known) < VERSION) {
    *then++ = *path++ = 0;
    same = describe_file(path, file, sizeof file) && strcmp(file, then) == 0;
    if (same) __atomic_store_n(&version, strcpy(found, known), __ATOMIC_RELEASE);
  }
  free(known);
  return same;
}

static void look_for_nvrtc(void) {
  is_there = is_known();
  if (is_there) return;
  pthread_once(&opening, open_nvrtc);
  is_there = api.open;
}

bool ndr_cuda_can_compile(void) {
  pthread_once(&looking, look_for_nvrtc);
  return is_there;
}

const char *ndr_cuda_compiler_version(void) {
  (void)ndr_cuda_can_compile();
  return __atomic_load_n(&version, __ATOMIC_ACQUIRE);
}

static ndr_status fail_with_log(nvrtcProgram program, nvrtcResult result) {
  char log[256] = "";
  size_t size;
  if (api.log_size(program, &size) == NVRTC_SUCCESS && size > 1) {
    char *whole = malloc(size);
    if (whole && api.log(program, whole) == NVRTC_SUCCESS) strncpy(log, whole, sizeof log - 1);
    free(whole);
  }
  log[strcspn(log, "\n")] = 0;
  return ndr_fail(NDR_ERR_DEVICE, "run-time compilation failed: %s %s", api.message(result), log);
}

/* --minimal leaves out declarations that kernels do not use, which take a fifth of the time. Older versions do not know
 * it. */
static nvrtcResult run_compiler(nvrtcProgram program, int capability) {
  char architecture[40];
  snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", capability);
  const char *options[] = {architecture, "--std=c++17", "--device-as-default-execution-space", "--minimal"};
  nvrtcResult result = api.compile(program, 4, options);
  return result == NVRTC_ERROR_INVALID_OPTION ? api.compile(program, 3, options) : result;
}

static ndr_status build(nvrtcProgram program, int capability, void **code, size_t *bytes) {
  nvrtcResult result = run_compiler(program, capability);
  if (result != NVRTC_SUCCESS) return fail_with_log(program, result);
  if (api.cubin_size(program, bytes) != NVRTC_SUCCESS) return ndr_fail(NDR_ERR_DEVICE, "nvrtcGetCUBINSize failed");
  *code = malloc(*bytes);
  if (!*code) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a compiled kernel");
  if (api.cubin(program, *code) == NVRTC_SUCCESS) return NDR_OK;
  free(*code);
  *code = NULL;
  return ndr_fail(NDR_ERR_DEVICE, "nvrtcGetCUBIN failed");
}

ndr_status ndr_cuda_compile_text(const char *source, int capability, void **code, size_t *bytes) {
  nvrtcProgram program;
  *code = NULL;
  pthread_once(&opening, open_nvrtc);
  if (!api.open)
    return ndr_fail(NDR_ERR_UNSUPPORTED, "this needs NVRTC (libnvrtc.so) to compile kernels, which was not found");
  nvrtcResult result =
      api.create(&program, source, "ndr_kernel.cu", ndr_kernel_text_count, ndr_kernel_texts, ndr_kernel_text_names);
  if (result != NVRTC_SUCCESS) return ndr_fail(NDR_ERR_DEVICE, "nvrtcCreateProgram failed: %s", api.message(result));
  ndr_status status = build(program, capability, code, bytes);
  api.destroy(&program);
  return status;
}
