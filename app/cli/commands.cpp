#include "app/cli/commands.h"
#include "app/core/checks/leak.h"

#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/run/comparison.h"
#include "app/core/run/conversations.h"
#include "app/core/run/open_model.h"
#include "app/core/run/passes_of_text.h"
#include "app/core/run/typed_inputs.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/chat/laid_out.h"
#include "engine/files/mapped_file.h"
#include "engine/load/bundled_models.h"
#include "engine/load/checkpoint.h"
#include "engine/load/lens.h"
#include "engine/sheet/sheet.h"

#include <algorithm>
#include <limits>

namespace decoderscope::cli {

namespace {

// Of an option that names something: an empty name would be taken for an option that isn't there.
CLI::Validator a_name() {
    return {[](const std::string& text) {
                return text.empty() ? std::string("nothing is named, expected a name") : std::string();
            },
            ""};
}

// How messages become a text, and what of it is trained.
void add_template_options(CLI::App& command, RunOptions& options, CLI::Option* messages) {
    std::string ready;
    for (const std::string& one : chat::formats()) ready += (ready.empty() ? "" : ", ") + one;
    command
        .add_option(
            "--chat-template", options.chat_template,
            "a format: " + ready +
                "; or, by Python's package decoderscope, one of the model's own by name, or a file in Jinja (the "
                "model's own)")
        ->check(a_name())
        ->needs(messages);
    command
        .add_option("--template-variables", options.chat.variables,
                    "a JSON object that the template is given besides: {\"tools\": […]}")
        ->needs(messages);
    command
        .add_option("--train-on", options.train_on,
                    "which tokens have labels: answers (the default), last-answer, everything")
        ->check(CLI::IsMember(std::vector<std::string>(chat::kTrained.begin(), chat::kTrained.end())).description(""))
        ->needs(messages);
    command.add_option("--max-length", options.chat.max_length, "cuts off the tokens beyond this number")
        ->transform(within(bounds::kMaxLength))
        ->needs(messages);
    command.add_flag("--generation-prompt", options.chat.generation_prompt, "ends with the beginning of an answer")
        ->needs(messages);
    command
        .add_flag("--special-tokens", options.chat.special_tokens,
                  "the tokenizer adds its own tokens around the template's text, as encode() does")
        ->needs(messages);
    command.add_option("--date", options.chat.date, "for templates that ask for it: 2026-11-27 (today)")
        ->needs(messages);
}

}  // namespace

void add_input_options(CLI::App& command, RunOptions& options) {
    auto* inputs = command.add_option("--inputs", options.inputs, "safetensors file: tokens or x, memory, masks");
    auto* text = command.add_option("--text", options.text,
                                    "text instead of a file, for a model with a vocabulary; each line is a batch row");
    auto* tokens =
        command.add_option("--tokens", options.tokens, "token ids instead of a file: \"1 2 3\"; ';' ends a row");
    auto* source = command.add_option("--source,--encoder-text", options.source, "the encoder's text, in the same way");
    auto* encoder_tokens =
        command.add_option("--encoder-tokens", options.encoder_tokens, "the encoder's token ids, in the same way");
    auto* messages = command.add_option(
        "--messages", options.messages,
        "JSON file of messages, {\"role\", \"content\"}, or of conversations, one per batch row (or one per line)");
    for (CLI::Option* named : {inputs, messages}) named->check(a_name());
    inputs->excludes(text)->excludes(tokens)->excludes(messages);
    text->excludes(tokens)->excludes(messages);
    tokens->excludes(messages);
    source->excludes(encoder_tokens);
    add_template_options(command, options, messages);
}

void add_run_options(CLI::App& command, RunOptions& options) {
    add_input_options(command, options);
    auto* passes = command
                       .add_option("--passes", options.passes,
                                   "5,3: computes the text in several passes, of so many positions each, and one more "
                                   "for the rest; each reads the keys and values that those before it have kept")
                       ->delimiter(',')
                       ->transform(within(bounds::kPassSize));
    auto* pass =
        command.add_option("--pass", options.pass,
                           "which of them is run, from 0; edits are of this pass, in the cells of its own tensors");
    passes->needs(pass);
    pass->needs(passes);
    command.add_option("--edits", options.edits, "JSON file with a list of edits, applied in order")->check(a_name());
    command
        .add_option(
            "--row", options.rows,
            "NAME = FORMULA: a row of your own, in index notation or as in PyTorch; may be repeated. A NAME such "
            "as blocks.*.attn.entropy makes one for every layer")
        ->type_size(1)
        ->allow_extra_args(false);
    command
        .add_option("--other", options.other,
                    "a trace (.safetensors, .npz, .json) that rows read as other.NAME, and Compare compares with")
        ->check(a_name());
    command
        .add_option("--lens", options.lens,
                    "a lens fitted to MODEL (.safetensors, from python3 -m decoderscope lens), to be shown beside the "
                    "logit lens")
        ->check(a_name());
    add_set_option(command, options);
    command
        .add_option("--map", options.map,
                    "JSON file that says what each tensor of MODEL is: {\"their name\": \"our name\"}; `decoderscope "
                    "names MODEL` prints one")
        ->check(a_name());
    command
        .add_option("--record", options.record,
                    "fit: what there is memory for is kept, and the rest computed again when it is read, with the same "
                    "bits (the default); all: every tensor; patterns: all but scores and what is inside MLPs")
        ->check(CLI::IsMember({"fit", "all", "patterns"}).description(""));
    command
        .add_option("--memory", options.memory,
                    "how much memory the process may take, weights included: 4G, 500M (what this machine or container "
                    "has); three quarters of it may be weights of a quantised file (GGUF, FP8, MXFP4) as floats, and "
                    "those that don't fit are dequantized on the fly")
        ->transform(CLI::AsSizeValue(true).description(""))
        ->transform(CLI::Validator(  // before that: it takes −1 for 2^64 − 1
            [](std::string& text) {
                constexpr const char* kDigits = "0123456789";
                const std::size_t unit = std::min(text.find_first_not_of(kDigits), text.size());
                const bool is_size = number_within(text.substr(0, unit), bounds::kMemory) &&
                                     text.find_first_of(kDigits, unit) == std::string::npos;
                return is_size ? std::string() : found_text(text).english() + ", expected a size such as 4G or 500M";
            },
            ""))
        ->type_name("SIZE");
    command.add_option("--dropout-seed", options.dropout_seed, "turns dropout on, with this seed");
    command
        .add_option("--mutation", options.mutation,
                    "computes with a mistake from the gallery of bugs: no-scale, mask-inverted, …")
        ->check(a_name());
}

void add_set_option(CLI::App& command, RunOptions& options) {
    command.add_option("--set", options.settings, "KEY=VALUE: overrides a configuration key; may be repeated")
        ->type_size(1)
        ->allow_extra_args(false);
}

void judge(CLI::App& command, const Context& context) {
    command.description(command.get_description() +
                        "; status 0 if it is right, 1 if it differs, 2 if it can't be judged, 3 if what was compared "
                        "agrees, but not all was");
    command.parse_complete_callback([&failed = context.failed] { failed = static_cast<int>(Judged::refused); });
}

void tell_moved(const std::string& command, const std::string& instead) {
    throw Judgement(Judged::refused,
                    message("{command} has moved to the Python package: {instead}, with the same options",
                            {{"command", command}, {"instead", instead}}));
}

Overrides settings_of(const RunOptions& options) {
    Overrides overrides;
    for (const std::string& setting : options.settings) {
        const std::size_t equals = setting.find('=');
        if (equals == std::string::npos || equals == 0)
            throw CLI::ValidationError("--set " + setting, "expected KEY=VALUE");
        overrides.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
    }
    return overrides;
}

namespace {

// A text needs a tokenizer that can encode it.
core::Typed typed_text(const core::Scenario& scenario, const tokenizer::Tokenizer& tokenizer, const std::string& text,
                       const std::string& option) {
    const std::string ids = option == "--text" ? "--tokens" : "--encoder-tokens";
    if (!tokenizer.can_encode())
        throw Error("{option}: {model} {lack}, expected {ids} with ids such as \"1 2 3\"",
                    {{"option", option},
                     {"model", scenario.about().name},
                     {"lack", tokenizer.size() == 0 ? message("has no vocabulary")
                                                    : message("has a vocabulary that only labels tokens")},
                     {"ids", ids}});
    return {.text = text, .name = option};
}

chat::Conversation conversation_of(const RunOptions& options, const load::Model& model) {
    const std::string text = text_of_file(options.messages);
    chat::Conversation given = naming(options.messages, [&] { return chat::conversation_in(text, options.chat); });
    const auto trained = std::ranges::find(chat::kTrained, options.train_on);
    if (trained != chat::kTrained.end()) given.trained = static_cast<chat::Trained>(trained - chat::kTrained.begin());
    if (!given.written.empty()) {
        if (!options.chat_template.empty())
            throw Error("--chat-template: {path} is laid out already; expected messages", {{"path", options.messages}});
        return given;
    }
    const bool file = !options.chat_template.empty() && is_there(options.chat_template);
    const bool format = std::ranges::find(chat::formats(), options.chat_template) != chat::formats().end();
    const std::vector<core::KnownTemplate> known = core::templates_for(model);
    const std::string name =
        file && !format ? options.chat_template : core::conversation_with(model, options.chat_template).name;
    given = core::with_template(std::move(given), model, name);
    const auto found = std::ranges::find(known, name, &core::KnownTemplate::name);
    if (found != known.end() && !found->own) return given;
    core::WritingByPython writing(std::move(given), model);
    for (;;)
        if (std::optional<chat::Conversation> written = writing.wait()) return *std::move(written);
}

// The inputs typed on the command line instead of read from a file.
core::TypedSequences typed_sequences(const RunOptions& options, const core::Scenario& scenario) {
    core::TypedSequences typed;
    if (options.text) typed.target = typed_text(scenario, scenario.tokenizer(), *options.text, "--text");
    if (options.source) typed.source = typed_text(scenario, scenario.encoder_tokenizer(), *options.source, "--source");
    if (options.tokens) typed.target = {.text = *options.tokens, .ids = true, .name = "--tokens"};
    if (options.encoder_tokens)
        typed.source = {.text = *options.encoder_tokens, .ids = true, .name = "--encoder-tokens"};
    if (!options.messages.empty()) typed.messages = conversation_of(options, *scenario.model());
    return typed;
}

void note(const RunOptions& options, const std::vector<Sentence>& remarks) {
    if (options.notes == nullptr) return;
    for (const Sentence& remark : remarks) *options.notes << "decoderscope: note: " << remark.english() << '\n';
}

// What padding before a text computes: it sees no key, and what it is filled with is the model's family's choice.
std::vector<Sentence> notes_on_padding(const core::Scenario& scenario) {
    const Tensor& mask = scenario.inputs.attention_mask;
    const bool filled = scenario.computes() && scenario.config().mask_value == std::numeric_limits<float>::lowest();
    for (Index row = 0; filled && !mask.empty() && row < mask.dim(0); ++row)
        if (core::checks::leading_padding(mask, row) > 0)
            return {
                message("attention_mask: row {row} begins with padding, which sees no key. Hidden scores are the "
                        "lowest float, as in Hugging Face's eager attention, so it weighs all keys alike; "
                        "--set mask_value=-inf makes it NaN",
                        {{"row", row}})};
    return {};
}

load::names::Mapping mapping_of(const RunOptions& options) {
    if (options.map.empty()) return {};
    const std::string text = read_text(options.map);
    return naming(options.map, [&] { return load::names::parse_mapping(text); });
}

// The default work: the model on its own example, or a session.
core::files::SavedSession opened(const RunOptions& options, const Overrides& overrides, LoadProgress& progress) {
    progress.memory = options.memory;
    const bool link = core::files::is_link(options.model);
    if (link || core::files::is_session_path(options.model)) {
        if (!options.map.empty())
            throw Error("--map: {model} is a session, which has a mapping of its own; expected a model",
                        {{"model", link ? core::files::link_name() : Sentence::verbatim(options.model)}});
        return link ? core::files::open_link(options.model) : core::files::open_session(options.model, &progress);
    }
    core::files::SavedSession work;
    const core::OpenAs as = kind_of_path(options.model) == PathKind::trace ? core::OpenAs::trace : core::OpenAs::model;
    work.scenario =
        decoderscope::core::scenario_of(core::open_model(options.model, as, overrides, &progress, mapping_of(options)));
    return work;
}

// Answers that say how tensors are read did so when the model was opened.
Overrides configuration_of(const load::Model& model, Overrides overrides) {
    const auto asked = [&](const std::string& key) {
        return std::ranges::find(model.recognised.names.questions, key, &Question::key) !=
               model.recognised.names.questions.end();
    };
    std::erase_if(overrides, [&](const auto& setting) {
        return load::names::is_naming_key(setting.first) && asked(setting.first);
    });
    return overrides;
}

}  // namespace

core::files::SavedSession work_of(const RunOptions& options) {
    LoadProgress progress;
    return work_of(options, progress);
}

core::files::SavedSession work_of(const RunOptions& options, LoadProgress& progress) {
    const Overrides settings = settings_of(options);
    core::files::SavedSession work = opened(options, settings, progress);
    core::Scenario& scenario = work.scenario;
    const Overrides overrides = scenario.computes() ? configuration_of(*scenario.model(), settings) : settings;
    note(options, work.remarks);
    note(options, scenario.about().remarks);
    if (!overrides.empty()) scenario = naming("--set", [&] { return core::with_overrides(scenario, overrides); });
    if (options.dropout_seed) scenario.dropout_seed = options.dropout_seed;
    if (!options.mutation.empty()) scenario.mutation = options.mutation;
    static_cast<void>(core::mutation_of(scenario));  // throws if there is none of that name
    scenario.recording = options.record == "patterns" ? core::Recording::patterns
                         : options.record == "all"    ? core::Recording::all
                                                      : core::Recording::fit;
    scenario.memory = options.memory;
    take_inputs(scenario, options);
    note(options, notes_on_padding(scenario));
    if (!options.lens.empty())
        scenario.set_lens(std::make_shared<const load::FittedLens>(load::read_lens(options.lens, scenario.config())));
    if (options.pass) scenario = core::with_pass(scenario, options.passes, *options.pass);
    if (!options.edits.empty()) {
        const std::vector<Edit> more = naming(options.edits, [&] { return parse_edits(read_text(options.edits)); });
        scenario.edits.insert(scenario.edits.end(), more.begin(), more.end());
    }
    for (const std::string& row : options.rows)
        scenario.edits.emplace_back(naming("--row", [&] { return sheet::row_of(row); }));
    if (!options.other.empty()) {
        scenario.other_run = std::make_shared<const core::ReferenceRun>(core::read_trace(options.other));
        work.view.trace = scenario.other_run->path;
    }
    return work;
}

bool gives_inputs(const RunOptions& run) {
    return !run.inputs.empty() || !run.messages.empty() || run.tokens || run.encoder_tokens || run.text || run.source;
}

void take_inputs(core::Scenario& scenario, const RunOptions& options) {
    if (!options.inputs.empty()) {
        scenario.inputs = load_inputs(options.inputs, scenario.config());
        scenario.inputs_path = options.inputs;
    }
    const core::TypedSequences typed = typed_sequences(options, scenario);
    if (typed.target || typed.source || typed.messages)
        scenario.inputs = core::typed_inputs(*scenario.model(), scenario.inputs, typed);
    if (typed.target || typed.messages) scenario.conversation = typed.messages;
}

core::Scenario scenario_of(const RunOptions& options) { return work_of(options).scenario; }

std::shared_ptr<const Plan> plan_naming_files(const core::Scenario& scenario, const RunOptions& options) {
    const bool lens = scenario.computes() && scenario.lens() != nullptr;
    if (scenario.edits.empty()) return core::plan_of(scenario, lens);
    core::Scenario unedited = scenario;
    unedited.edits.clear();
    static_cast<void>(core::plan_of(unedited));  // an error without any edits is not theirs
    const std::string from = options.edits.empty() ? "--row" : options.edits;
    return naming(from, [&] {
        std::shared_ptr<const Plan> plan = core::plan_of(scenario, lens);
        const Sentence lacking = core::lacking_of_other(scenario, *plan);
        if (!lacking.empty()) throw Error(lacking);
        return plan;
    });
}

std::shared_ptr<const Run> run_of(const core::Scenario& scenario, const RunOptions& options,
                                  const std::vector<std::string>& asked) {
    const std::shared_ptr<const Plan> plan = plan_naming_files(scenario, options);
    const core::KeptTensors kept = core::kept_now(*plan, scenario.recording, scenario.memory);
    std::shared_ptr<const Run> run = execute(plan, {.asked = asked, .kept = kept.in_a_run()});
    const Sentence left_out = core::what_was_left_out(*run);
    if (scenario.recording == core::Recording::fit && !left_out.empty()) note(options, {left_out});
    return run;
}

}  // namespace decoderscope::cli
