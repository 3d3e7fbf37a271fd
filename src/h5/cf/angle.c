/* See cf/angle.h: lists of the words that mean an angle. Pure text. */
#include "h5/cf/angle.h"

#include <string.h>
#include <strings.h>

static const double pi = 3.14159265358979323846;

static bool is_among(const char *text, const char *const *list) {
  for (; *list; list++)
    if (strcasecmp(text, *list) == 0) return true;
  return false;
}

/* What follows "degree", "degrees" or "deg" where that is "" or a direction, else NULL. */
static const char *find_direction(const char *units) {
  static const char *const degrees[] = {"degrees", "degree", "deg", NULL};
  static const char *const directions[] = {"",   "_north", "_east", "_south", "_west", "_true", "_N", "_E",
                                           "_S", "_W",     "_T",    "N",      "E",     "S",     "W",  NULL};
  for (int i = 0; degrees[i]; i++) {
    size_t length = strlen(degrees[i]);
    if (strncasecmp(units, degrees[i], length) == 0 && is_among(units + length, directions)) return units + length;
  }
  return NULL;
}

double ndr_angle_radians(const char *units) {
  static const char *const radians[] = {"radian", "radians", "rad", NULL};
  if (!units) return 0;
  if (is_among(units, radians)) return 1;
  return find_direction(units) ? pi / 180 : 0;
}

ndr_angle_kind ndr_angle_of_units(const char *units) {
  const char *direction = units ? find_direction(units) : NULL;
  if (!direction) return NDR_ANGLE_UNKNOWN;
  switch (direction[*direction == '_']) {
  case 'n':
  case 'N':
  case 's':
  case 'S': return NDR_ANGLE_LATITUDE;
  case 'e':
  case 'E':
  case 'w':
  case 'W': return NDR_ANGLE_LONGITUDE;
  default: return NDR_ANGLE_UNKNOWN;
  }
}

ndr_angle_kind ndr_angle_of_name(const char *name) {
  static const char *const latitudes[] = {"lat", "rlat", "clat", "nav_lat", NULL};
  static const char *const longitudes[] = {"lon", "rlon", "clon", "nav_lon", NULL};
  if (!name) return NDR_ANGLE_UNKNOWN;
  if (is_among(name, latitudes)) return NDR_ANGLE_LATITUDE;
  if (is_among(name, longitudes)) return NDR_ANGLE_LONGITUDE;
  for (; *name; name++) {
    if (strncasecmp(name, "latitude", 8) == 0) return NDR_ANGLE_LATITUDE;
    if (strncasecmp(name, "longitude", 9) == 0) return NDR_ANGLE_LONGITUDE;
  }
  return NDR_ANGLE_UNKNOWN;
}
