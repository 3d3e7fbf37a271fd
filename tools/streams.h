/* The standard streams of a program. */
#ifndef STREAMS_H
#define STREAMS_H

/* To be called first thing in main. Opens those of descriptors 0, 1 and 2 that whoever started the program has closed,
 * and has the program end with `failure`, after a line that starts with its name, where what it has printed to stdout
 * is lost. */
void streams_open(const char *program, int failure);

#endif
