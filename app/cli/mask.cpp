#include "app/cli/commands.h"
#include "app/core/tabs/masks/mask_words.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

namespace decoderscope::cli {

namespace {

struct MaskRequest {
    std::string attention, api;
    bool json = false;
};

using core::masks::MaskInWords;

std::vector<MaskInWords> asked_for(const RunOptions& options, const MaskRequest& request) {
    const core::Scenario scenario = scenario_of(options);
    const std::shared_ptr<const Plan> plan = plan_naming_files(scenario, options);
    const std::vector<std::string> blocks = plan->blocks(StackKind::decoder);
    const std::string first = blocks.empty() ? std::string() : plan->attention_in(blocks.front());
    const std::string attention = request.attention.empty() ? first : request.attention;
    if (plan->step_of(attention, AttentionStep::mask) == nullptr)
        throw Error("--attention {attention}: this model has no such attention, expected one such as {example}",
                    {{"attention", attention}, {"example", first}});
    std::vector<MaskInWords> all = core::masks::in_other_words(scenario, *plan, attention);
    if (request.api.empty()) return all;
    std::string known;
    for (const MaskInWords& one : all) known += (known.empty() ? "" : ", ") + one.api;
    std::erase_if(all, [&](const MaskInWords& one) { return one.api != request.api; });
    if (all.empty()) throw Error("--api {api}: expected one of {known}", {{"api", request.api}, {"known", known}});
    return all;
}

void write_text(std::ostream& out, const std::vector<MaskInWords>& all) {
    for (const MaskInWords& words : all) {
        out << words.api << "\n";
        for (const std::string& line : words.code) out << "    " << line << "\n";
        if (!words.kept.empty()) out << "  kept: " << words.kept << ", hidden: " << words.hidden << "\n";
        if (!words.unsaid.empty()) out << "  it does not say: " << tr(words.unsaid) << "\n";
        out << "  a row that sees no key: " << tr(words.empty_row) << "\n";
        if (!words.caution.empty()) out << "  " << tr(words.caution) << "\n";
        out << "  " << words.source << "\n\n";
    }
}

void write_json(std::ostream& out, const std::vector<MaskInWords>& all) {
    OrderedJson list = OrderedJson::array();
    for (const MaskInWords& words : all)
        list.push_back({{"api", words.api},
                        {"code", words.code},
                        {"kept", words.kept},
                        {"hidden", words.hidden},
                        {"unsaid", words.unsaid.english()},
                        {"empty_row", words.empty_row.english()},
                        {"caution", words.caution.english()},
                        {"source", words.source}});
    out << list.dump(2) << "\n";
}

}  // namespace

void add_mask(CLI::App& app, const Context& context) {
    const auto request = std::make_shared<MaskRequest>();
    CLI::App& command =
        add_running(app, context, "mask", "Say an attention's mask in the words of PyTorch, JAX, Keras and others");
    command.add_option("--attention", request->attention,
                       "which one, such as blocks.0.cross_attn (the decoder's first)");
    command.add_option("--api", request->api, "only in this one's words, such as torch.nn.MultiheadAttention");
    command.add_flag("--json", request->json, "machine-readable output");
    command.callback([context, request] {
        context.work = [context, request] {
            const std::vector<MaskInWords> all = asked_for(context.run, *request);
            if (request->json)
                write_json(context.out, all);
            else
                write_text(context.out, all);
        };
    });
}

}  // namespace decoderscope::cli
