// Each file includes what it uses. Precompiled headers and united files (CMakeLists.txt) would hide that one doesn't;
// the preset `alone` asks the compiler.
#include "tests/catch.h"
#include "tests/sources/includes.h"
#include "tests/sources/texts.h"

#include <string>
#include <vector>

using namespace decoderscope::testing;
using Missing = std::vector<std::string>;

namespace {

// What is missing in a file beside two headers, of which it includes the first.
Missing missing_in(const std::string& text) {
    return missing_includes(
        {{"app/used.cpp", "#include \"app/a.h\"\n" + text},
         {"app/a.h", "#include <vector>\nnamespace a {\nstruct Announced;\nstruct Near {\n    int far_off();\n};\n}\n"},
         {"app/b.h",
          "#pragma once\nnamespace b {\nstruct Announced {};\nstruct [[nodiscard]] Far {\n    int inner();\n};\n"
          "constexpr int kFar = 1;\ntemplate <class Item>\nint far_away(Item item);\nusing Other = int;\nint "
          "far_off();\n}\n"}});
}

}  // namespace

TEST_CASE("each file includes what it uses", "[includes]") {
    Texts texts = texts_in({"engine", "app", "packaging", "tests"});
    CHECK(texts.size() > 800);
    texts.erase("tests/windows/posix.h");  // the compiler is told to include it, on Windows alone
    CHECK(missing_includes(texts) == Missing{});
}

TEST_CASE("a missing header of the project is found", "[includes]") {
    const auto finds = [](const std::string& name, const std::string& text) {
        INFO(text);
        CHECK(missing_in(text) ==
              Missing{"app/used.cpp: uses " + name + ", but neither it nor what it includes has app/b.h"});
        CHECK(missing_in("#include \"app/b.h\"\n" + text) == Missing{});
    };
    finds("Far", "int f(const Far& far);");
    finds("Far", "const auto far = Far{};");
    finds("Far", "std::vector<Far> far;");
    finds("Other", "Other f();");
    finds("kFar", "int f() { return kFar; }");
    finds("far_away", "int f() { return far_away(1); }");
    finds("far_away", "int f() { return 2 * far_away(1); }");
    finds("far_away", "bool f() { return g() && far_away(1); }");
    finds("b", "int f() { return b::x; }");
}

TEST_CASE("a name that only another source of the folder has is found", "[includes]") {
    const auto finds = [](const std::string& path) {
        return !missing_includes({{"app/x/user.cpp", "fs::path f();\n"}, {path, "namespace fs = far;\n"}}).empty();
    };
    CHECK(finds("app/x/other.cpp"));
    CHECK_FALSE(finds("app/y/other.cpp"));
    CHECK_FALSE(finds("app/x/user.cpp"));
}

TEST_CASE("a missing header of a library is found", "[includes]") {
    const auto finds = [](const std::string& name, const std::string& header, const std::string& text) {
        INFO(text);
        CHECK(missing_in(text) ==
              Missing{"app/used.cpp: uses " + name + ", but neither it nor what it includes has " + header});
        CHECK(missing_in("#include " + header + "\n" + text) == Missing{});
    };
    finds("std::optional", "<optional>", "std::optional<int> f();");
    finds("std::sort", "<algorithm>", "void f() { std::ranges::sort(x); }");
    finds("std::filesystem", "<filesystem>", "std::filesystem::path f();");
    finds("ImGui", "<imgui.h>", "void f() { ImGui::Separator(); }");
    CHECK(missing_in("std::vector<int> f(std::size_t size);") == Missing{});
    CHECK(missing_in("int x = std::unheard_of;").size() == 1);
}

TEST_CASE("what only looks like a use of a header is none", "[includes]") {
    const auto passes = [](const std::string& text) {
        INFO(text);
        CHECK(missing_in(text) == Missing{});
    };
    passes("// Far, far_away(1) and std::optional\n/* Far */");
    passes("auto text = \"Far far_away(1) std::optional\", other = R\"(Far)\";");
    passes("Announced* f(Near& near);");
    passes("class Far;\nvoid f(Far* far);");
    passes("int f(Near& near) { return near.far_off() + near.far_away(1) + (&near)->far_away(1); }");
    passes("int Near::far_off() { return far_off(); }");
    passes("int f() { return Near::Far() + fs::far_away(1) + ::far_away(1); }");
    passes("int f() { const auto far_away = [] { return 1; }; return far_away(); }");
    passes("int f(const Near& far_away) { return far_away(); }");
    passes("int f(int (*far_away)()) { return far_away(); }");
    passes("void f() { auto& [first, far_away] = g(); far_away(); }");
    passes("template <class... Far>\nvoid f(Far... far);");
    passes("constexpr int kNear = 1, kFar = 2;\nint f() { return kFar; }");
}
