#include "engine/error.h"
#include "engine/model/mapped_file.h"
#include "engine/trace/inflate.h"
#include "engine/trace/sources.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace decoderscope::trace_sources {

namespace {

// A zip's bytes, read with a check that they are there. What a file says of places and sizes is counted in 64 bits on
// every machine.
class Zip {
public:
    explicit Zip(const MappedFile& file) : file_(file) {}

    template <class T>
    [[nodiscard]] T at(std::uint64_t offset) const {
        T value;
        check(offset, sizeof value);
        std::memcpy(&value, file_.data() + offset, sizeof value);
        return value;
    }
    [[nodiscard]] std::string_view text(std::uint64_t offset, std::uint64_t size) const {
        check(offset, size);
        return {file_.data() + offset, static_cast<std::size_t>(size)};
    }
    [[nodiscard]] std::size_t size() const { return file_.size(); }
    void check(std::uint64_t offset, std::uint64_t size) const {
        if (offset > file_.size() || size > file_.size() - offset) throw Error("cut short, or no .npz");
    }

private:
    const MappedFile& file_;
};

constexpr std::uint32_t kEnd = 0x06054b50U, kEntry = 0x02014b50U, kEnd64Locator = 0x07064b50U;
constexpr std::uint32_t kInExtra = 0xffffffffU;

struct Directory {
    std::uint64_t offset = 0, entries = 0;
};

// Where the list of files is: the last record of a zip says it.
Directory directory_of(const Zip& zip) {
    constexpr std::size_t kRecord = 22, kLongestComment = 65535;
    if (zip.size() < kRecord) throw Error("cut short, or no .npz");
    const std::size_t last = zip.size() - kRecord;
    for (std::size_t back = 0; back <= std::min(last, kLongestComment); ++back) {
        const std::size_t at = last - back;
        if (zip.at<std::uint32_t>(at) != kEnd) continue;
        if (at >= 20 && zip.at<std::uint32_t>(at - 20) == kEnd64Locator) {
            const auto record = zip.at<std::uint64_t>(at - 12);
            return {zip.at<std::uint64_t>(record + 48), zip.at<std::uint64_t>(record + 32)};
        }
        return {zip.at<std::uint32_t>(at + 16), zip.at<std::uint16_t>(at + 10)};
    }
    throw Error("cut short, or no .npz: a zip's list of files is missing");
}

constexpr int kStored = 0, kDeflated = 8;

struct Entry {
    std::string name;
    int method = 0;  // kStored, kDeflated, or one that isn't read
    std::uint64_t size = 0, packed = 0, offset = 0, next = 0;
};

Entry entry_at(const Zip& zip, std::uint64_t at) {
    if (zip.at<std::uint32_t>(at) != kEntry) throw Error("a zip's list of files is damaged");
    const auto name_size = zip.at<std::uint16_t>(at + 28);
    const auto extra_size = zip.at<std::uint16_t>(at + 30), comment_size = zip.at<std::uint16_t>(at + 32);
    Entry entry;
    entry.method = zip.at<std::uint16_t>(at + 10);
    entry.name = zip.text(at + 46, name_size);
    entry.next = at + 46 + name_size + extra_size + comment_size;
    const auto full = zip.at<std::uint32_t>(at + 24), packed = zip.at<std::uint32_t>(at + 20);
    const auto offset = zip.at<std::uint32_t>(at + 42);
    entry.size = full;
    entry.packed = packed;
    entry.offset = offset;
    // Sizes beyond 4 GB are in the extra field, in this order, each only if it is needed.
    for (std::uint64_t extra = at + 46 + name_size; extra + 4 <= at + 46 + name_size + extra_size;) {
        const auto id = zip.at<std::uint16_t>(extra), length = zip.at<std::uint16_t>(extra + 2);
        std::uint64_t value = extra + 4;
        if (id == 1) {
            if (full == kInExtra) entry.size = zip.at<std::uint64_t>(value);
            if (full == kInExtra) value += 8;
            if (packed == kInExtra) entry.packed = zip.at<std::uint64_t>(value);
            if (packed == kInExtra) value += 8;
            if (offset == kInExtra) entry.offset = zip.at<std::uint64_t>(value);
        }
        extra += 4 + std::uint64_t{length};
    }
    return entry;
}

}  // namespace

Trace npz(const std::string& path) {
    const MappedFile file(path);
    const Zip zip(file);
    Trace trace;
    trace.path = path;
    trace.origin = message("an .npz of arrays");
    trace.remarks.push_back(message("arrays alone: no calls, no parameters and no hyperparameters were saved"));
    return naming(path, [&] {
        const Directory directory = directory_of(zip);
        std::uint64_t at = directory.offset;
        for (std::uint64_t i = 0; i < directory.entries; ++i) {
            const Entry entry = entry_at(zip, at);
            at = entry.next;
            std::string name = entry.name;
            if (name.ends_with(".npy")) name.resize(name.size() - 4);
            if (entry.method != kStored && entry.method != kDeflated)
                throw Error("{name}: compressed by another method than numpy.savez_compressed's", {{"name", name}});
            const std::uint64_t begin =
                entry.offset + 30 + zip.at<std::uint16_t>(entry.offset + 26) + zip.at<std::uint16_t>(entry.offset + 28);
            if (entry.method == kDeflated) {
                const std::string_view deflated = zip.text(begin, entry.packed);
                naming(name, [&] {
                    if (entry.size > std::numeric_limits<std::size_t>::max() / 2)
                        throw Error("does not fit into the machine's memory");
                    const auto size = static_cast<std::size_t>(entry.size);
                    trace.tensors.push_back(npy_tensor(name, {inflated(deflated, size), size, nullptr, 0}));
                });
                continue;
            }
            zip.check(begin, entry.size);
            const std::shared_ptr<const char> first(file.bytes(), file.data() + begin);
            trace.tensors.push_back(npy_tensor(name, {first, static_cast<std::size_t>(entry.size), file.descriptor(),
                                                      static_cast<std::size_t>(begin)}));
        }
        return trace;
    });
}

}  // namespace decoderscope::trace_sources
