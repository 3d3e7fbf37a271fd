/* Reads and checks the options and devices that callers fill in. check.c checks what is computed, with the problem. */
#include "core/request/canonical.h"
#include "core/sized.h"

/* Planners divide by some of these numbers, and allocate memory in proportion to others. */
ndr_status ndr_device_read(const ndr_device *given, ndr_device *device) {
  NDR_TRY(ndr_sized_read(given, device, sizeof *device, "options.device", "sizeof(ndr_device)"));
  if (device->units < 1) return ndr_fail(NDR_ERR_ARGUMENT, "options.device.units is %d", device->units);
  if (!(device->bandwidth > 0))
    return ndr_fail(NDR_ERR_ARGUMENT, "options.device.bandwidth is %g, must be more than 0", device->bandwidth);
  if (device->threads_per_unit < 0 || device->shared_bytes_per_unit < 0 || device->shared_bytes_per_block < 0 ||
      device->l2_bytes < 0 || device->capability < 0)
    return ndr_fail(NDR_ERR_ARGUMENT, "a number of options.device is negative");
  return NDR_OK;
}

ndr_status ndr_options_read(const ndr_options *given, ndr_options *out) {
  *out = (ndr_options)NDR_OPTIONS_INIT;
  if (!given) return NDR_OK;
  NDR_TRY(ndr_sized_read(given, out, sizeof *out, "options", "NDR_OPTIONS_INIT"));
  if ((unsigned)out->accumulate > NDR_ACCUMULATE_F64)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.accumulate is %d", (int)out->accumulate);
  if ((unsigned)out->planning > NDR_MEASURE)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.planning is %d", (int)out->planning);
  if (out->threads < 0) return ndr_fail(NDR_ERR_ARGUMENT, "options.threads is %d", out->threads);
  if (!(out->ddof >= 0)) return ndr_fail(NDR_ERR_ARGUMENT, "options.ddof is %g, must be 0 or more", out->ddof);
  if ((unsigned)out->weighting > NDR_RELIABILITY)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.weighting is %d", (int)out->weighting);
  if (out->with_count < 0 || out->with_count > NDR_MAX_OPERANDS)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.with_count is %d, must be 0 to %d", out->with_count, NDR_MAX_OPERANDS);
  if (out->with_count > 0 && !out->with)
    return ndr_fail(NDR_ERR_ARGUMENT, "options.with is a null pointer, and with_count %d", out->with_count);
  ndr_device device;
  return out->device ? ndr_device_read(out->device, &device) : NDR_OK;
}

ndr_status ndr_options_read_beside_problem(const ndr_options *given, ndr_options *out) {
  NDR_TRY(ndr_options_read(given, out));
  const char *member = out->keepdims                               ? "keepdims"
                       : out->skip_nan                             ? "skip_nan"
                       : out->ddof != 0                            ? "ddof"
                       : out->accumulate != NDR_ACCUMULATE_DEFAULT ? "accumulate"
                       : out->weighting != NDR_FREQUENCY           ? "weighting"
                       : out->initial                              ? "initial"
                       : out->where                                ? "where"
                       : out->weights                              ? "weights"
                       : out->with_count > 0                       ? "with"
                       : out->groups                               ? "groups"
                       : out->group_dim                            ? "group_dim"
                                                                   : NULL;
  if (!member) return NDR_OK;
  return ndr_fail(NDR_ERR_ARGUMENT, "options.%s is set: where a problem is given, it is the problem's to say", member);
}
