/* Numbers of the command line. The C library's functions also take blanks, signs, hexadecimals and nan; these do not.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

bool cli_integer(const char *text, uint64_t least, uint64_t most, uint64_t *value) {
  if (!*text || text[strspn(text, "0123456789")]) return false;
  errno = 0;
  *value = strtoull(text, NULL, 10);
  return errno == 0 && *value >= least && *value <= most;
}

/* The number that text begins with, and what comes after it; NULL where it begins with none. */
static const char *take_decimal(const char *text, double *value) {
  size_t whole = strspn(text, "0123456789"), length = whole;
  if (text[whole] == '.') length += 1 + strspn(text + whole + 1, "0123456789");
  char digits[64];
  if (length >= sizeof digits || !isdigit((unsigned char)*text) || !isdigit((unsigned char)text[length - 1]))
    return NULL;
  memcpy(digits, text, length);
  digits[length] = 0;
  *value = strtod(digits, NULL);
  return text + length;
}

bool cli_decimal(const char *text, double *value) {
  const char *rest = take_decimal(text, value);
  return rest && !*rest;
}

bool cli_size(const char *text, uint64_t most, uint64_t *bytes) {
  static const char suffixes[] = "KMGT";
  double value;
  const char *rest = take_decimal(text, &value);
  if (!rest) return false;
  const char *suffix = *rest ? strchr(suffixes, toupper((unsigned char)*rest)) : NULL;
  if (suffix) {
    value = ldexp(value, 10 * (int)(suffix - suffixes + 1));
    rest++;
  }
  if (*rest && strcmp(rest, "B") != 0 && !(suffix && strcmp(rest, "iB") == 0)) return false;
  if (value < 1 || value > (double)most) return false;
  *bytes = (uint64_t)value;
  return true;
}
