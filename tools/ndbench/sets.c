/* Lists of problems: the built-in sets, and those named on the command line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ndbench/ndbench.h"

#define MIB (INT64_C(1) << 20)

static void append(bench_list *list, const bench_problem *problem) {
  if (list->count == list->capacity) {
    int capacity = list->capacity ? 2 * list->capacity : 64;
    bench_problem *more = realloc(list->problems, (size_t)capacity * sizeof *more);
    if (!more) {
      fputs("ndbench: out of memory for the list of problems\n", stderr);
      exit(EXIT_RUN);
    }
    list->problems = more;
    list->capacity = capacity;
  }
  list->problems[list->count++] = *problem;
}

/* Where there are many labels, which are printed last, leaves out all but the first. */
static void cut_labels(char *text) {
  enum { MOST = 40 };
  char *groups = strstr(text, " groups="), *at = groups ? strchr(groups, '[') : NULL;
  if (!at || strlen(at) <= MOST) return;
  for (at += MOST - 4; *at != ',' && *at != '[';) at--;
  strcpy(at + 1, "...]");
}

bool bench_list_add_text(bench_list *list, const char *set, const char *name, const char *text) {
  bench_problem problem = {.set = set, .reduction = NDR_PROBLEM_INIT};
  if (ndr_problem_parse(text, &problem.reduction) != NDR_OK) return false;
  snprintf(problem.name, sizeof problem.name, "%s", name);
  ndr_problem_print(&problem.reduction, problem.text, sizeof problem.text);
  cut_labels(problem.text);
  append(list, &problem);
  return true;
}

__attribute__((format(printf, 4, 5))) static void add(bench_list *list, const char *set, const char *name,
                                                      const char *format, ...) {
  char text[PROBLEM_TEXT];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (!bench_list_add_text(list, set, name, text)) {
    fprintf(stderr, "ndbench: set %s: %s\n", set, ndr_last_error());
    exit(EXIT_RUN);
  }
}

/* The layouts that a reduction over memory meets, each over about `bytes` of `type`. */
static void add_layouts(bench_list *list, const char *set, const char *op, const char *type, int64_t bytes) {
  ndr_dtype dtype = NDR_F32;
  char name[32];
  (void)ndr_dtype_parse(type, &dtype);
  long long n = (long long)(bytes / (int64_t)ndr_dtype_bytes(dtype));
#define LAYOUT(label, axes, ...)                                                                                       \
  snprintf(name, sizeof name, "%s-%s", type, label);                                                                   \
  add(list, set, name, "%s %s " axes, op, type, __VA_ARGS__)
  LAYOUT("full", "[%lld] /0", n);
  LAYOUT("inner", "[%lld,16384] /1", n / 16384);
  LAYOUT("outer", "[%lld,16384] /0", n / 16384);
  LAYOUT("middle", "[64,%lld,2048] /1", n / (64 * 2048));
  LAYOUT("4d-02", "[%lld,64,128,256] /0,2", n / (64 * 128 * 256));
  LAYOUT("4d-13", "[%lld,64,128,256] /1,3", n / (64 * 128 * 256));
  LAYOUT("3-columns", "[%lld,3] /0", n / 3);
  LAYOUT("transposed-0", "[16384:1,%lld:16384] /0", n / 16384);
  LAYOUT("transposed-1", "[16384:1,%lld:16384] /1", n / 16384);
#undef LAYOUT
}

/* 1 GiB, and shapes beyond the common ones: short and odd rows, few columns, few rows. */
static void add_gpu(bench_list *list, const char *set) {
  static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8", "i32"};
  static const int rows[] = {2, 3, 4, 7, 16, 31, 64, 100, 333, 1023, 1025, 5000};
  static const int columns[] = {1, 2, 5, 8, 17, 63, 256, 1001, 40000};
  char name[32];
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) add_layouts(list, set, "sum", types[t], 1024 * MIB);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(name, sizeof name, "f32-rows-of-%d", rows[i]);
    add(list, set, name, "sum f32 [%lld,%d] /1", (1LL << 28) / rows[i], rows[i]);
  }
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
    snprintf(name, sizeof name, "f32-%d-columns", columns[i]);
    add(list, set, name, "sum f32 [%lld,%d] /0", (1LL << 28) / columns[i], columns[i]);
  }
  add(list, set, "f32-8-rows", "sum f32 [8,33554432] /0");
  add(list, set, "f32-8-long-rows", "sum f32 [8,33554432] /1");
  add(list, set, "f32-every-other", "sum f32 [16384:32768,16384:2] /1");
  add(list, set, "f32-pitched", "sum f32 [16384:16400,16000] /1");
  add(list, set, "u8-image", "sum u8 [357913941,3] /0");
  add(list, set, "mean-var-f32", "mean,var f32 [16384,16384] /1");
}

static void add_cpu(bench_list *list, const char *set) {
  static const char *const types[] = {"f32", "f16", "bf16", "i8"};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) add_layouts(list, set, "sum", types[t], 256 * MIB);
}

/* 2^26 numbers as 2^k rows, from `first` to `last`, summed along the rows (wide) and down the columns (tall). */
static void add_sweep(bench_list *list, const char *set, int first, int last) {
  for (int k = first; k <= last; k++) {
    for (int dim = 1; dim >= 0; dim--) {
      char name[32];
      snprintf(name, sizeof name, "2^%dx2^%d-axis%d", k, 26 - k, dim);
      add(list, set, name, "sum f32 [%lld,%lld] /%d", 1LL << k, 1LL << (26 - k), dim);
    }
  }
}

static void add_wide_tall(bench_list *list, const char *set) {
  add_sweep(list, set, 8, 18);
}

static void add_whole_sweep(bench_list *list, const char *set) {
  add_sweep(list, set, 0, 26);
}

static void add_ops(bench_list *list, const char *set) {
  static const char *const layouts[][2] = {
      {"full", "[16777216] /0"}, {"inner", "[4096,4096] /1"}, {"outer", "[4096,4096] /0"}};
  for (int op = 0; op < NDR_OP_COUNT; op++) {
    for (size_t l = 0; l < sizeof layouts / sizeof *layouts; l++) {
      char name[32];
      snprintf(name, sizeof name, "%s-%s", ndr_op_name((ndr_op)op), layouts[l][0]);
      add(list, set, name, "%s f32 %s", ndr_op_name((ndr_op)op), layouts[l][1]);
    }
  }
}

static void add_dtypes(bench_list *list, const char *set) {
  for (int d = 0; d < NDR_DTYPE_COUNT; d++) {
    const char *type = ndr_dtype_name((ndr_dtype)d);
    long long rows = (long long)(64 * MIB / 8192 / (int64_t)ndr_dtype_bytes((ndr_dtype)d));
    char name[32];
    snprintf(name, sizeof name, "%s-full", type);
    add(list, set, name, "sum %s [%lld] /0", type, rows * 8192);
    snprintf(name, sizeof name, "%s-inner", type);
    add(list, set, name, "sum %s [%lld,8192] /1", type, rows);
    snprintf(name, sizeof name, "%s-outer", type);
    add(list, set, name, "sum %s [%lld,8192] /0", type, rows);
  }
}

static void add_small(bench_list *list, const char *set) {
  add(list, set, "one", "sum f32 [] /");
  add(list, set, "1k", "sum f32 [1000] /0");
  add(list, set, "64x64-axis0", "sum f32 [64,64] /0");
  add(list, set, "64x64-axis1", "sum f32 [64,64] /1");
  add(list, set, "3-columns", "sum f32 [1000,3] /0");
  add(list, set, "1kx1k-axis0", "sum f32 [1000,1000] /0");
  add(list, set, "1kx1k-axis1", "sum f32 [1000,1000] /1");
  add(list, set, "image", "mean u8 [480,640,3] /0,1");
  add(list, set, "batch", "mean,var f32 [32,64,14,14] /0,2,3");
}

/* What reductions in the wild look like, one of each: the cases on which the libraries of Python are met. */
static void add_peers(bench_list *list, const char *set) {
  static const char *const cases[][2] = {
      {"full", "sum f32 [268435456] /0"},
      {"full, unaligned", "sum f32 [268435456] /0"},
      {"rows of 256", "sum f32 [262144,256] /1"},
      {"256 rows, summed", "sum f32 [256,262144] /0"},
      {"rows of 4", "sum f32 [67108864,4] /1"},
      {"rows of 16", "sum f32 [16777216,16] /1"},
      {"rows of 1023", "sum f32 [262144,1023] /1"},
      {"rows of 16384", "sum f32 [16384,16384] /1"},
      {"8 long rows", "sum f32 [8,33554432] /1"},
      {"16384 columns", "sum f32 [16384,16384] /0"},
      {"3 columns", "sum f32 [89478485,3] /0"},
      {"256 columns", "sum f32 [1048576,256] /0"},
      {"8 rows, summed", "sum f32 [8,33554432] /0"},
      {"middle of 3-d", "sum f32 [64,2048,2048] /1"},
      {"middle, 3 columns", "sum f32 [65536,1365,3] /1"},
      {"4-d over 0 and 2", "sum f32 [64,128,64,512] /0,2"},
      {"4-d over 1 and 3", "sum f32 [64,128,64,512] /1,3"},
      {"batch norm", "sum f32 [256,256,56,56] /0,2,3"},
      {"5-d, trailing", "sum f32 [32,32,32,64,128] /2,3,4"},
      {"transposed", "sum f32 [16384:1,16384:16384] /0"},
      {"permuted 3-d", "sum f32 [512:1,512:524288,1024:512] /1"},
      {"pitched rows", "sum f32 [16384:16384,16000] /1"},
      {"f64, full", "sum f64 [134217728] /0"},
      {"f64, columns", "sum f64 [16384,8192] /0"},
      {"f16, full", "sum f16 [536870912] /0"},
      {"f16, rows", "sum f16 [16384,32768] /1"},
      {"i8, full", "sum i8 [1073741824] /0"},
      {"i8, rows", "sum i8 [32768,32768] /1"},
      {"i32, columns", "sum i32 [16384,16384] /0"},
      {"u8, 3 columns", "sum u8 [357913941,3] /0"},
      {"max, full", "max f32 [268435456] /0"},
      {"max, rows", "max f32 [16384,16384] /1"},
      {"argmax, full", "argmax f32 [268435456] /0"},
      {"argmax, rows", "argmax f32 [16384,16384] /1"},
      {"var, full", "var f32 [268435456] /0"},
      {"var, rows", "var f32 [16384,16384] /1"},
      {"norm2, rows", "norm2 f32 [16384,16384] /1"},
      {"logsumexp, rows", "logsumexp f32 [16384,16384] /1"},
      {"any, rows", "any bool [32768,32768] /1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    add(list, set, cases[i][0], "%s", cases[i][1]);
    if (strstr(cases[i][0], "unaligned")) list->problems[list->count - 1].offset = 1;
  }
}

/* An odd number from `least` to `most`, which were drawn once: draw number n. */
static long long drawn(int n, int least, int most) {
  return (least + (long long)(bench_random(1, (uint64_t)n) % (uint64_t)(most - least + 1))) | 1;
}

/* Widths that nobody tunes for, 512 MiB each: few rows, short rows, rows off a 16-byte boundary, short neighbours on
 * both sides, steps. */
static void add_odd(bench_list *list, const char *set) {
  static const char *const types[] = {"f32", "bf16", "u8"};
  static const int ranges[][2] = {{2, 6}, {6, 15}, {15, 32}, {33, 200}, {200, 2000}};
  static const struct {
    const char *op, *type;
    int bytes, least, most;
  } others[] = {{"var", "f32", 4, 33, 200},       {"argmax", "f32", 4, 200, 2000}, {"max", "f16", 2, 200, 2000},
                {"logsumexp", "f32", 4, 33, 200}, {"mean", "i16", 2, 3, 15},       {"norm2", "f64", 8, 200, 2000}};
  char name[40];
  int draw = 0;
  for (int t = 0; t < 3; t++) {
    const char *type = types[t];
    long long n = (512 * MIB) / (t == 0 ? 4 : t == 1 ? 2 : 1);
    for (size_t r = 0; r < sizeof ranges / sizeof *ranges; r++) {
      long long width = drawn(draw++, ranges[r][0], ranges[r][1]), rows = drawn(draw++, ranges[r][0], ranges[r][1]);
      snprintf(name, sizeof name, "%s, rows of %lld", type, width);
      add(list, set, name, "sum %s [%lld,%lld] /1", type, n / width, width);
      snprintf(name, sizeof name, "%s, %lld rows summed", type, rows);
      add(list, set, name, "sum %s [%lld,%lld] /0", type, rows, (n / rows - 1) | 1);
    }
    long long near = drawn(draw++, 3, 40), far = drawn(draw++, 50, 300), step = 2 + drawn(draw++, 0, 6) / 2;
    snprintf(name, sizeof name, "%s, %lld columns", type, far);
    add(list, set, name, "sum %s [%lld,%lld] /0", type, n / far, far);
    snprintf(name, sizeof name, "%s, middle of 3-d", type);
    add(list, set, name, "sum %s [%lld,%lld,%lld] /1", type, n / (far * near), far, near);
    snprintf(name, sizeof name, "%s, 3-d over 0 and 2", type);
    add(list, set, name, "sum %s [%lld,%lld,%lld] /0,2", type, near, n / (near * near), near);
    snprintf(name, sizeof name, "%s, every %lld. of a row", type, step);
    add(list, set, name, "sum %s [%lld:4099,%lld:%lld] /1", type, n / 4099, 4099 / step, step);
    snprintf(name, sizeof name, "%s, every %lld. column", type, step);
    add(list, set, name, "sum %s [%lld:4099,%lld:%lld] /0", type, n / 4099, 4099 / step, step);
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    long long width = drawn(draw++, others[i].least, others[i].most);
    snprintf(name, sizeof name, "%s, rows of %lld, %s", others[i].type, width, others[i].op);
    add(list, set, name, "%s %s [%lld,%lld] /1", others[i].op, others[i].type, 512 * MIB / others[i].bytes / width,
        width);
  }
}

/* Masks, weights and operators of one's own, beside the plain sum, over f32, 1 GiB of it on a GPU and 256 MiB on a CPU:
 * "NAME, LAYOUT". Operands are as large as the array, except weights, which belong to the last dim that is reduced. */
static void add_operands(bench_list *list, const char *set, bool gpu) {
  static const struct {
    const char *name, *ops, *with; /* `with`: what stands before the strides of the second array */
  } reductions[] = {
      {"sum", "sum", ""},
      {"s += x", "{total(x): s += x -> s}", ""},
      {"masked sum", "sum", " where=bool"},
      {"masked mean", "mean", " where=bool"},
      {"weighted mean", "mean", " weights=f32"},
      {"weighted std", "std", " weights=f32"},
      {"polynomial", "{poly8(x; c[9]): s += poly(x, c) -> s}(1,2,3,4,5,6,7,8,9)", ""},
      {"rmse", "{rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)}", " with=f32"},
      {"correlation",
       "{corr(x, y): a += x, b += y, c += x * y, d += x * x, e += y * y -> "
       "(n * c - a * b) / sqrt((n * d - a * a) * (n * e - b * b))}",
       " with=f32"},
      {"threshold", "{hot(x; t): n += x > t -> n}(0.5)", ""},
      {"softmax denominator", "{softmax(x; m): s += exp(x - m) -> s}(1)", ""},
  };
  static const struct {
    const char *name, *shape, *strides, *weights, *dims;
  } layouts[2][5] = {{{"full", "67108864", "1", "1", "0"},
                      {"rows", "16384,4096", "4096,1", "0,1", "1"},
                      {"columns", "16384,4096", "4096,1", "1,0", "0"},
                      {"middle", "64,512,2048", "1048576,2048,1", "0,1,0", "1"},
                      {"(0,2)", "64,64,128,128", "1048576,16384,128,1", "0,0,1,0", "0,2"}},
                     {{"full", "268435456", "1", "1", "0"},
                      {"rows", "16384,16384", "16384,1", "0,1", "1"},
                      {"columns", "16384,16384", "16384,1", "1,0", "0"},
                      {"middle", "64,2048,2048", "4194304,2048,1", "0,1,0", "1"},
                      {"(0,2)", "64,128,64,512", "4194304,32768,512,1", "0,0,1,0", "0,2"}}};
  for (size_t l = 0; l < sizeof layouts[0] / sizeof *layouts[0]; l++) {
    for (size_t r = 0; r < sizeof reductions / sizeof *reductions; r++) {
      char name[40], operand[80] = "";
      bool weighted = strstr(reductions[r].with, "weights") != NULL;
      const char *strides = weighted ? layouts[gpu][l].weights : layouts[gpu][l].strides;
      if (*reductions[r].with) snprintf(operand, sizeof operand, "%s[%s]", reductions[r].with, strides);
      snprintf(name, sizeof name, "%s, %s", reductions[r].name, layouts[gpu][l].name);
      add(list, set, name, "%s f32 [%s] /%s%s", reductions[r].ops, layouts[gpu][l].shape, layouts[gpu][l].dims,
          operand);
    }
  }
}

static void add_gpu_operands(bench_list *list, const char *set) {
  add_operands(list, set, true);
}

static void add_cpu_operands(bench_list *list, const char *set) {
  add_operands(list, set, false);
}

static void add_gpu_groups(bench_list *list, const char *set) {
  bench_list_add_groups(list, set, 1024 * MIB);
}

static void add_cpu_groups(bench_list *list, const char *set) {
  bench_list_add_groups(list, set, 256 * MIB);
}

/* Sums of 2^b elements to each of 2^a outputs, the reduced axis innermost (rows) and outermost (columns). */
static void add_heat(bench_list *list, const char *set) {
  enum { MOST = 24, MOST_ELEMENTS = 28 };
  char name[32];
  for (int a = 0; a <= MOST; a++) {
    for (int b = 0; b <= MOST && a + b <= MOST_ELEMENTS; b++) {
      snprintf(name, sizeof name, "rows-%d-%d", a, b);
      add(list, set, name, "sum f32 [%lld,%lld] /1", 1LL << a, 1LL << b);
      snprintf(name, sizeof name, "columns-%d-%d", a, b);
      add(list, set, name, "sum f32 [%lld,%lld] /0", 1LL << b, 1LL << a);
    }
  }
}

typedef struct bench_set {
  const char *name, *help;
  void (*add)(bench_list *list, const char *set);
  const char *device; /* where "all" includes it; NULL: everywhere */
} bench_set;

static const bench_set sets[] = {
    {"wide-tall", "2^26 f32 from 2^8 x 2^18 to 2^18 x 2^8, over either axis", add_wide_tall,
     "none: the sweep holds it"},
    {"sweep", "the same from 2^0 x 2^26 to 2^26 x 2^0", add_whole_sweep, NULL},
    {"cpu", "every layout at 256 MiB in f32, f16, bf16 and i8", add_cpu, "cpu"},
    {"gpu", "every layout at 1 GiB in six dtypes, and odd shapes", add_gpu, "cuda"},
    {"ops", "every operator on 64 MiB of f32: full, inner, outer", add_ops, NULL},
    {"dtypes", "the sum of every dtype on 64 MiB: full, inner, outer", add_dtypes, NULL},
    {"small", "arrays that fit in a cache: the cost of a call", add_small, NULL},
    {"peers", "one of each kind at 1 GiB, for comparisons with other libraries", add_peers, "cuda"},
    {"odd", "odd widths of every kind at 512 MiB, for comparisons with other libraries", add_odd, "none: for peers"},
    {"operators", "masks, weights and operators of one's own beside the sum, 1 GiB of f32", add_gpu_operands,
     "none: for peers"},
    {"cpu-operators", "the same over 256 MiB", add_cpu_operands, "none: for peers"},
    {"groups", "sums by group beside the plain sum, 1 GiB of f32", add_gpu_groups, "none: for peers"},
    {"cpu-groups", "the same over 256 MiB", add_cpu_groups, "none: for peers"},
    {"heat", "for regret: f32 sums of 2^b elements to 2^a outputs, by rows and by columns", add_heat,
     "none: for regret"},
};
enum { SET_COUNT = sizeof sets / sizeof *sets };

bool bench_list_add(bench_list *list, const char *device, const char *text) {
  bool all = strcmp(text, "all") == 0;
  for (int s = 0; s < SET_COUNT; s++) {
    bool here = !sets[s].device || strcmp(sets[s].device, device) == 0;
    if (all ? !here : strcmp(sets[s].name, text) != 0) continue;
    sets[s].add(list, sets[s].name);
    if (!all) return true;
  }
  return all || bench_list_add_text(list, "problem", "", text);
}

void bench_list_drop_larger(bench_list *list, size_t bytes) {
  int kept = 0;
  for (int i = 0; i < list->count; i++)
    if (bench_bytes_read(&list->problems[i].reduction) <= (double)bytes) list->problems[kept++] = list->problems[i];
  list->count = kept;
}

void bench_list_free(bench_list *list) {
  free(list->problems);
  *list = (bench_list){0};
}

void bench_sets_list(const char *text, char *list, size_t capacity) {
  const char *names[SET_COUNT + 1];
  for (int s = 0; s < SET_COUNT; s++) names[s] = sets[s].name;
  names[SET_COUNT] = "all";
  cli_list_names(text, SET_COUNT + 1, names, list, capacity);
}

void bench_sets_print(FILE *to, bool with_problems) {
  for (int s = 0; s < SET_COUNT; s++) {
    bench_list list = {0};
    fprintf(to, "  %-10s %s\n", sets[s].name, sets[s].help);
    if (with_problems) sets[s].add(&list, sets[s].name);
    for (int i = 0; i < list.count; i++) fprintf(to, "    %-22s %s\n", list.problems[i].name, list.problems[i].text);
    bench_list_free(&list);
  }
  fprintf(to, "  %-10s %s\n", "all", "all of them that are for the device");
}
