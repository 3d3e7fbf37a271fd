/* The text of kernels/ and of what it includes, embedded for run-time compilation. */
#ifndef NDR_CUDA_TEXT_H
#define NDR_CUDA_TEXT_H

extern const char *const ndr_kernel_text_names[], *const ndr_kernel_texts[];
extern const int ndr_kernel_text_count;

#endif
