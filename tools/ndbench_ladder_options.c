#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench_ladder.h"

static const char usage[] =
    "Usage: ndbench ladder [options] [LADDER...]\n"
    "Climbs the reductions that are taught, from one atomic an element to the library, one kernel a rung, each "
    "checked.\n"
    "On a GPU they are timed; on the CPU they run on an emulated GPU, and what they would make it do is counted.\n"
    "LADDER is reduce (an array to one value; the default), axes (matrices, either axis), nd (five dims) or all.\n"
    "\n"
    "  -d, --device NAME     cpu: emulate and count; cuda: time; auto (default): cuda where there is a GPU\n"
    "      --op NAME         sum (default), prod, min, max or polynomial (its values, summed)\n"
    "      --dtype NAME      i32, f32 (default) or f64\n"
    "  -n, --length N        elements of the array (default: 2^26 on a GPU, 2^16 emulated)\n"
    "      --shape RxC       rows and columns of the matrix, up to 8 times (default: 256x262144 and 262144x256 on a\n"
    "                        GPU, 64x1001 and 1001x64 emulated)\n"
    "      --dims AxBxCxDxE  the five dims of nd (default 32x32x32x32x64)\n"
    "  -b, --block N         threads a block: 64, 128, 256 (default), 512 or 1024\n"
    "      --overlap N       elements a thread in rungs 8 to 10, 1 to 1024 (default 8)\n"
    "      --rung N          this rung alone\n"
    "      --explain RUNG    print what the rung does and what it counts on, and run nothing\n"
    "  -r, --repeat N        samples of each rung on a GPU, 1 to 4096 (default 25)\n"
    "      --seed N          of the random data (default 1)\n"
    "      --json FILE       write machine and rungs as JSON to FILE, or to - (then the table goes to stderr)\n"
    "  -h, --help\n"
    "\n"
    "Exit status: 0 every rung's result is right, 1 one is not or could not be run, 2 the command line is wrong.\n"
    "Example: ndbench ladder --device cpu --length 5000; ndbench ladder --explain 5\n";

enum { OP = 256, DTYPE, SHAPE, DIMS, OVERLAP, RUNG, EXPLAIN, SEED, JSON };

static const struct option names[] = {{"device", required_argument, NULL, 'd'},
                                      {"op", required_argument, NULL, OP},
                                      {"dtype", required_argument, NULL, DTYPE},
                                      {"length", required_argument, NULL, 'n'},
                                      {"shape", required_argument, NULL, SHAPE},
                                      {"dims", required_argument, NULL, DIMS},
                                      {"block", required_argument, NULL, 'b'},
                                      {"overlap", required_argument, NULL, OVERLAP},
                                      {"rung", required_argument, NULL, RUNG},
                                      {"explain", required_argument, NULL, EXPLAIN},
                                      {"repeat", required_argument, NULL, 'r'},
                                      {"seed", required_argument, NULL, SEED},
                                      {"json", required_argument, NULL, JSON},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static int one_of(ladder_options *options, const char *what, const char *text, const char *const *of, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(text, of[i]) == 0) return i;
  bench_refuse(&options->bench, what, text);
  return 0;
}

static uint64_t from_one(ladder_options *options, const char *what, const char *text, uint64_t most) {
  uint64_t value = bench_number(&options->bench, what, text, most);
  if (value == 0) bench_refuse(&options->bench, what, text);
  return value;
}

/* "AxBxC" as so many sizes of at least 1, with a product that can be counted. */
static void read_sizes(ladder_options *options, const char *what, const char *text, int count, int64_t *sizes) {
  const char *rest = text;
  double product = 1;
  for (int i = 0; i < count; i++) {
    char *end;
    sizes[i] = strtoll(rest, &end, 10);
    if (*rest < '0' || *rest > '9' || sizes[i] < 1 || *end != (i + 1 < count ? 'x' : 0))
      bench_refuse(&options->bench, what, text);
    rest = end + 1;
    product *= (double)sizes[i];
  }
  if (product > 0x1p40) bench_refuse(&options->bench, what, text);
}

static void read_block(ladder_options *options, const char *text) {
  options->block = (int)bench_number(&options->bench, "--block needs 64, 128, 256, 512 or 1024, not", text, 1024);
  if (options->block < 64 || options->block & (options->block - 1))
    bench_refuse(&options->bench, "--block needs 64, 128, 256, 512 or 1024, not", text);
}

static void read_shape(ladder_options *options, const char *text) {
  static const char what[] = "--shape needs ROWSxCOLUMNS, at most 8 times, not";
  if (options->shape_count == 8) bench_refuse(&options->bench, what, text);
  read_sizes(options, what, text, 2, options->shapes[options->shape_count++]);
}

static const char *read_rung(ladder_options *options, const char *text) {
  for (int i = 0; i < ladder_rung_count; i++)
    if (ladder_rung_is(&ladder_rungs[i], text)) return text;
  bench_refuse(&options->bench, "there is no rung", text);
  return NULL;
}

static void read_option(ladder_options *options, int letter) {
  bench_options *bench = &options->bench;
  switch (letter) {
  case 'd':
    bench->device = bench_device_find(optarg);
    if (!bench->device) bench_refuse(bench, "this build has no device", optarg);
    break;
  case OP: options->op = (ladder_op)one_of(options, "no such --op:", optarg, ladder_op_names, LADDER_OPS); break;
  case DTYPE:
    options->dtype = (ladder_dtype)one_of(options, "no such --dtype:", optarg, ladder_dtype_names, LADDER_DTYPES);
    break;
  case 'n':
    options->length = (int64_t)from_one(options, "--length needs a number from 1, not", optarg, UINT64_C(1) << 40);
    break;
  case SHAPE: read_shape(options, optarg); break;
  case DIMS: read_sizes(options, "--dims needs AxBxCxDxE, not", optarg, 5, options->dims); break;
  case 'b': read_block(options, optarg); break;
  case OVERLAP:
    options->overlap = (int)from_one(options, "--overlap needs a number from 1 to 1024, not", optarg, 1024);
    break;
  case RUNG: options->rung = read_rung(options, optarg); break;
  case EXPLAIN: options->explain = read_rung(options, optarg); break;
  case 'r':
    bench->repeat = (int)from_one(options, "--repeat needs a number from 1 to 4096, not", optarg, MOST_SAMPLES);
    break;
  case SEED: bench->seed = bench_number(bench, "--seed needs a number, not", optarg, UINT64_MAX); break;
  case JSON: bench->json = optarg; break;
  case 'h':
    fputs(usage, stdout);
    bench_finish(bench, EXIT_SUCCESS);
    break;
  default: fputs("Try 'ndbench ladder --help'.\n", stderr); bench_finish(bench, EXIT_USAGE);
  }
}

/* What is as large as a lesson wants on a GPU takes minutes under emulation. */
static void set_sizes(ladder_options *options) {
  static const int64_t large[2][2] = {{256, 262144}, {262144, 256}}, small[2][2] = {{64, 1001}, {1001, 64}};
  bool emulated = options->bench.device == &bench_cpu;
  if (options->length == 0) options->length = INT64_C(1) << (emulated ? 16 : 26);
  if (options->shape_count > 0) return;
  options->shape_count = 2;
  memcpy(options->shapes, emulated ? small : large, sizeof small);
}

/* Without a name the first ladder, or that of the one rung; no ladder that lacks it. */
static void choose_kinds(ladder_options *options, bool named) {
  bool any = false;
  for (int k = 0; k < LADDER_KINDS; k++) {
    bool has = !options->rung;
    for (int i = 0; i < ladder_rung_count && !has; i++)
      has = (int)ladder_rungs[i].kind == k && ladder_rung_is(&ladder_rungs[i], options->rung);
    options->kinds[k] = has && (named ? options->kinds[k] : options->rung || k == LADDER_REDUCE);
    any = any || options->kinds[k];
  }
  if (!any) bench_refuse(&options->bench, "the ladders that are named lack rung", options->rung);
}

void ladder_options_read(ladder_options *options, int argc, char **argv) {
  int letter;
  *options = (ladder_options){.bench = {.device = bench_device_find("auto"), .repeat = 25, .verify = true, .seed = 1},
                              .dtype = LADDER_F32,
                              .block = 256,
                              .overlap = 8,
                              .dims = {32, 32, 32, 32, 64}};
  while ((letter = getopt_long(argc, argv, "d:n:b:r:h", names, NULL)) != -1) read_option(options, letter);
  for (int i = optind; i < argc; i++) {
    bool all = strcmp(argv[i], "all") == 0;
    int kind = all ? 0 : one_of(options, "there is no ladder", argv[i], ladder_kind_names, LADDER_KINDS);
    for (int k = kind; k < (all ? LADDER_KINDS : kind + 1); k++) options->kinds[k] = true;
  }
  choose_kinds(options, optind < argc);
  set_sizes(options);
}
