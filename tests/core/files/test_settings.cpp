// The user's settings are restored at the next start.
#include "app/core/files/settings.h"
#include "engine/base/error.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>

using namespace decoderscope::testing;

TEST_CASE("settings are read back as they were written, in a folder that is made for them") {
    const TemporaryFolder folder;
    const std::string path = folder.file("config/decoderscope/settings.json");
    const Settings chosen = {.dark = false,
                             .text_scale = 1.331F,
                             .sequential = ColorMap::cividis,
                             .inspector_width = 411.25F,
                             .strip_folded = true,
                             .inspector_folded = true,
                             .reduced_motion = false,
                             .language = "zh_CN",
                             .browser_address = "https://example.org/decoderscope/",
                             .introduction_closed = true};
    save_settings(path, chosen);
    CHECK(load_settings(path) == chosen);
}

TEST_CASE("settings that make no sense are the defaults") {
    const TemporaryFolder folder;
    CHECK(load_settings(folder.file("none")) == Settings{});
    for (const char* text :
         {"", "[]", "{", "null",
          R"({"dark": 3, "text_scale": "big", "color_map": 7, "inspector_width": null, "language": 1})"}) {
        write_bytes(folder.file("settings.json"), text);
        INFO(text);
        CHECK(load_settings(folder.file("settings.json")) == Settings{});
    }
    write_bytes(folder.file("settings.json"), R"({"dark": false, "text_scale": 1e9, "inspector_width": -4})");
    const Settings settings = load_settings(folder.file("settings.json"));
    CHECK(settings.dark == false);
    CHECK(settings.text_scale == 3.0F);
    CHECK(settings.inspector_width == 100.0F);
}

TEST_CASE("settings that cannot be written say so") {
    CHECK_THROWS_AS(save_settings("/proc/nowhere/settings.json", Settings{}), Error);
}

TEST_CASE("settings that can't be read at all are set aside under a name that isn't taken, and one sentence says so") {
    const TemporaryFolder folder;
    const std::string path = folder.file("settings.json");
    const auto set_aside_now = [&](const std::string& text, const std::string& kept) {
        write_bytes(path, text);
        try {
            static_cast<void>(read_settings(path));
            FAIL("they were read");
        } catch (const Error& error) {
            decoderscope::testing::check_message(set_aside(path, error.sentence()).english(),
                                                 {path, "expected an object", kept});
        }
        CHECK_FALSE(std::filesystem::exists(path));
        CHECK(decoderscope::testing::read_bytes(folder.file(kept)) == text);
    };
    set_aside_now("{\"dark\": tr", "settings.json.damaged");
    set_aside_now("[1]", "settings.json.damaged-2");
    set_aside_now("", "settings.json.damaged-3");
    CHECK(read_settings(path) == Settings{});  // there are none
    CHECK(folder.entries() == 3);
}

// The desktop's setting for less motion.

TEST_CASE("a desktop without animations is found in the files of GTK and KDE") {
    const TemporaryFolder folder;
    const std::string config = folder.file("");
    CHECK_FALSE(desktop_reduces_motion(config));
    CHECK_FALSE(desktop_reduces_motion(""));
    write_bytes(folder.file("kdeglobals"), "[KDE]\nAnimationDurationFactor=0\n");
    CHECK(desktop_reduces_motion(config));
    write_bytes(folder.file("kdeglobals"), "[KDE]\nAnimationDurationFactor=0.5\n");
    CHECK_FALSE(desktop_reduces_motion(config));
    std::filesystem::create_directories(folder.file("gtk-3.0"));
    write_bytes(folder.file("gtk-3.0/settings.ini"), "[Settings]\ngtk-enable-animations = 0\n");
    CHECK(desktop_reduces_motion(config));
    std::filesystem::create_directories(folder.file("gtk-4.0"));
    write_bytes(folder.file("gtk-4.0/settings.ini"), "[Settings]\ngtk-enable-animations=true\n");
    CHECK_FALSE(desktop_reduces_motion(config));
}
