// A saved session: writing what was read and reading it back gives the same. Its input fits small models or is refused.
#include "app/core/files/saved_session.h"
#include "app/core/files/session_file.h"
#include "engine/load/bundled_models.h"
#include "engine/tokenizer/vocabulary.h"
#include "tests/fuzz/fuzz.h"

using namespace decoderscope;
using namespace decoderscope::core::files;
using namespace decoderscope::load::names;
using namespace decoderscope::load;
using namespace decoderscope::tokenizer;

namespace {

constexpr const char* kFolder = "/sessions";

// A model with an encoder that reads letters, and one that reads rows.
std::vector<Model> readers() {
    const std::string sizes = R"({"model_type": "decoderscope", "d_model": 4, "nhead": 2, "num_layers": 1, )";
    std::vector<Model> models(2);
    models[0].config_json = sizes + R"("vocab_size": 5, "cross_attention": true, "encoder_layers": 1})";
    models[1].config_json = sizes + R"("cross_attention": true})";
    models[0].tokenizer = parse_character_vocabulary(R"({"tokens": ["<pad>", "a", "b", "c", "d"], "pad": "<pad>"})");
    models[0].encoder_tokenizer = models[0].tokenizer;
    for (Model& model : models) model.example = example_inputs(model.config(), 0);
    return models;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const std::vector<Model> models = readers();
    fuzz::read([&] {
        const SessionFile file = parse_session(fuzz::text_of(data, size), kFolder);
        const std::string written = session_text(file, kFolder);
        fuzz::require(session_text(parse_session(written, kFolder), kFolder) == written,
                      "a session is read as it is written");
        for (const Model& model : models)
            fuzz::read([&] {
                const Config config = model.config();
                check_inputs(restored_input(file.run.input, model, config).inputs, config);
            });
    });
    return 0;
}
