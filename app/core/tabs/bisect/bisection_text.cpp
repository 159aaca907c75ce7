#include "app/core/tabs/bisect/bisection_text.h"

#include "app/core/run/labels.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"

#include <array>
#include <cmath>
#include <cstdio>

namespace decoderscope::core::bisect {

namespace {

std::string measure(double value) {
    if (!std::isfinite(value)) return "∞";
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

OrderedJson number(double value) {
    return std::isfinite(value) ? OrderedJson(value) : OrderedJson(value > 0.0 ? "inf" : "nan");
}

// How a match was found, in the order of trace::Basis: for machines, and in a sentence.
struct NamedBasis {
    const char* word;
    Phrase phrase;
};
constexpr std::array<NamedBasis, 6> kBases = {{
    {"name", message("its name")},
    {"call", message("the call that it was recorded in")},
    {"returned", message("the recorded model, which returned it")},
    {"value", message("its numbers")},
    {"place", message("its place in the order")},
    {"chosen", message("your choice")},
}};
const NamedBasis& named(trace::Basis basis) { return kBases[static_cast<std::size_t>(basis)]; }

// The contract's words.
constexpr std::array<const char*, 5> kVerdicts = {
    "agrees", "rounding",
    "rounding that changes a prediction",  // not a message: a word of the contract
    "rounding that changes an expert",     // not a message: a word of the contract
    "differs"};

OrderedJson json_of(const Cause& cause) {
    OrderedJson json = {{"name", cause.name},
                        {"cause", cause.sentence.english()},
                        {"explains", cause.explains},
                        {"remains", number(cause.remains)}};
    json["next"] = cause.next.empty() ? OrderedJson() : OrderedJson(cause.next);
    if (cause.harmless) json["harmless"] = true;
    return json;
}

OrderedJson causes_json(const std::vector<Cause>& causes) {
    OrderedJson list = OrderedJson::array();
    for (const Cause& cause : causes) list.push_back(json_of(cause));
    return list;
}

OrderedJson matches_json(const Bisection& bisection) {
    OrderedJson list = OrderedJson::array();
    for (const TensorCheck& check : bisection.checks) {
        if (!check.is_computed) continue;
        OrderedJson entry = {{"ours", check.ours},
                             {"theirs", check.theirs},
                             {"by", named(check.match.basis).word},
                             {"relative", number(check.relative)},
                             {"ulps", number(check.judged.ulps)},
                             {"apart", check.judged.apart},
                             {"way", check.judged.way},
                             {"differs", check.differs}};
        if (check.harmless) entry["harmless"] = true;
        if (check.factor != 1.0) entry["factor"] = check.factor;
        list.push_back(std::move(entry));
    }
    return list;
}

std::string cell_text(const Bisection& bisection) {
    std::string text;
    if (!bisection.cell.ours.empty()) text += std::string(tr("Here:")) + "\n";
    for (const std::string& line : bisection.cell.ours) text += "  " + line + "\n";
    if (!bisection.cell.theirs.empty()) text += std::string(tr("There, with the likeliest cause:")) + "\n";
    for (const std::string& line : bisection.cell.theirs) text += "  " + line + "\n";
    return text;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
}

// The first of many names alone: `--json` has all of them.
std::string names_text(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() <= kMost) return text;
    return text + " " + tr_n("… and {count} more", "… and {count} more", names.size() - kMost);
}

std::string worst_cell(const Bisection& bisection, const TensorCheck& check) {
    const Arguments cell = {{"cell", cell_name(check.ours, check.cell)},
                            {"ours", short_number(static_cast<double>(check.our_value))},
                            {"theirs", short_number(static_cast<double>(check.their_value))},
                            {"relative", measure(check.relative)},
                            {"tolerance", measure(bisection.tolerance)}};
    if (bisection.by_tolerance)
        return tr(message(
            "Worst cell: {cell}: here {ours}, there {theirs}; {relative} of the tensor's magnitude, the tolerance is "
            "{tolerance}.",
            cell));
    const std::string worst =
        tr(message("Worst cell: {cell}: here {ours}, there {theirs}; {relative} of the tensor's magnitude.", cell));
    if (check.judged.why.empty()) return worst;
    return worst + " " + tr("That is not rounding: {why}.", {{"why", check.judged.why}});
}

// What is said if nothing differs.
std::string agreement(const Bisection& bisection) {
    const Arguments what = {{"largest", measure(bisection.largest)},
                            {"tolerance", measure(bisection.tolerance)},
                            {"type", std::string(name_of(bisection.arithmetic))}};
    if (bisection.by_tolerance)
        return tr_n(
            "{count} tensor agrees: the largest difference is {largest}, the tolerance {tolerance} of a "
            "tensor's magnitude.",
            "{count} tensors agree: the largest difference is {largest}, the tolerance {tolerance} of a "
            "tensor's magnitude.",
            bisection.agreed_before, what);
    if (bisection.verdict == Verdict::agrees)
        return tr_n("{count} tensor agrees: the largest difference is {largest}, no more than rounding.",
                    "{count} tensors agree: the largest difference is {largest}, no more than rounding.",
                    bisection.agreed_before, what);
    std::string text = tr_n(
        "Rounding: what was recorded of {count} tensor is what its operands give in {type}, in one "
        "order of computation or another.",
        "Rounding: what was recorded of {count} tensors is what their operands give in {type}, in "
        "one order of computation or another.",
        bisection.agreed_before, what);
    if (bisection.verdict == Verdict::changes_prediction)
        text += std::string(" ") + tr("It adds up to another prediction.");
    if (bisection.verdict == Verdict::changes_expert) text += std::string(" ") + tr("It adds up to another expert.");
    return text;
}

}  // namespace

std::string line_of_code(const Bisection& bisection) {
    trace::CodeLine line = bisection.line;
    if (!bisection.made_by_line)
        line.text = line.text.empty() ? tr("it is read here, and made before")
                                      : tr("it is read here, and made before: {code}", {{"code", line.text}});
    return text_of(line);
}

namespace {

// What differs first, which line of theirs it comes from, and why.
std::string first_sentence(const Bisection& bisection, const TensorCheck& check) {
    const trace::CodeLine& line = bisection.line;
    std::string sentence = line.file.empty() ? tr("First difference: {ours}, theirs {theirs}.",
                                                  {{"ours", check.ours}, {"theirs", check.theirs}})
                                             : tr("First difference: {ours}, theirs {theirs}, at {line}.",
                                                  {{"ours", check.ours},
                                                   {"theirs", check.theirs},
                                                   {"line", line.file + ":" + std::to_string(line.line)}});
    if (!bisection.causes.empty() && bisection.causes.front().explains)
        sentence += " " + std::string(tr(bisection.causes.front().sentence));
    else if (!bisection.relation.empty())
        sentence += " " + without_cause(bisection);
    return sentence;
}

}  // namespace

std::vector<std::string> bisection_head(const Bisection& bisection) {
    std::vector<std::string> lines;
    if (!bisection.unfinished.empty()) lines.push_back(tr("Not whole: {why}.", {{"why", bisection.unfinished}}));
    for (const Sentence& apart : bisection.apart) lines.push_back(tr("Differs: {how}.", {{"how", apart}}));
    if (!bisection.not_compared.empty() && bisection.first_not_compared)
        lines.push_back(
            tr("{count} of {all} recorded tensors were compared; the first that wasn't: {name}.",
               {{"count", bisection.compared}, {"all", bisection.recorded}, {"name", *bisection.first_not_compared}}));
    for (const Sentence& sentence : bisection.not_compared)
        lines.push_back(tr("Not compared: {sentence}.", {{"sentence", sentence}}));
    if (!bisection.first) {
        if (bisection.passes > 1)
            lines.push_back(tr("{count} calls of the recorded model, each behind what is kept of those before it:",
                               {{"count", bisection.passes}}));
        lines.push_back(agreement(bisection));
        return lines;
    }
    if (bisection.pass > 0)
        lines.push_back(tr_n("Pass {number}: {count} position behind {kept} kept ones. The passes before it agree.",
                             "Pass {number}: {count} positions behind {kept} kept ones. The passes before it agree.",
                             bisection.computed, {{"number", bisection.pass + 1}, {"kept", bisection.kept}}));
    const TensorCheck& check = bisection.checks[*bisection.first];
    lines.push_back(first_sentence(bisection, check));
    if (std::string code = line_of_code(bisection); !code.empty()) lines.push_back(std::move(code));
    lines.push_back(check.other_shape ? std::string(tr("It has another shape.")) : worst_cell(bisection, check));
    lines.push_back(tr_n("{count} tensor before it agrees, to within {largest}.",
                         "{count} tensors before it agree, to within {largest}.", bisection.agreed_before,
                         {{"largest", measure(bisection.largest)}}));
    if (const std::string from = names_text(bisection.cell.made_from); !from.empty())
        lines.push_back(tr("Computed from {names}.", {{"names", from}}));
    return lines;
}

std::string without_cause(const Bisection& bisection) {
    if (bisection.relation.empty()) return tr("No cause that was tried explains it.");
    return tr("No mistake that was tried explains it, but: {relation}.", {{"relation", bisection.relation}});
}

std::string cause_remark(const Cause& cause) {
    if (!cause.explains)
        return tr("The difference shrinks to {remains} of the tensor's magnitude.",
                  {{"remains", measure(cause.remains)}});
    std::string remark = cause.next.empty() ? tr("With it, everything agrees.")
                                            : tr("With it, this tensor agrees; {next} is the next that differs.",
                                                 {{"next", cause.next}});
    if (cause.harmless) remark += std::string(" ") + tr("It looks wrong, but is (nearly) harmless.");
    return remark;
}

std::string cause_line(const Cause& cause) {
    return cause.name + ": " + tr(cause.sentence) + " " + cause_remark(cause);
}

std::string isolated_line(const IsolatedBlock& isolated) {
    return isolated.differs ? tr("{block}, run on the recorded input: {first} differs",
                                 {{"block", isolated.block}, {"first", *isolated.differs}})
                            : tr("{block}, run on the recorded input: agrees", {{"block", isolated.block}});
}

std::vector<std::string> bisection_notes(const Bisection& bisection) {
    std::vector<std::string> lines;
    for (const Sentence& remark : bisection.remarks) lines.push_back(tr("Note: {remark}", {{"remark", remark}}));
    return lines;
}

std::vector<std::string> check_lines(const TensorCheck& check) {
    std::vector<std::string> lines = {tr("aligned by {basis}", {{"basis", tr(named(check.match.basis).phrase)}})};
    if (check.other_shape) {
        lines.emplace_back(tr("It has another shape."));
    } else if (!check.cell.empty()) {
        lines.push_back(tr("largest at {cell}: here {ours}, there {theirs}",
                           {{"cell", cell_name("", check.cell)},
                            {"ours", short_number(static_cast<double>(check.our_value))},
                            {"theirs", short_number(static_cast<double>(check.their_value))}}));
    }
    if (check.harmless) lines.emplace_back(tr("It is written differently, but what is computed from it agrees."));
    return lines;
}

std::string difference_of(const TensorCheck& check) {
    if (check.other_shape) return tr("another shape");
    return check.relative == 0.0 ? tr("equal") : measure(check.relative);
}

std::string bisection_text(const Bisection& bisection) {
    std::string text = joined(bisection_head(bisection));
    if (bisection.first) {
        text += cell_text(bisection);
        if (bisection.causes.empty() && bisection.relation.empty()) text += without_cause(bisection) + "\n";
        if (!bisection.causes.empty()) text += std::string(tr("Causes:")) + "\n";
        for (const Cause& cause : bisection.causes) text += "  " + cause_line(cause) + "\n";
        if (!bisection.further.empty()) text += std::string(tr("And then:")) + "\n";
        for (const Cause& cause : bisection.further) text += "  " + cause_line(cause) + "\n";
        for (const IsolatedBlock& isolated : bisection.isolated) text += isolated_line(isolated) + "\n";
    }
    if (!bisection.unmatched.empty())
        text += tr("Not compared: {names}", {{"names", names_text(bisection.unmatched)}}) + "\n";
    return text + joined(bisection_notes(bisection));
}

OrderedJson json_of(const trace::CodeLine& line) {
    if (line.file.empty()) return {};
    return {{"file", line.file}, {"line", line.line}, {"text", line.text}};
}

std::string bisection_json(const Bisection& bisection) {
    OrderedJson json;
    const TensorCheck* check = bisection.first ? &bisection.checks[*bisection.first] : nullptr;
    json["first"] = check == nullptr ? OrderedJson() : OrderedJson(check->ours);
    json["theirs"] = check == nullptr ? OrderedJson() : OrderedJson(check->theirs);
    json["line"] = json_of(bisection.line);
    if (!json["line"].is_null()) json["line"]["made"] = bisection.made_by_line;
    json["largest"] = number(check == nullptr ? bisection.largest : check->largest);
    json["cell"] = check == nullptr ? OrderedJson::array() : OrderedJson(check->cell);
    json["agreed_before"] = bisection.agreed_before;
    json["compared"] = bisection.compared;
    json["recorded"] = bisection.recorded;
    json["first_not_compared"] =
        bisection.first_not_compared ? OrderedJson(*bisection.first_not_compared) : OrderedJson();
    json["unmatched"] = bisection.unmatched;
    json["passes"] = bisection.passes;
    json["pass"] = check == nullptr ? OrderedJson() : OrderedJson(bisection.pass);
    json["not_compared"] = OrderedJson::array();
    for (const Sentence& sentence : bisection.not_compared) json["not_compared"].push_back(sentence.english());
    json["verdict"] = kVerdicts[static_cast<std::size_t>(bisection.verdict)];
    json["relation"] = bisection.relation.empty() ? OrderedJson() : OrderedJson(bisection.relation.english());
    json["why"] =
        check == nullptr || check->judged.why.empty() ? OrderedJson() : OrderedJson(check->judged.why.english());
    json["arithmetic"] = name_of(bisection.arithmetic);
    json["tolerance"] = bisection.tolerance;
    if (check != nullptr) {
        json["relative"] = number(check->relative);
        json["values"] = {{"ours", float_to_json(check->our_value)}, {"theirs", float_to_json(check->their_value)}};
        json["made_from"] = bisection.cell.made_from;
        json["causes"] = causes_json(bisection.causes);
        // What theirs are to ours explains the tensor as well, if no mistake that was tried does.
        if (!bisection.relation.empty())
            json["causes"].insert(json["causes"].begin(),
                                  causes_json({{"relation", bisection.relation, true}}).front());
        json["further"] = causes_json(bisection.further);
        OrderedJson isolated = OrderedJson::array();
        for (const IsolatedBlock& block : bisection.isolated)
            isolated.push_back(
                {{"block", block.block}, {"first", block.differs ? OrderedJson(*block.differs) : OrderedJson()}});
        json["isolated"] = std::move(isolated);
        json["explained"] = {{"ours", bisection.cell.ours}, {"theirs", bisection.cell.theirs}};
    }
    json["matches"] = matches_json(bisection);
    const auto listed = [](const std::vector<Sentence>& sentences) {
        OrderedJson list = OrderedJson::array();
        for (const Sentence& sentence : sentences) list.push_back(sentence.english());
        return list;
    };
    json["apart"] = listed(bisection.apart);
    json["unfinished"] = bisection.unfinished.empty() ? OrderedJson() : OrderedJson(bisection.unfinished.english());
    json["remarks"] = listed(bisection.remarks);
    json["assumed"] = listed(bisection.assumed);
    json["text"] = bisection_text(bisection);
    return json.dump(1) + "\n";
}

}  // namespace decoderscope::core::bisect
