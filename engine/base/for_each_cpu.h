#pragma once

// Marks a function that is compiled once for each generation of vector instructions. The program chooses one at
// startup, so one binary serves every CPU. Whatever the function calls must be inlined into it. ELF's loader chooses;
// for Windows there is one copy, for every x86-64. Disabled under the sanitizers, which are not yet initialised at that
// moment. (A macro, because an attribute can't be named in any other way.)
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_CPU __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define FOR_EACH_CPU
#endif
