#include "engine/mutations/families.h"
#include "engine/ops/embed.h"

namespace decoderscope::mutations_of {

void embedding(std::vector<Mutation>& list) {
    list.push_back({.name = "embedding-not-scaled",
                    .cause = message("The embedding is not multiplied by √d_model."),
                    .configure = [](Config& config) { config.scale_embedding = false; }});
    list.push_back({.name = "embedding-scaled",
                    .cause = message("The embedding is multiplied by √d_model."),
                    .configure = [](Config& config) { config.scale_embedding = true; }});
    list.push_back({.name = "embedding-scaled-by-d-model",
                    .cause = message("The embedding is multiplied by d_model instead of its root."),
                    .change = [](Plan& plan, const Config& config) {
                        for (const char* name : {"embed", "encoder.embed"})
                            if (const Ref embed = plan.find(name))
                                plan.replace(embed->id, Embed{static_cast<float>(config.d_model)}, embed->operands);
                    }});
    list.push_back({.name = "no-embedding-norm",
                    .cause = message("The norm behind the embedding is missing."),
                    .configure = [](Config& config) { config.embedding_norm = false; }});
}

}  // namespace decoderscope::mutations_of
