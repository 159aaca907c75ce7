#pragma once

#include "engine/json_object.h"
#include "engine/model/tokenizer/stretch.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace decoderscope {

// SentencePiece's table of replacements (precompiled_charsmap), as T5's tokenizer has it: a trie in an array of 32-bit
// units, whose leaves point into a list of texts that end with a zero byte. It is applied as Hugging Face does: to a
// whole grapheme of up to five bytes, of which the shortest beginning that the table has stands for all, else to each
// character.
class PrecompiledMap {
public:
    // From Base64. Throws Error naming the key.
    [[nodiscard]] static PrecompiledMap read(JsonObject& json);
    // From the table's bytes. Throws Error if they are none.
    explicit PrecompiledMap(std::string_view table);

    void operator()(Stretch& stretch) const;

private:
    [[nodiscard]] std::optional<std::string_view> replacement(std::string_view part) const;
    [[nodiscard]] std::uint32_t unit(std::size_t at) const;

    struct Table {
        std::vector<std::uint32_t> units;
        std::string texts;
    };
    std::shared_ptr<const Table> table_;
};

}  // namespace decoderscope
