#include "engine/base/file.h"
#include "engine/base/tables.h"
#include "engine/base/translate.h"
#include "engine/load/assets.h"
#include "engine/load/bundled_models.h"
#include "engine/load/example_file.h"
#include "tests/catch.h"

#include <string>

using namespace decoderscope::testing;

namespace {

// A message has its own phrase; a text that is shown as it is stands at a place of one.
bool is_message(const std::string& text) { return asset_text(text).parts()->one.english() == text; }

}  // namespace

TEST_CASE("every text of the bundled models is a message") {
    for (const std::string_view name : trained_models()) {
        const ExampleFile example = parse_example_file(read_text(trained_model_folder(name) + "/example.json"));
        INFO(name);
        CHECK(is_message(example.description));
        for (const Trial& trial : example.trials) {
            INFO(trial.title);
            CHECK(is_message(trial.title));
            CHECK((trial.look.empty() || is_message(trial.look)));
        }
    }
}

TEST_CASE("what is said of an operation is said of any model: no text is about a bundled one, or about its tutorial") {
    const std::string said = asset_table("operations").dump();
    CHECK(said.find("utorial") == std::string::npos);
    for (const BundledModel& model : bundled_models())
        if (model.name.find('-') != std::string::npos) {  // the other names are words
            INFO(model.name);
            CHECK(said.find(model.name) == std::string::npos);
        }
}

TEST_CASE("any other text is shown as it is") {
    CHECK(asset_text("A model of my own, {count}").english() == "A model of my own, {count}");
    CHECK(asset_text("").empty());
}
