/* Paths and dims as typed on h5gpured's command line, any bytes: "PATH\nDIMS". Splitting a path must give back its
 * text; dims that are accepted are different and in range, and mean the same when written as numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5/path.h"
#include "ndreduce/h5.h"

enum { NDIM = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
  if (!condition) abort();
}

/* A file exists for every prefix whose bytes add up to a multiple of 3: any pattern of hits and misses can come up. */
static bool is_file(void *user, const char *text, size_t length) {
  unsigned sum = 0;
  for (size_t i = 0; i < length; i++) sum += (unsigned char)text[i];
  ++*(size_t *)user;
  return sum % 3 == 0;
}

static void check_path(const char *text) {
  const char *rest = NULL;
  size_t asked = 0, length = ndr_path_split(text, is_file, &asked, &rest), guess = ndr_path_guess(text);
  require(guess <= strlen(text) && (guess > 0 || !*text));
  require(asked <= strlen(text));
  if (length == 0) return;
  size_t joint = text[length] == ':';
  require(length <= strlen(text) && is_file(&asked, text, length));
  require(rest ? rest == text + length + joint && *rest : text[length + joint] == 0);
}

static void check_dims(const char *text) {
  static const char *const names[NDIM] = {"time", NULL, "lat", "0"};
  int dims[NDIM], again[NDIM], count = -1, more = -1;
  char numbers[8 * NDIM] = "";
  ndr_status status = ndr_h5_dims_parse(text, NDIM, names, &count, dims);
  require(status == NDR_OK || status == NDR_ERR_PARSE || status == NDR_ERR_DIMS);
  if (status != NDR_OK) {
    require(ndr_last_error()[0] != 0 && count == -1);
    return;
  }
  require(count >= 1 && count <= NDIM);
  for (int i = 0; i < count; i++) {
    require(dims[i] >= 0 && dims[i] < NDIM);
    for (int j = 0; j < i; j++) require(dims[i] != dims[j]);
    snprintf(numbers + strlen(numbers), sizeof numbers - strlen(numbers), "%s%d", i ? "," : "", dims[i] - NDIM);
  }
  require(ndr_h5_dims_parse(numbers, NDIM, NULL, &more, again) == NDR_OK);
  require(more == count && memcmp(dims, again, sizeof *dims * (size_t)count) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  require(text != NULL);
  memcpy(text, data, size);
  text[size] = 0;
  char *line = strchr(text, '\n');
  if (line) *line = 0;
  check_path(text);
  check_dims(line ? line + 1 : text);
  free(text);
  return 0;
}
