#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

// Puts a WebAssembly program together that scripts/part_wasm.py took apart, part by part while it arrives. The format
// is described there. What the instructions and their parameters are stands in the file itself.
namespace decoderscope::browser {

using Bytes = std::vector<std::uint8_t>;

// Reads from bytes; what isn't there is noted, and reads as 0.
class ByteReader {
public:
    explicit ByteReader(std::span<const std::uint8_t> bytes = {}) : left_(bytes) {}

    [[nodiscard]] bool is_broken() const { return broken_; }
    [[nodiscard]] bool is_at_end() const { return left_.empty(); }
    std::span<const std::uint8_t> take(std::size_t count) {
        if (count > left_.size()) {
            broken_ = true;
            return {};
        }
        const auto taken = left_.first(count);
        left_ = left_.subspan(count);
        return taken;
    }
    std::uint8_t byte() {
        const auto taken = take(1);
        return taken.empty() ? std::uint8_t{0} : taken[0];
    }
    // 32 bits, the lowest byte first.
    std::uint32_t word() {
        std::uint32_t value = 0;
        for (unsigned shift = 0; shift < 32; shift += 8) value |= std::uint32_t{byte()} << shift;
        return value;
    }
    // A number of variable length (LEB128), copied to `out` as well.
    std::uint64_t number(Bytes& out) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !broken_; shift += 7) {
            const std::uint8_t part = byte();
            out.push_back(part);
            value |= std::uint64_t{part & 0x7FU} << shift;
            if (part < 0x80U) return value;
        }
        broken_ = true;
        return 0;
    }

private:
    std::span<const std::uint8_t> left_;
    bool broken_ = false;
};

class PartedWasm {
public:
    static constexpr std::array<std::uint8_t, 4> kBegins = {0, 'd', 's', 'w'};

    // Whether a file whose first four bytes are these is taken apart.
    [[nodiscard]] static bool is_one(std::span<const std::uint8_t> begins) {
        return begins.size() >= kBegins.size() && std::memcmp(begins.data(), kBegins.data(), kBegins.size()) == 0;
    }

    // More of the file has arrived; what can be put together is appended to `out`. False if it isn't such a file.
    bool take(std::span<const std::uint8_t> arrived, Bytes& out) {
        waiting_.insert(waiting_.end(), arrived.begin(), arrived.end());
        while (const std::optional<std::size_t> size = next_size()) {
            ByteReader part{std::span<const std::uint8_t>(waiting_).first(*size)};
            if (!(has_tables_ ? put_together(part, out) : read_tables(part))) return false;
            waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(*size));
        }
        return true;
    }
    // Whether nothing waits for the rest of its part.
    [[nodiscard]] bool is_complete() const { return has_tables_ && waiting_.empty(); }

private:
    static constexpr std::size_t kStreams = 16, kInstructions = 256, kMostNested = 1U << 16U;
    enum Kind : std::uint8_t {
        number,
        byte,
        bytes_4,
        bytes_8,
        bytes_16,
        numbers,
        numbers_and_one,
        prefix_fc,
        prefix_fd,
        opens,
        closes
    };
    // The parameters of 256 instructions.
    using Table = std::array<Bytes, kInstructions>;
    using Streams = std::array<ByteReader, kStreams>;

    // The bytes of what comes next; nothing until all of it is there.
    [[nodiscard]] std::optional<std::size_t> next_size() const {
        ByteReader read(waiting_);
        const auto whole = [&](std::size_t size) {
            return size <= waiting_.size() ? std::optional(size) : std::nullopt;
        };
        if (!has_tables_) {
            std::size_t size = kBegins.size();
            read.take(size);
            for (std::size_t i = 0; i < 3 * kInstructions; ++i) {
                const std::size_t count = read.byte();
                read.take(count);
                size += 1 + count;
            }
            return read.is_broken() ? std::nullopt : whole(size);
        }
        const bool is_code = read.byte() != 0;
        std::size_t size = 1 + sizeof(std::uint32_t) * (is_code ? 1 + kStreams : 1);
        if (size > waiting_.size()) return std::nullopt;
        if (is_code) read.word();
        for (std::size_t i = 0; i < (is_code ? kStreams : 1); ++i) size += read.word();
        return whole(size);
    }

    bool read_tables(ByteReader& part) {
        if (!is_one(part.take(kBegins.size()))) return false;
        for (Table& table : tables_)
            for (Bytes& parameters : table) {
                const auto taken = part.take(part.byte());
                parameters.assign(taken.begin(), taken.end());
            }
        has_tables_ = true;
        return !part.is_broken();
    }

    bool put_together(ByteReader& part, Bytes& out) const {
        const std::uint8_t kind = part.byte();
        if (kind > 1) return false;
        if (kind == 0) {
            const auto bytes = part.take(part.word());
            out.insert(out.end(), bytes.begin(), bytes.end());
            return !part.is_broken();
        }
        const std::uint32_t functions = part.word();
        std::array<std::uint32_t, kStreams> sizes{};
        for (std::uint32_t& size : sizes) size = part.word();
        Streams streams;
        for (std::size_t i = 0; i < kStreams; ++i) streams[i] = ByteReader(part.take(sizes[i]));
        Bytes body;
        for (std::uint32_t i = 0; i < functions; ++i) {
            body.clear();
            if (!put_function(streams, body)) return false;
            put_number(body.size(), out);
            out.insert(out.end(), body.begin(), body.end());
        }
        for (const ByteReader& stream : streams)
            if (!stream.is_at_end()) return false;
        return true;
    }

    // Variables' types, and instructions until the block that is the function ends.
    bool put_function(Streams& streams, Bytes& body) const {
        constexpr std::size_t kCode = 0, kDeclared = 8;
        ByteReader& declared = streams[kDeclared];
        for (std::uint64_t left = declared.number(body); left > 0 && !declared.is_broken(); --left) {
            declared.number(body);
            body.push_back(declared.byte());
        }
        std::size_t depth = 1;
        while (depth > 0) {
            const std::uint8_t code = streams[kCode].byte();
            body.push_back(code);
            if (streams[kCode].is_broken() || !put_parameters(tables_[0][code], streams, depth, body)) return false;
        }
        return !declared.is_broken();
    }

    bool put_parameters(const Bytes& parameters, Streams& streams, std::size_t& depth, Bytes& body) const {
        for (const std::uint8_t parameter : parameters) {
            ByteReader& stream = streams[parameter >> 4U];
            const auto kind = static_cast<Kind>(parameter & 15U);
            switch (kind) {
                case byte:
                case bytes_4:
                case bytes_8:
                case bytes_16: {
                    constexpr std::array<std::size_t, 5> kWidths = {0, 1, 4, 8, 16};
                    const auto bytes = stream.take(kWidths[kind]);
                    body.insert(body.end(), bytes.begin(), bytes.end());
                    break;
                }
                case opens:
                    if (++depth > kMostNested) return false;
                    break;
                case closes:
                    --depth;
                    break;
                case number:
                    stream.number(body);
                    break;
                case numbers:
                case numbers_and_one:
                    for (std::uint64_t left = stream.number(body) + (kind == numbers_and_one ? 1 : 0);
                         left > 0 && !stream.is_broken(); --left)
                        stream.number(body);
                    break;
                case prefix_fc:
                case prefix_fd: {
                    const std::uint64_t behind = stream.number(body);
                    const Table& table = tables_[kind == prefix_fc ? 1 : 2];
                    if (behind >= table.size() || stream.is_broken()) return false;
                    return put_parameters(table[behind], streams, depth, body);
                }
                default:
                    return false;
            }
            if (stream.is_broken()) return false;
        }
        return true;
    }

    static void put_number(std::size_t value, Bytes& out) {
        for (; value > 0x7FU; value >>= 7U) out.push_back(static_cast<std::uint8_t>(value | 0x80U));
        out.push_back(static_cast<std::uint8_t>(value));
    }

    std::array<Table, 3> tables_;
    bool has_tables_ = false;
    Bytes waiting_;
};

}  // namespace decoderscope::browser
