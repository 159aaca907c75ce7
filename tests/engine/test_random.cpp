// The same random numbers on every machine: those that tests/reference/ computed in Python, to the last bit.
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/random.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"

#include <set>

using namespace decoderscope::testing;

namespace {

nlohmann::json reference() { return nlohmann::json::parse(read_text(fixture_path("rng.json"))); }

}  // namespace

TEST_CASE("a random stream's bits, uniform and normal numbers are the reference's exactly") {
    const auto streams = reference()["streams"];
    REQUIRE(streams.size() >= 6);
    for (const auto& stream : streams) {
        const auto name = stream["name"].get<std::string>();
        INFO("seed " << stream["seed"] << ", " << name);
        const RandomStream random(std::stoull(stream["seed"].get<std::string>()), name);
        for (std::size_t i = 0; i < stream["index"].size(); ++i) {
            const auto index = stream["index"][i].get<std::uint64_t>();
            INFO("index " << index);
            CHECK(random.bits(index) == std::stoull(stream["bits"][i].get<std::string>()));
            CHECK(random.uniform(index) == stream["uniform"][i].get<double>());
            CHECK(random.normal(index) == stream["normal"][i].get<double>());
        }
    }
}

TEST_CASE("the portable logarithm is the reference's exactly") {
    const auto logs = reference()["portable_log"];
    REQUIRE(logs.size() >= 16);
    for (const auto& pair : logs) CHECK(portable_log(pair["x"].get<double>()) == pair["ln"].get<double>());
}

TEST_CASE("streams of another seed or another name have other numbers") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed = 0; seed < 3; ++seed)
        for (const char* name : {"", "x", "y", "embed.weight"}) seen.insert(RandomStream(seed, name).bits(0));
    CHECK(seen.size() == 12);
}
