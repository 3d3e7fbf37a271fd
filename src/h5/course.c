#include "h5/course.h"

#include <string.h>

static bool series_is_reduced(const ndr_course *course) {
  return course->part_count > 1 && course->parts[0].reduced[course->dim];
}

static bool next_part(ndr_course *course) {
  if (course->part + 1 == course->part_count) return false;
  course->offset += course->parts[course->part++].shape[course->dim];
  return true;
}

static void first_part(ndr_course *course) {
  course->part = 0;
  course->offset = 0;
}

/* Moves on within the block; start[] of the reduced dims is 0 again when that fails. */
static bool next_in_block(ndr_course *course) {
  if (ndr_slabs_next(&course->parts[course->part], true, course->start)) return true;
  return series_is_reduced(course) && next_part(course);
}

static bool next_block(ndr_course *course) {
  if (series_is_reduced(course)) first_part(course);
  if (ndr_slabs_next(&course->parts[course->part], false, course->start)) return true;
  return !series_is_reduced(course) && next_part(course);
}

static bool is_last_in_block(const ndr_course *course) {
  ndr_course copy = *course;
  return !next_in_block(&copy);
}

bool ndr_course_next(ndr_course *course, ndr_leg *leg) {
  bool first = !course->started || !next_in_block(course);
  if (course->started && first && !next_block(course)) return false;
  course->started = true;
  *leg = (ndr_leg){.part = course->part, .first = first, .last = is_last_in_block(course)};
  ndr_slabs_box(&course->parts[course->part], course->start, leg->begin, leg->size);
  memcpy(leg->whole, leg->begin, sizeof leg->whole);
  leg->whole[course->dim] += course->offset;
  return true;
}
