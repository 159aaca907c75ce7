#include "app/core/files/saved_session.h"

#include "app/core/files/checksum.h"
#include "app/core/files/link.h"
#include "app/core/run/bounds.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/edits.h"
#include "app/core/run/open_model.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/text/characters.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/files/safetensors.h"
#include "engine/load/assets.h"
#include "engine/load/bundled_models.h"
#include "engine/load/checkpoint.h"
#include "engine/load/lens.h"
#include "engine/model/inputs.h"
#include "engine/trace/trace.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <utility>

namespace decoderscope::core::files {

namespace {

// ---- out

bool same_numbers(const Tensor& a, const Tensor& b) {
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    return a.axes() == b.axes() &&
           std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(float)) == 0;
}

std::string checksum_of_numbers(const Tensor& tensor) { return checksum_of(std::as_bytes(tensor.values())); }

// Whether these are the first batch rows of `of`, as after typing fewer lines.
bool begins(const Tensor& tensor, const Tensor& of) {
    if (of.empty() || tensor.rank() != of.rank() || tensor.dim(0) > of.dim(0)) return false;
    for (std::size_t axis = 1; axis < of.rank(); ++axis)
        if (tensor.dim(axis) != of.dim(axis)) return false;
    return tensor.shares_values_with(of) ||
           std::memcmp(tensor.data(), of.data(), static_cast<std::size_t>(tensor.size()) * sizeof(float)) == 0;
}

std::optional<SavedTensor> saved_tensor(const Tensor& tensor, const Tensor& example, const std::string& file) {
    if (tensor.empty()) return std::nullopt;
    SavedTensor saved;
    if (begins(tensor, example))
        saved.of_example = true;
    else if (!file.empty())
        saved.file = absolute_path(file);
    else
        saved.numbers = tensor;
    if (saved.numbers.empty()) saved.checksum = checksum_of_numbers(tensor);
    return saved;
}

TokenRows whole_rows(const Tensor& tensor) { return rows_of(tensor, Tensor()); }

// The rows as texts, if the tokenizer encodes them to the same ids.
std::optional<std::vector<std::string>> as_texts(const TokenRows& rows, const tokenizer::Tokenizer& tokenizer) {
    if (!tokenizer.can_encode()) return std::nullopt;
    std::vector<std::string> texts;
    for (const std::vector<Index>& row : rows) {
        std::string text = tokenizer.decode(row);
        if (valid_utf8(text) != text) return std::nullopt;
        try {
            if (tokenizer.encode(text) != row) return std::nullopt;
        } catch (const Error&) {
            return std::nullopt;
        }
        texts.push_back(std::move(text));
    }
    return texts;
}

SavedSequence saved_sequence(const Tensor& tokens, const Tensor& mask, const tokenizer::Tokenizer& tokenizer) {
    SavedSequence saved;
    const TokenRows rows = rows_of(tokens, mask);
    if (!tokens.empty() && std::none_of(rows.begin(), rows.end(), [](const auto& row) { return row.empty(); })) {
        const TokenBatch padded = padded_batch(rows, tokens.axes()[1].name, tokenizer.special().pad.value_or(0));
        if (same_numbers(padded.tokens, tokens) && same_numbers(padded.mask, mask)) {
            saved.text = as_texts(rows, tokenizer);
            if (!saved.text) saved.tokens = rows;
            return saved;
        }
    }
    if (!tokens.empty()) saved.tokens = whole_rows(tokens);
    if (!mask.empty()) saved.mask = whole_rows(mask);
    return saved;
}

// ---- in

// Padding to a few long rows may need far more memory than the file's size, so this is checked before allocating.
void check_batch(const TokenRows& rows, const std::string& key) {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    std::size_t longest = 1;
    for (const std::vector<Index>& row : rows) {
        if (row.empty()) throw Error("{key}: an empty batch row, expected at least one token", {{"key", key}});
        longest = std::max(longest, row.size());
    }
    if (rows.size() > kMost / longest)
        throw Error("{key}: more than {most} tokens once rows are padded; expected fewer",
                    {{"key", key}, {"most", kMost}});
}

Tensor mask_of(const TokenRows& rows, std::string_view length_axis, const std::string& key) {
    const bool even =
        std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row.size() == rows.front().size(); });
    if (!even) throw Error("{key}: rows of different lengths, expected as many numbers in each", {{"key", key}});
    check_batch(rows, key);
    return padded_batch(rows, length_axis).tokens;
}

std::optional<TokenRows> rows_of(const SavedSequence& saved, const tokenizer::Tokenizer& tokenizer,
                                 const std::string& before) {
    if (saved.tokens) return saved.tokens;
    if (!saved.text) return std::nullopt;
    if (!tokenizer.can_encode())
        throw Error("{before}text: the model has no vocabulary that tokenizes text; expected {before}tokens",
                    {{"before", before}});
    return naming(before + "text", [&] {
        TokenRows rows;
        for (const std::string& text : *saved.text) rows.push_back(tokenizer.encode(text));
        return rows;
    });
}

// Restores a sequence of the session: its ids and its mask.
bool restore(const SavedSequence& saved, const tokenizer::Tokenizer& tokenizer, std::string_view length_axis,
             const std::string& before, Tensor& tokens, Tensor& mask) {
    const std::optional<TokenRows> rows = rows_of(saved, tokenizer, before);
    if (rows) {
        check_batch(*rows, before + (saved.text ? "text" : "tokens"));
        TokenBatch batch = padded_batch(*rows, length_axis, tokenizer.special().pad.value_or(0));
        tokens = std::move(batch.tokens);
        mask = std::move(batch.mask);
    }
    if (saved.mask) mask = mask_of(*saved.mask, length_axis, before + "attention_mask");
    return rows.has_value();
}

Tensor named(const Tensor& tensor, std::span<const std::string_view> names) {
    if (tensor.rank() > names.size())
        throw Error("{rank} axes, expected at most {names}", {{"rank", tensor.rank()}, {"names", names.size()}});
    return tensor.with_axes(named_from_last(tensor.axes(), names));
}

// `batch`: how many of its rows to use; 0: all.
Tensor restored_tensor(const SavedTensor& saved, const InputSlot& input, const Inputs& example, Index batch,
                       RestoredInput& restored) {
    return naming(std::string(input.name), [&] {
        Tensor tensor = saved.numbers;
        if (saved.of_example) {
            tensor = example.*input.member;
            if (tensor.empty()) throw Error("the model's example has none; expected numbers or a file");
        } else if (!saved.file.empty()) {
            const SafetensorsFile file(saved.file);
            tensor = input.integer ? file.integers(input.name) : file.floats(input.name);
            restored.inputs_path = saved.file;
        }
        tensor = named(tensor, input.axes);
        if (batch > 0 && saved.numbers.empty()) tensor = first_of_batch(tensor, batch);
        if (!saved.checksum.empty() && checksum_of_numbers(tensor) != saved.checksum)
            restored.remarks.push_back(message(
                "{key}: the numbers of {source} have changed since the session was saved",
                {{"key", input.name},
                 {"source", saved.of_example ? message("the model's example") : Sentence::verbatim(saved.file)}}));
        return tensor;
    });
}

namespace fs = std::filesystem;

bool is_bundled(const std::string& name) {
    const auto& all = load::bundled_models();
    return std::any_of(all.begin(), all.end(), [&](const load::BundledModel& model) { return model.name == name; });
}

// Where a model's files are; empty for one generated from a seed.
std::string files_of_model(const std::string& name) {
    const auto& trained = load::trained_models();
    if (std::find(trained.begin(), trained.end(), name) != trained.end()) return load::trained_model_folder(name);
    return is_bundled(name) ? std::string() : name;
}

}  // namespace

// ---- out

SavedModel saved_model(const Scenario& scenario) {
    if (!scenario.computes()) return {.name = scenario.about().path, .trace = true};
    const load::Model& model = *scenario.model();
    const bool bundled = is_bundled(model.name);
    return {.name = bundled ? model.name : model.path,
            .bundled = bundled,
            .answers = model.answers,
            .mapping = model.mapping};
}

namespace {

std::optional<SavedPasses> saved_passes(const Scenario& scenario) {
    const TextInPasses* passes = passes_of(scenario);
    if (passes == nullptr) return std::nullopt;
    return SavedPasses{passes->sizes, passes->shown, passes->edits, passes->text_edits};
}

SavedRun saved_run(const Scenario& scenario) {
    return {.model = saved_model(scenario),
            .set = scenario.overrides(),
            .input = saved_input(scenario),
            .edits = scenario.edits,
            .passes = saved_passes(scenario),
            .dropout_seed = scenario.dropout_seed,
            .gradient_target = scenario.gradient_target,
            .mutation = scenario.mutation,
            .lens = scenario.lens() ? scenario.lens()->path : std::string(),
            .recording = scenario.recording,
            .generated = scenario.generated,
            .conversation = scenario.conversation};
}

// ---- in

Phrase what_changed(bool weights, bool config) {
    if (weights && config)
        return message(
            "{model}: its weights and config.json have changed since the session was saved, so the numbers may differ");
    if (weights)
        return message("{model}: its weights have changed since the session was saved, so the numbers may differ");
    return message("{model}: its config.json has changed since the session was saved, so the numbers may differ");
}

// The numbers of the run don't need it: what can't be read is said.
void take_lens(Scenario& scenario, const std::string& path, std::vector<Sentence>& remarks) {
    try {
        scenario.set_lens(std::make_shared<const load::FittedLens>(load::read_lens(path, scenario.config())));
    } catch (const Error& error) {
        remarks.push_back(message("{why}; opened without the fitted lens", {{"why", error.sentence()}}));
    }
}

// All of a saved run but its edits, on its model. What has changed since gets a remark.
Scenario without_edits_on(load::Opened opened, const SavedRun& saved, std::vector<Sentence>& remarks) {
    Scenario scenario = naming("set", [&] { return Scenario(std::move(opened), saved.set); });
    RestoredInput input;
    if (scenario.computes())
        input = naming("input", [&] { return restored_input(saved.input, *scenario.model(), scenario.config()); });
    scenario.inputs = std::move(input.inputs);
    scenario.inputs_path = std::move(input.inputs_path);
    scenario.dropout_seed = saved.dropout_seed;
    scenario.gradient_target = saved.gradient_target;
    scenario.mutation = saved.mutation;
    if (!saved.lens.empty()) take_lens(scenario, saved.lens, remarks);
    scenario.recording = saved.recording;
    scenario.generated = saved.generated;
    scenario.conversation = saved.conversation;
    remarks.insert(remarks.end(), input.remarks.begin(), input.remarks.end());
    return scenario;
}

// The scenario of the whole text, cut as it was saved. What it runs has the edits that are saved beside.
Scenario in_passes(Scenario scenario, const SavedPasses& saved) {
    return naming("passes", [&] {
        if (std::accumulate(saved.sizes.begin(), saved.sizes.end(), Index{0}) != scenario.inputs.pos())
            throw Error("expected sizes that add up to the {length} positions of the text",
                        {{"length", scenario.inputs.pos()}});
        scenario = with_whole_text(with_pass(std::move(scenario), saved.sizes, 0));
        scenario.passes->edits = saved.edits;
        scenario.passes->edits.resize(saved.sizes.size());
        scenario.passes->text_edits = scenario.edits = saved.text_edits;
        if (!saved.shown) return scenario;
        scenario = with_pass(std::move(scenario), saved.sizes, *saved.shown);
        static_cast<void>(past_of(scenario));
        return scenario;
    });
}

// Reads the models of a session, each once.
class Opener {
public:
    Opener(LoadProgress* progress, bool linked) : progress_(progress), linked_(linked) {}

    Scenario scenario(const SavedRun& saved) {
        const Opened& model = open(saved.model);
        const std::size_t before = remarks.size();
        Scenario scenario = without_edits_on(model.opened, saved, remarks);
        if (saved.passes) check_linked(scenario);  // before any of them is computed
        if (saved.passes) take_passes(scenario, *saved.passes, model.as_it_was && remarks.size() == before);
        scenario.edits = edits(scenario, saved, model.as_it_was && remarks.size() == before);
        check_linked(scenario);
        return scenario;
    }

    std::vector<Sentence> remarks;

private:
    struct Opened {
        SavedModel saved;
        load::Opened opened;
        bool as_it_was = true;
    };

    // Whoever sends a link may ask for no more than this of those who open it: of time as of memory, so that what a run
    // computes without keeping it counts as well.
    void check_linked(const Scenario& scenario) const {
        const std::size_t computed = linked_ ? bytes_of_all(*plan_of(scenario)) : 0;
        if (computed > bounds::kLinkedRun)
            throw Error("its run computes {computed} of tensors, expected at most {most}",
                        {{"computed", bytes_text(computed)}, {"most", bytes_text(bounds::kLinkedRun)}});
    }

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

    // Passes that don't fit are an error in the session, unless the model or its input has changed.
    void take_passes(Scenario& scenario, const SavedPasses& saved, bool as_it_was) {
        try {
            scenario = in_passes(scenario, saved);
        } catch (const Error&) {
            if (as_it_was) throw;
            remarks.push_back(message("the passes of the text no longer fit and were left out"));
        }
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

    // Without a change of model or input, gradients of a cell that isn't there are an error in the session; otherwise
    // they are left out.
    void check_gradients(Scenario& scenario, bool as_it_was) {
        const std::string of = scenario.gradient_target;
        if (of.empty()) return static_cast<void>(plan_of(scenario));
        if (as_it_was) return static_cast<void>(naming("gradients_of", [&] { return plan_of(scenario); }));
        scenario = without_lost_gradients(std::move(scenario));
        static_cast<void>(plan_of(scenario));
        if (scenario.gradient_target != of)
            remarks.push_back(message("the gradients of {name} no longer fit and were left out", {{"name", of}}));
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
        if (const std::size_t lost = count_of_edits(saved.edits) - count_of_edits(fitting); lost > 0)
            remarks.push_back(message_n("{count} edit no longer fits and was left out",
                                        "{count} edits no longer fit and were left out", lost));
        return fitting;
    }

    LoadProgress* progress_;
    bool linked_;
    std::vector<Opened> opened_;
};

// What is trained stands in a file where the tabs' choices do.
void take_training(SavedSession& work) {
    const auto saved = work.view.tabs.extract(std::string(train::kTrainTab));
    if (saved.empty()) return;
    try {
        work.training = train::read_plan(saved.mapped());
    } catch (const Error& error) {
        work.remarks.push_back(error.sentence());
    }
}

}  // namespace

SavedInput saved_input(const Scenario& scenario) {
    if (!scenario.computes()) return {};
    const Inputs& in = text_of(scenario);
    const load::Model& model = *scenario.model();
    SavedInput saved;
    saved.target = saved_sequence(in.tokens, in.attention_mask, model.tokenizer);
    saved.source = saved_sequence(in.encoder_tokens, in.encoder_attention_mask, model.encoder_tokenizer);
    for (const InputSlot& slot : input_slots())
        if (slot.only_numbers)
            if (auto tensor = saved_tensor(in.*slot.member, model.example.*slot.member, scenario.inputs_path))
                saved.numbers.emplace(slot.name, *std::move(tensor));
    return saved;
}

RestoredInput restored_input(const SavedInput& saved, const load::Model& model, const Config& config) {
    const Inputs& example = model.example;
    RestoredInput restored;
    Inputs& in = restored.inputs;
    // Whether an input is saved as numbers; if so, it is what they are.
    const auto restores = [&](std::string_view name, Index batch) {
        const auto found = saved.numbers.find(name);
        if (found == saved.numbers.end()) return false;
        const InputSlot& slot = input_slot(name);
        in.*slot.member = restored_tensor(found->second, slot, example, batch, restored);
        return true;
    };
    bool target = restore(saved.target, model.tokenizer, axis::pos, "", in.tokens, in.attention_mask);
    target = restores("x", 0) || target;
    if (!target) {
        in.tokens = example.tokens;
        in.x = example.x;
        if (!saved.target.mask) in.attention_mask = example.attention_mask;
    }
    for (const char* of_target : {"custom_mask", "positions", "segments"})
        if (!restores(of_target, 0) && !target)
            in.*input_slot(of_target).member = example.*input_slot(of_target).member;
    const Tensor& rows = in.tokens.empty() ? in.x : in.tokens;  // of any rank so far: making the plan checks it
    const Index batch = rows.rank() == 0 ? 0 : in.batch();
    bool source = restore(saved.source, model.encoder_tokenizer, axis::src, "encoder_", in.encoder_tokens,
                          in.encoder_attention_mask);
    source = restores("memory", batch) || source;
    if (!source) {
        in.memory = first_of_batch(example.memory, batch);
        in.encoder_tokens = first_of_batch(example.encoder_tokens, batch);
        if (!saved.source.mask) in.encoder_attention_mask = first_of_batch(example.encoder_attention_mask, batch);
    }
    if (!restores("targets", 0) && same_numbers(in.tokens, example.tokens)) in.targets = example.targets;
    check_inputs(in, config);
    return restored;
}

Scenario scenario_on(load::Opened opened, const SavedRun& saved) {
    std::vector<Sentence> unread;
    Scenario scenario = without_edits_on(std::move(opened), saved, unread);
    if (saved.passes) scenario = in_passes(std::move(scenario), *saved.passes);
    scenario.edits = saved.edits;
    static_cast<void>(naming("edits", [&] { return plan_of(scenario); }));
    return scenario;
}

SavedSession open_session(const SessionFile& file, const Sentence& name, LoadProgress* progress) {
    return naming(name, [&] {
        Opener opener(progress, file.linked);
        SavedSession work{.scenario = opener.scenario(file.run),
                          .cursor = file.cursor,
                          .sampling = file.sampling,
                          .view = file.view,
                          .notes = file.notes,
                          .overlay = file.overlay,
                          .talk = file.talk};
        for (std::size_t i = 0; i < file.pins.size(); ++i)
            naming("pins[" + std::to_string(i) + "]", [&] {
                work.pins.push_back({file.pins[i].label, opener.scenario(file.pins[i].run)});
            });
        work.saved_as = file.saved_as;
        work.saved_as_was = file.saved_as_was;
        work.remarks = std::move(opener.remarks);
        take_training(work);
        return work;
    });
}

SavedSession open_session(const SessionFile& file, const std::string& name, LoadProgress* progress) {
    return open_session(file, Sentence::verbatim(name), progress);
}

SavedSession open_session(const std::string& path, LoadProgress* progress) {
    SavedSession work = open_session(read_session_file(path), path, progress);
    if (work.saved_as.empty()) work.saved_as = absolute_path(path);
    return work;
}

Resumable<std::shared_ptr<const ReferenceRun>> pinned_run(const SavedSession& work) {
    if (work.pins.empty()) co_return nullptr;
    const PinnedWork& pin = work.pins.front();
    std::shared_ptr<const Run> run = co_await execute_in_slices(plan_of(pin.scenario));
    co_return pinnable(pin.label, pin.scenario, std::move(run));
}

Resumable<ModelChecksums> checksums_of_model(std::string name, bool trace) {
    if (trace) {
        ModelChecksums sums;
        sums.weights = co_await checksum_of_files(trace::open_trace(name).files);
        co_return sums;
    }
    const std::string files = files_of_model(name);
    if (files.empty()) co_return ModelChecksums();
    const load::Checkpoint checkpoint{fs::path(files)};
    std::vector<std::string> weights = checkpoint.files();
    std::sort(weights.begin(), weights.end());
    const std::string config = (checkpoint.folder() / "config.json").string();
    std::error_code failed;
    ModelChecksums sums;
    sums.weights = co_await checksum_of_files(weights);
    if (fs::exists(config, failed)) sums.config = co_await checksum_of_files(std::vector<std::string>(1, config));
    co_return sums;
}

SessionFile session_file_of(const SavedSession& work) {
    SessionFile file{.run = saved_run(work.scenario),
                     .cursor = work.cursor,
                     .sampling = work.sampling,
                     .view = work.view,
                     .notes = work.notes,
                     .overlay = work.overlay,
                     .talk = work.talk,
                     .pins = {},
                     .saved_as = work.saved_as,
                     .saved_as_was = work.saved_as_was,
                     .changed = work.changed};
    for (const PinnedWork& pin : work.pins) file.pins.push_back({pin.label, saved_run(pin.scenario)});
    if (work.training != train::TrainingPlan() || work.view.tab == train::kTrainTab)
        file.view.tabs[std::string(train::kTrainTab)] = train::saved_plan(work.training);
    return file;
}

TalkState talk_state(SavedSession work, std::string sentence) {
    work.talk.clear();
    work.saved_as.clear();
    work.changed.clear();
    return {std::move(sentence), {}, session_text(session_file_of(work), {})};
}

ShownState shown_state(const TalkState& state, const Scenario& open) {
    const SessionFile file = parse_session(state.work, {});
    SavedModel its = file.run.model;
    its.weights = its.config = {};  // the files of now are what is open
    if (saved_model(open) == its) return {scenario_on(open.opened(), file.run), file.cursor, file.view};
    if (!its.bundled)
        throw Error("{model}: this state of the talk is of a model that isn't open; open it first",
                    {{"model", its.name}});
    return {scenario_on(load::make_bundled_model(its.name), file.run), file.cursor, file.view};
}

std::string link_of(const TalkState& state) { return link_of(parse_session(state.work, {})); }

}  // namespace decoderscope::core::files
