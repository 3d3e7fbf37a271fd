/* Kernels compiled for the emulation, one shared object a dtype, as the GPU's come in one fatbin a dtype. */
#ifndef SIMT_MODULE_H
#define SIMT_MODULE_H

#include "launch.h"

typedef struct simt_module {
  void *handle;
  void *statics; /* its static shared memory: all its thread-local storage, and nothing else; of the opening thread */
  size_t statics_bytes;
} simt_module;

/* Loads a file; NULL, or why not (valid until the next call). Close what has been opened. */
const char *simt_module_open(simt_module *module, const char *path);
void simt_module_close(simt_module *module);

/* Makes `statics` those of the calling thread, which is going to run a kernel; NULL, or why not. */
const char *simt_module_find_statics(simt_module *module);

/* NULL when the module has no such kernel. */
void *simt_module_find(const simt_module *module, const char *name);

#endif
