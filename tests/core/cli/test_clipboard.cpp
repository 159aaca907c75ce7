// A picture on the desktop's clipboard, through a program that keeps it there.
#include "app/platform.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::app;

namespace {

// An environment variable for one test.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        if (value != nullptr)
            ::setenv(name, value, 1);
        else
            ::unsetenv(name);
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;
    ~Variable() {
        if (before_)
            ::setenv(name_, before_->c_str(), 1);
        else
            ::unsetenv(name_);
    }

private:
    const char* name_;
    std::optional<std::string> before_;
};

// A program that saves its input and arguments to files next to it.
void make_program(const TemporaryFolder& folder, const std::string& name, int status) {
    write_bytes(folder.file(name), "#!/bin/sh\necho \"$@\" > " + folder.path() + "/arguments\n/bin/cat > " +
                                       folder.path() + "/given\nexit " + std::to_string(status) + "\n");
    std::filesystem::permissions(folder.file(name), std::filesystem::perms::owner_all);
}

}  // namespace

TEST_CASE("a picture is handed to the program of the desktop, byte for byte") {
    const std::string picture("\x89PNG\r\n\x1a\n\0$(touch x); `y`", 24);
    for (const bool wayland : {false, true}) {
        const TemporaryFolder folder;
        const Variable path("PATH", folder.path().c_str());
        const Variable x11("DISPLAY", ":7"), other("WAYLAND_DISPLAY", wayland ? "wayland-7" : nullptr);
        make_program(folder, wayland ? "wl-copy" : "xclip", 0);
        const CopyResult result = copy_png(picture);
        CHECK_FALSE(result.failed);
        CHECK(read_bytes(folder.file("given")) == picture);
        CHECK(read_bytes(folder.file("arguments")) ==
              (wayland ? "--type image/png\n" : "-selection clipboard -t image/png -i\n"));
        CHECK(folder.entries() == 3);
    }
}

TEST_CASE("a text is spoken by speech-dispatcher, in its language, and read as no code") {
    const TemporaryFolder folder;
    {
        const std::string path_of = folder.path() + ":/usr/bin:/bin";
        const Variable path("PATH", path_of.c_str());
        write_bytes(folder.file("spd-say"), "#!/bin/sh\n[ \"$1\" = -C ] || echo \"$@\" > " + folder.path() +
                                                "/new\n[ \"$1\" = -C ] || mv " + folder.path() + "/new " +
                                                folder.path() + "/arguments\n");
        std::filesystem::permissions(folder.file("spd-say"), std::filesystem::perms::owner_all);
        CHECK(speak("-x $(touch y) `z` \"1.5\"", "zh_CN").empty());
        for (int i = 0; i < 500 && !std::filesystem::exists(folder.file("arguments")); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(read_bytes(folder.file("arguments")) == "-l zh -- -x $(touch y) `z` \"1.5\"\n");
    const TemporaryFolder nothing;
    const std::string sh = nothing.file("sh");
    std::filesystem::create_symlink("/bin/sh", sh);
    const Variable path("PATH", nothing.path().c_str());
    CHECK(speak("x", "en").english().find("speech-dispatcher") != std::string::npos);
}

TEST_CASE("without a desktop or a program that serves it a sentence says so") {
    const TemporaryFolder folder;
    const Variable path("PATH", folder.path().c_str());
    const Variable wayland("WAYLAND_DISPLAY", nullptr);
    {
        const Variable x11("DISPLAY", nullptr);
        CHECK(copy_png("x").failed);
        CHECK(copy_png("x").sentence.english().find("no desktop") != std::string::npos);
    }
    const Variable x11("DISPLAY", ":7");
    CHECK(copy_png("x").sentence.english().find("xclip, which is not installed or failed") != std::string::npos);
    make_program(folder, "xclip", 1);
    CHECK(copy_png("x").failed);
}
