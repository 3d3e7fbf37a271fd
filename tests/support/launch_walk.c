#include "launch_walk.h"

typedef struct walk {
  const ndr_params *p;
  int64_t elements; /* of a vector */
  int64_t shared_bytes;
  int past;
  launch_visitor *visit;
  void *context;
  const char *wrong;
} walk;

static void expect(walk *w, bool holds, const char *otherwise) {
  if (!holds) w->wrong = otherwise;
}

/* Where a number over some axes leads: in the data, and in the result or the flattened index. */
typedef struct spot {
  int64_t offset, other;
} spot;

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Number n over the axes from the first-th on, innermost first. */
static spot locate(walk *w, int first, int end, int64_t n) {
  spot at = {0, 0};
  for (int a = first; a < end; a++) {
    const ndr_param_axis *axis = &w->p->axes[a];
    int64_t rest = a + 1 < end ? n % axis->size : n;
    expect(w, axis->size > 0 && (a + 1 < end || n < axis->size), "a number is beyond its axes");
    at.offset += rest * axis->stride;
    at.other += rest * (a < w->p->kept_count ? axis->result_stride : axis->index_step);
    n /= axis->size;
  }
  return at;
}

static spot locate_output(walk *w, int64_t n) {
  return locate(w, 0, w->p->kept_count, n);
}

/* Number n over the reduced axes but the first `skipped` ones. */
static spot locate_reduced(walk *w, int skipped, int64_t n) {
  return locate(w, w->p->kept_count + skipped, w->p->kept_count + w->p->reduced_count, n);
}

static void visit(walk *w, int64_t offset, int64_t result, int64_t index) {
  w->visit(w->context, offset, result, w->p->index_origin + index);
}

static void visit_elements(walk *w, spot output, int64_t begin, int64_t end) {
  for (int64_t n = begin; n < end; n++) {
    spot element = locate_reduced(w, 0, n);
    visit(w, output.offset + element.offset, output.other, element.other);
  }
}

/* ---- the kernels ---- */

/* The outputs of a tile are those from number *begin on, below the one that is returned. */
static int64_t tile_outputs(const ndr_params *p, int64_t tile, int64_t *begin) {
  int64_t size = p->axes[0].size, end = p->outputs;
  *begin = tile * p->tile_outputs;
  if (p->turned > 1) {
    int64_t along = (size + p->tile_outputs - 1) / p->tile_outputs, group = tile / (along * p->turned);
    int64_t others = smaller(p->turned, p->outputs / size - group * p->turned), inside = tile % (along * p->turned);
    int64_t other = group * p->turned + inside % others;
    *begin = other * size + inside / others * p->tile_outputs;
    end = (other + 1) * size;
  }
  return smaller(*begin + p->tile_outputs, end);
}

/* A tile of a block's teams, or of its groups of lanes. */
static void walk_outputs(walk *w, int64_t tile, int64_t begin, int64_t end) {
  int64_t first, last = tile_outputs(w->p, tile, &first);
  for (int64_t o = first; o < last; o++) visit_elements(w, locate_output(w, o), begin, end);
}

static void walk_tree_block(walk *w, int64_t tile, int64_t split) {
  const ndr_params *p = w->p;
  int64_t run = split / p->tree_block.run_splits, begin = split % p->tree_block.run_splits * p->split_units;
  int64_t size = p->axes[p->kept_count].size;
  expect(w, p->units == size && p->axes[p->kept_count].stride == 1, "a run is not the first reduced axis");
  expect(w, run < p->tree_block.runs, "a split of no run");
  visit_elements(w, locate_output(w, tile), run * size + begin, run * size + smaller(begin + p->split_units, size));
}

static void walk_tree_runs(walk *w, int64_t tile, int64_t begin, int64_t end) {
  const ndr_params *p = w->p;
  int64_t size = p->axes[p->kept_count].size;
  expect(w, p->axes[p->kept_count].stride == 1, "a run is not contiguous");
  expect(w, p->tree_runs.lanes.count <= p->tree_runs.team.count, "more threads share a run than an output");
  walk_outputs(w, tile, begin * size, end * size);
}

static void walk_tree_lanes(walk *w, int64_t tile) {
  const ndr_params *p = w->p;
  const ndr_param_tree_lanes *own = &p->tree_lanes;
  int64_t size = p->axes[p->kept_count].size;
  expect(w, size == p->length && p->axes[p->kept_count].stride == 1, "an output has more than one run");
  expect(w, own->vectors * w->elements >= size, "vectors are fewer than the output has");
  if (own->lane_vectors_log >= 0) {
    expect(w, own->vectors <= own->lanes.count << own->lane_vectors_log, "lanes have fewer vectors than the output");
    expect(w, p->kept_count <= 1 && size % w->elements == 0 && !w->past, "outputs are taken for whole vectors");
    expect(w, p->axes[0].stride % w->elements == 0, "a vector is not aligned");
  }
  walk_outputs(w, tile, 0, p->length);
}

/* Column c of a team's fastest axis, which may stand for two that merge in the array alone. */
static spot column_of(const ndr_params *p, spot outer, int64_t c) {
  int64_t inner = p->thread.inner > 0 ? p->thread.inner : c + 1, slow = c / inner;
  int64_t place = (c - slow * inner) * p->axes[0].result_stride + slow * p->thread.outer_stride;
  return (spot){outer.offset + c * p->axes[0].stride, outer.other + place};
}

static void walk_thread(walk *w, int64_t tile, int64_t begin, int64_t end, ndr_kernel kernel) {
  const ndr_params *p = w->p;
  const ndr_param_thread *own = &p->thread;
  int teams = NDR_THREADS / own->team.count;
  int64_t last = 0; /* reduced element, from the first */
  for (int a = p->kept_count; a < p->kept_count + p->reduced_count; a++)
    last += (p->axes[a].size - 1) * p->axes[a].stride;
  for (int64_t team = tile * teams; team < (tile + 1) * teams; team++) {
    int64_t first = team / own->near_others % own->axis_teams * own->team_columns;
    int64_t other = team / own->near_others / own->axis_teams * own->near_others + team % own->near_others;
    if (other >= own->others) continue;
    spot outer = locate(w, 1, p->kept_count, other);
    int64_t most = smaller(first + own->team_columns, p->axes[0].size);
    expect(w, first < p->axes[0].size, "a team has no columns");
    for (int64_t c = first; c < most; c++) {
      spot output = column_of(p, outer, c);
      bool starts = kernel == NDR_KERNEL_THREAD_VECTORS && (c - first) % w->elements == 0;
      if (starts) expect(w, c + w->elements <= most && p->axes[0].stride == 1 && !w->past, "a vector is not whole");
      if (starts && begin < end)
        expect(w, (output.offset + locate_reduced(w, 0, begin).offset) % w->elements == 0, "a vector is not aligned");
      if (kernel == NDR_KERNEL_THREAD_SHIFTED || kernel == NDR_KERNEL_THREAD_PHASED || kernel == NDR_KERNEL_THREAD_FEW)
        expect(w, p->axes[0].stride == 1 && output.offset + last < p->extent, "a row is beyond the array");
      visit_elements(w, output, begin, end);
    }
  }
}

/* A split of the rows of `groups` groups of outputs. */
static void walk_rows(walk *w, const ndr_param_rows *rows, int64_t tile, int groups, int64_t begin, int64_t end) {
  const ndr_params *p = w->p;
  expect(w, p->axes[p->kept_count].stride == rows->columns, "rows are not dense");
  expect(w, p->axes[0].size == rows->columns && p->axes[0].stride == 1, "columns are not the fastest axis");
  expect(w, rows->run_rows == p->axes[p->kept_count].size && rows->runs * rows->run_rows == p->length, "rows lack");
  for (int64_t g = tile * groups; g < smaller((tile + 1) * groups, p->outputs / rows->columns); g++) {
    for (int64_t c = 0; c < rows->columns; c++) visit_elements(w, locate_output(w, g * rows->columns + c), begin, end);
  }
}

static void walk_tile_columns(walk *w, int64_t tile, int64_t begin, int64_t end) {
  const ndr_param_tile_columns *own = &w->p->tile_columns;
  expect(w, own->active_threads * w->elements % own->rows.columns == 0, "threads do not keep their columns");
  expect(w, own->active_threads <= NDR_THREADS && own->rows.columns <= own->active_threads * w->elements, "too wide");
  walk_rows(w, &own->rows, tile, 1, begin, end);
}

/* A tile of groups: element e of a run of group k of those that lie side by side, of each column from `begin` on, is
 * handed to visit. `run` is where the run is in the data and the flattened index. */
static void walk_groups(walk *w, const ndr_param_groups *g, int64_t tile, spot run, const ndr_param_axis *along,
                        int64_t begin, int64_t end) {
  const ndr_params *p = w->p;
  int first_axis = g->outputs > 1;
  int64_t rest = tile / g->side_tiles, first = tile % g->side_tiles * g->tile_groups, held = g->run_length * g->outputs;
  spot outer = locate(w, first_axis + g->side_axes, p->kept_count, rest);
  expect(w, !first_axis || (p->axes[0].size == g->outputs && p->axes[0].stride == 1),
         "a group's outputs are not dense");
  expect(w, along->size == g->run_length && along->stride == g->outputs, "a group's run is not dense");
  expect(w, first < g->side, "a tile has no groups");
  for (int64_t k = begin; k < smaller(end, smaller(g->tile_groups, g->side - first) * held); k++) {
    int64_t group = first + k / held, element = k % held / g->outputs, column = k % held % g->outputs;
    spot side = locate(w, first_axis, first_axis + g->side_axes, group);
    int64_t result = outer.other + side.other + (first_axis ? column * p->axes[0].result_stride : 0);
    expect(w, side.offset == group * p->axes[first_axis].stride, "groups do not lie side by side");
    visit(w, outer.offset + side.offset + run.offset + k % held, result, run.other + element * along->index_step);
  }
}

/* Blocks have whole outputs, of no more elements than the list holds. */
static void walk_tree_listed(walk *w, int64_t item) {
  const ndr_params *p = w->p;
  int64_t first, last = tile_outputs(p, item, &first);
  expect(w, p->length <= NDR_LISTED_ELEMENTS, "the list is too short");
  for (int64_t n = 0; n < p->length; n++)
    expect(w, locate_reduced(w, 0, n).offset <= INT32_MAX && locate_reduced(w, 0, n).other <= INT32_MAX,
           "an element lies too far behind the first");
  for (int64_t o = first; o < last; o++) visit_elements(w, locate_output(w, o), 0, p->length);
}

/* Blocks have whole rows, which fit in shared memory. */
static void walk_tile_rows(walk *w, int64_t item) {
  const ndr_params *p = w->p;
  const ndr_param_tile_rows *own = &p->tile_rows;
  const ndr_param_axis *along = &p->axes[1];
  int64_t first = item * own->rows, rows = smaller(own->rows, p->outputs - first),
          bytes = NDR_VECTOR_BYTES / w->elements;
  int64_t span = (rows - 1) * own->pitch + own->length;
  expect(w, p->kept_count == 1 && p->reduced_count == 1 && along->stride == 1, "rows are not dense");
  expect(w, p->axes[0].stride == own->pitch && along->size == own->length, "rows lie elsewhere");
  expect(w, (span + 2 * w->elements) * bytes <= w->shared_bytes, "rows do not fit");
  expect(w, own->reading != NDR_ROWS_ALIGNED || (!w->past && own->pitch % w->elements == 0), "a row is not aligned");
  for (int64_t o = first; o < first + rows; o++) visit_elements(w, locate_output(w, o), 0, own->length);
}

/* Stages lie within shared memory, hold whole runs where they hold several groups, and every element is where its
 * group, column and number say. */
static void walk_tile_staged(walk *w, int64_t tile, int64_t begin, int64_t end) {
  const ndr_params *p = w->p;
  const ndr_param_tile_staged *own = &p->tile_staged;
  const ndr_param_groups *g = &own->groups;
  const ndr_param_axis *along = &p->axes[p->kept_count];
  int first_axis = g->outputs > 1;
  int64_t rest = tile / g->side_tiles, first = tile % g->side_tiles * g->tile_groups;
  int64_t groups = smaller(g->tile_groups, g->side - first);
  int64_t span = (g->tile_groups - 1) * (int64_t)own->pitch + (own->piece - 1) * (int64_t)own->element_step +
                 (g->outputs - 1) * (int64_t)own->column_step + 1;
  spot outer = locate(w, first_axis + g->side_axes, p->kept_count, rest);
  int64_t room = own->smem_bytes / (p->units > 1 ? 2 : 1);
  expect(w, span <= (room / NDR_VECTOR_BYTES - 2) * w->elements, "a stage is too large");
  expect(w, own->pieces.size == (along->size + own->piece - 1) / own->piece, "pieces do not make a run");
  expect(w, groups > 0 && (g->tile_groups == 1 || own->pieces.size == 1), "a stage has a piece of several groups");
  for (int64_t unit = begin; unit < end; unit++) {
    spot run = locate_reduced(w, 1, unit / own->pieces.size);
    int64_t from = unit % own->pieces.size * own->piece;
    for (int64_t k = 0; k < groups * g->outputs; k++) {
      spot side = locate(w, first_axis, first_axis + g->side_axes, first + k / g->outputs);
      int64_t column = k % g->outputs;
      int64_t offset = outer.offset + side.offset + column * own->column_step + run.offset;
      int64_t result = outer.other + side.other + (first_axis ? column * p->axes[0].result_stride : 0);
      expect(w, groups == 1 || side.offset == (first + k / g->outputs) * own->pitch, "groups do not lie side by side");
      for (int64_t e = from; e < smaller(from + own->piece, along->size); e++)
        visit(w, offset + e * own->element_step, result, run.other + e * along->index_step);
    }
  }
}

/* Threads have vectors of the rows of a tile, which are dense. */
static void walk_tile_dense(walk *w, int64_t tile, int64_t split) {
  const ndr_params *p = w->p;
  const ndr_param_tile_runs *own = &p->tile_runs;
  const ndr_param_groups *g = &own->groups;
  int first_axis = g->outputs > 1;
  int64_t size = (int64_t)g->outputs * g->run_length, width = (int64_t)own->row_threads * w->elements;
  int64_t first = split / own->row_splits * width, begin = split % own->row_splits * p->split_units;
  const ndr_param_axis *runs = &p->axes[p->kept_count + p->reduced_count];
  spot outer = locate(w, first_axis + g->side_axes, p->kept_count, tile / g->side_tiles);
  int64_t start = outer.offset + tile % g->side_tiles * g->tile_groups * size + first;
  expect(w, split / own->row_splits < own->column_splits, "a split of no columns");
  expect(w, g->side_axes > 0 && p->axes[first_axis].stride == size, "groups are not dense");
  for (int64_t row = begin; row < smaller(begin + p->split_units, p->units); row++) {
    spot run = locate_reduced(w, 0, row);
    if (!own->shifted) expect(w, (start + run.offset) % w->elements == 0 && !w->past, "not aligned");
    if (!own->shifted) expect(w, g->side * size % w->elements == 0, "a vector reaches beyond its row");
    walk_groups(w, g, tile, run, runs, first, first + width);
  }
}

static void walk_tile_runs(walk *w, int64_t tile, int64_t split, bool vectors) {
  const ndr_params *p = w->p;
  const ndr_param_tile_runs *own = &p->tile_runs;
  int64_t first = split / own->row_splits * own->row_threads, width = own->row_threads;
  int64_t begin = split % own->row_splits * p->split_units;
  const ndr_param_axis *runs = &p->axes[p->kept_count + p->reduced_count];
  expect(w, split / own->row_splits < own->column_splits, "a split of no columns");
  if (vectors) { /* all columns have threads of their own */
    int64_t columns = (own->groups.run_length + w->elements - 1) / w->elements;
    expect(w, own->groups.outputs == 1 && own->column_splits == 1, "a vector has two outputs");
    expect(w, own->row_threads == own->groups.tile_groups * columns, "threads are not columns");
    width = (int64_t)own->groups.tile_groups * own->groups.run_length;
  }
  for (int64_t row = begin; row < smaller(begin + p->split_units, p->units); row++) {
    spot run = locate_reduced(w, 0, row);
    if (vectors && !own->shifted)
      expect(w, run.offset % w->elements == 0 && p->axes[0].stride % w->elements == 0 && !w->past, "not aligned");
    walk_groups(w, &own->groups, tile, run, runs, first, first + width);
  }
}

/* Vectors from the first boundary on hold whole rows; the first block reads those before and behind one by one. */
static void walk_tile_vectors(walk *w, int64_t item) {
  const ndr_params *p = w->p;
  int64_t length = p->tile_vectors.row_length, head = w->past ? (w->elements - w->past) / length : 0;
  if (head > p->outputs) head = p->outputs;
  int64_t vectors = (p->outputs - head) * length / w->elements, whole = head + vectors * w->elements / length;
  int64_t first = item * p->tile_vectors.item_vectors, end = smaller(first + p->tile_vectors.item_vectors, vectors);
  expect(w, w->elements % length == 0 && p->length == length, "a vector has no whole rows");
  expect(w, p->kept_count == 1 && p->axes[0].stride == length, "rows are not dense");
  expect(w, !w->past || (w->past + head * length) % w->elements == 0 || head == p->outputs, "a vector is not aligned");
  for (int64_t o = 0; item == 0 && o < p->outputs; o++)
    if (o < head || o >= whole) visit_elements(w, locate_output(w, o), 0, length);
  for (int64_t o = head + first * w->elements / length; o < head + end * w->elements / length; o++)
    visit_elements(w, locate_output(w, o), 0, length);
}

static void walk_item(walk *w, ndr_kernel kernel, int64_t item) {
  const ndr_params *p = w->p;
  int64_t tile = item % p->tile_count, split = item / p->tile_count;
  int64_t begin = split * p->split_units, end = smaller(begin + p->split_units, p->units);
  switch (kernel) {
  case NDR_KERNEL_TREE_BLOCK: walk_tree_block(w, tile, split); break;
  case NDR_KERNEL_TREE_RUNS: walk_tree_runs(w, tile, begin, end); break;
  case NDR_KERNEL_TREE_STRIDED: walk_outputs(w, tile, begin, end); break;
  case NDR_KERNEL_TREE_LANES: walk_tree_lanes(w, tile); break;
  case NDR_KERNEL_TREE_LISTED: walk_tree_listed(w, item); break;
  case NDR_KERNEL_THREAD_VECTORS:
  case NDR_KERNEL_THREAD_SHIFTED:
  case NDR_KERNEL_THREAD_PHASED:
  case NDR_KERNEL_THREAD_FEW:
  case NDR_KERNEL_THREAD_SPREAD:
  case NDR_KERNEL_THREAD_ELEMENTS: walk_thread(w, tile, begin, end, kernel); break;
  case NDR_KERNEL_TILE_COLUMNS: walk_tile_columns(w, tile, begin, end); break;
  case NDR_KERNEL_TILE_COLUMNS3:
    walk_rows(w, &p->tile_columns3.rows, tile, NDR_THREADS / p->tile_columns3.team.count, begin, end);
    break;
  case NDR_KERNEL_TILE_ROWS: walk_tile_rows(w, item); break;
  case NDR_KERNEL_TILE_STAGED: walk_tile_staged(w, tile, begin, end); break;
  case NDR_KERNEL_TILE_RUN_VECTORS: walk_tile_runs(w, tile, split, true); break;
  case NDR_KERNEL_TILE_RUN_ELEMENTS: walk_tile_runs(w, tile, split, false); break;
  case NDR_KERNEL_TILE_RUN_DENSE: walk_tile_dense(w, tile, split); break;
  case NDR_KERNEL_TILE_VECTORS: walk_tile_vectors(w, item); break;
  default: expect(w, false, "a kernel that plans do not name");
  }
}

const char *launch_walk(const ndr_launch *launch, ndr_dtype dtype, int past, launch_visitor *visit_each,
                        void *context) {
  walk w = {&launch->params, ndr_vector_elements(dtype), launch->shared_bytes, past, visit_each, context, NULL};
  for (int64_t item = 0; item < launch->params.work && !w.wrong; item++) walk_item(&w, launch->kernel, item);
  return w.wrong;
}
