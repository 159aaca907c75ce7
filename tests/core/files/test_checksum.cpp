// Checksums of files, against what xxhsum prints.
#include "app/core/files/checksum.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <string_view>

using namespace decoderscope::testing;

namespace {

std::string of_text(std::string_view text) { return checksum_of(std::as_bytes(std::span(text))); }

}  // namespace

TEST_CASE("a checksum is XXH64's") {
    CHECK(of_text("") == "xxh64:ef46db3751d8e999");
    CHECK(of_text("a") == "xxh64:d24ec4f1a98c6e5b");
    CHECK(of_text("abc") == "xxh64:44bc2cf5ad770999");
    CHECK(of_text("Nobody inspects the spammish repetition") == "xxh64:fbcea83c8a378bf1");
    std::string all;
    for (int i = 0; i < 5 * 256; ++i) all += static_cast<char>(i);
    CHECK(of_text(all + "tail") == "xxh64:81b3b2a9c25c6f59");
}

// The vectors of xxHash's own test suite (XSUM_sanityCheck, seed 0): the first bytes of a sequence that a product of a
// prime makes.
TEST_CASE("a checksum agrees with xxHash's published test vectors") {
    std::string bytes;
    std::uint64_t generator = 2654435761U;
    for (int i = 0; i < 222; ++i) {
        bytes += static_cast<char>(static_cast<unsigned char>(generator >> 56U));
        generator *= 11400714785074694797U;
    }
    const auto of_first = [&](std::size_t count) { return of_text(std::string_view(bytes).substr(0, count)); };
    CHECK(of_first(1) == "xxh64:e934a84adb052768");
    CHECK(of_first(4) == "xxh64:9136a0dca57457ee");
    CHECK(of_first(14) == "xxh64:8282dcc4994e35c8");
    CHECK(of_first(222) == "xxh64:b641ae8cb691c174");
}

TEST_CASE("a checksum does not depend on the pieces in which bytes come") {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    for (std::size_t piece = 1; piece < 70; ++piece) {
        Xxh64 hash;
        for (std::size_t at = 0; at < text.size(); at += piece)
            hash.add(std::as_bytes(std::span(std::string_view(text).substr(at, piece))));
        REQUIRE(checksum_text(hash.digest()) == of_text(text));
    }
}

TEST_CASE("files are summed one after the other, and one that is missing is named") {
    const TemporaryFolder folder;
    write_bytes(folder.file("1"), "Nobody inspects ");
    write_bytes(folder.file("2"), "the spammish repetition");
    CHECK(finished(checksum_of_files({folder.file("1"), folder.file("2")})) == "xxh64:fbcea83c8a378bf1");
    check_message(error_of([&] { static_cast<void>(finished(checksum_of_files({folder.file("absent")}))); }),
                  {"absent", "cannot be read"});
    CHECK(is_checksum("xxh64:fbcea83c8a378bf1"));
    for (const char* none : {"", "fbcea83c8a378bf1", "xxh64:FBCEA83C8A378BF1", "xxh64:fbcea83c8a378bf", "sha256:00"})
        CHECK_FALSE(is_checksum(none));
}
