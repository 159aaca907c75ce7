#include "app/core/work/saved_work.h"

#include "app/core/jobs/executed.h"
#include "app/core/session/edit_list.h"
#include "app/core/session/open_model.h"
#include "app/core/work/checksum.h"
#include "app/core/work/saved_input.h"
#include "engine/error.h"
#include "engine/file.h"
#include "engine/model/assets.h"
#include "engine/model/bundled.h"
#include "engine/model/checkpoint.h"
#include "engine/trace/trace.h"

#include <algorithm>
#include <filesystem>

namespace decoderscope {

namespace {

namespace fs = std::filesystem;

bool is_bundled(const std::string& name) {
    const auto& all = bundled_models();
    return std::any_of(all.begin(), all.end(), [&](const BundledModel& model) { return model.name == name; });
}

// Where a model's files are; empty for one generated from a seed.
std::string files_of_model(const std::string& name) {
    const auto& trained = trained_models();
    if (std::find(trained.begin(), trained.end(), name) != trained.end()) return trained_model_folder(name);
    return is_bundled(name) ? std::string() : name;
}

// ---- out

SavedModel saved_model(const Model& model) {
    const bool bundled = is_bundled(model.name);
    return {.name = bundled ? model.name : model.path,
            .bundled = bundled,
            .answers = model.answers,
            .mapping = model.mapping,
            .trace = model.recorded != nullptr};
}

SavedRun saved_run(const Scenario& scenario) {
    return {.model = saved_model(*scenario.model()),
            .set = scenario.overrides(),
            .input = saved_input(scenario),
            .edits = scenario.edits,
            .dropout_seed = scenario.dropout_seed,
            .gradients_of = scenario.gradients_of,
            .mutation = scenario.mutation,
            .recording = scenario.recording,
            .generated = scenario.generated};
}

// ---- in

Phrase what_changed(bool weights, bool config) {
    if (weights && config)
        return message(
            "{model}: its weights and config.json are not what they were when the session was saved, so the numbers "
            "may be others");
    if (weights)
        return message(
            "{model}: its weights are not what they were when the session was saved, so the numbers may be others");
    return message(
        "{model}: its config.json is not what it was when the session was saved, so the numbers may be others");
}

// Reads the models of a session, each once.
class Opener {
public:
    explicit Opener(LoadProgress* progress) : progress_(progress) {}

    Scenario scenario(const SavedRun& saved) {
        const Opened& model = open(saved.model);
        Scenario scenario = naming("set", [&] { return Scenario(model.model, saved.set); });
        RestoredInput input =
            naming("input", [&] { return restored_input(saved.input, *scenario.model(), scenario.config()); });
        scenario.inputs = std::move(input.inputs);
        scenario.inputs_path = std::move(input.inputs_path);
        scenario.dropout_seed = saved.dropout_seed;
        scenario.gradients_of = saved.gradients_of;
        scenario.mutation = saved.mutation;
        scenario.recording = saved.recording;
        scenario.generated = saved.generated;
        remarks.insert(remarks.end(), input.remarks.begin(), input.remarks.end());
        scenario.edits = edits(scenario, saved, model.as_it_was && input.remarks.empty());
        return scenario;
    }

    std::vector<Sentence> remarks;

private:
    struct Opened {
        SavedModel saved;
        std::shared_ptr<const Model> model;
        bool as_it_was = true;
    };

    const Opened& open(const SavedModel& saved) {
        for (const Opened& known : opened_)
            if (known.saved == saved) return known;
        Opened opened{saved, naming("model", [&] {
                          return open_model(saved.name, saved.trace ? OpenAs::trace : OpenAs::model, saved.answers,
                                            progress_, saved.mapping);
                      })};
        compare_checksums(opened);
        opened_.push_back(std::move(opened));
        return opened_.back();
    }

    void compare_checksums(Opened& opened) {
        const SavedModel& saved = opened.saved;
        if (saved.weights.empty() && saved.config.empty()) return;
        const ModelChecksums now = naming("model", [&] { return checksums_now(saved.name, saved.trace); });
        const bool weights = !saved.weights.empty() && saved.weights != now.weights;
        const bool config = !saved.config.empty() && saved.config != now.config;
        if (!weights && !config) return;
        opened.as_it_was = false;
        remarks.emplace_back(what_changed(weights, config), Arguments{{"model", saved.name}});
    }

    [[nodiscard]] ModelChecksums checksums_now(const std::string& name, bool trace) const {
        Resumable<ModelChecksums> sums = checksums_of_model(name, trace);
        while (!sums.advance())
            if (progress_ != nullptr && progress_->stop.stop_requested()) throw LoadStopped();
        return sums.result();
    }

    // Without a change of model or input, gradients of a cell that isn't there are an error in the session; else they
    // are left out.
    void check_gradients(Scenario& scenario, bool as_it_was) {
        const std::string of = scenario.gradients_of;
        if (of.empty()) return static_cast<void>(plan_of(scenario));
        if (as_it_was) return static_cast<void>(naming("gradients_of", [&] { return plan_of(scenario); }));
        scenario = without_lost_gradients(std::move(scenario));
        static_cast<void>(plan_of(scenario));
        if (scenario.gradients_of != of)
            remarks.push_back(message("the gradients of {name} do not fit any more and were left out", {{"name", of}}));
    }

    // Edits that don't fit are an error in the session, unless the model or its input has changed.
    std::vector<Edit> edits(Scenario& scenario, const SavedRun& saved, bool as_it_was) {
        check_gradients(scenario, as_it_was);
        if (as_it_was) {
            scenario.edits = saved.edits;
            static_cast<void>(naming("edits", [&] { return plan_of(scenario); }));
            return saved.edits;
        }
        std::vector<Edit> fitting = fitting_edits(scenario, saved.edits);
        if (const std::size_t lost = saved.edits.size() - fitting.size(); lost > 0)
            remarks.push_back(message_n("{count} edit does not fit any more and was left out",
                                        "{count} edits do not fit any more and were left out", lost));
        return fitting;
    }

    LoadProgress* progress_;
    std::vector<Opened> opened_;
};

}  // namespace

SavedWork open_session(const SessionFile& file, const Sentence& name, LoadProgress* progress) {
    return naming(name, [&] {
        Opener opener(progress);
        SavedWork work{
            .scenario = opener.scenario(file.run), .cursor = file.cursor, .sampling = file.sampling, .view = file.view};
        for (std::size_t i = 0; i < file.pins.size(); ++i)
            naming("pins[" + std::to_string(i) + "]", [&] {
                work.pins.push_back({file.pins[i].label, opener.scenario(file.pins[i].run)});
            });
        work.saved_as = file.saved_as;
        work.remarks = std::move(opener.remarks);
        return work;
    });
}

SavedWork open_session(const SessionFile& file, const std::string& name, LoadProgress* progress) {
    return open_session(file, Sentence::verbatim(name), progress);
}

SavedWork open_session(const std::string& path, LoadProgress* progress) {
    SavedWork work = open_session(read_session_file(path), path, progress);
    if (work.saved_as.empty()) work.saved_as = absolute_path(path);
    return work;
}

Resumable<std::shared_ptr<const ReferenceRun>> pinned_run(const SavedWork& work) {
    if (work.pins.empty()) co_return nullptr;
    const PinnedWork& pin = work.pins.front();
    std::shared_ptr<const Run> run = co_await executed(plan_of(pin.scenario));
    ReferenceRun pinned = reference_of(pin.label, std::move(run));
    pinned.scenario = std::make_shared<const Scenario>(pin.scenario);
    co_return std::make_shared<const ReferenceRun>(std::move(pinned));
}

Resumable<ModelChecksums> checksums_of_model(std::string name, bool trace) {
    if (trace) {
        ModelChecksums sums;
        sums.weights = co_await checksum_of_files(open_trace(name).files);
        co_return sums;
    }
    const std::string files = files_of_model(name);
    if (files.empty()) co_return ModelChecksums();
    const Checkpoint checkpoint{fs::path(files)};
    std::vector<std::string> weights = checkpoint.files();
    std::sort(weights.begin(), weights.end());
    const std::string config = (checkpoint.folder() / "config.json").string();
    std::error_code failed;
    ModelChecksums sums;
    sums.weights = co_await checksum_of_files(weights);
    if (fs::exists(config, failed)) sums.config = co_await checksum_of_files(std::vector<std::string>(1, config));
    co_return sums;
}

SessionFile session_file_of(const SavedWork& work) {
    SessionFile file{.run = saved_run(work.scenario),
                     .cursor = work.cursor,
                     .sampling = work.sampling,
                     .view = work.view,
                     .pins = {},
                     .saved_as = work.saved_as,
                     .changed = work.changed};
    for (const PinnedWork& pin : work.pins) file.pins.push_back({pin.label, saved_run(pin.scenario)});
    return file;
}

}  // namespace decoderscope
