/* See slips.h: the edit distance of two names, without regard to case. */
#include "common/slips.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LONGEST = 64 };

static int lesser(int a, int b) {
  return a < b ? a : b;
}

static int letter(const char *text, int i) {
  return tolower((unsigned char)text[i]);
}

static bool is_same(const char *a, const char *b) {
  int i = 0;
  while (a[i] && letter(a, i) == letter(b, i)) i++;
  return letter(a, i) == letter(b, i);
}

/* slips[i][j] is the count for the first i letters of a and j of b. */
int ndr_count_slips(const char *a, const char *b) {
  int slips[LONGEST + 1][LONGEST + 1], height = (int)strnlen(a, LONGEST + 1), width = (int)strnlen(b, LONGEST + 1);
  if (is_same(a, b)) return 0;
  if (height > LONGEST || width > LONGEST) return LONGEST;
  for (int i = 0; i <= height; i++) {
    for (int j = 0; j <= width; j++) {
      slips[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      int x = letter(a, i - 1), y = letter(b, j - 1);
      slips[i][j] = lesser(lesser(slips[i - 1][j], slips[i][j - 1]) + 1, slips[i - 1][j - 1] + (x != y));
      if (i > 1 && j > 1 && x == letter(b, j - 2) && y == letter(a, i - 2))
        slips[i][j] = lesser(slips[i][j], slips[i - 2][j - 2] + 1);
    }
  }
  return slips[height][width];
}

int ndr_most_slips(const char *wanted) {
  size_t length = strlen(wanted);
  return length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3;
}
