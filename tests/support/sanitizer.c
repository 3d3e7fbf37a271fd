/* What the leak sanitizer is to overlook in tests. It looks the function up by its reserved name. */

const char *__lsan_default_suppressions(void); /* NOLINT(*-reserved-identifier,cert-dcl*) */

/* LLVM's OpenMP run time drops the tables of a team when a larger one is asked for. */
const char *__lsan_default_suppressions(void) { /* NOLINT(*-reserved-identifier,cert-dcl*) */
  return "leak:libomp.so";
}
