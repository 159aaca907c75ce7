#pragma once

// Functions that are compiled once for each generation of vector instructions: one program serves every CPU.
namespace decoderscope {

// What vectors hold: 16 bytes; 32, with a multiply-add in one instruction; 64.
enum class CpuVectors { of_any, of_avx2, of_avx512 };

#if defined(__x86_64__)

// The vectors of the CPU that the program runs on. Until that is known, when the program starts, those that every CPU
// has.
inline const CpuVectors kCpuVectors = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") == 0 || __builtin_cpu_supports("fma") == 0) return CpuVectors::of_any;
    return __builtin_cpu_supports("avx512f") != 0 ? CpuVectors::of_avx512 : CpuVectors::of_avx2;
}();

// The function is inlined into these, with all that it calls, and compiled for what they may use.
template <auto function, class... Arguments>
[[gnu::target("avx2,fma"), gnu::flatten]] auto with_avx2(Arguments... arguments) {
    return function(arguments...);
}
template <auto function, class... Arguments>
[[gnu::target("avx512f,avx2,fma"), gnu::flatten]] auto with_avx512(Arguments... arguments) {
    return function(arguments...);
}

// Calls the function as it was compiled for the CPU that the program runs on.
template <auto function, class... Arguments>
auto on_this_cpu(Arguments... arguments) {
    if (kCpuVectors == CpuVectors::of_avx512) return with_avx512<function>(arguments...);
    if (kCpuVectors == CpuVectors::of_avx2) return with_avx2<function>(arguments...);
    return function(arguments...);
}

#else

inline constexpr CpuVectors kCpuVectors = CpuVectors::of_any;

template <auto function, class... Arguments>
auto on_this_cpu(Arguments... arguments) {
    return function(arguments...);
}

#endif

}  // namespace decoderscope
