/* Runs a fuzz target over the files and folders named on the command line: what libFuzzer found once must stay fixed,
 * also where there is no libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly as much memory as the file has bytes, so that a sanitizer sees a read past the end. */
static int replay_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(size ? size : 1);
  int failed = !file || !data || fread(data, 1, size, file) != size;
  if (failed)
    fprintf(stderr, "%s cannot be read\n", path);
  else
    LLVMFuzzerTestOneInput(data, size);
  free(data);
  if (file) fclose(file);
  return failed;
}

static int replay(const char *path, int *inputs) {
  struct stat status;
  if (stat(path, &status) != 0) {
    perror(path);
    return 1;
  }
  if (!S_ISDIR(status.st_mode)) {
    ++*inputs;
    return replay_file(path, (size_t)status.st_size);
  }
  DIR *folder = opendir(path);
  int failed = !folder;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    char inner[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
    failed |= replay(inner, inputs);
  }
  if (folder) closedir(folder);
  return failed;
}

int main(int count, char **arguments) {
  int failed = 0, inputs = 0;
  for (int i = 1; i < count; ++i) failed |= replay(arguments[i], &inputs);
  printf("%d inputs\n", inputs);
  return failed || inputs == 0;
}
