#include "h5/cf_angle.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const double pi = 3.14159265358979323846;

static bool is_among(const char *text, const char *const *list) {
  for (; *list; list++)
    if (strcasecmp(text, *list) == 0) return true;
  return false;
}

double ndr_angle_radians(const char *units) {
  static const char *const radians[] = {"radian", "radians", "rad", NULL};
  static const char *const degrees[] = {"degrees", "degree", "deg", NULL};
  static const char *const directions[] = {"",   "_north", "_east", "_south", "_west", "_true", "_N", "_E",
                                           "_S", "_W",     "_T",    "N",      "E",     "S",     "W",  NULL};
  if (!units) return 0;
  if (is_among(units, radians)) return 1;
  for (int i = 0; degrees[i]; i++) {
    size_t length = strlen(degrees[i]);
    if (strncasecmp(units, degrees[i], length) == 0 && is_among(units + length, directions)) return pi / 180;
  }
  return 0;
}

bool ndr_angle_is_name(const char *name) {
  static const char *const whole[] = {"lat", "lon", "rlat", "rlon", "clat", "clon", "nav_lat", "nav_lon", NULL};
  if (!name) return false;
  if (is_among(name, whole)) return true;
  for (; *name; name++)
    if (strncasecmp(name, "latitude", 8) == 0 || strncasecmp(name, "longitude", 9) == 0) return true;
  return false;
}
