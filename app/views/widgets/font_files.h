#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// The installed fonts' files, each read once: one of Chinese has tens of megabytes, and each size of text needs it.
class FontFiles {
public:
    // The bytes of a file by its name, in the folders that packages install fonts to; empty if none has it or it can't
    // be read. What an atlas was filled with must outlive the atlas.
    [[nodiscard]] std::span<char> bytes(std::string_view file);

private:
    std::map<std::string, std::vector<char>, std::less<>> read_;
};

}  // namespace decoderscope
