/* Which sanitizer a file is built with, and the address sanitizer's word for memory that must not be touched. */
#ifndef SIMT_SANITIZER_H
#define SIMT_SANITIZER_H

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#if defined __SANITIZE_ADDRESS__ || __has_feature(address_sanitizer)
#define WITH_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define WITH_ASAN 0
#define ASAN_POISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(address, bytes) ((void)(address), (void)(bytes))
#endif

#endif
