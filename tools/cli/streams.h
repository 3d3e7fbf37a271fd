/* The standard streams of a program. */
#ifndef STREAMS_H
#define STREAMS_H

/* To be called first in main. Opens descriptors 0, 1 and 2 if they are closed. If printing to stdout has failed when
 * the program ends, it says so on stderr and exits with `failure`. A write beyond the largest file allowed (ulimit -f)
 * fails from then on, as on a full disk; otherwise a signal would end the program and leave its temporary file. */
void streams_open(const char *program, int failure);

#endif
