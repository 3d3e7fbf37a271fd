/* Makes programs (lang/program.h) of the operators of a problem that read more than its array. */
#ifndef NDR_CORE_LOWER_H
#define NDR_CORE_LOWER_H

#include "core/request/canonical.h"

/* Makes the programs of request->problem, which has been checked: those of operators of one's own, and of built-in ones
 * that have a mask, weights or an initial value. Sets programs, programs_owner and places. Fails with NDR_ERR_OP if an
 * operator is not defined for the problem's dtypes and options. */
ndr_status ndr_lower(ndr_request *request);

#endif
