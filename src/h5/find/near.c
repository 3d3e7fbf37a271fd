/* See near.h. How near two names are is in common/slips.c. */
#include "h5/find/near.h"

#include <stdlib.h>
#include <string.h>

#include "common/slips.h"
#include "h5/file/netcdf.h"
#include "h5/find/field.h"

/* A group may have millions of links. */
enum { MOST_LINKS = 20000, SHOWN = 80 };

void ndr_near_offer(ndr_near *near, const char *name) {
  int slips = ndr_count_slips(near->wanted, name), at = near->count;
  if (slips > ndr_most_slips(near->wanted)) return;
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
  snprintf(text, capacity, near->count ? "" : "; ndr_h5_list shows them");
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
