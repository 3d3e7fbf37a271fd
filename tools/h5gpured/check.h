/* What goes with what on h5gpured's command line. What does not ends the program, as cli_refuse does. */
#ifndef H5GPURED_CHECK_H
#define H5GPURED_CHECK_H

#include "cli/cli.h"
#include "h5gpured/h5gpured.h"

extern const char *const format_names[]; /* of each output_format, for --format */

/* Refuses options that only reductions have beside --scan, and those of --scan without it. Makes its operator the one
 * of the options. */
void check_scan(h5gpured_options *options, const cli *tool);

/* Refuses what a part has no use for. */
void check_part(const h5gpured_options *options, const cli *tool);

/* A given option that is about results, which a part does not have; NULL: none is given. */
const char *option_of_results(const h5gpured_options *options);

/* Settles where results go and in what form, and refuses what can be refused before any file is opened. */
void check_options(h5gpured_options *options, const cli *tool);

#endif
