#include "app/core/bisect/bisection_text.h"

#include "app/core/text/labels.h"
#include "engine/json.h"
#include "engine/translate.h"

#include <cmath>
#include <cstdio>

namespace decoderscope {

namespace {

using Json = nlohmann::ordered_json;

std::string measure(double value) {
    if (!std::isfinite(value)) return "∞";
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(value > 0.0 ? "inf" : "nan"); }

const char* basis_word(Basis basis) {
    switch (basis) {
        case Basis::name:
            return "name";
        case Basis::call:
            return "call";
        case Basis::value:
            return "value";
        case Basis::place:
            return "place";
    }
    return "";
}

Json json_of(const Cause& cause) {
    Json json = {{"name", cause.name},
                 {"cause", cause.sentence.english()},
                 {"explains", cause.explains},
                 {"remains", number(cause.remains)}};
    json["next"] = cause.next.empty() ? Json() : Json(cause.next);
    if (cause.harmless) json["harmless"] = true;
    return json;
}

Json causes_json(const std::vector<Cause>& causes) {
    Json list = Json::array();
    for (const Cause& cause : causes) list.push_back(json_of(cause));
    return list;
}

Json matches_json(const Bisection& bisection) {
    Json list = Json::array();
    for (const TensorCheck& check : bisection.checks) {
        if (!check.is_computed) continue;
        Json entry = {{"ours", check.ours},
                      {"theirs", check.theirs},
                      {"by", basis_word(check.match.basis)},
                      {"relative", number(check.relative)},
                      {"differs", check.differs}};
        if (check.harmless) entry["harmless"] = true;
        if (check.factor != 1.0) entry["factor"] = check.factor;
        list.push_back(std::move(entry));
    }
    return list;
}

std::string line_of(const Cause& cause) {
    std::string line = "  " + cause.name + ": " + cause.sentence.english();
    if (!cause.explains)
        return line + tr(" It comes nearer: {remains} of the tensor's magnitude remains.",
                         {{"remains", measure(cause.remains)}});
    line += cause.next.empty()
                ? tr(" With it, everything agrees.")
                : tr(" With it, this tensor agrees; {next} is the next that differs.", {{"next", cause.next}});
    if (cause.harmless) line += tr(" It looks wrong and is (nearly) harmless.");
    return line;
}

std::string cell_text(const Bisection& bisection) {
    std::string text;
    if (!bisection.cell.ours.empty()) text += std::string(tr("Here:")) + "\n";
    for (const std::string& line : bisection.cell.ours) text += "  " + line + "\n";
    if (!bisection.cell.theirs.empty()) text += std::string(tr("There, with the likeliest cause:")) + "\n";
    for (const std::string& line : bisection.cell.theirs) text += "  " + line + "\n";
    return text;
}

std::string isolated_text(const Bisection& bisection) {
    std::string text;
    for (const IsolatedBlock& isolated : bisection.isolated)
        text += isolated.differs ? tr("{block}, run on their input: {first} differs",
                                      {{"block", isolated.block}, {"first", *isolated.differs}}) +
                                       "\n"
                                 : tr("{block}, run on their input: agrees", {{"block", isolated.block}}) + "\n";
    return text;
}

std::string head(const Bisection& bisection) {
    if (!bisection.first)
        return tr_n(
                   "{count} tensor agrees: the largest difference is {largest}, the tolerance {tolerance} of a "
                   "tensor's "
                   "magnitude.",
                   "{count} tensors agree: the largest difference is {largest}, the tolerance {tolerance} of a "
                   "tensor's "
                   "magnitude.",
                   bisection.agreed_before,
                   {{"largest", measure(bisection.largest)}, {"tolerance", measure(bisection.tolerance)}}) +
               "\n";
    const TensorCheck& check = bisection.checks[*bisection.first];
    std::string text =
        tr("First difference: {ours}, theirs {theirs}.", {{"ours", check.ours}, {"theirs", check.theirs}}) + "\n";
    if (check.other_shape)
        text += std::string(tr("Its shape is another.")) + "\n";
    else
        text += tr("Worst cell: {cell}: here {ours}, there {theirs}; {relative} of the tensor's magnitude, the "
                   "tolerance is "
                   "{tolerance}.",
                   {{"cell", cell_name(check.ours, check.cell)},
                    {"ours", short_number(static_cast<double>(check.our_value))},
                    {"theirs", short_number(static_cast<double>(check.their_value))},
                    {"relative", measure(check.relative)},
                    {"tolerance", measure(bisection.tolerance)}}) +
                "\n";
    text += tr_n("{count} tensor before it agrees, to within {largest}.",
                 "{count} tensors before it agree, to within {largest}.", bisection.agreed_before,
                 {{"largest", measure(bisection.largest)}}) +
            "\n";
    std::string from;
    for (const std::string& name : bisection.cell.made_from) from += (from.empty() ? "" : ", ") + name;
    if (!from.empty()) text += tr("Made from {names}.", {{"names", from}}) + "\n";
    return text;
}

}  // namespace

std::string bisection_text(const Bisection& bisection) {
    std::string text = head(bisection);
    if (bisection.first) {
        text += cell_text(bisection);
        text += bisection.causes.empty() ? std::string(tr("No cause that was tried explains it.")) + "\n"
                                         : std::string(tr("Causes:")) + "\n";
        for (const Cause& cause : bisection.causes) text += line_of(cause) + "\n";
        if (!bisection.further.empty()) text += std::string(tr("And then:")) + "\n";
        for (const Cause& cause : bisection.further) text += line_of(cause) + "\n";
        text += isolated_text(bisection);
    }
    if (!bisection.unmatched.empty()) {
        std::string names;
        for (const std::string& name : bisection.unmatched) names += (names.empty() ? "" : ", ") + name;
        text += tr("Not compared: {names}", {{"names", names}}) + "\n";
    }
    for (const Sentence& remark : bisection.remarks) text += tr("Note: {remark}", {{"remark", remark}}) + "\n";
    return text;
}

std::string bisection_json(const Bisection& bisection) {
    Json json;
    const TensorCheck* check = bisection.first ? &bisection.checks[*bisection.first] : nullptr;
    json["first"] = check == nullptr ? Json() : Json(check->ours);
    json["theirs"] = check == nullptr ? Json() : Json(check->theirs);
    json["largest"] = number(check == nullptr ? bisection.largest : check->largest);
    json["cell"] = check == nullptr ? Json::array() : Json(check->cell);
    json["agreed_before"] = bisection.agreed_before;
    json["unmatched"] = bisection.unmatched;
    json["tolerance"] = bisection.tolerance;
    if (check != nullptr) {
        json["relative"] = number(check->relative);
        json["values"] = {{"ours", float_to_json(check->our_value)}, {"theirs", float_to_json(check->their_value)}};
        json["made_from"] = bisection.cell.made_from;
        json["causes"] = causes_json(bisection.causes);
        json["further"] = causes_json(bisection.further);
        Json isolated = Json::array();
        for (const IsolatedBlock& block : bisection.isolated)
            isolated.push_back({{"block", block.block}, {"first", block.differs ? Json(*block.differs) : Json()}});
        json["isolated"] = std::move(isolated);
        json["explained"] = {{"ours", bisection.cell.ours}, {"theirs", bisection.cell.theirs}};
    }
    json["matches"] = matches_json(bisection);
    Json remarks = Json::array();
    for (const Sentence& remark : bisection.remarks) remarks.push_back(remark.english());
    json["remarks"] = std::move(remarks);
    return json.dump(1) + "\n";
}

}  // namespace decoderscope
