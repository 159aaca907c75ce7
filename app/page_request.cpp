#include "app/page_request.h"

#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/run/open_model.h"
#include "app/core/run/scenario.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"

#include <exception>
#include <string>

namespace decoderscope::app {

namespace {

core::files::SavedSession work_on(const std::string& model) {
    core::files::SavedSession work;
    work.scenario = core::scenario_of(core::open_model(model, core::OpenAs::model));
    return work;
}

core::files::SavedSession opened(const std::string& named) {
    if (!core::files::is_link(named)) return work_on(named);
    core::files::SavedSession work = core::files::open_link(named);
    static_cast<void>(core::mutation_of(work.scenario));  // throws if there is none of that name
    return work;
}

}  // namespace

WindowRequest request_of_page(std::span<const std::string> arguments) {
    WindowRequest request;
    std::string named;
    for (const std::string& argument : arguments) {
        if (argument == "--embed")
            request.embed = true;
        else if (argument != "--model")
            named = argument;
    }
    try {
        if (!named.empty()) {
            request.work = opened(named);
            request.is_named = true;
            return request;
        }
    } catch (const std::exception& failed) {
        return default_page(request.embed, sentence_of(failed));
    }
    return default_page(request.embed, {});
}

WindowRequest default_page(bool embed, const Sentence& said) {
    WindowRequest request;
    request.work = work_on(std::string(load::kDefaultModel));
    request.embed = embed;
    request.said = said;
    return request;
}

}  // namespace decoderscope::app
