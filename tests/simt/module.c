#include "module.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

typedef struct search {
  const struct link_map *wanted;
  simt_module *module;
} search;

static int find_statics(struct dl_phdr_info *info, size_t size, void *argument) {
  search *found = argument;
  (void)size;
  if (info->dlpi_addr != found->wanted->l_addr || strcmp(info->dlpi_name, found->wanted->l_name) != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_TLS) found->module->statics_bytes = info->dlpi_phdr[i].p_memsz;
  found->module->statics = info->dlpi_tls_data;
  return 1;
}

const char *simt_module_find_statics(simt_module *module) {
  search found = {NULL, module};
  /* Thread-local storage is laid out when it is first touched; each module has a function that does so. */
  const void *(*touch)(void) = (const void *(*)(void))(uintptr_t)dlsym(module->handle, "simt_touch_statics");
  if (!touch || dlinfo(module->handle, RTLD_DI_LINKMAP, &found.wanted)) return dlerror();
  (void)touch();
  dl_iterate_phdr(find_statics, &found);
  return module->statics ? NULL : "its thread-local storage was not found";
}

const char *simt_module_open(simt_module *module, const char *path) {
  memset(module, 0, sizeof *module);
  module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return module->handle ? simt_module_find_statics(module) : dlerror();
}

void simt_module_close(simt_module *module) {
  if (module->handle) dlclose(module->handle);
  memset(module, 0, sizeof *module);
}

void *simt_module_find(const simt_module *module, const char *name) {
  return dlsym(module->handle, name);
}
