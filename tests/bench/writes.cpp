// Whether a large tensor should be written past the cache: a tensor is made of rows that are in the cache, by ordinary
// stores and by those that bypass it; then it is read, as the next step does, or left alone. CPU time of one thread.
//     bench_writes
// What is compiled for this processor only: with AVX.
#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <vector>

namespace {

constexpr std::size_t kRow = 32'768;  // numbers, 128 KB
constexpr std::size_t kVector = 8;
constexpr int kRounds = 15;

struct Free {
    void operator()(float* piece) const { std::free(piece); }
};
using Floats = std::unique_ptr<float, Free>;

Floats floats(std::size_t count) {
    Floats made(static_cast<float*>(std::aligned_alloc(64, count * sizeof(float))));
    std::fill_n(made.get(), count, 1.0F);
    return made;
}

template <bool kPastTheCache>
void write(const float* row, float* to, std::size_t count) {
    const __m256 one = _mm256_set1_ps(1.0F);
    for (std::size_t first = 0; first < count; first += kRow)
        for (std::size_t i = 0; i < kRow; i += kVector) {
            const __m256 value = _mm256_add_ps(_mm256_loadu_ps(row + i), one);
            if (kPastTheCache)
                _mm256_stream_ps(to + first + i, value);
            else
                _mm256_store_ps(to + first + i, value);
        }
    _mm_sfence();
}

float sum(const float* values, std::size_t count) {
    __m256 sums = _mm256_setzero_ps();
    for (std::size_t i = 0; i < count; i += kVector) sums = _mm256_add_ps(sums, _mm256_loadu_ps(values + i));
    return _mm256_cvtss_f32(sums);
}

double milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// The medians of writing, and of writing and reading.
template <bool kPastTheCache>
void measure(const char* name, const float* row, float* to, std::size_t count) {
    std::vector<double> writing, both;
    volatile float seen = 0.0F;
    for (int round = 0; round < kRounds; ++round) {
        double start = milliseconds();
        write<kPastTheCache>(row, to, count);
        writing.push_back(milliseconds() - start);
        start = milliseconds();
        write<kPastTheCache>(row, to, count);
        seen = seen + sum(to, count);
        both.push_back(milliseconds() - start);
    }
    std::ranges::nth_element(writing, writing.begin() + kRounds / 2);
    std::ranges::nth_element(both, both.begin() + kRounds / 2);
    std::printf("%6.1f MB, %-16s  written %7.3f ms, written and read %7.3f ms\n", static_cast<double>(count) * 4e-6,
                name, writing[kRounds / 2], both[kRounds / 2]);
}

}  // namespace

int main() {
    const Floats row = floats(kRow);
    // Hidden activations and patterns of GPT-2's size at 128 and 512 tokens, the gradient of its embedding.
    for (const std::size_t rows : {12, 48, 96, 384, 1178}) {
        const std::size_t count = rows * kRow;
        const Floats to = floats(count);
        measure<false>("by the cache", row.get(), to.get(), count);
        measure<true>("past the cache", row.get(), to.get(), count);
    }
}
