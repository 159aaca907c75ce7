#pragma once

#include "engine/base/error.h"
#include "engine/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// What the fuzzers share. A reader may accept its bytes, or refuse them with an Error whose message is for the user.
// Another exception, a crash, a sanitizer's report or a hang is a finding.
namespace decoderscope::fuzz {

// A law that a reader broke, for libFuzzer to see.
inline void require(bool holds, const std::string& law) {
    if (holds) return;
    std::cerr << "broken: " << law << '\n';
    std::abort();
}

// Runs a reader. Returns whether it accepted its input.
template <class Work>
bool read(const Work& work) {
    constexpr std::size_t kLongest = 5000;  // bytes of a message
    try {
        work();
        return true;
    } catch (const Error& error) {
        const std::string message = error.what();
        require(!message.empty() && message.size() < kLongest, "a message is a sentence: " + message);
        require(message.find('\n') == std::string::npos, "a message is one line: " + message);
        return false;
    }
}

// Reads every number, so that none of them may be outside the file.
inline float sum_of(const Tensor& tensor) {
    float sum = 0.0F;
    for (const float value : tensor.values()) sum += value;
    return sum;
}

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// The parts of an input that stands for several files. They are divided by a separator line, which a mutation can move.
inline std::vector<std::string_view> parts_of(std::string_view text) {
    constexpr std::string_view kBetween = "\n----\n";
    std::vector<std::string_view> parts;
    for (std::size_t end = text.find(kBetween); end != std::string_view::npos; end = text.find(kBetween)) {
        parts.push_back(text.substr(0, end));
        text.remove_prefix(end + kBetween.size());
    }
    parts.push_back(text);
    return parts;
}

// A new name in the folder for temporary files.
inline std::filesystem::path temporary_name() {
    return std::filesystem::temp_directory_path() / ("decoderscope-fuzz-" + std::to_string(std::random_device()()));
}

// A file in memory, for readers that are given a path.
class MemoryFile {
public:
    MemoryFile();
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile();

    void write(std::string_view bytes) const;
    // Gives its bytes another name, too.
    void put_at(const std::filesystem::path& file) const;
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    [[maybe_unused]] int descriptor_ = -1;  // where it has no name
    std::string path_;
};

}  // namespace decoderscope::fuzz
