/* Slices whose numbers select_numbers has listed: see select.cuh. */
#ifndef NDR_SELECT_SLICES_CUH
#define NDR_SELECT_SLICES_CUH

#include "select.cuh"

/* A block moves items of up to WIDTH elements of BYTES bytes: stretches of a run, or, where runs are short, several
 * whole ones. A run is the elements of a slice along its first axis, and neighbouring runs are those of neighbouring
 * slices; with NDR_SELECT_COLUMNS a run is one element of each slice that is moved. Blocks take turns, as only the GPU
 * knows how many slices there are. */
template <int BYTES, int UNIT, class NUMBER, u32 KNOWN> NDR_DEVICE void select_slices(const ndr_select_params &p) {
  typedef select_element<BYTES, UNIT> element;
  const bool columns = (KNOWN & NDR_SELECT_COLUMNS) != 0, both = (KNOWN & NDR_SELECT_BOTH) != 0,
             dense_from = (KNOWN & NDR_SELECT_DENSE_FROM) != 0, dense_to = (KNOWN & NDR_SELECT_DENSE_TO) != 0;
  const int LOADS = NDR_SELECT_LOADS(BYTES), WIDTH = LOADS * NDR_SCAN_BLOCK;
  const i64 kept = *p.total, slices = both ? p.places : kept < p.room ? kept : p.room;
  const i64 run = columns ? slices : p.run, runs = columns ? p.outer : slices;
  if (slices == 0) return;
  const i64 cuts = run > WIDTH ? (run + WIDTH - 1) / WIDTH : 1, outer = columns ? 1 : p.outer;
  const int length = run > WIDTH ? WIDTH : (int)run, whole = run > WIDTH ? 1 : WIDTH / length;
  const i64 groups = (runs + whole - 1) / whole, items = groups * cuts * outer;
  const NUMBER *list = (const NUMBER *)p.list;
#pragma unroll 1
  for (i64 item = machine::block(); item < items; item += machine::blocks()) {
    const i64 far = item / cuts, begin = (item - far * cuts) * WIDTH, other = outer == 1 ? 0 : far / groups,
              first = (far - other * groups) * whole;
    const char *from = (const char *)p.array;
    char *to = (char *)p.result;
    if (!columns && outer > 1) from += select_walk(p.from, other * run), to += select_walk(p.to, other * run);
    i64 slice[LOADS], at[LOADS];
    bool here[LOADS];
    element x[LOADS];
#pragma unroll
    for (int e = 0; e < LOADS; e++) {
      const int n = e * NDR_SCAN_BLOCK + machine::thread(), r = length == 1 ? n : (int)((u32)n / (u32)length);
      const i64 along = begin + (n - r * length), number = first + r;
      here[e] = r < whole && number < runs && along < run;
      slice[e] = columns ? along : number;
      at[e] = columns ? number : along;
    }
#pragma unroll
    for (int e = 0; e < LOADS; e++) {
      if (!here[e]) continue;
      const i64 source = (i64)list[both && slice[e] >= kept ? p.places - 1 - (slice[e] - kept) : slice[e]];
      const i64 rest = columns ? select_walk(p.from, at[e]) : at[e] * (dense_from ? BYTES : p.from.axes[0].stride);
      x[e].load(from + source * p.from_step + rest);
    }
#pragma unroll
    for (int e = 0; e < LOADS; e++) {
      if (!here[e]) continue;
      const i64 rest = columns ? select_walk(p.to, at[e]) : at[e] * (dense_to ? BYTES : p.to.axes[0].stride);
      x[e].store(to + slice[e] * p.to_step + rest);
    }
  }
}

#endif
