/* The sets of sums by group, beside the plain sum of the same array: labels in runs, in cycles and in no order, along
 * the slowest dim, along the fastest, and over the two dims of a map. */
#include <stdlib.h>

#include "ndbench/ndbench.h"

/* An hour each of a year and of ten years; the places of a map. */
enum { YEAR = 8760, DECADE = 10 * YEAR, LATITUDES = 180, LONGITUDES = 360, PLACES = LATITUDES * LONGITUDES };

/* All labels of a dim, written out, with room for any. */
enum { LABELS_TEXT = 8 * (DECADE > PLACES ? DECADE : PLACES) };

/* An array of `bytes` bytes: the dims of the labels, `length` elements, and one more. */
typedef struct layout {
  const char *name, *before, *behind, *reduced; /* texts of the sizes before and behind the one more, and of the dims */
  int64_t length;
} layout;

static const layout columns = {"columns", "8760,", "", "0", YEAR}, decade = {"ten years", "87600,", "", "0", DECADE};
static const layout rows = {"rows", "", ",8760", "1", YEAR}, long_rows = {"long rows", "", ",87600", "1", DECADE};
static const layout map = {"map", "", ",180,360", "1,2", PLACES};
/* Plain sums with about as many results as the sums by 365 groups of `columns`, and by 10,000 of `decade`. */
static const layout runs_of_24 = {"runs of 24", "365,24,", "", "1", YEAR};
static const layout runs_of_9 = {"runs of 9", "9733,9,", "", "1", 9733 * 9};

typedef struct grouping {
  const char *name;
  const layout *array;
  int64_t count;                                /* of groups; 0: the plain sum */
  int64_t (*label)(int64_t at, int64_t groups); /* NULL: `text` has the labels */
  const char *text;
} grouping;

#define MONTHS "0x744,1x672,2x744,3x720,4x744,5x720,6x744,7x744,8x720,9x744,10x720,11x744"
#define HOURS_OF_DAYS "365(0:24)"
#define DAYS "0:365x24"

static int64_t scattered(int64_t at, int64_t groups) {
  return (int64_t)(bench_random(18, (uint64_t)at) % (uint64_t)groups);
}

/* Runs of 8 and of 9. */
static int64_t sorted(int64_t at, int64_t groups) {
  return at * groups / DECADE;
}

/* The nearest of the zones' centres, which are drawn: zones as countries are, with ragged edges. */
static int64_t zone(int64_t at, int64_t zones) {
  int64_t nearest = 0, least = INT64_MAX;
  for (int64_t z = 0; z < zones; z++) {
    int64_t y = scattered(2 * z, LATITUDES) - at / LONGITUDES, x = scattered(2 * z + 1, LONGITUDES) - at % LONGITUDES;
    if (y * y + x * x >= least) continue;
    least = y * y + x * x;
    nearest = z;
  }
  return nearest;
}

static const grouping groupings[] = {{"plain", &columns, 0, NULL, NULL},
                                     {"12 months", &columns, 12, NULL, MONTHS},
                                     {"24 in turn", &columns, 24, NULL, HOURS_OF_DAYS},
                                     {"365 days", &columns, 365, NULL, DAYS},
                                     {"12 scattered", &columns, 12, scattered, NULL},
                                     {"366 scattered", &columns, 366, scattered, NULL},
                                     {"plain", &runs_of_24, 0, NULL, NULL},
                                     {"plain", &decade, 0, NULL, NULL},
                                     {"10000 sorted", &decade, 10000, sorted, NULL},
                                     {"10000 scattered", &decade, 10000, scattered, NULL},
                                     {"plain", &runs_of_9, 0, NULL, NULL},
                                     {"plain", &rows, 0, NULL, NULL},
                                     {"12 months", &rows, 12, NULL, MONTHS},
                                     {"24 in turn", &rows, 24, NULL, HOURS_OF_DAYS},
                                     {"12 scattered", &rows, 12, scattered, NULL},
                                     {"366 scattered", &rows, 366, scattered, NULL},
                                     {"plain", &long_rows, 0, NULL, NULL},
                                     {"10000 sorted", &long_rows, 10000, sorted, NULL},
                                     {"10000 scattered", &long_rows, 10000, scattered, NULL},
                                     {"plain", &map, 0, NULL, NULL},
                                     {"40 zones", &map, 40, zone, NULL},
                                     {"40 scattered", &map, 40, scattered, NULL}};

static void write_labels(const grouping *of, char *text, size_t capacity) {
  int length = snprintf(text, capacity, " groups=%s:%lld[%s", of->array->reduced, (long long)of->count,
                        of->label ? "" : of->text);
  if (!of->label) snprintf(text + length, capacity - (size_t)length, "]");
  for (int64_t at = 0; of->label && at < of->array->length; at++)
    length += snprintf(text + length, capacity - (size_t)length, "%lld%c", (long long)of->label(at, of->count),
                       at + 1 < of->array->length ? ',' : ']');
}

void bench_list_add_groups(bench_list *list, const char *set, int64_t bytes) {
  size_t capacity = LABELS_TEXT + 256;
  char name[40], *text = malloc(capacity);
  bool fine = text != NULL;
  for (size_t i = 0; fine && i < sizeof groupings / sizeof *groupings; i++) {
    const layout *array = groupings[i].array;
    int length = snprintf(text, capacity, "sum f32 [%s%lld%s] /%s", array->before,
                          (long long)(bytes / 4 / array->length), array->behind, array->reduced);
    if (groupings[i].count) write_labels(&groupings[i], text + length, capacity - (size_t)length);
    snprintf(name, sizeof name, "%s, %s", groupings[i].name, array->name);
    fine = bench_list_add_text(list, set, name, text);
  }
  if (!fine) fprintf(stderr, "ndbench: set %s: %s\n", set, text ? ndr_last_error() : "out of memory for its labels");
  free(text);
  if (!fine) exit(EXIT_RUN);
}
