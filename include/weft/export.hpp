#pragma once

// The library is built with hidden visibility: only what is marked with WEFT_API in a public header is exported.
#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif
