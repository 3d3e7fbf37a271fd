#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench.h"

static const char usage[] =
    "Usage: ndbench [options] PROBLEM...|SET...\n"
    "Times reductions, checks their results, and holds their speed against plain reads.\n"
    "A PROBLEM is one argument like 'sum f32 [4096,16384] /0' (see ndbench(1)).\n"
    "\n"
    "  -d, --device NAME    cpu (default), cuda, or auto: a GPU where there is one\n"
    "  -t, --threads N      CPU threads (default: all)\n"
    "  -r, --repeat N       samples of each problem, 1 to 4096 (default 25)\n"
    "      --family NAME    time this kernel family alone\n"
    "      --no-verify      do not check results against the CPU\n"
    "      --seed N         of the random data (default 1)\n"
    "      --json FILE      write machine and rows as JSON to FILE, or to - (then the table goes to stderr)\n"
    "      --explain        print how each problem would be run, and do not run it\n"
    "      --list           print the sets and their problems\n"
    "  -V, --version\n"
    "  -h, --help\n"
    "\n"
    "Sets:\n";

static const char closing[] =
    "\nExit status: 0 done, 1 a problem failed or gave a wrong result, 2 the command line is wrong.\n"
    "Example: ndbench --json - cpu 'mean f64 [1000,1000:-1] /1'\n";

enum { OPTION_FAMILY = 256, OPTION_NO_VERIFY, OPTION_SEED, OPTION_JSON, OPTION_EXPLAIN, OPTION_LIST };

static const struct option names[] = {{"device", required_argument, NULL, 'd'},
                                      {"threads", required_argument, NULL, 't'},
                                      {"repeat", required_argument, NULL, 'r'},
                                      {"family", required_argument, NULL, OPTION_FAMILY},
                                      {"no-verify", no_argument, NULL, OPTION_NO_VERIFY},
                                      {"seed", required_argument, NULL, OPTION_SEED},
                                      {"json", required_argument, NULL, OPTION_JSON},
                                      {"explain", no_argument, NULL, OPTION_EXPLAIN},
                                      {"list", no_argument, NULL, OPTION_LIST},
                                      {"version", no_argument, NULL, 'V'},
                                      {"help", no_argument, NULL, 'h'},
                                      {NULL, 0, NULL, 0}};

static void finish(bench_options *options, int status) {
  bench_list_free(&options->list);
  exit(fflush(stdout) == 0 ? status : EXIT_RUN);
}

static void refuse(bench_options *options, const char *what, const char *value) {
  fprintf(stderr, "ndbench: %s '%s'\nTry 'ndbench --help'.\n", what, value);
  finish(options, EXIT_USAGE);
}

static uint64_t number(bench_options *options, const char *what, const char *text, uint64_t most) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 0);
  if (end == text || *end || errno || text[0] == '-' || value > most) refuse(options, what, text);
  return value;
}

static void read_option(bench_options *options, int letter) {
  switch (letter) {
  case 'd':
    options->device = bench_device_find(optarg);
    if (!options->device) refuse(options, "this build cannot time device", optarg);
    break;
  case 't': options->threads = (int)number(options, "--threads needs a number, not", optarg, INT_MAX); break;
  case 'r':
    options->repeat = (int)number(options, "--repeat needs a number from 1 to 4096, not", optarg, MOST_SAMPLES);
    if (options->repeat == 0) refuse(options, "--repeat needs a number from 1 to 4096, not", optarg);
    break;
  case OPTION_FAMILY: options->family = optarg; break;
  case OPTION_NO_VERIFY: options->verify = false; break;
  case OPTION_SEED: options->seed = number(options, "--seed needs a number, not", optarg, UINT64_MAX); break;
  case OPTION_JSON: options->json = optarg; break;
  case OPTION_EXPLAIN: options->explain = true; break;
  case OPTION_LIST:
    bench_sets_print(stdout, true);
    finish(options, EXIT_SUCCESS);
    break;
  case 'V':
    printf("ndbench %s\n", ndr_version());
    finish(options, EXIT_SUCCESS);
    break;
  case 'h':
    fputs(usage, stdout);
    bench_sets_print(stdout, false);
    fputs(closing, stdout);
    finish(options, EXIT_SUCCESS);
    break;
  default: fputs("Try 'ndbench --help'.\n", stderr); finish(options, EXIT_USAGE);
  }
}

void bench_options_read(bench_options *options, int argc, char **argv) {
  int letter;
  *options = (bench_options){.device = &bench_cpu, .repeat = 25, .verify = true, .seed = 1};
  while ((letter = getopt_long(argc, argv, "d:t:r:Vh", names, NULL)) != -1) read_option(options, letter);
  if (optind == argc) {
    fputs("ndbench: name at least one problem or set\nTry 'ndbench --help'.\n", stderr);
    finish(options, EXIT_USAGE);
  }
  for (int i = optind; i < argc; i++) {
    if (bench_list_add(&options->list, options->device->name, argv[i])) continue;
    fprintf(stderr, "ndbench: %s\n", ndr_last_error());
    refuse(options, "neither a set nor a problem:", argv[i]);
  }
}
