/* Which names a mistyped one is near. */
#include <string.h>

#include "cli.h"

enum { LONGEST = 40, MOST_NAMES = 64 };

static int lesser(int a, int b) {
  return a < b ? a : b;
}

/* How many letters have to be put in, left out, replaced or swapped with the next to make b of a (Damerau), of the
 * first LONGEST; slips[i][j] is that for i letters of a and j of b. */
static int count_slips(const char *a, const char *b) {
  int slips[LONGEST + 1][LONGEST + 1], height = (int)strnlen(a, LONGEST), width = (int)strnlen(b, LONGEST);
  for (int i = 0; i <= height; i++) {
    for (int j = 0; j <= width; j++) {
      slips[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      slips[i][j] = lesser(lesser(slips[i - 1][j], slips[i][j - 1]) + 1, slips[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        slips[i][j] = lesser(slips[i][j], slips[i - 2][j - 2] + 1);
    }
  }
  return slips[height][width];
}

bool cli_near(const char *text, const char *name) {
  int length = (int)strnlen(name, LONGEST);
  return count_slips(text, name) <= (length < 6 ? 1 : length < 10 ? 2 : 3);
}

void cli_nearest(const char *text, int count, const char *const *names, int most, char *list, size_t capacity) {
  bool named[MOST_NAMES] = {false};
  size_t length = 0;
  list[0] = 0;
  if (count > MOST_NAMES) count = MOST_NAMES;
  for (int n = 0; n < count && n < most && length < capacity; n++) {
    int best = -1;
    for (int i = 0; i < count; i++)
      if (!named[i] && (best < 0 || count_slips(text, names[i]) < count_slips(text, names[best]))) best = i;
    named[best] = true;
    length += (size_t)snprintf(list + length, capacity - length, "%s%s", n ? ", " : "", names[best]);
  }
}
