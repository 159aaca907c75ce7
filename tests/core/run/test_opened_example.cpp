// What a model without an example is opened on.
#include "app/core/run/open_model.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope::testing;
namespace fs = std::filesystem;

namespace {

// A bundled model as somebody else would have it: its folder without the example.
std::shared_ptr<const load::Model> without_example(const std::string& name) {
    const testing::TemporaryFolder folder;
    const fs::path copy = fs::path(folder.path()) / name;
    fs::copy(fs::path(DECODERSCOPE_TESTS_DIR).parent_path() / "assets/models" / name, copy);
    fs::remove(copy / "example.json");
    return std::get<std::shared_ptr<const load::Model>>(open_model(copy.string(), OpenAs::model));
}

std::string text_of(const load::Model& model) {
    const auto values = model.example.tokens.values();
    return model.tokenizer.decode(std::vector<Index>(values.begin(), values.end()));
}

}  // namespace

TEST_CASE("a model without an example opens on a sentence that it can read, as many whole words as fit") {
    CHECK(text_of(*without_example("verses")) == "The animal was");
    // One that doesn't know these words opens on ids of its own, and stays as long as it was.
    const auto words = without_example("words");
    CHECK(text_of(*words).find("animal") == std::string::npos);
    CHECK(words->example.tokens.dim(1) == 8);
}
