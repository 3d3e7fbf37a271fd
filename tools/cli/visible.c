/* Makes texts harmless to a terminal: names in files, and arguments, may hold anything. */
#include "cli/cli.h"

/* Overlong forms, surrogates and what is above U+10FFFF are none. */
int cli_utf8_length(const unsigned char *text) {
  unsigned char c = text[0], low = 0x80, high = 0xbf;
  int length = c < 0x80 ? 1 : c >= 0xc2 && c <= 0xdf ? 2 : c >= 0xe0 && c <= 0xef ? 3 : c >= 0xf0 && c <= 0xf4 ? 4 : 0;
  if (c == 0xe0) low = 0xa0;
  if (c == 0xed) high = 0x9f;
  if (c == 0xf0) low = 0x90;
  if (c == 0xf4) high = 0x8f;
  for (int i = 1; i < length; i++) {
    if (text[i] < low || text[i] > high) return 0;
    low = 0x80;
    high = 0xbf;
  }
  return length;
}

const char *cli_print_letter(const char *text, FILE *to) {
  const unsigned char *c = (const unsigned char *)text;
  int length = cli_utf8_length(c), bytes = length ? length : 1;
  bool steers = length == 0 || *c < 32 || *c == 127 || (*c == 0xc2 && c[1] < 0xa0);
  for (int i = 0; i < bytes; i++) fprintf(to, steers ? "\\x%02x" : "%c", c[i]);
  return text + bytes;
}

void cli_print_visible(const char *text, FILE *to) {
  while (*text) text = cli_print_letter(text, to);
}
