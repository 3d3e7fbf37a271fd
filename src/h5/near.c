#include "h5/near.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "h5/field.h"
#include "h5/netcdf.h"

/* Longer names are near only if they are equal but for case. A group may have millions of links. */
enum { LONGEST = 64, MOST_LINKS = 20000, SHOWN = 80 };

static int lesser(int a, int b) {
  return a < b ? a : b;
}

/* How many letters have to be put in, left out, replaced or swapped with the next to make b of a (Damerau), whatever
 * their case; slips[i][j] is that for the first i letters of a and j of b. */
static int count_slips(const char *a, const char *b) {
  int slips[LONGEST + 1][LONGEST + 1], height = (int)strnlen(a, LONGEST + 1), width = (int)strnlen(b, LONGEST + 1);
  if (strcasecmp(a, b) == 0) return 0;
  if (height > LONGEST || width > LONGEST) return LONGEST;
  for (int i = 0; i <= height; i++) {
    for (int j = 0; j <= width; j++) {
      slips[i][j] = i + j;
      if (i == 0 || j == 0) continue;
      int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
      slips[i][j] = lesser(lesser(slips[i - 1][j], slips[i][j - 1]) + 1, slips[i - 1][j - 1] + (x != y));
      if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) && y == tolower((unsigned char)a[i - 2]))
        slips[i][j] = lesser(slips[i][j], slips[i - 2][j - 2] + 1);
    }
  }
  return slips[height][width];
}

void ndr_near_offer(ndr_near *near, const char *name) {
  size_t length = strlen(near->wanted);
  int slips = count_slips(near->wanted, name), at = near->count;
  if (slips > (length < 3 ? 0 : length < 6 ? 1 : length < 10 ? 2 : 3)) return;
  while (at > 0 && slips < near->slips[at - 1]) at--;
  char *copy = at < NDR_NEAR_NAMES ? strdup(name) : NULL;
  if (!copy) return;
  if (near->count == NDR_NEAR_NAMES) free(near->names[--near->count]);
  for (int i = near->count++; i > at; i--) {
    near->names[i] = near->names[i - 1];
    near->slips[i] = near->slips[i - 1];
  }
  near->names[at] = copy;
  near->slips[at] = slips;
}

void ndr_near_clear(ndr_near *near) {
  for (int i = 0; i < near->count; i++) free(near->names[i]);
  near->count = 0;
}

static void write_names(const ndr_near *near, const char *before, char *text, size_t capacity) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < near->count && used < capacity; i++)
    used += (size_t)snprintf(text + used, capacity - used, "%s%.*s%.*s%s", i ? ", " : "; did you mean ", SHOWN, before,
                             SHOWN, near->names[i], i == near->count - 1 ? "?" : "");
}

/* ---- Paths ------------------------------------------------------------------------------------------------------- */

typedef struct {
  ndr_near near;
  int left;
} link_search;

static int offer_link(void *user, const char *name, H5L_type_t type) {
  (void)type;
  link_search *s = user;
  char *shown = ndr_netcdf_shown(name);
  if (shown) ndr_near_offer(&s->near, shown);
  free(shown);
  return --s->left == 0;
}

/* The first name of a path that leads nowhere, which is ended there. */
static char *find_wrong(hid_t file, hid_t access, char *path) {
  char *name = path + strspn(path, "/");
  for (char *slash; (slash = strchr(name, '/')); name = slash + 1) {
    *slash = 0;
    if (H5Lexists(file, path, access) <= 0 || H5Oexists_by_name(file, path, access) <= 0) break;
    *slash = '/';
  }
  return name;
}

void ndr_near_paths(hid_t file, hid_t access, const char *path, char *text, size_t capacity) {
  char *copy = strdup(path), *name = copy ? find_wrong(file, access, copy) : NULL;
  text[0] = 0;
  if (!copy) return;
  char *wanted = strdup(name);
  *name = 0;
  link_search s = {{.wanted = wanted}, MOST_LINKS};
  hid_t group = wanted ? H5Gopen2(file, *copy ? copy : "/", access) : H5I_INVALID_HID;
  if (group >= 0) {
    ndr_hdf_each_link(group, offer_link, &s);
    H5Gclose(group);
  }
  write_names(&s.near, copy, text, capacity);
  ndr_near_clear(&s.near);
  free(wanted);
  free(copy);
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* 1 stops where it is the one. */
static int offer_field(void *user, const char *field) {
  ndr_near *near = user;
  ndr_near_offer(near, field);
  return strcmp(near->wanted, field) == 0;
}

bool ndr_near_fields(hid_t type, const char *field, char *text, size_t capacity) {
  ndr_near near = {.wanted = field};
  int found = ndr_field_each(type, offer_field, &near);
  write_names(&near, "", text, capacity);
  ndr_near_clear(&near);
  return found == 0;
}
