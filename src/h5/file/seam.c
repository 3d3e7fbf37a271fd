/* See seam.h. */
#include "h5/file/seam.h"

int64_t ndr_seam_index(const ndr_h5_dataset *dataset, int d, int64_t k) {
  const ndr_seam *seam = &dataset->seam[d];
  if (seam->at == 0 || k < seam->at) return dataset->from[d] + k * dataset->step[d];
  return seam->from + (k - seam->at) * dataset->step[d];
}

/* The run from element `begin` on. It ends at `end`, or at the seam if that lies between. */
static ndr_run run_from(const ndr_h5_dataset *dataset, int d, int64_t begin, int64_t end) {
  const ndr_seam *seam = &dataset->seam[d];
  const bool behind = seam->at > 0 && begin >= seam->at;
  if (seam->at > begin && seam->at < end) end = seam->at;
  return (ndr_run){begin, end - begin, ndr_seam_index(dataset, d, begin), behind ? seam->turn : dataset->turn[d]};
}

int ndr_seam_runs(const ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count, ndr_run runs[2]) {
  const int64_t end = begin + count;
  runs[0] = run_from(dataset, d, begin, end);
  const int64_t next = begin + runs[0].count;
  if (next == end) return 1;
  runs[1] = run_from(dataset, d, next, end);
  return 2;
}

void ndr_seam_narrow(ndr_h5_dataset *dataset, int d, int64_t begin, int64_t count) {
  ndr_run runs[2];
  const int found = ndr_seam_runs(dataset, d, begin, count, runs);
  dataset->from[d] = runs[0].from;
  dataset->turn[d] = runs[0].turn;
  dataset->info.shape[d] = count;
  dataset->seam[d] = found > 1 ? (ndr_seam){runs[0].count, runs[1].from, runs[1].turn} : (ndr_seam){.at = 0};
}

void ndr_seam_copy(ndr_h5_dataset *dataset, int i, const ndr_h5_dataset *from, int d) {
  dataset->from[i] = from->from[d];
  dataset->step[i] = from->step[d];
  dataset->turn[i] = from->turn[d];
  dataset->seam[i] = from->seam[d];
  dataset->info.shape[i] = from->info.shape[d];
}

/* ---- Boxes ------------------------------------------------------------------------------------------------------- */

int ndr_seam_sides(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size) {
  ndr_run runs[2];
  int count = 1;
  for (int d = 0; d < dataset->info.ndim; d++) count *= ndr_seam_runs(dataset, d, begin[d], size[d], runs);
  return count;
}

ndr_side ndr_seam_side(const ndr_h5_dataset *dataset, const int64_t *begin, const int64_t *size, int number) {
  ndr_side side;
  for (int d = dataset->info.ndim - 1; d >= 0; d--) {
    ndr_run runs[2];
    const int count = ndr_seam_runs(dataset, d, begin[d], size[d], runs);
    const ndr_run *run = &runs[number % count];
    number /= count;
    side.begin[d] = run->begin;
    side.size[d] = run->count;
    side.from[d] = run->from;
  }
  return side;
}
