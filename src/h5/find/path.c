/* See path.h, and ndr_h5_split, which looks at the files there are. Opens none. */
#include "h5/find/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/status.h"
#include "ndreduce/h5.h"

size_t ndr_path_split(const char *text, ndr_path_test is_file, void *user, const char **dataset) {
  size_t full = strlen(text);
  for (size_t length = full; length > 0; length--) {
    char next = text[length];
    if (next != 0 && next != ':' && next != '/' && next != '[') continue;
    if (!is_file(user, text, length)) continue;
    const char *rest = text + length + (next == ':');
    *dataset = *rest ? rest : NULL;
    return length;
  }
  return 0;
}

size_t ndr_path_guess(const char *text) {
  const char *end = strstr(text, ":/");
  return end && end > text ? (size_t)(end - text) : strlen(text);
}

/* A folder is not a file; anything else that exists may be one, and opening it will tell. *user says whether memory ran
 * out. */
static bool exists(void *user, const char *text, size_t length) {
  char *name = strndup(text, length);
  struct stat facts;
  bool found = name && stat(name, &facts) == 0 && !S_ISDIR(facts.st_mode);
  if (!name) *(bool *)user = true;
  free(name);
  return found;
}

static bool is_url(const char *text) {
  const char *end = strstr(text, "://");
  return end && end > text && (size_t)(end - text) == strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789+");
}

ndr_status ndr_path_fail(const char *file) {
  const char *reason = strerror(errno);
  if (is_url(file)) reason = "is a URL, and only local files are read: download it first";
  return ndr_fail(NDR_ERR_FILE, "%s: %s", file, reason);
}

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

static ndr_status fail_missing(const char *text) {
  char *name = strndup(text, is_url(text) ? strlen(text) : ndr_path_guess(text));
  if (!name) return fail_memory();
  struct stat facts;
  ndr_status status =
      stat(name, &facts) != 0 ? ndr_path_fail(name) : ndr_fail(NDR_ERR_FILE, "%s: is a folder, not a file", name);
  free(name);
  return status;
}

static char *absolute(const char *dataset) {
  bool rooted = dataset[0] == '/';
  char *path = malloc(strlen(dataset) + 2);
  if (path) {
    path[0] = '/';
    strcpy(path + !rooted, dataset);
  }
  return path;
}

ndr_status ndr_h5_split(const char *text, char **file, char **dataset) {
  if (!file || !dataset) return ndr_fail(NDR_ERR_ARGUMENT, "file or dataset is a null pointer");
  *file = *dataset = NULL;
  if (!text || !*text) return ndr_fail(NDR_ERR_ARGUMENT, "the name of the input file is empty");
  const char *rest;
  bool full = false;
  size_t length = ndr_path_split(text, exists, &full, &rest);
  if (full) return fail_memory();
  if (length == 0) return fail_missing(text);
  *file = strndup(text, length);
  *dataset = rest ? absolute(rest) : NULL;
  if (*file && (*dataset || !rest)) return NDR_OK;
  free(*file);
  free(*dataset);
  *file = *dataset = NULL;
  return fail_memory();
}
