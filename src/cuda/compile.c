/* Compiles kernels with NVRTC at run time, and keeps them for the process. */
#include "cuda/compile.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/text.h"

/* NVRTC is opened when it is first needed, so that a machine without it lacks only the kernels of this file. */
typedef struct nvrtc {
  nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *, const char *const *);
  nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
  nvrtcResult (*destroy)(nvrtcProgram *);
  nvrtcResult (*cubin_size)(nvrtcProgram, size_t *);
  nvrtcResult (*cubin)(nvrtcProgram, char *);
  nvrtcResult (*log_size)(nvrtcProgram, size_t *);
  nvrtcResult (*log)(nvrtcProgram, char *);
  const char *(*message)(nvrtcResult);
  bool open;
} nvrtc;

static nvrtc api;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* dlsym returns an object pointer. POSIX allows it to be copied to a function pointer. */
static bool find(void *library, const char *name, void *function) {
  void *symbol = dlsym(library, name);
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

static void open_nvrtc(void) {
  static const char *const libraries[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so",
                                          "/usr/local/cuda/lib64/libnvrtc.so"};
  void *library = NULL;
  for (size_t i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
    library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
  if (!library) return;
  api.open = find(library, "nvrtcCreateProgram", &api.create) && find(library, "nvrtcCompileProgram", &api.compile) &&
             find(library, "nvrtcDestroyProgram", &api.destroy) &&
             find(library, "nvrtcGetCUBINSize", &api.cubin_size) && find(library, "nvrtcGetCUBIN", &api.cubin) &&
             find(library, "nvrtcGetProgramLogSize", &api.log_size) && find(library, "nvrtcGetProgramLog", &api.log) &&
             find(library, "nvrtcGetErrorString", &api.message);
}

bool ndr_cuda_can_compile(void) {
  pthread_once(&once, open_nvrtc);
  return api.open;
}

static void append_op(char *text, size_t capacity, size_t *length, const ndr_canonical *problem, int i) {
  const char *dtype = ndr_dtype_name(problem->dtype);
  ndr_text_append(text, capacity, length, "op_%s<%s, %s, %s>", ndr_op_name(problem->ops[i]),
                  problem->dtype == NDR_BOOL ? "boolean" : dtype, problem->accumulate_f64 ? "true" : "false",
                  problem->skip_nan ? "true" : "false");
}

/* The template of each kernel that a plan may name, its file, and its name in kernels.h. */
static const struct {
  const char *name, *file, *row;
} templates[NDR_PLAN_KERNELS] = {
#define ROW(NAME, name, family, file, ...) [NDR_KERNEL_##NAME] = {#name, #file, #NAME},
    NDR_KERNEL_ROWS(ROW, )
#undef ROW
};

/* Appends the type of all operators together. */
static void append_ops(char *text, size_t capacity, size_t *length, const ndr_canonical *problem, int first,
                       int op_count) {
  for (int i = 0; i + 1 < op_count; i++) {
    ndr_text_append(text, capacity, length, "fused<");
    append_op(text, capacity, length, problem, first + i);
    ndr_text_append(text, capacity, length, ", ");
  }
  append_op(text, capacity, length, problem, first + op_count - 1);
  for (int i = 0; i + 1 < op_count; i++) ndr_text_append(text, capacity, length, ">");
}

/* Writes the program: its includes and one kernel. Its text is also the key under which the kernel is kept. */
static void write_source(char *text, size_t capacity, const ndr_canonical *problem, int first, int op_count,
                         ndr_kernel kind) {
  size_t length = 0;
  ndr_text_append(text, capacity, &length, "#include \"%s.cuh\"\n#include \"fused.cuh\"\ntypedef ",
                  templates[kind].file);
  append_ops(text, capacity, &length, problem, first, op_count);
  ndr_text_append(text, capacity, &length,
                  " operators;\n"
                  "NDR_KERNEL NDR_BOUNDS(NDR_BLOCK, "
                  "(compiled_residency<NDR_KERNEL_%s, operators>::blocks(NDR_BLOCKS_%s)))\n"
                  "ndr_compiled(const __grid_constant__ ndr_params p) {\n  %s<operators>(p);\n}\n",
                  templates[kind].row, templates[kind].row, templates[kind].name);
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

static ndr_status build(nvrtcProgram program, int capability, cudaKernel_t *kernel) {
  char architecture[32] = "";
  size_t length = 0, size;
  cudaLibrary_t library;
  ndr_text_append(architecture, sizeof architecture, &length, "--gpu-architecture=sm_%d", capability);
  const char *options[] = {architecture, "--std=c++17", "--device-as-default-execution-space"};
  nvrtcResult result = api.compile(program, 3, options);
  if (result != NVRTC_SUCCESS) return fail_with_log(program, result);
  if (api.cubin_size(program, &size) != NVRTC_SUCCESS) return ndr_fail(NDR_ERR_DEVICE, "nvrtcGetCUBINSize failed");
  char *cubin = malloc(size);
  if (!cubin) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a compiled kernel");
  cudaError_t error = cudaErrorUnknown;
  if (api.cubin(program, cubin) == NVRTC_SUCCESS)
    error = cudaLibraryLoadData(&library, cubin, NULL, NULL, 0, NULL, NULL, 0);
  free(cubin);
  if (error == cudaSuccess) error = cudaLibraryGetKernel(kernel, library, "ndr_compiled");
  return error == cudaSuccess ? NDR_OK : ndr_cuda_fail(error, "loading a compiled kernel");
}

static ndr_status compile(const char *source, int capability, cudaKernel_t *kernel) {
  nvrtcProgram program;
  nvrtcResult result =
      api.create(&program, source, "ndr_kernel.cu", ndr_kernel_text_count, ndr_kernel_texts, ndr_kernel_text_names);
  if (result != NVRTC_SUCCESS) return ndr_fail(NDR_ERR_DEVICE, "nvrtcCreateProgram failed: %s", api.message(result));
  ndr_status status = build(program, capability, kernel);
  api.destroy(&program);
  return status;
}

/* The kernels compiled so far, as a list: a process uses few combinations. */
typedef struct compiled {
  struct compiled *next;
  int capability;
  cudaKernel_t kernel;
  char source[];
} compiled;

static compiled *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ndr_status look_up(const char *source, int capability, cudaKernel_t *kernel) {
  for (const compiled *c = all; c; c = c->next) {
    if (c->capability == capability && strcmp(c->source, source) == 0) {
      *kernel = c->kernel;
      return NDR_OK;
    }
  }
  compiled *c = malloc(sizeof *c + strlen(source) + 1);
  if (!c) return ndr_fail(NDR_ERR_MEMORY, "out of memory for a compiled kernel");
  ndr_status status = compile(source, capability, &c->kernel);
  if (status != NDR_OK) {
    free(c);
    return status;
  }
  c->capability = capability;
  strcpy(c->source, source);
  c->next = all;
  all = c;
  *kernel = c->kernel;
  return NDR_OK;
}

ndr_status ndr_cuda_compile(const ndr_canonical *problem, int first, int op_count, ndr_kernel kind, int capability,
                            cudaKernel_t *kernel) {
  char source[2048] = "";
  if (!ndr_cuda_can_compile())
    return ndr_fail(NDR_ERR_UNSUPPORTED, "this combination of options needs NVRTC (libnvrtc.so), which was not found");
  write_source(source, sizeof source, problem, first, op_count, kind);
  pthread_mutex_lock(&lock);
  ndr_status status = look_up(source, capability, kernel);
  pthread_mutex_unlock(&lock);
  return status;
}

__attribute__((destructor)) static void forget_all(void) {
  while (all) {
    compiled *next = all->next;
    free(all);
    all = next;
  }
}
