/* Template: the loops of one packed dtype over a piece that lies in the first-level cache. Needs NAME(loop), ELEMENT,
 * MEMBER of ndr_packed, ISA, the attribute of its functions, NUMBER, in which elements are compared, and VALUE(x), an
 * element as one; floats SAME, which is what missing ones become in the dtype itself. Branches are on constants, so
 * that each use is one straight loop. */

#define VALID(value) ((equal ? (value) != missing : 1) & (ranged ? ((value) >= least) & ((value) <= most) : 1))

static inline __attribute__((always_inline)) void NAME(widen_if)(const ndr_unpack *u, const ELEMENT *restrict x,
                                                                 double *restrict to, int count, bool equal,
                                                                 bool ranged) {
  const NUMBER missing = (NUMBER)u->missing[0].MEMBER;
  const NUMBER least = (NUMBER)u->least.MEMBER, most = (NUMBER)u->most.MEMBER;
  const double scale = u->scale, offset = u->offset;
  for (int i = 0; i < count; i++) {
    const NUMBER value = VALUE(x[i]);
    const double wide = (double)value * scale + offset;
    to[i] = VALID(value) ? wide : (double)NAN;
  }
}

/* To f64; without a mask and a scale too, which multiplies by 1. */
static ISA void NAME(widen)(const ndr_unpack *u, const void *from, void *target, int count) {
  const ELEMENT *x = from;
  double *to = target;
  if (u->missing_count && u->ranged)
    NAME(widen_if)(u, x, to, count, true, true);
  else if (u->missing_count)
    NAME(widen_if)(u, x, to, count, true, false);
  else
    NAME(widen_if)(u, x, to, count, false, u->ranged);
  for (int m = 1; m < u->missing_count; m++) {
    const NUMBER missing = (NUMBER)u->missing[m].MEMBER;
    for (int i = 0; i < count; i++) to[i] = VALUE(x[i]) == missing ? (double)NAN : to[i];
  }
}

#ifdef SAME
static inline __attribute__((always_inline)) void NAME(mask_if)(const ndr_unpack *u, ELEMENT *x, int count, bool equal,
                                                                bool ranged, int which) {
  const NUMBER missing = (NUMBER)u->missing[which].MEMBER;
  const NUMBER least = (NUMBER)u->least.MEMBER, most = (NUMBER)u->most.MEMBER;
  for (int i = 0; i < count; i++) {
    const NUMBER value = VALUE(x[i]);
    x[i] = VALID(value) ? x[i] : SAME;
  }
}

/* In the dtype itself, in place. */
static ISA void NAME(mask)(const ndr_unpack *u, void *data, int count) {
  if (u->missing_count && u->ranged)
    NAME(mask_if)(u, data, count, true, true, 0);
  else if (u->missing_count)
    NAME(mask_if)(u, data, count, true, false, 0);
  else
    NAME(mask_if)(u, data, count, false, u->ranged, 0);
  for (int m = 1; m < u->missing_count; m++) NAME(mask_if)(u, data, count, true, false, m);
}
#endif

#undef VALID
#undef NAME
#undef ELEMENT
#undef MEMBER
#undef NUMBER
#undef VALUE
#undef SAME
