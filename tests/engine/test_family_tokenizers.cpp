// Tokenizers as today's families ship them: ids and texts of Hugging Face's own library, of its JavaScript port and of
// sentencepiece (tests/reference/foreign/README.md).
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/tokenizer/read.h"
#include "tests/catch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string_view>

using namespace decoderscope::testing;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const fs::path kTokenizers = DECODERSCOPE_TESTS_DIR "/reference/foreign/tokenizers";

Json json_in(const fs::path& path) { return parse_json(read_text(path.string()), message("JSON")); }

Tokenizer tokenizer_in(const fs::path& folder) {
    const ReadTokenizer read = parse_tokenizer_json(read_text((folder / "tokenizer.json").string()));
    INFO(read.labels_alone_because.english());
    REQUIRE(read.labels_alone_because.empty());
    return read.tokenizer;
}

// The ids without what stands around every text.
std::vector<Index> plain_ids(const Tokenizer& tokenizer, const std::string& text) {
    const std::vector<Index> around = tokenizer.encode("");
    std::vector<Index> ids = tokenizer.encode(text);
    const bool before = tokenizer.special().beginning.has_value();
    const auto begin = ids.begin() + (before ? 1 : 0);
    return {begin, ids.end() - static_cast<std::ptrdiff_t>(around.size() - (before ? 1 : 0))};
}

// FNV-1a, in 16 hexadecimal digits.
std::string hash_of(std::string_view bytes) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
    return text;
}

// Over the ids as 32-bit little-endian numbers.
std::string hash_of(const std::vector<Index>& ids) {
    std::string bytes;
    for (const Index id : ids)
        for (unsigned byte = 0; byte < 4; ++byte)
            bytes += static_cast<char>((static_cast<std::uint64_t>(id) >> (8U * byte)) & 0xFFU);
    return hash_of(bytes);
}

std::vector<std::string> tokenizer_names() {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(kTokenizers))
        if (fs::exists(entry.path() / "golden.json")) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
}

}  // namespace

TEST_CASE("each family's tokenizer gives the ids of other implementations, on text of every kind") {
    REQUIRE(tokenizer_names().size() >= 9);
    for (const std::string& name : tokenizer_names()) {
        INFO(name);
        const Tokenizer tokenizer = tokenizer_in(kTokenizers / name);
        const Json golden = json_in(kTokenizers / name / "golden.json");
        CHECK(golden["cases"].size() > 150);
        for (const Json& entry : golden["cases"]) {
            INFO(entry.dump());
            const auto text = entry["text"].get<std::string>();
            CHECK(plain_ids(tokenizer, text) == entry["ids"].get<std::vector<Index>>());
            CHECK(tokenizer.decode(tokenizer.encode(text)) == entry.value("decoded", text));
        }
        const Json& whole = golden["with_special"];
        CHECK(tokenizer.encode(whole["text"].get<std::string>()) == whole["ids"].get<std::vector<Index>>());
        CHECK(golden["longest"].size() > 3);
        for (const Json& entry : golden["longest"]) {
            INFO(entry.dump());
            std::string text;
            for (int i = 0; i < entry["times"]; ++i) text += entry["text"].get<std::string>();
            const std::vector<Index> ids = plain_ids(tokenizer, text);
            CHECK(ids.size() == entry["count"].get<std::size_t>());
            CHECK(hash_of(ids) == entry["hash"].get<std::string>());
        }
    }
}

TEST_CASE("the steps of further families give the ids and texts of Hugging Face's library") {
    const Json file = json_in(kTokenizers / "variants.json");
    const auto texts = file["texts"].get<std::vector<std::string>>();
    CHECK(file["variants"].size() > 30);
    for (const Json& variant : file["variants"]) {
        INFO(variant["name"].get<std::string>());
        Json changed = json_in(kTokenizers / variant["base"].get<std::string>() / "tokenizer.json");
        for (const auto& [pointer, value] : variant["set"].items()) changed[Json::json_pointer(pointer)] = value;
        const ReadTokenizer read = parse_tokenizer_json(changed.dump());
        INFO(read.labels_alone_because.english());
        REQUIRE(read.labels_alone_because.empty());
        const auto ids = variant["ids"].get<std::string>(), decoded = variant["decoded"].get<std::string>();
        REQUIRE(ids.size() == 8 * texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            INFO(Json(texts[i]).dump());
            const std::vector<Index> cut = read.tokenizer.encode(texts[i]);
            INFO(Json(cut).dump());
            CHECK(hash_of(cut).substr(8) == ids.substr(8 * i, 8));
            INFO(Json(read.tokenizer.decode(cut)).dump(-1, ' ', false, Json::error_handler_t::replace));
            CHECK(hash_of(read.tokenizer.decode(cut)).substr(8) == decoded.substr(8 * i, 8));
        }
    }
}
