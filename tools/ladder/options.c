/* What the command line of `ndbench ladder` says: its options, a row each, and what goes with what. */
#include <stdlib.h>
#include <string.h>

#include "ladder/ladder.h"

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static int one_of(const char *what, const char *text, const char *const *of, int count) {
  char list[128];
  for (int i = 0; i < count; i++)
    if (strcmp(text, of[i]) == 0) return i;
  cli_list_names(text, count, of, list, sizeof list);
  cli_refuse(&bench_ladder_cli, "there is no %s '%s'; there are %s", what, text, list);
}

static void read_device(void *target, const char *text) {
  ((ladder_options *)target)->bench.device = bench_read_device(&bench_ladder_cli, text);
}

static void read_op(void *target, const char *text) {
  ladder_options *options = target;
  options->op = (ladder_op)one_of("--op", text, ladder_op_names, LADDER_OPS);
  options->has_op = true;
}

static void read_dtype(void *target, const char *text) {
  ((ladder_options *)target)->dtype = (ladder_dtype)one_of("--dtype", text, ladder_dtype_names, LADDER_DTYPES);
}

static void read_length(void *target, const char *text) {
  ((ladder_options *)target)->length = (int64_t)bench_number(&bench_ladder_cli, "length", text, 1, UINT64_C(1) << 40);
}

/* "AxBxC" as so many sizes of at least 1, with a product that can be counted. */
static void read_sizes(const char *what, const char *text, int count, int64_t *sizes) {
  const char *rest = text;
  double product = 1;
  for (int i = 0; i < count; i++) {
    char *end;
    sizes[i] = strtoll(rest, &end, 10);
    if (*rest < '0' || *rest > '9' || sizes[i] < 1 || *end != (i + 1 < count ? 'x' : 0))
      cli_refuse(&bench_ladder_cli, "%s, not '%s'", what, text);
    rest = end + 1;
    product *= (double)sizes[i];
  }
  if (product > 0x1p40) cli_refuse(&bench_ladder_cli, "%s, 2^40 elements at most, not '%s'", what, text);
}

static void read_shape(void *target, const char *text) {
  ladder_options *options = target;
  if (options->shape_count == 8)
    cli_refuse(&bench_ladder_cli, "--shape can be given 8 times, and '%s' is one more", text);
  read_sizes("--shape takes ROWSxCOLUMNS", text, 2, options->shapes[options->shape_count++]);
}

static void read_dims(void *target, const char *text) {
  read_sizes("--dims takes AxBxCxDxE", text, 5, ((ladder_options *)target)->dims);
}

static void read_keep(void *target, const char *text) {
  ladder_options *options = target;
  if (options->keep_count == 8)
    cli_refuse(&bench_ladder_cli, "--keep can be given 8 times, and '%s' is one more", text);
  options->keeps[options->keep_count++] = (int)bench_number(&bench_ladder_cli, "keep", text, 0, 100);
}

static void read_block(void *target, const char *text) {
  uint64_t block;
  if (!cli_integer(text, 64, 1024, &block) || block & (block - 1))
    cli_refuse(&bench_ladder_cli, "--block takes 64, 128, 256, 512 or 1024, not '%s'", text);
  ((ladder_options *)target)->block = (int)block;
}

static void read_overlap(void *target, const char *text) {
  ((ladder_options *)target)->overlap = (int)bench_number(&bench_ladder_cli, "overlap", text, 1, 1024);
}

static const char *rung_of(const char *text) {
  for (int i = 0; i < ladder_rung_count; i++)
    if (ladder_rung_is(&ladder_rungs[i], text)) return text;
  cli_refuse(&bench_ladder_cli, "there is no rung '%s'; --explain all lists them", text);
}

static void read_rung(void *target, const char *text) {
  ((ladder_options *)target)->rung = rung_of(text);
}

static const char *rung_or_all(const char *text) {
  return strcmp(text, "all") == 0 ? text : rung_of(text);
}

static void read_explain(void *target, const char *text) {
  ((ladder_options *)target)->explain = rung_or_all(text);
}

static void read_source(void *target, const char *text) {
  ((ladder_options *)target)->source = rung_or_all(text);
}

static void read_repeat(void *target, const char *text) {
  ((ladder_options *)target)->bench.repeat = (int)bench_number(&bench_ladder_cli, "repeat", text, 1, MOST_SAMPLES);
}

static void read_seed(void *target, const char *text) {
  ((ladder_options *)target)->bench.seed = bench_number(&bench_ladder_cli, "seed", text, 0, UINT64_MAX);
}

static void print_help(void *target, const char *text) {
  (void)target;
  (void)text;
  fputs(
      "Usage: ndbench ladder [options] [LADDER...]\n"
      "Runs the reductions that lectures teach, from one atomic operation an element to this library, and prefix sums\n"
      "and selections likewise. Each rung is a kernel, and its results are checked. On a GPU the rungs are timed; on\n"
      "the CPU they run on an emulated GPU, which counts what they do.\n"
      "LADDER is reduce (an array to one value; the default), axes (matrices, either axis), nd (five dims), scan\n"
      "(inclusive prefix sums, or with --op those of another operator), select (the elements less than a limit, and\n"
      "quicksort) or all.\n\n",
      stdout);
  cli_print_options(&bench_ladder_cli, stdout);
  puts("\nExit status: 0 every rung's result is right, 1 one is not or could not be run, 2 the command line is wrong.\n"
       "Example: ndbench ladder --device cpu --length 5000; ndbench ladder --explain 5; ndbench ladder --source 5");
  bench_finish(EXIT_SUCCESS);
}

/* ---- The options ------------------------------------------------------------------------------------------------- */

static const cli_option rows[] = {
    {'d', "device", "NAME", CLI_ONCE, read_device,
     .help = "cpu: emulate and count; cuda: time; auto (default): cuda where there is a GPU"},
    {0, "op", "NAME", CLI_ONCE, read_op, .help = "sum (default), prod, min, max or polynomial (its values, summed)"},
    {0, "dtype", "NAME", CLI_ONCE, read_dtype, .help = "i32, f32 (default) or f64"},
    {'n', "length", "N", CLI_ONCE, read_length,
     .help = "elements of the array (default: 2^26 on a GPU, 2^16 emulated)"},
    {0, "shape", "RxC", CLI_ADDS, read_shape,
     .help = "rows and columns of the matrix, up to 8 times (default: 256x262144 and 262144x256 on a\n"
             "GPU, 64x1001 and 1001x64 emulated)"},
    {0, "dims", "AxBxCxDxE", CLI_ONCE, read_dims, .help = "the five dims of nd (default 32x32x32x32x64)"},
    {0, "keep", "PERCENT", CLI_ADDS, read_keep,
     .help = "of the elements that select keeps, 0 to 100, up to 8 times (default: 1, 10, 50 and 90 on\n"
             "a GPU, 50 emulated)"},
    {'b', "block", "N", CLI_ONCE, read_block, .help = "threads a block: 64, 128, 256 (default), 512 or 1024"},
    {0, "overlap", "N", CLI_ONCE, read_overlap, .help = "elements a thread in rungs 8 to 10, 1 to 1024 (default 8)"},
    {0, "rung", "N", CLI_ONCE, read_rung, .help = "this rung alone"},
    {0, "explain", "RUNG", CLI_ONCE, read_explain,
     .help = "print what the rung does, or each of them for all, and run nothing"},
    {0, "source", "RUNG", CLI_ONCE, read_source,
     .help = "print the text of the rung's kernel, or of each for all, and run nothing"},
    {'r', "repeat", "N", CLI_ONCE, read_repeat, .help = "samples of each rung on a GPU, 1 to 4096 (default 25)"},
    {0, "seed", "N", CLI_ONCE, read_seed, .help = "of the random data (default 1)"},
    {0, "json", "FILE", .at = offsetof(ladder_options, bench.json),
     .help = "write machine and rungs as JSON to FILE, or to - (then the table goes to stderr)"},
    {'h', "help", .read = print_help, .help = "print this"},
};

CLI_CHECK(rows);
const cli bench_ladder_cli = {"ndbench", "ndbench ladder", sizeof rows / sizeof *rows, rows, &bench_cli, NULL, NULL};

/* ---- Ladders and sizes ------------------------------------------------------------------------------------------- */

/* Sizes that suit a GPU take minutes under emulation. */
static void set_sizes(ladder_options *options) {
  static const int64_t large[2][2] = {{256, 262144}, {262144, 256}}, small[2][2] = {{64, 1001}, {1001, 64}};
  static const int shares[4] = {1, 10, 50, 90}, half[4] = {50};
  static const int64_t dims[5] = {32, 32, 32, 32, 64};
  bool emulated = options->bench.device == &bench_cpu;
  if (options->length == 0) options->length = INT64_C(1) << (emulated ? 16 : 26);
  if (options->kinds[LADDER_SELECT] && options->length > LADDER_MOST_SELECTED)
    cli_refuse(&bench_ladder_cli, "--length: select takes 2^30 elements at most, not %lld", (long long)options->length);
  if (options->overlap == 0) options->overlap = 8;
  if (options->dims[0] == 0) memcpy(options->dims, dims, sizeof dims);
  if (options->shape_count == 0) {
    options->shape_count = 2;
    memcpy(options->shapes, emulated ? small : large, sizeof small);
  }
  if (options->keep_count == 0) {
    options->keep_count = emulated ? 1 : 4;
    memcpy(options->keeps, emulated ? half : shares, sizeof shares);
  }
}

/* Without a name: the first ladder, or with --rung those that have it. Ladders that lack the rung are dropped. */
static void choose_kinds(ladder_options *options, bool named) {
  bool any = false;
  for (int k = 0; k < LADDER_KINDS; k++) {
    bool has = !options->rung;
    for (int i = 0; i < ladder_rung_count && !has; i++)
      has = (int)ladder_rungs[i].kind == k && ladder_rung_is(&ladder_rungs[i], options->rung);
    options->kinds[k] = has && (named ? options->kinds[k] : options->rung || k == LADDER_REDUCE);
    any = any || options->kinds[k];
  }
  if (!any) cli_refuse(&bench_ladder_cli, "the ladders that are named lack rung '%s'", options->rung);
}

static bool overlaps(const ladder_options *options) {
  for (int i = 0; i < ladder_rung_count; i++)
    if (options->kinds[ladder_rungs[i].kind] && ladder_overlaps(&ladder_rungs[i]) &&
        (!options->rung || ladder_rung_is(&ladder_rungs[i], options->rung)))
      return true;
  return false;
}

/* Refuses options that only other ladders or rungs have. */
static void check_used(const ladder_options *options) {
  const bool *chosen = options->kinds, folds = chosen[LADDER_REDUCE] || chosen[LADDER_AXES] || chosen[LADDER_ND];
  const struct {
    const char *option;
    bool given, used;
    const char *ladders;
  } rules[] = {{"--op", options->has_op, folds || chosen[LADDER_SCAN], "reduce, axes, nd and scan"},
               {"--overlap", options->overlap != 0, overlaps(options), "rungs 8 to 10 of reduce"},
               {"--length", options->length != 0, chosen[LADDER_REDUCE] || chosen[LADDER_SCAN] || chosen[LADDER_SELECT],
                "reduce, scan and select"},
               {"--shape", options->shape_count != 0, chosen[LADDER_AXES], "axes"},
               {"--dims", options->dims[0] != 0, chosen[LADDER_ND], "nd"},
               {"--keep", options->keep_count != 0, chosen[LADDER_SELECT], "select"}};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].given && !rules[i].used)
      cli_refuse(&bench_ladder_cli, "%s is for %s, and no such ladder or rung is chosen", rules[i].option,
                 rules[i].ladders);
}

static void choose_ladder(ladder_options *options, const char *text) {
  const char *names[LADDER_KINDS + 1];
  memcpy(names, ladder_kind_names, LADDER_KINDS * sizeof *names);
  names[LADDER_KINDS] = "all";
  int kind = one_of("ladder", text, names, LADDER_KINDS + 1);
  for (int k = 0; k < LADDER_KINDS; k++) options->kinds[k] |= k == kind || kind == LADDER_KINDS;
}

void ladder_options_read(ladder_options *options, int argc, char **argv) {
  *options = (ladder_options){.bench = {.device = bench_device_find("auto"), .repeat = 25, .verify = true, .seed = 1},
                              .dtype = LADDER_F32,
                              .block = 256};
  int named = cli_read(&bench_ladder_cli, options, argc, argv);
  for (int i = 1; i <= named; i++) choose_ladder(options, argv[i]);
  choose_kinds(options, named > 0);
  check_used(options);
  set_sizes(options);
}
