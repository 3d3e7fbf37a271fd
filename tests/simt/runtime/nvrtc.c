/* libnvrtc as src/cuda/compile/compile.c finds it: the program and the headers it is handed become files, those a
 * module, and what is called its machine code is the module's path (see cudaLibraryLoadData). Modules are kept in the
 * build's folder under the hash of their text, so that each is compiled once. SIMT_NVRTC_LOG names a file that gets a
 * line each time that this library is opened, and that a program is compiled. While there is a file SIMT_NVRTC_HOLD,
 * programs that contain the text in it are not compiled. */
#include <nvrtc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_PATH = 1024, MOST_LOG = 4096 };

struct simt_program {
  const char *source; /* the caller's, as are the headers: compile.c keeps them */
  int header_count;
  const char *const *headers, *const *names;
  char module[MOST_PATH], log[MOST_LOG];
};

static void note(const char *what) {
  const char *path = getenv("SIMT_NVRTC_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (!file) return;
  fprintf(file, "%s\n", what);
  fclose(file);
}

__attribute__((constructor)) static void note_opening(void) {
  note("opened");
}

nvrtcResult nvrtcVersion(int *major, int *minor) {
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int header_count,
                               const char *const *headers, const char *const *header_names) {
  (void)name;
  *program = calloc(1, sizeof **program);
  if (!*program) return NVRTC_ERROR_OUT_OF_MEMORY;
  **program = (struct simt_program){source, header_count, headers, header_names, "", ""};
  return NVRTC_SUCCESS;
}

/* Fowler, Noll and Vo's hash. */
static uint64_t hash(uint64_t seed, const char *text) {
  for (; *text; text++) seed = (seed ^ (unsigned char)*text) * 0x100000001b3u;
  return seed;
}

static bool write_file(const char *folder, const char *name, const char *before, const char *text) {
  char path[MOST_PATH + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  if (!file) return false;
  bool written = fprintf(file, "%s%s", before, text) >= 0;
  return fclose(file) == 0 && written;
}

static void read_log(const char *folder, char *log) {
  char path[MOST_PATH + 64];
  snprintf(path, sizeof path, "%s/log", folder);
  FILE *file = fopen(path, "r");
  if (!file) return;
  log[fread(log, 1, MOST_LOG - 1, file)] = 0;
  fclose(file);
}

static bool build(nvrtcProgram p, const char *folder) {
  char command[4 * MOST_PATH], made[MOST_PATH + 16];
  bool written = write_file(folder, "program.cc", "#include \"" SIMT_SOURCE_DIR "/machine.cuh\"\n", p->source);
  for (int i = 0; i < p->header_count; i++) written = written && write_file(folder, p->names[i], "", p->headers[i]);
  snprintf(made, sizeof made, "%s/module.so", folder);
  snprintf(command, sizeof command, SIMT_COMPILE " -shared -fPIC -I%s %s/program.cc -o %s >%s/log 2>&1", folder, folder,
           made, folder);
  bool built = written && system(command) == 0; /* NOLINT(cert-env33-c): a compiler's command line */
  if (!built) read_log(folder, p->log);
  /* Another process may be doing the same: whoever comes last puts the same thing there. */
  return built && rename(made, p->module) == 0;
}

static void remove_folder(nvrtcProgram p, const char *folder) {
  char path[MOST_PATH + 64];
  const char *const own[] = {"program.cc", "module.so", "log"};
  for (int i = 0; i < p->header_count + 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, i < 3 ? own[i] : p->names[i - 3]);
    unlink(path);
  }
  rmdir(folder);
}

static bool is_held(const char *source) {
  char text[64];
  const char *path = getenv("SIMT_NVRTC_HOLD");
  FILE *file = path ? fopen(path, "r") : NULL;
  if (!file) return false;
  bool held = fgets(text, sizeof text, file) && strstr(source, text);
  fclose(file);
  return held;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int option_count, const char *const *options) {
  char folder[] = SIMT_MODULE_DIR "/compile.XXXXXX";
  note("compiled");
  while (is_held(p->source)) usleep(1000);
  if (option_count < 1 || strncmp(options[0], "--gpu-architecture=sm_", 22) != 0) return NVRTC_ERROR_INVALID_OPTION;
  uint64_t key = hash(hash(0xcbf29ce484222325u, p->source), SIMT_COMPILE);
  for (int i = 0; i < p->header_count; i++) key = hash(key, p->headers[i]);
  snprintf(p->module, sizeof p->module, SIMT_MODULE_DIR "/compiled_%016llx.so", (unsigned long long)key);
  if (access(p->module, R_OK) == 0) return NVRTC_SUCCESS;
  if (!mkdtemp(folder)) return NVRTC_ERROR_COMPILATION;
  bool built = build(p, folder);
  remove_folder(p, folder);
  return built ? NVRTC_SUCCESS : NVRTC_ERROR_COMPILATION;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
  free(*program);
  *program = NULL;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size) {
  *size = strlen(program->module) + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin) {
  strcpy(cubin, program->module);
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size) {
  *size = strlen(program->log) + 1;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log) {
  strcpy(log, program->log);
  return NVRTC_SUCCESS;
}

const char *nvrtcGetErrorString(nvrtcResult result) {
  static const char *const texts[] = {"success", "out of memory", "invalid option", "compilation failed"};
  return texts[result];
}
