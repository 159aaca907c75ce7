// config.json, the contract's or Hugging Face's: writing what was read and reading it back gives the same. A second
// part holds values as for --set, one "KEY=VALUE" per line.
#include "engine/model/config.h"
#include "engine/load/families/family.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::load::families;

namespace {

Overrides overrides_of(std::string_view lines) {
    Overrides overrides;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(line.size() + 1, lines.size()));
        const std::size_t equals = line.find('=');
        if (equals != std::string_view::npos) overrides.emplace_back(line.substr(0, equals), line.substr(equals + 1));
    }
    return overrides;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto parts = fuzz::parts_of(fuzz::text_of(data, size));
    const Overrides overrides = parts.size() > 1 ? overrides_of(parts[1]) : Overrides();
    fuzz::read([&] {
        const Config config = parse_config(read_family(parts[0]).config_json, overrides);
        fuzz::require(parse_config(config_to_json(config)) == config, "a configuration is read as it is written");
        fuzz::require(parse_config(R"({"model_type": "decoderscope"})", config_values(config)) == config,
                      "a configuration's values set it");
    });
    return 0;
}
