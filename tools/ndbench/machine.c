/* What a record says of the machine: CPU, kernel, date, cores. */
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "ndbench/ndbench.h"

void bench_machine_cpu(char *text, size_t capacity) {
  char line[256];
  FILE *facts = fopen("/proc/cpuinfo", "r");
  snprintf(text, capacity, "unknown");
  while (facts && fgets(line, sizeof line, facts)) {
    char *value = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || !value) continue;
    value += 1 + strspn(value + 1, " ");
    value[strcspn(value, "\n")] = 0;
    snprintf(text, capacity, "%s", value);
    break;
  }
  if (facts) fclose(facts);
}

void bench_machine_kernel(char *text, size_t capacity) {
  struct utsname facts;
  snprintf(text, capacity, "unknown");
  if (uname(&facts) == 0) snprintf(text, capacity, "%s %s %s", facts.sysname, facts.release, facts.machine);
}

void bench_machine_date(char *text, size_t capacity) {
  time_t seconds = time(NULL);
  struct tm utc;
  if (!gmtime_r(&seconds, &utc) || strftime(text, capacity, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
    snprintf(text, capacity, "unknown");
}

int bench_machine_cores(void) {
  return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

int bench_threads(const bench_options *options) {
  return options->threads ? options->threads : ndr_thread_count();
}
