/* SMP_SANITIZED: whether this build carries AddressSanitizer, which maps terabytes that it does not use, and has more
 * to say than an exit status. */
#pragma once

#ifndef __has_feature
#define __has_feature(name) 0 /* gcc has a macro instead */
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SMP_SANITIZED 1
#else
#define SMP_SANITIZED 0
#endif
