/* Which names a mistyped one is near. */
#include "cli/cli.h"
#include "common/slips.h"

const char *cli_near(const char *text, int count, const char *const *names) {
  const char *nearest = NULL;
  int least = ndr_most_slips(text) + 1;
  for (int i = 0; i < count; i++) {
    int slips = ndr_count_slips(text, names[i]);
    if (slips >= least) continue;
    nearest = names[i];
    least = slips;
  }
  return nearest;
}

void cli_list_names(const char *text, int count, const char *const *names, char *list, size_t capacity) {
  const char *nearest = cli_near(text, count, names);
  size_t length = (size_t)snprintf(list, capacity, "%s", nearest ? nearest : "");
  for (int i = 0; i < count && length < capacity; i++)
    if (names[i] != nearest)
      length += (size_t)snprintf(list + length, capacity - length, "%s%s", length ? ", " : "", names[i]);
}
