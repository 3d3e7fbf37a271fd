#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench.h"

static const char usage[] =
    "Usage: ndbench [options] PROBLEM...|SET...\n"
    "       ndbench [options] regret [PROBLEM...|SET...]\n"
    "       ndbench ladder [options] [reduce|axes|nd|all]...\n"
    "Times reductions, checks their results, and holds their speed against plain reads.\n"
    "With 'regret', times every kernel family on each problem, of random ones if none is named, and says how much "
    "slower\n"
    "the planner's choice is than the fastest.\n"
    "A PROBLEM is one argument like 'sum f32 [4096,16384] /0' (see ndbench(1)).\n"
    "\n"
    "  -d, --device NAME    cpu (default), cuda, or auto: a GPU where there is one\n"
    "  -t, --threads N      CPU threads (default: all)\n"
    "  -r, --repeat N       samples of each problem, 1 to 4096 (default 25)\n"
    "      --family NAME    time this kernel family alone\n"
    "      --measure        let the clock choose families, not the cost model: NDR_MEASURE\n"
    "      --no-verify      do not check results against the CPU\n"
    "      --seed N         of the random data (default 1)\n"
    "      --json FILE      write machine and rows as JSON to FILE, or to - (then the table goes to stderr)\n"
    "      --explain        print how each problem would be run, and do not run it\n"
    "      --list           print the sets and their problems; with 'regret', what it would time\n"
    "      --count N        with 'regret': random problems (default 2000)\n"
    "      --largest BYTES  with 'regret': leave out larger arrays (default 256M, and none that is named)\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "Sets:\n";

static const char closing[] =
    "\nThe ladder climbs the reductions that are taught, rung by rung. It has --op, --dtype, --length, --shape, "
    "--dims,\n"
    "--block, --overlap and --rung, its own --explain, and of the above --device, --repeat, --seed and --json; see\n"
    "ndbench ladder --help.\n"
    "\nExit status: 0 done, 1 a problem failed or gave a wrong result, 2 the command line is wrong.\n"
    "Example: ndbench --json - cpu 'mean f64 [1000,1000:-1] /1'\n";

enum {
  OPTION_FAMILY = 256,
  OPTION_MEASURE,
  OPTION_NO_VERIFY,
  OPTION_SEED,
  OPTION_JSON,
  OPTION_EXPLAIN,
  OPTION_LIST,
  OPTION_COUNT,
  OPTION_LARGEST
};

static const struct option names[] = {{"device", required_argument, NULL, 'd'},
                                      {"threads", required_argument, NULL, 't'},
                                      {"repeat", required_argument, NULL, 'r'},
                                      {"family", required_argument, NULL, OPTION_FAMILY},
                                      {"measure", no_argument, NULL, OPTION_MEASURE},
                                      {"no-verify", no_argument, NULL, OPTION_NO_VERIFY},
                                      {"seed", required_argument, NULL, OPTION_SEED},
                                      {"json", required_argument, NULL, OPTION_JSON},
                                      {"explain", no_argument, NULL, OPTION_EXPLAIN},
                                      {"list", no_argument, NULL, OPTION_LIST},
                                      {"count", required_argument, NULL, OPTION_COUNT},
                                      {"largest", required_argument, NULL, OPTION_LARGEST},
                                      {"version", no_argument, NULL, 'V'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

void bench_finish(bench_options *options, int status) {
  bench_list_free(&options->list);
  exit(fflush(stdout) == 0 ? status : EXIT_RUN);
}

void bench_refuse(bench_options *options, const char *what, const char *value) {
  fprintf(stderr, "ndbench: %s '%s'\nTry 'ndbench --help'.\n", what, value);
  bench_finish(options, EXIT_USAGE);
}

uint64_t bench_number(bench_options *options, const char *what, const char *text, uint64_t most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 0);
  if (end == text || *end || errno || text[0] == '-' || value > most) bench_refuse(options, what, text);
  return value;
}

/* A number of bytes, with K, M or G behind it or without. */
static size_t size(bench_options *options, const char *text) {
  static const char units[] = "KMG";
  char digits[32];
  size_t length = strlen(text);
  const char *unit = length > 1 ? strchr(units, text[length - 1]) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  snprintf(digits, sizeof digits, "%.*s", (int)(unit ? length - 1 : length), text);
  return (size_t)bench_number(options, "--largest needs bytes, up to 64G, not", digits, (UINT64_C(64) << 30) >> shift)
         << shift;
}

static void read_option(bench_options *options, int letter) {
  switch (letter) {
  case 'd':
    options->device = bench_device_find(optarg);
    if (!options->device) bench_refuse(options, "this build cannot time device", optarg);
    break;
  case 't': options->threads = (int)bench_number(options, "--threads needs a number, not", optarg, INT_MAX); break;
  case 'r':
    options->repeat = (int)bench_number(options, "--repeat needs a number from 1 to 4096, not", optarg, MOST_SAMPLES);
    if (options->repeat == 0) bench_refuse(options, "--repeat needs a number from 1 to 4096, not", optarg);
    break;
  case OPTION_FAMILY: options->family = optarg; break;
  case OPTION_MEASURE: options->measure = true; break;
  case OPTION_NO_VERIFY: options->verify = false; break;
  case OPTION_SEED: options->seed = bench_number(options, "--seed needs a number, not", optarg, UINT64_MAX); break;
  case OPTION_JSON: options->json = optarg; break;
  case OPTION_EXPLAIN: options->explain = true; break;
  case OPTION_LIST: options->only_list = true; break;
  case OPTION_COUNT:
    options->count = (int)bench_number(options, "--count needs a number from 1 to 1000000, not", optarg, 1000000);
    if (options->count == 0) bench_refuse(options, "--count needs a number from 1 to 1000000, not", optarg);
    break;
  case OPTION_LARGEST: options->largest = size(options, optarg); break;
  case 'V':
    printf("ndbench %s\n", ndr_version());
    bench_finish(options, EXIT_SUCCESS);
    break;
  case 'h':
    fputs(usage, stdout);
    bench_sets_print(stdout, false);
    fputs(closing, stdout);
    bench_finish(options, EXIT_SUCCESS);
    break;
  default: fputs("Try 'ndbench --help'.\n", stderr); bench_finish(options, EXIT_USAGE);
  }
}

static void read_problems(bench_options *options, int argc, char **argv) {
  for (int i = 0; i < argc; i++) {
    if (bench_list_add(&options->list, options->device->name, argv[i])) continue;
    fprintf(stderr, "ndbench: %s\n", ndr_last_error());
    bench_refuse(options, "neither a set nor a problem:", argv[i]);
  }
}

static void read_regret(bench_options *options, int argc, char **argv) {
  options->regret = true;
  if (options->family) bench_refuse(options, "regret times every family, not only", options->family);
  read_problems(options, argc, argv);
  if (options->list.count) bench_list_drop_larger(&options->list, options->largest ? options->largest : SIZE_MAX);
  if (argc == 0) {
    if (!options->largest) options->largest = 256 << 20;
    if (options->largest < LEAST_RANDOM_BYTES)
      bench_refuse(options, "--largest needs at least 64K for", "random problems");
    bench_list_add_random(&options->list, options);
  }
}

void bench_options_read(bench_options *options, int argc, char **argv) {
  int letter;
  *options = (bench_options){.device = &bench_cpu, .repeat = 25, .verify = true, .seed = 1, .count = 2000};
  while ((letter = getopt_long(argc, argv, "d:t:r:Vh", names, NULL)) != -1) read_option(options, letter);
  bool regret = optind < argc && strcmp(argv[optind], "regret") == 0;
  if (regret)
    read_regret(options, argc - optind - 1, argv + optind + 1);
  else if (!options->only_list)
    read_problems(options, argc - optind, argv + optind);
  if (options->only_list) {
    for (int i = 0; i < options->list.count; i++) puts(options->list.problems[i].text);
    if (!regret) bench_sets_print(stdout, true);
    bench_finish(options, EXIT_SUCCESS);
  }
  if (options->list.count == 0) {
    fputs("ndbench: name at least one problem or set\nTry 'ndbench --help'.\n", stderr);
    bench_finish(options, EXIT_USAGE);
  }
}
