/* What tests may set in, and read from, the emulated CUDA runtime. */
#ifndef SIMT_CONTROL_H
#define SIMT_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

enum { SIMT_DEVICES = 3 };

typedef struct simt_control {
  uint64_t order;       /* of blocks, warps and threads: see launch.h */
  bool driver;          /* false: there is none that would do */
  int driver_version;   /* of one that would not; 0: there is none at all */
  bool alike;           /* all devices are as the first; to be set before the first call */
  bool capturing;       /* what streams answer when asked; work is done at once all the same */
  bool lazy;            /* streams do nothing until somebody waits for them; the default stream works at once always */
  int64_t memory_left;  /* allocations that still succeed; -1: all */
  int64_t launches;     /* so far */
  int64_t calls;        /* so far, of functions that may fail */
  int64_t failing_call; /* the one that fails, 0: none */
  bool sticky;          /* all that follow it fail, too */
} simt_control;

extern simt_control simt_controls;

/* Streams and events that were created and not destroyed. */
int simt_living_streams(void);

/* Whether a sticky failure has happened: what is queued is not done any more. */
bool simt_is_lost(void);

#endif
