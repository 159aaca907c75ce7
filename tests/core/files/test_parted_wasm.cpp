// A page's program, taken apart by scripts/part_wasm.py and put together by app/browser/parted_wasm.h.
#include "app/browser/parted_wasm.h"
#include "engine/base/file.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ostream>
#include <span>
#include <string>

using namespace decoderscope;
using namespace decoderscope::browser;
using namespace decoderscope::testing;

namespace {

// scripts/browser.sh has Python, too.
bool has_python() {
    const bool found = std::system("python3 --version > /dev/null 2>&1") == 0;
    if (!found) WARN("python3 is not installed");
    return found;
}

// A program of two functions, with the kinds of parameters that instructions have: it need not run.
Bytes small_program() {
    const Bytes first = {
        0x01, 0x02, 0x7f,                                                                    // two variables of 32 bits
        0x20, 0x81, 0x01,                                                                    // local.get 129
        0x02, 0x40, 0x28, 0x02, 0x90, 0x03,                                                  // block, i32.load at 400
        0x0e, 0x02, 0x00, 0x01, 0x00,                                                        // br_table of two and one
        0x0b, 0x41, 0xff, 0xff, 0x03, 0x1a,                                                  // end, i32.const, drop
        0xfd, 0x0c, 0,    1,    2,    3,    4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0x1a,  // v128.const, drop
        0xfc, 0x0a, 0x00, 0x00, 0x0b                                                         // memory.copy, end
    };
    const Bytes second = {0x00, 0x06, 0x40, 0x10, 0x01, 0x18, 0x00, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0x1a, 0x0b};
    Bytes program = {0, 'a', 's', 'm', 1, 0, 0, 0, 0x01, 0x04, 0x01, 0x60, 0x00, 0x00};
    program.push_back(0x0a);
    program.push_back(static_cast<std::uint8_t>(3 + first.size() + second.size()));
    program.push_back(0x02);
    for (const Bytes* body : {&first, &second}) {
        program.push_back(static_cast<std::uint8_t>(body->size()));
        program.insert(program.end(), body->begin(), body->end());
    }
    for (const int byte : {0x0b, 0x02, 0x00, 0x00}) program.push_back(static_cast<std::uint8_t>(byte));  // what follows
    return program;
}

Bytes parted(const Bytes& program) {
    const TemporaryFolder folder;
    const std::string whole = folder.file("whole.wasm"), apart = folder.file("apart");
    write_whole(whole, [&](std::ostream& out) { out << std::string(program.begin(), program.end()); });
    const std::string script = std::string(DECODERSCOPE_TESTS_DIR) + "/../scripts/part_wasm.py";
    REQUIRE(std::system(("python3 '" + script + "' <'" + whole + "' >'" + apart + "'").c_str()) == 0);
    const std::string read = read_text(apart);
    return {read.begin(), read.end()};
}

struct Together {
    bool ok = true, complete = false;
    Bytes program;
};
Together together(const Bytes& apart, std::size_t piece) {
    PartedWasm parts;
    Together result;
    for (std::size_t at = 0; at < apart.size() && result.ok; at += piece)
        result.ok = parts.take(std::span(apart).subspan(at, std::min(piece, apart.size() - at)), result.program);
    result.complete = parts.is_complete();
    return result;
}

}  // namespace

TEST_CASE("a program that was taken apart is put together byte for byte, in whatever pieces it arrives") {
    if (!has_python()) return;
    const Bytes program = small_program(), apart = parted(program);
    REQUIRE(PartedWasm::is_one(apart));
    CHECK_FALSE(PartedWasm::is_one(program));
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, apart.size()}) {
        const Together result = together(apart, piece);
        CHECK(result.ok);
        CHECK(result.complete);
        CHECK(result.program == program);
    }
}

TEST_CASE("a program that is cut off or broken is never taken for whole") {
    if (!has_python()) return;
    const Bytes program = small_program(), apart = parted(program);
    for (std::size_t size = 0; size < apart.size(); ++size) {
        const Together cut =
            together(Bytes(apart.begin(), apart.begin() + static_cast<std::ptrdiff_t>(size)), size + 1);
        CHECK_FALSE((cut.ok && cut.complete && cut.program == program));
    }
    for (std::size_t at = 0; at < apart.size(); ++at) {
        Bytes broken = apart;
        broken[at] ^= 0x55U;
        static_cast<void>(together(broken, 64));  // ends, and reads nothing that isn't there
    }
}
