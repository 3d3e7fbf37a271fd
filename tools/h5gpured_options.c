#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "h5gpured.h"

void complain(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fflush(stdout);
  fputs("h5gpured: ", stderr);
  print_plain(text, stderr);
  fputc('\n', stderr);
}

static const char usage[] =
    "Usage: h5gpured [options] FILE[:/DATASET | /DATASET][[PART]]...\n"
    "Reduces datasets of HDF5 and netCDF-4 files over any of their dims.\n"
    "With no dataset named: the only one of the largest rank. PART as in NumPy: FILE:/DATASET[0:100, :, ::4]\n"
    "\n"
    "  -d, --dims LIST      dims to reduce: 0,2 or -1 or time,lat or all (default all)\n"
    "      --op LIST        operators, default sum; all from one read of the data\n"
    "  -k, --keepdims       keep reduced dims, with size 1\n"
    "      --skipna         leave NaN elements out\n"
    "      --raw            take numbers as stored: no missing values, scales and offsets\n"
    "      --weights BY     mean, sum and valid weighted: by a coordinate, lat or lat:cos (degrees), or a dataset, "
    "/PATH\n"
    "      --concat DIM     all inputs are one array: they follow each other along DIM\n"
    "      --ddof N         var and std divide by n - N (default 0)\n"
    "  -o, --output FILE    write the results to an HDF5 file: dataset NAME, or NAME_OP for several operators\n"
    "      --overwrite      replace FILE if it exists\n"
    "      --deflate N      compress them at level N, 0 for not at all (default: as the input, from 64 KiB on)\n"
    "      --format NAME    text, json, hdf5, npy or csv; npy and csv go to stdout or to FILE\n"
    "      --coords         give what argmin and argmax find as coordinates, too\n"
    "      --json           one JSON object a line for each dataset and operator\n"
    "      --list           list the datasets instead of reducing\n"
    "      --explain        say on stderr how the work is cut up, and how long it took\n"
    "      --device NAME    auto (default), cpu, cuda, cuda:N, or all for every GPU\n"
    "  -t, --threads N      CPU threads (default: all)\n"
    "      --memory SIZE    budget for buffers, like 64M or 1.5G (default 256M)\n"
    "      --no-plugins     load no filter plugins\n"
    "      --allow-external read other files that the input leads to even outside its folder\n"
    "      --progress       show progress even when stderr is no terminal or the work is short\n"
    "  -q, --quiet          show no progress, and nothing on what -o writes\n"
    "      --version, --help\n"
    "\n"
    "Operators:\n";

static const char closing[] = "\n"
                              "Exit status: 0 done, 1 the input or the run failed, 2 the command line is wrong.\n"
                              "Example: h5gpured ocean.nc:/temp --dims time --op mean,std\n";

static void print_help(void) {
  fputs(usage, stdout);
  for (int op = 0; op < NDR_OP_COUNT; op++) printf("  %-10s %s\n", ndr_op_name((ndr_op)op), ndr_op_help((ndr_op)op));
  fputs(closing, stdout);
}

__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  complain("%s (see h5gpured --help)", text);
  exit(EXIT_USAGE);
}

static void read_ops(options *asked, const char *list) {
  asked->op_count = 0;
  for (const char *start = list; start;) {
    const char *comma = strchr(start, ',');
    char name[32];
    size_t length = comma ? (size_t)(comma - start) : strlen(start);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, start);
    if (length == 0) refuse("--op '%s': an entry of the list is empty", list);
    if (asked->op_count == NDR_MAX_OPS) refuse("--op '%s': at most %d operators", list, NDR_MAX_OPS);
    ndr_op *op = &asked->ops[asked->op_count];
    if (length >= sizeof name || ndr_op_parse(name, op) != NDR_OK) refuse("--op: there is no operator '%s'", name);
    for (int i = 0; i < asked->op_count; i++)
      if (asked->ops[i] == *op) refuse("--op '%s': %s is named twice", list, name);
    asked->op_count++;
    start = comma ? comma + 1 : NULL;
  }
}

static long read_count(const char *option, const char *text, long least) {
  char *end;
  errno = 0;
  long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < least || value > INT_MAX)
    refuse("%s takes a whole number, at least %ld, not '%s'", option, least, text);
  return value;
}

/* A number with an optional K, M, G or T, powers of 1024, and an optional B or iB after it. */
static int64_t read_size(const char *text) {
  static const char suffixes[] = "KMGT";
  char *end;
  double value = strtod(text, &end);
  const char *suffix = *end ? strchr(suffixes, *end >= 'a' && *end <= 'z' ? *end - 32 : *end) : NULL;
  bool good = end != text && isfinite(value) && value > 0;
  if (suffix) {
    value = ldexp(value, 10 * (int)(suffix - suffixes + 1));
    end++;
  }
  if (strcmp(end, "") != 0 && strcmp(end, "B") != 0 && !(suffix && strcmp(end, "iB") == 0)) good = false;
  if (!good || value < 1 || value >= 9e18) refuse("--memory takes a size like 64M or 1.5G, not '%s'", text);
  return (int64_t)value;
}

static void read_device(options *asked, const char *text) {
  asked->device_id = 0;
  if (strcmp(text, "auto") == 0) {
    asked->device = NDR_H5_AUTO;
  } else if (strcmp(text, "cpu") == 0) {
    asked->device = NDR_H5_CPU;
  } else if (strcmp(text, "all") == 0) {
    asked->device = NDR_H5_ALL;
  } else if (strncmp(text, "cuda", 4) == 0 && (text[4] == 0 || text[4] == ':')) {
    asked->device = NDR_H5_CUDA;
    if (text[4]) asked->device_id = (int)read_count("--device cuda:N", text + 5, 0);
  } else {
    refuse("--device takes auto, cpu, cuda, cuda:N or all, not '%s'", text);
  }
}

static void read_ddof(options *asked, const char *text) {
  char *end;
  asked->ddof = strtod(text, &end);
  if (end == text || *end || !(asked->ddof >= 0) || isinf(asked->ddof))
    refuse("--ddof takes a number, at least 0, not '%s'", text);
}

static void read_deflate(options *asked, const char *text) {
  if (text[0] < '0' || text[0] > '9' || text[1]) refuse("--deflate takes a level from 0 to 9, not '%s'", text);
  asked->deflate = text[0] - '0';
}

static void read_format(options *asked, const char *text) {
  static const char *const names[] = {[FORMAT_NPY] = "npy", [FORMAT_CSV] = "csv"};
  asked->format_name = text;
  asked->format = FORMAT_NONE;
  for (output_format f = FORMAT_NPY; f <= FORMAT_CSV; f++)
    if (strcmp(text, names[f]) == 0) asked->format = f;
  if (!asked->format && strcmp(text, "text") != 0 && strcmp(text, "json") != 0 && strcmp(text, "hdf5") != 0)
    refuse("--format takes text, json, hdf5, npy or csv, not '%s'", text);
}

enum { OP = 256, WEIGHTS, CONCAT, DEVICE, MEMORY, DDOF, DEFLATE, FORMAT, VERSION };

/* getopt_long has put into optopt: the letter of a short option, the value of a long one that got an argument too many,
 * or 0. */
__attribute__((noreturn)) static void refuse_option(const char *text) {
  if (strncmp(text, "--", 2) != 0) refuse("there is no option '-%c'", optopt);
  if (optopt) refuse("option '%s' takes no value", text);
  refuse("option '%s' is not known, or short for several", text);
}

static void read_option(options *asked, int found, char **argv) {
  switch (found) {
  case 0: break;
  case 'd': asked->dims = optarg; break;
  case OP: read_ops(asked, optarg); break;
  case WEIGHTS: asked->weights = optarg; break;
  case CONCAT: asked->concat = optarg; break;
  case 'k': asked->keepdims = 1; break;
  case DDOF: read_ddof(asked, optarg); break;
  case 'o': asked->output = optarg; break;
  case FORMAT: read_format(asked, optarg); break;
  case DEFLATE: read_deflate(asked, optarg); break;
  case DEVICE: read_device(asked, optarg); break;
  case 't': asked->threads = (int)read_count("--threads", optarg, 1); break;
  case MEMORY: asked->memory = read_size(optarg); break;
  case 'q': asked->quiet = 1; break;
  case VERSION: printf("h5gpured (ndreduce) %s\n", ndr_version()); exit(EXIT_SUCCESS);
  case 'h': print_help(); exit(EXIT_SUCCESS);
  case ':': refuse("option '%s' needs a value", argv[optind - 1]);
  default: refuse_option(argv[optind - 1]);
  }
}

/* One file, one table. */
static void check_format(options *asked) {
  bool finds = false;
  for (int i = 0; i < asked->op_count; i++) finds |= asked->ops[i] == NDR_ARGMIN || asked->ops[i] == NDR_ARGMAX;
  if (asked->coords && !finds) refuse("--coords needs --op argmin or argmax");
  if (asked->format_name && strcmp(asked->format_name, "json") == 0) asked->json = 1;
  if (asked->format_name && strcmp(asked->format_name, "hdf5") == 0 && !asked->output)
    refuse("--format hdf5 needs --output");
  if (asked->format_name && strcmp(asked->format_name, "text") == 0 && asked->output)
    refuse("--format text writes no --output");
  if (!asked->format) return;
  if (asked->json || asked->list) refuse("--format %s goes with neither --json nor --list", asked->format_name);
  if (asked->deflate >= 0) refuse("--deflate needs --format hdf5");
  if (asked->input_count > 1) refuse("--format %s takes one input, not %d", asked->format_name, asked->input_count);
  if (asked->format == FORMAT_NPY && asked->op_count > 1)
    refuse("--format npy takes one operator, not %d", asked->op_count);
  if (asked->format == FORMAT_NPY && asked->coords) refuse("--format npy has no room for --coords");
}

/* What can be refused before any file is opened. */
static void check(options *asked) {
  int count;
  if (asked->input_count == 0) refuse("no input file is named");
  if (ndr_h5_dims_parse(asked->dims, 0, NULL, &count, NULL) == NDR_ERR_PARSE) refuse("--dims: %s", ndr_last_error());
  if (asked->output && !*asked->output) refuse("--output: the name is empty");
  check_format(asked);
  if (asked->deflate >= 0 && !asked->output) refuse("--deflate needs --output");
  if (asked->weights && !*asked->weights) refuse("--weights: the name is empty");
  for (int i = 0; asked->weights && i < asked->op_count; i++)
    if (asked->ops[i] != NDR_SUM && asked->ops[i] != NDR_MEAN && asked->ops[i] != NDR_VALID)
      refuse("--weights: %s has no weighted form; sum, mean and valid do", ndr_op_name(asked->ops[i]));
  if (asked->concat && asked->list) refuse("--list takes files one by one, without --concat");
  if (asked->list && asked->output) refuse("--list writes no --output");
}

void options_read(options *asked, int argc, char **argv) {
  *asked =
      (options){.dims = "all", .op_count = 1, .ops = {NDR_SUM}, .deflate = -1, .history = history_line(argc, argv)};
  if (!asked->history) {
    complain("out of memory");
    exit(EXIT_INPUT);
  }
  const struct option table[] = {
      {"dims", required_argument, NULL, 'd'},
      {"op", required_argument, NULL, OP},
      {"weights", required_argument, NULL, WEIGHTS},
      {"concat", required_argument, NULL, CONCAT},
      {"keepdims", no_argument, NULL, 'k'},
      {"skipna", no_argument, &asked->skip_nan, 1},
      {"raw", no_argument, &asked->raw, 1},
      {"ddof", required_argument, NULL, DDOF},
      {"output", required_argument, NULL, 'o'},
      {"overwrite", no_argument, &asked->overwrite, 1},
      {"format", required_argument, NULL, FORMAT},
      {"coords", no_argument, &asked->coords, 1},
      {"deflate", required_argument, NULL, DEFLATE},
      {"json", no_argument, &asked->json, 1},
      {"list", no_argument, &asked->list, 1},
      {"explain", no_argument, &asked->explain, 1},
      {"device", required_argument, NULL, DEVICE},
      {"threads", required_argument, NULL, 't'},
      {"memory", required_argument, NULL, MEMORY},
      {"no-plugins", no_argument, &asked->no_plugins, 1},
      {"allow-external", no_argument, &asked->allow_external, 1},
      {"progress", no_argument, &asked->progress, 1},
      {"quiet", no_argument, NULL, 'q'},
      {"version", no_argument, NULL, VERSION},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0},
  };
  opterr = 0;
  for (int found; (found = getopt_long(argc, argv, ":d:ko:t:qh", table, NULL)) != -1;) read_option(asked, found, argv);
  asked->input_count = argc - optind;
  asked->inputs = argv + optind;
  check(asked);
}
