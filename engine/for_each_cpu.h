#pragma once

// Marks a function that is made once for each generation of vector instructions; the program chooses one when it
// starts, and stays the same file for every CPU. What the function calls must be inlined into it. Not under the
// sanitizers, which are not there yet at that moment. (A macro, for an attribute can't be named in another way.)
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif
