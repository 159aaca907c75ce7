// A list of edits: writing what was read and reading it back gives the same. The edits can be put in words, and fit a
// small model or are refused. The same bytes are also read as an example.json.
#include "engine/decoder/decoder.h"
#include "engine/decoder/initial_weights.h"
#include "engine/graph/edit.h"
#include "engine/load/bundled_models.h"
#include "engine/load/example_file.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::decoder;
using namespace decoderscope::load::names;
using namespace decoderscope::load;

namespace {

// One block with cross-attention, run on a few tokens.
struct SmallModel {
    Config config = parse_config(R"({"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1,
                                     "dim_feedforward": 3, "vocab_size": 5, "cross_attention": true})");
    Weights weights = initial_weights(config, 0);
    Inputs inputs = example_inputs(config, 0);
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const SmallModel model;
    const std::string_view text = fuzz::text_of(data, size);
    fuzz::read([&] {
        const std::vector<Edit> edits = parse_edits(text);
        fuzz::require(parse_edits(edits_to_json(edits)) == edits, "edits are read as they are written");
        for (const Edit& edit : edits) fuzz::require(!describe(edit).empty(), "an edit can be said");
        static_cast<void>(plan_decoder({model.config, &model.weights, model.inputs, edits, std::nullopt}));
    });
    fuzz::read([&] { static_cast<void>(parse_example_file(text)); });
    return 0;
}
