// What this machine can do at most: fused multiply-adds, and reads of memory that no cache holds, each on all threads.
// Prints one line of JSON: {"gflops": …, "gigabytes_per_second": …}. Compiled for the processor that it runs on.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kVector = 16;       // numbers; a compiler cuts it into what the processor has
constexpr std::size_t kIndependent = 12;  // sums, since each waits for its own last one
constexpr std::size_t kRounds = 8'000'000;
constexpr std::size_t kPieces = 4'000'000;  // vectors to read on each thread
constexpr int kTries = 5;

using Vector [[gnu::vector_size(kVector * sizeof(float))]] = float;

// 2 · kVector · kIndependent · kRounds operations. Returns something that depends on all of them. The sums begin with
// different numbers: of equal ones a compiler computes one.
float multiply_and_add() {
    std::array<Vector, kIndependent> sums{};
    for (std::size_t i = 0; i < kIndependent; ++i) sums[i] += static_cast<float>(i);
    const Vector factor = Vector{} + 0.999F, summand = Vector{} + 0.001F;
    for (std::size_t round = 0; round < kRounds; ++round)
        for (Vector& sum : sums) sum = sum * factor + summand;
    Vector all{};
    for (const Vector& sum : sums) all += sum;
    float total = 0.0F;
    for (std::size_t i = 0; i < kVector; ++i) total += all[i];
    return total;
}

struct Piece {
    Vector numbers;
};

float read(const std::vector<Piece>& pieces) {
    std::array<Vector, 8> sums{};
    for (std::size_t i = 0; i + sums.size() <= pieces.size(); i += sums.size())
        for (std::size_t s = 0; s < sums.size(); ++s) sums[s] += pieces[i + s].numbers;
    Vector all{};
    for (const Vector& sum : sums) all += sum;
    return all[0];
}

// The least seconds of a few tries that all threads take for this together.
double seconds(unsigned threads, const std::function<float(unsigned)>& work) {
    double least = 1e9;
    for (int i = 0; i < kTries; ++i) {
        std::vector<float> results(threads);
        const auto start = std::chrono::steady_clock::now();
        {
            std::vector<std::jthread> all;
            for (unsigned t = 0; t < threads; ++t) all.emplace_back([&, t] { results[t] = work(t); });
        }
        least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        if (results[0] < -1.0F) std::puts("");  // so that nothing is left out
    }
    return least;
}

}  // namespace

int main() {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    const double flops = 2.0 * kVector * kIndependent * kRounds * threads;
    const double gflops = 1e-9 * flops / seconds(threads, [](unsigned) { return multiply_and_add(); });
    const std::vector<std::vector<Piece>> numbers(threads, std::vector<Piece>(kPieces, Piece{Vector{} + 1.0F}));
    const double bytes = static_cast<double>(sizeof(Piece) * kPieces) * threads;
    const double rate = 1e-9 * bytes / seconds(threads, [&](unsigned t) { return read(numbers[t]); });
    std::printf("{\"gflops\": %.1f, \"gigabytes_per_second\": %.1f}\n", gflops, rate);
}
