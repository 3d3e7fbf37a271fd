/* A scan on the emulated GPU, held against its definition. */
#ifndef SIMT_SCAN_TRIALS_H
#define SIMT_SCAN_TRIALS_H

#include "drive.h"
#include "support/scans.h"

/* A case on the device. */
typedef struct scan_trial {
  scan_case given;
  device_array array, result;
} scan_trial;

/* The device that arrays are put on: 2 is a large new one, where long lines have larger blocks. */
extern int scan_machine;

ndr_status scan_trial_run(scan_trial *t);

/* The result must be right, and nothing else written. `number` is what a failure calls the case. */
void scan_trial_check(scan_trial *t, int number);

/* Frees the arrays. */
void scan_trial_finish(scan_trial *t);

/* Whether the description of the plan has these words. */
bool scan_trial_has(const scan_trial *t, const char *words);

/* Scans a compact array from any boundary on. Returns whether blocks had whole columns. */
bool scan_trial_anywhere(rng *random, const int64_t shape[3], int dim, const char *family, int number);

#endif
