/* The standard streams of a program. */
#ifndef STREAMS_H
#define STREAMS_H

#include <stdbool.h>

/* To be called first in main. Opens descriptors 0, 1 and 2 if they are closed. If printing to stdout has failed when
 * the program ends, it says so on stderr and exits with `failure`. A write beyond the largest file allowed (ulimit -f)
 * fails from then on, as on a full disk; otherwise a signal would end the program and leave its temporary file. */
void streams_open(const char *program, int failure);

/* Whether all that has been printed to stdout has arrived. */
bool streams_printed(void);

/* Prints what may be lost: it is not said if that fails, and the program does not fail. */
void streams_note(const char *text);

#endif
