// The user's settings are restored at the next start.
#include "app/core/files/settings.h"
#include "engine/base/error.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::core;
using decoderscope::testing::TemporaryFolder;
using decoderscope::testing::write_bytes;

TEST_CASE("settings are read back as they were written, in a folder that is made for them") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/decoderscope/settings.json");
    const Settings chosen = {.dark = false,
                             .text_scale = 1.331F,
                             .sequential = ColorMap::cividis,
                             .map_width = 300.5F,
                             .inspector_width = 411.25F,
                             .map_folded = true,
                             .inspector_folded = true,
                             .reduced_motion = false,
                             .language = "zh_CN",
                             .browser_address = "https://example.org/decoderscope/",
                             .hint_done = true,
                             .introduction_closed = true,
                             .calm = true,
                             .more_tabs = {"diff", "train"}};
    save_settings(path, chosen);
    CHECK(load_settings(path) == chosen);
}

TEST_CASE("the first start is the one before any settings were kept") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/decoderscope/settings.json");
    CHECK(is_first_start(path));
    CHECK_FALSE(is_first_start(""));  // without a home nothing is known of earlier starts
    save_settings(path, Settings{});
    CHECK_FALSE(is_first_start(path));
    CHECK_FALSE(load_settings(path).calm);
}

TEST_CASE("settings that make no sense are the defaults") {
    const TemporaryFolder folder;
    CHECK(load_settings(folder.file("none")) == Settings{});
    for (const char* text : {"", "[]", "{", "null",
                             R"({"dark": 3, "text_scale": "big", "color_map": 7, "map_width": null, "language": 1})"}) {
        write_bytes(folder.file("settings.json"), text);
        INFO(text);
        CHECK(load_settings(folder.file("settings.json")) == Settings{});
    }
    write_bytes(folder.file("settings.json"), R"({"dark": false, "text_scale": 1e9, "map_width": -4})");
    const Settings settings = load_settings(folder.file("settings.json"));
    CHECK(settings.dark == false);
    CHECK(settings.text_scale == 3.0F);
    CHECK(settings.map_width == 100.0F);
}

TEST_CASE("settings that cannot be written say so") {
    CHECK_THROWS_AS(save_settings("/proc/nowhere/settings.json", Settings{}), Error);
}
