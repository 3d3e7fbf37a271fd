/* Collective calls on arrays; see ndreduce/comm.h. */
#include "common/mail.h"
#include "core/status.h"

ndr_status ndr_comm_agree(ndr_comm *comm, ndr_status mine, const char *sentence) {
  ndr_mail *mail;
  if (mine != NDR_OK && sentence) ndr_explain_failure("%s", sentence);
  NDR_TRY(ndr_mail_open(&mail, comm, NULL, NULL));
  return ndr_mail_end(mail, mine);
}
