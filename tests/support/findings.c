#include "support/findings.h"

#include "support/suite.h"

void keep_outcome(finding *found, ndr_status status) {
  found->status = status;
  snprintf(found->sentence, sizeof found->sentence, "%s", status == NDR_OK ? "" : ndr_last_error());
}

void assert_all(const finding *findings, int ranks, ndr_status status, const char *sentence) {
  for (int r = 0; r < ranks; r++) {
    const finding *f = &findings[r];
    ck_assert_msg(!f->wrong[0], "rank %d of %d: %s", r, ranks, f->wrong);
    ck_assert_msg(f->status == status, "rank %d of %d: %s (%s)", r, ranks, ndr_status_name(f->status), f->sentence);
    ck_assert_msg(strcmp(f->sentence, sentence) == 0, "rank %d of %d says '%s'", r, ranks, f->sentence);
  }
}
