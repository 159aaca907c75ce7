#include "app/core/session/open_model.h"

#include "app/core/bisect/trace_inputs.h"
#include "engine/error.h"
#include "engine/trace/recorded_model.h"

#include <utility>

namespace decoderscope {

namespace {

std::shared_ptr<const Model> on_recorded_example(std::shared_ptr<const Model> model, const std::string& path) {
    try {
        Inputs recorded = inputs_of_trace(open_trace(path), model->config());
        if (recorded.tokens.empty() && recorded.x.empty()) return model;
        check_inputs(recorded, model->config());
        Model with = *model;
        with.example = std::move(recorded);
        return std::make_shared<const Model>(std::move(with));
    } catch (const Error&) {  // then it runs on an example as any model does
        return model;
    }
}

}  // namespace

bool opens_as_trace(const std::string& path, OpenAs as) {
    return as == OpenAs::trace || (as == OpenAs::whatever_it_is && is_recording(path));
}

std::shared_ptr<const Model> open_model(const std::string& name, OpenAs as, const Overrides& answers,
                                        LoadProgress* progress, const Mapping& mapping) {
    if (opens_as_trace(name, as)) return model_of_trace(name);
    std::shared_ptr<const Model> model = load_model(name, answers, progress, mapping);
    return is_recording(name) ? on_recorded_example(std::move(model), name) : model;
}

}  // namespace decoderscope
