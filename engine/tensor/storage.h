#pragma once

#include "engine/base/index.h"
#include "engine/tensor/memory.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

// Values computed on demand: in place of its numbers, a tensor may hold what they are computed from. All the kinds:
//
//     kind              where               makes
//     CombinedMasks     ops/masks.h         a mask, from a handful of rules                              rows
//     MaskedScores      ops/masks.h         scores with the fill where the mask is 0                     rows
//     LaterSoftmax      ops/softmax.cpp     probabilities that no step reads
//     LatentHeads       ops/latent.cpp      values from a latent cache, and what LatentKeys makes keys from
//     GrownRows         rows.cpp            the rows of a cache, in memory that later tokens share
//     EditedRows        graph/on_demand.cpp a large mask with edits                                      rows
//     ReplacedRows      rows.cpp            an earlier tensor with new rows from one on
//     RestWhenRead      graph/on_demand.cpp rows that an edit cannot reach, or that nothing waits for
//     MadeAgain         graph/on_demand.cpp a tensor that is not kept
//     Zeros             pull_back.cpp       gradients with respect to what the target doesn't depend on
//     SumWhenRead       pull_back.cpp       a parameter's gradient through several steps
//     TokenRows         ops/positions.cpp   an embedding table's gradient
//     Unpacked          linalg.cpp          a weight, from the form that its products read
//     ExpandedWhenRead  load/expanded.cpp   a weight, from fewer bits in its file
//     ForOneUse         tensor.cpp          the same for one computation, if it may not stay in memory
//     RoundedWhenRead   arithmetic.cpp      the same numbers as a smaller type stores them
//
// `rows` marks those that implement LazyRows.
namespace decoderscope {

struct ByRows;
class Tensor;

// One of an attention's heads. A tensor with fewer of them has one for several (grouped-query attention).
struct Head {
    Index number = 0, of = 1;
    [[nodiscard]] Index among(Index heads) const { return number * heads / of; }
    bool operator==(const Head&) const = default;
};

// Some of a tensor's rows (engine/tensor/rows.h): `count` of them from `first` on, each `apart` from the next, of one
// head or of all that there are.
struct SomeRows {
    Index first = 0, count = 0, apart = 1;
    std::optional<Head> head = std::nullopt;
};

// What a tensor's values are computed from when they are first read.
class LazyValues {
public:
    LazyValues() = default;
    LazyValues(const LazyValues&) = delete;
    LazyValues& operator=(const LazyValues&) = delete;
    virtual ~LazyValues() = default;
    // Writes all values, row-major.
    virtual void make(std::span<float> values) const = 0;
    // Some of the tensor's rows, if they can be computed without the others; otherwise an empty tensor.
    [[nodiscard]] virtual Tensor some_rows(const SomeRows& rows) const;
    // Writes some of the values, if they can be had without the others; otherwise returns false.
    [[nodiscard]] virtual bool copy(Index first, std::span<float> to) const;
    // How the values are best read, if all of them together may be more than there is memory for; otherwise nullptr.
    [[nodiscard]] virtual const ByRows* by_rows() const { return nullptr; }
    // Whether the values, once made, may stay in memory with their tensor. If not, whoever reads them makes them for
    // itself (Tensor::for_one_use).
    [[nodiscard]] virtual bool may_stay() const { return true; }
};

// Values of which any row along the last axis can be computed by itself, so that code reading row after row needs no
// room for all of them: for a long text, one number per head, query and key is as much as the largest tensors of a run.
// Rows are numbered across all axes before the last.
class LazyRows : public LazyValues {
public:
    // Writes the rows from `begin` up to, but not including, `end`.
    virtual void rows(Index begin, Index end, std::span<float> values) const = 0;
    // How many values at a row's beginning may differ from −∞; all that follow are certainly −∞.
    [[nodiscard]] virtual Index finite_at_most(Index row) const = 0;
    // The row's values, if they already exist in memory and need not be written; empty if they don't.
    [[nodiscard]] virtual std::span<const float> in_place(Index row) const = 0;
};

// Values in a mapped file. Their pages may be released to the system, which reads them again on demand.
struct FileValues {
    std::shared_ptr<const float> first;     // keeps the mapping alive
    std::shared_ptr<const int> descriptor;  // the open file; nullptr: it isn't open any more
    std::int64_t offset = 0;                // of the first value in the file, in bytes
};

// Room for all of a tensor's values, some rows of which exist.
class RowsInPlace;

// Holds a tensor's numbers. Safe to read from several threads; written only while a single tensor holds it.
class Storage {
public:
    // Uninitialised room for `size` values.
    explicit Storage(Index size);
    // Values stored elsewhere, never written to.
    explicit Storage(std::shared_ptr<const float> elsewhere);
    Storage(Index size, FileValues in_file);
    // Values computed when data() is first called.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy);
    // As above, computed from a form that is usually derived from them.
    Storage(Index size, std::shared_ptr<const LazyValues> lazy, std::shared_ptr<const void> derived);
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;
    ~Storage();

    [[nodiscard]] const float* data() const {
        const float* values = ready();
        return values != nullptr ? values : made();
    }
    // The values if they exist; otherwise nullptr.
    [[nodiscard]] const float* ready() const { return ready_.load(std::memory_order_acquire); }
    // Where the values are or will be, with this row in place. Its values come by rows.
    [[nodiscard]] const float* with_row(Index row) const;
    // Whether it may be written to: it owns its values, they exist, and nothing was derived from them.
    [[nodiscard]] bool is_plain() const { return own_ != nullptr && derived_ == nullptr; }
    [[nodiscard]] float* writable() { return own_.get(); }

    [[nodiscard]] bool is_in_file() const { return in_file_.first != nullptr; }
    // What the values will be computed from; nullptr once they exist.
    [[nodiscard]] const LazyValues* lazy() const { return ready() == nullptr ? lazy_.get() : nullptr; }
    [[nodiscard]] const std::shared_ptr<const LazyValues>& shared_lazy() const { return lazy_; }

    // What was derived from the values, created on first use: `make` returns a shared_ptr to it.
    template <class Make>
    [[nodiscard]] const void* derived(const Make& make) const {
        const void* known = derived_ready_.load(std::memory_order_acquire);
        return known != nullptr ? known : derive(make);
    }
    // The storage of the same numbers in another form, as long as anything holds it; `make` makes it.
    template <class Make>
    [[nodiscard]] std::shared_ptr<Storage> twin(std::size_t which, const Make& make) const {
        const std::lock_guard lock(making_);
        std::shared_ptr<Storage> known = twins_[which].lock();
        if (known == nullptr) twins_[which] = known = make();
        return known;
    }
    // Copies some of the values. If a large tensor is in a file, only these are read: mapping them would also bring in
    // many unwanted neighbours.
    void copy(Index first, std::span<float> to) const;
    // Releases the memory of some of the values, if they are in a file, until they are read again.
    void leave_to_file(Index first, Index count) const;

private:
    [[nodiscard]] const float* made() const;
    [[nodiscard]] const void* derive(const std::function<std::shared_ptr<const void>()>& make) const;

    Index size_ = 0;
    mutable Floats own_;
    mutable std::unique_ptr<RowsInPlace> rows_;  // of values that come by rows: those that were read so far
    std::shared_ptr<const float> elsewhere_;
    FileValues in_file_;
    std::shared_ptr<const LazyValues> lazy_;  // kept as long as this: a reader may still hold it
    mutable std::atomic<const float*> ready_ = nullptr;
    mutable std::mutex making_;
    mutable std::shared_ptr<const void> derived_;
    mutable std::atomic<const void*> derived_ready_ = nullptr;  // the same, once it exists
    mutable std::array<std::weak_ptr<Storage>, 2> twins_;
};

}  // namespace decoderscope
