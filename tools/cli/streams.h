/* The standard streams of a program. */
#ifndef STREAMS_H
#define STREAMS_H

/* To be called first thing in main. Opens those of descriptors 0, 1 and 2 that whoever started the program has closed,
 * and has the program end with `failure`, after a line that starts with its name, where what it has printed to stdout
 * is lost. A write past the largest file that is allowed (ulimit -f) fails from then on, as on a full disk, instead of
 * ending the program, which would say nothing and leave its temporary file. */
void streams_open(const char *program, int failure);

#endif
