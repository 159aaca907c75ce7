// The desktop's setting for less motion.
#include "app/core/files/settings.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>

using namespace decoderscope;
using namespace decoderscope::core::files;
using decoderscope::testing::TemporaryFolder;
using decoderscope::testing::write_bytes;

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
