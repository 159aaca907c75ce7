// What a container says of its memory, in folders as the system has them.
#include "engine/platform/process.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <fstream>

using namespace decoderscope::testing;

#ifndef _WIN32

namespace {

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("a container's limit is read as both versions of control groups write it, without files that were read") {
    const TemporaryFolder place;
    SECTION("version 2") {
        const std::filesystem::path group = place.file("group");
        write_file(group / "memory.max", "2000000\n");
        write_file(group / "memory.current", "900000\n");
        REQUIRE(platform::memory_of_the_container(group));
        CHECK(platform::memory_of_the_container(group)->most == 2'000'000);
        CHECK(platform::memory_of_the_container(group)->used == 900'000);
        write_file(group / "memory.stat", "anon 100000\ninactive_file 700000\nactive_file 5\n");
        CHECK(platform::memory_of_the_container(group)->used == 200'000);
        write_file(group / "memory.max", "max\n");
        CHECK_FALSE(platform::memory_of_the_container(group));
    }
    SECTION("version 1") {
        const std::filesystem::path group = place.file("group");
        write_file(group / "memory/memory.limit_in_bytes", "3000000\n");
        write_file(group / "memory/memory.usage_in_bytes", "1000\n");
        write_file(group / "memory/memory.stat", "cache 900\ninactive_file 400\ntotal_inactive_file 400\n");
        REQUIRE(platform::memory_of_the_container(group));
        CHECK(platform::memory_of_the_container(group)->most == 3'000'000);
        CHECK(platform::memory_of_the_container(group)->used == 600);
    }
    SECTION("none") { CHECK_FALSE(platform::memory_of_the_container(place.file("nowhere"))); }
}

TEST_CASE("no more memory is free than there is") {
    const auto all = platform::bytes_of_memory(), free = platform::free_bytes_of_memory();
    REQUIRE((all && free));
    CHECK(*free <= *all);
}

#endif
