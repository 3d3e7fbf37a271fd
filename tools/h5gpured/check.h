/* What goes with what on h5gpured's command line. What does not ends the program, as cli_refuse does. */
#ifndef H5GPURED_CHECK_H
#define H5GPURED_CHECK_H

#include "cli/cli.h"
#include "h5gpured/h5gpured.h"

extern const char *const format_names[]; /* of each output_format, for --format */

extern const cli *const options_table;

/* What h5gpured does instead of one whole reduction, and what a reduction lacks: bits of cli_option.not_with. */
enum { WITH_LIST = 1, WITH_SCAN = 2, WITH_MERGE = 4, WITH_PART = 8, WITHOUT_VARIANCE = 16, WITHOUT_WEIGHTS = 32 };

/* The first given option that has no meaning with one of these; NULL: there is none. */
const char *given_with(const h5gpured_options *options, const cli *tool, unsigned what);

/* Refuses options that have no meaning with others that are given. */
void check_modes(const h5gpured_options *options, const cli *tool);

/* Refuses what --scan lacks, and options of --scan without it. Makes its operator the one of the options. */
void check_scan(h5gpured_options *options, const cli *tool);

/* Refuses what a part lacks. */
void check_part(const h5gpured_options *options, const cli *tool);

/* Settles where results go and in what form, and refuses what can be refused before any file is opened. */
void check_options(h5gpured_options *options, const cli *tool);

#endif
