#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace decoderscope::testing {

// A GGUF file piece by piece, whether the pieces fit or not.
class GgufBytes {
public:
    template <class T>
    GgufBytes& number(T value) {
        const auto* from = reinterpret_cast<const char*>(&value);
        bytes_.append(from, sizeof value);
        return *this;
    }
    GgufBytes& text(const std::string& text) {
        number<std::uint64_t>(text.size());
        bytes_ += text;
        return *this;
    }
    GgufBytes& head(std::uint64_t tensors, std::uint64_t keys, std::uint32_t version = 3) {
        bytes_ += "GGUF";
        return number(version).number(tensors).number(keys);
    }
    GgufBytes& tensor(const std::string& name, const std::vector<std::uint64_t>& axes, std::uint32_t type,
                      std::uint64_t at) {
        text(name).number(static_cast<std::uint32_t>(axes.size()));
        for (const std::uint64_t size : axes) number(size);
        return number(type).number(at);
    }
    GgufBytes& data(std::size_t size) {
        bytes_.resize((bytes_.size() + 31) / 32 * 32 + size);
        return *this;
    }
    [[nodiscard]] const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
};

}  // namespace decoderscope::testing
