// Values computed on demand, memory that is reused, work that is spread over threads.
#include "engine/base/parallel.h"
#include "engine/files/safetensors.h"
#include "engine/tensor/memory.h"
#include "engine/tensor/tensor.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

using namespace decoderscope::testing;

namespace {

struct Counted : LazyValues {
    explicit Counted(std::atomic<int>& times) : made(times) {}
    void make(std::span<float> values) const override {
        ++made;
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    }
    std::atomic<int>& made;
};

Axes line(Index n) { return {{axis::pos, n}}; }

}  // namespace

TEST_CASE("lazy values are made once, by the first who looks, for all who share them", "[native]") {
    std::atomic<int> times = 0;
    const Tensor tensor(line(1000), std::make_shared<const Counted>(times));
    const Tensor other = tensor;
    CHECK(tensor.shares_values_with(other));
    REQUIRE(tensor.lazy<Counted>() != nullptr);
    CHECK(times == 0);
    {
        std::vector<std::jthread> readers;
        for (int i = 0; i < 8; ++i) readers.emplace_back([&] { (void)tensor.data(); });
    }
    CHECK(times == 1);
    CHECK(other.at(Cell{999}) == 999.0F);
    CHECK(tensor.lazy<Counted>() == nullptr);
}

TEST_CASE("writing to lazy values leaves those who share them as they were") {
    std::atomic<int> times = 0;
    Tensor tensor(line(10), std::make_shared<const Counted>(times));
    const Tensor other = tensor;
    tensor.writable()[3] = -1.0F;
    CHECK(tensor.at(Cell{3}) == -1.0F);
    CHECK(other.at(Cell{3}) == 3.0F);
}

TEST_CASE("a large piece of memory that was given back is handed out again") {
    constexpr Index kCount = 1 << 20;
    const float* first = nullptr;
    {
        const std::shared_ptr<float> piece = floats(kCount);
        piece.get()[kCount - 1] = 1.0F;
        first = piece.get();
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    }
    const std::shared_ptr<float> again = floats(kCount);
    if (!kSanitized) CHECK(again.get() == first);
    trim_memory();
    again.get()[0] = 2.0F;  // what is in use stays
}

TEST_CASE("a tensor that is a row longer takes the place of its predecessor") {
    constexpr Index kRow = 768, kRows = 300;
    const float* first = nullptr;
    {
        const Floats piece = floats(kRow * kRows);
        first = piece.get();
    }
    const Floats longer = floats(kRow * (kRows + 1));
    if (!kSanitized) CHECK(longer.get() == first);
    longer.get()[kRow * (kRows + 1) - 1] = 1.0F;
    trim_memory();
}

TEST_CASE("a large piece that was given back stays, though a small one is asked for before it is needed again") {
    constexpr Index kScores = 12 << 20, kRows = 1 << 18;
    trim_memory();
    std::vector<Floats> patterns;
    for (int layer = 0; layer < 3; ++layer) {
        Floats scores = floats(kScores);
        if (layer > 0 && !kSanitized) CHECK(scores.get()[kScores / 2] == static_cast<float>(layer));  // no fresh pages
        patterns.push_back(floats(kScores + kRows));
        scores.get()[kScores / 2] = static_cast<float>(layer + 1);
        scores.reset();
        patterns.push_back(floats(kRows));
    }
    patterns.clear();
    CHECK(kept_memory() <
          9 * sizeof(float) * (4 * kScores + 6 * kRows) / 8 + (16 << 20));  // not what was freed and more
    trim_memory();
    CHECK(kept_memory() == 0);
}

TEST_CASE("spread work does every index once, also from several threads and from within work", "[native]") {
    constexpr Index kCount = 10'000;
    const auto count_all = [] {
        std::vector<std::atomic<int>> done(kCount);
        in_parallel(kCount, 10'000, [&](Index begin, Index end) {
            for (Index i = begin; i < end; ++i)
                in_parallel(1, 1'000'000, [&](Index, Index) { ++done[static_cast<std::size_t>(i)]; });
        });
        return std::all_of(done.begin(), done.end(), [](const auto& times) { return times == 1; });
    };
    std::atomic<int> right = 0;
    {
        std::vector<std::jthread> callers;
        for (int i = 0; i < 4; ++i)
            callers.emplace_back([&] {
                for (int again = 0; again < 50; ++again) right += count_all() ? 1 : 0;
            });
    }
    CHECK(right == 200);
    const ThreadLimit one(1);
    CHECK(thread_count() == 1);
    CHECK(count_all());
}

TEST_CASE("a small piece of memory that was given back is handed out again, by its size") {
    const float* first = nullptr;
    {
        const Floats piece = floats(100);
        first = piece.get();
        CHECK(reinterpret_cast<std::uintptr_t>(first) % 64 == 0);
    }
    const Floats other = floats(1000);
    CHECK(other.get() != first);
    const Floats again = floats(99);  // rounded up to the same size
    if (!kSanitized) CHECK(again.get() == first);
    trim_memory();
}

TEST_CASE("values left in their file are read on demand") {
    const testing::TemporaryFolder folder;
    const std::string path = folder.file("weights.safetensors");
    Tensor weight({{axis::out, 300}, {axis::in, 100}});
    for (Index i = 0; i < weight.size(); ++i) weight.writable()[static_cast<std::size_t>(i)] = static_cast<float>(i);
    write_safetensors(path, {{"w", weight}});
    const Tensor mapped = SafetensorsFile(path).floats("w");
    REQUIRE(mapped.is_in_file());
    for (const Index first : {0, 5'000, 29'000}) {
        mapped.leave_to_file(first, 1'000);
        weight.leave_to_file(first, 1'000);  // values of our own stay
    }
    CHECK(std::ranges::equal(mapped.values(), SafetensorsFile(path).floats("w").values()));
    CHECK_FALSE(weight.is_in_file());
    CHECK(weight.at(Cell{299, 99}) == 29'999.0F);
}

TEST_CASE("some of the values of a tensor are copied, from memory and from files small and large") {
    const testing::TemporaryFolder folder;
    for (const Index rows : {300, 20'000}) {
        const std::string path = folder.file("weights.safetensors");
        Tensor weight({{axis::out, rows}, {axis::in, 100}});
        float next = 0.0F;
        for (float& value : weight.writable()) value = next += 1.0F;
        write_safetensors(path, {{"first", Tensor({{axis::out, 1}}, {0.0F})}, {"w", weight}});
        const Tensor mapped = SafetensorsFile(path).floats("w");
        std::vector<float> some(100);
        for (const Tensor& tensor : {mapped, weight}) {
            tensor.copy(12'300, some);
            CHECK(std::ranges::equal(some, weight.values().subspan(12'300, 100)));
        }
    }
}
