/* What ndbench's command line says: its options, a row each, and what goes with what. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "ndbench/gauge.h"

void bench_finish(int status) {
  exit(fflush(stdout) == 0 ? status : EXIT_RUN);
}

uint64_t bench_number(const cli *of, const char *option, const char *text, uint64_t least, uint64_t most) {
  uint64_t value;
  if (!cli_integer(text, least, most, &value))
    cli_refuse(of, "--%s takes a whole number from %llu to %llu, not '%s'", option, (unsigned long long)least,
               (unsigned long long)most, text);
  return value;
}

const bench_device *bench_read_device(const cli *of, const char *name) {
  const bench_device *device = bench_device_find(name);
  if (!device && strcmp(name, "cuda") == 0) {
    fprintf(stderr, "%s: device cuda cannot be used: this build has no CUDA backend\n", of->program);
    bench_finish(EXIT_RUN);
  }
  if (!device) cli_refuse(of, "--device takes cpu, cuda or auto, not '%s'", name);
  return device;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void read_device(void *target, const char *text) {
  ((bench_options *)target)->device = bench_read_device(&bench_cli, text);
}

static void read_threads(void *target, const char *text) {
  ((bench_options *)target)->threads = (int)bench_number(&bench_cli, "threads", text, 1, INT_MAX);
}

static void read_repeat(void *target, const char *text) {
  ((bench_options *)target)->repeat = (int)bench_number(&bench_cli, "repeat", text, 1, MOST_SAMPLES);
}

static void read_no_verify(void *target, const char *text) {
  (void)text;
  ((bench_options *)target)->verify = false;
}

static void read_seed(void *target, const char *text) {
  ((bench_options *)target)->seed = bench_number(&bench_cli, "seed", text, 0, UINT64_MAX);
}

static void read_count(void *target, const char *text) {
  ((bench_options *)target)->count = (int)bench_number(&bench_cli, "count", text, 1, 1000000);
}

static void read_largest(void *target, const char *text) {
  uint64_t bytes;
  if (!cli_size(text, UINT64_C(64) << 30, &bytes))
    cli_refuse(&bench_cli, "--largest takes a size like 256M, up to 64G, not '%s'", text);
  ((bench_options *)target)->largest = (size_t)bytes;
}

static void print_version(void *target, const char *text) {
  (void)target;
  (void)text;
  printf("ndbench %s\n", ndr_version());
  bench_finish(EXIT_SUCCESS);
}

static void print_help(void *target, const char *text) {
  (void)target;
  (void)text;
  fputs("Usage: ndbench [options] PROBLEM...|SET...\n"
        "       ndbench [options] regret|gauge [PROBLEM...|SET...]\n"
        "       ndbench ladder [options] [reduce|axes|nd|scan|select|all]...\n"
        "Times reductions, checks their results, and compares their speed with that of plain reads.\n"
        "With 'regret', times every kernel family on each problem, or on random ones if none is named, and says how\n"
        "much slower the planner's choice is than the fastest family. With 'gauge', says what share of the machine's\n"
        "speed the planner's choice reaches, on random problems of awkward sizes if none is named.\n"
        "A PROBLEM is one argument like 'sum f32 [4096,16384] /0' (see ndbench(1)).\n\n",
        stdout);
  cli_print_options(&bench_cli, stdout);
  puts("\nSets:");
  bench_sets_print(stdout, false);
  puts("\nThe ladder runs the reductions, prefix sums and selections that lectures teach, and has options of its own:\n"
       "see ndbench ladder --help.\n"
       "\nExit status: 0 done, 1 a problem failed or gave a wrong result, 2 the command line is wrong.\n"
       "Example: ndbench --json - cpu 'mean f64 [1000,1000:-1] /1'");
  bench_finish(EXIT_SUCCESS);
}

/* ---- The options ------------------------------------------------------------------------------------------------- */

#define FIELD(name) .at = offsetof(bench_options, name)

static const cli_option rows[] = {
    {'d', "device", "NAME", CLI_ONCE, read_device, .help = "cpu (default), cuda, or auto: a GPU where there is one"},
    {'t', "threads", "N", CLI_ONCE, read_threads, .help = "CPU threads (default: all)"},
    {'r', "repeat", "N", CLI_ONCE, read_repeat, .help = "samples of each problem, 1 to 4096 (default 25)"},
    {0, "family", "NAME", FIELD(family), .help = "time this kernel family alone"},
    {0, "measure", FIELD(measure), .help = "let the clock choose families, not the cost model: NDR_MEASURE"},
    {0, "no-verify", .read = read_no_verify, .help = "do not check results against the CPU"},
    {0, "seed", "N", CLI_ONCE, read_seed, .help = "of the random data (default 1)"},
    {0, "json", "FILE", FIELD(json),
     .help = "write machine and rows as JSON to FILE, or to - (then the table goes to stderr)"},
    {0, "explain", FIELD(explain),
     .help = "print the plan for each problem and do not run it; with --measure, the families are timed"},
    {0, "list", FIELD(only_list),
     .help = "print the problems that are named, or all sets; with 'regret' or 'gauge', what it would time"},
    {0, "count", "N", CLI_ONCE, read_count, .help = "with 'regret' or 'gauge': random problems (default 2000)"},
    {0, "largest", "BYTES", CLI_ONCE, read_largest,
     .help = "with 'regret' or 'gauge': leave out larger arrays (default: 256M for random problems of 'regret',\n"
             "1G for those of 'gauge')"},
    {'V', "version", .read = print_version, .help = "print the version"},
    {'h', "help", .read = print_help, .help = "print this"},
};

CLI_CHECK(rows);
const cli bench_cli = {"ndbench", "ndbench", sizeof rows / sizeof *rows, rows, &bench_ladder_cli, NULL, NULL};

/* ---- What is timed ----------------------------------------------------------------------------------------------- */

/* What is one word has been meant for a set. */
__attribute__((noreturn)) static void refuse_problem(const char *text) {
  static const char *const commands[] = {"regret", "gauge", "ladder"};
  char list[256];
  const char *reason = ndr_last_error(), *command = cli_near(text, 3, commands);
  bool quoted = strstr(reason, text) != NULL;
  if (text[strcspn(text, " [,")]) cli_refuse(&bench_cli, "%s%s%s", quoted ? "" : text, quoted ? "" : ": ", reason);
  bench_sets_list(text, list, sizeof list);
  cli_refuse(&bench_cli, "there is no set '%s'; there are %s, and problems like 'sum f32 [4096,16384] /0'%s%s", text,
             list, command ? "; the first word may also be " : "", command ? command : "");
}

static void read_problems(bench_options *options, int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    if (!bench_list_add(&options->list, options->device->name, argv[i])) refuse_problem(argv[i]);
}

/* 1 GiB; less where the array, its results and a GPU's copies of them would be more than half of the memory. */
static size_t largest_gauged(void) {
  size_t largest = 1 << 30;
  double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  while (largest > 2 * LEAST_GAUGE_BYTES && (double)largest * 4 > memory / 2) largest /= 2;
  return largest;
}

static void add_random(bench_options *options) {
  size_t least = options->gauge ? 2 * LEAST_GAUGE_BYTES : LEAST_RANDOM_BYTES;
  if (!options->count) options->count = 2000;
  if (!options->largest) options->largest = options->gauge ? largest_gauged() : 256 << 20;
  if (options->largest < least)
    cli_refuse(&bench_cli, "--largest: random problems need at least %s", options->gauge ? "2M" : "64K");
  if (options->gauge)
    gauge_list_add_random(&options->list, options);
  else
    bench_list_add_random(&options->list, options);
}

/* What follows the word regret or gauge. */
static void read_survey(bench_options *options, int argc, char **argv) {
  if (options->family && options->regret)
    cli_refuse(&bench_cli, "regret times every family, not only '%s'", options->family);
  if (options->family) cli_refuse(&bench_cli, "gauge times the planner's choice, not '%s'", options->family);
  if (options->count && argc) cli_refuse(&bench_cli, "--count is for random problems, where none is named");
  read_problems(options, argc, argv);
  if (options->list.count) bench_list_drop_larger(&options->list, options->largest ? options->largest : SIZE_MAX);
  if (argc == 0) add_random(options);
}

void bench_options_read(bench_options *options, int argc, char **argv) {
  *options = (bench_options){.device = &bench_cpu, .repeat = 25, .verify = true, .seed = 1};
  int named = cli_read(&bench_cli, options, argc, argv);
  options->regret = named > 0 && strcmp(argv[1], "regret") == 0;
  options->gauge = named > 0 && strcmp(argv[1], "gauge") == 0;
  bool survey = options->regret || options->gauge;
  if (!survey && (options->count || options->largest))
    cli_refuse(&bench_cli, "%s is for regret and gauge", options->count ? "--count" : "--largest");
  if (survey)
    read_survey(options, named - 1, argv + 2);
  else
    read_problems(options, named, argv + 1);
  if (options->only_list) {
    for (int i = 0; i < options->list.count; i++) puts(options->list.problems[i].text);
    if (!survey && named == 0) bench_sets_print(stdout, true);
    bench_finish(EXIT_SUCCESS);
  }
  if (options->list.count == 0) cli_refuse(&bench_cli, "name at least one problem or set");
}
