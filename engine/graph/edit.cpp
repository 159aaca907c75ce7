#include "engine/graph/edit.h"

#include "engine/base/error.h"
#include "engine/base/json_object.h"
#include "engine/base/translate.h"
#include "engine/graph/mixture.h"

namespace decoderscope {

namespace {

[[noreturn]] void fail(std::size_t number, const Sentence& why) {
    throw Error("edit {number}: {why}", {{"number", number}, {"why", why}});
}

// ---- into the plan

const Step& step_of(const Plan& plan, const std::string& attention, AttentionStep which) {
    const Ref step = plan.step_of(attention, which);
    if (step == nullptr)
        throw Error("{attention}: this model has no such attention, expected one such as blocks.0.attn",
                    {{"attention", attention}});
    return *step;
}

void check_index(const std::optional<Index>& index, const Axis& axis, const std::string& tensor) {
    if (index && (*index < 0 || *index >= axis.size))
        throw Error("{tensor}: {name} {index} is out of range, expected 0 to {highest}",
                    {{"tensor", tensor}, {"name", axis.name}, {"index", *index}, {"highest", axis.size - 1}});
}

void patch_step(Plan& plan, const Step& step, Patch patch) {
    if (patch.where.size() != step.axes.size())
        throw Error("{name}: {given} indices, expected {count}: {axes}", {{"name", step.name},
                                                                          {"given", patch.where.size()},
                                                                          {"count", step.axes.size()},
                                                                          {"axes", axes_text(step.axes)}});
    for (std::size_t i = 0; i < step.axes.size(); ++i) check_index(patch.where[i], step.axes[i], step.name);
    plan.patch(step.id, std::move(patch));
}

struct Applier {
    Plan& plan;

    void operator()(const MaskEdit& edit) const {
        const Step& mask = step_of(plan, edit.attention, AttentionStep::mask);
        patch_step(plan, mask,
                   {Patch::Kind::set, {edit.batch, edit.head, edit.query, edit.key}, edit.keep ? 1.0F : 0.0F});
    }

    void operator()(const ScaleHead& edit) const {
        const Step& z = step_of(plan, edit.attention, AttentionStep::z);
        patch_step(plan, z,
                   {Patch::Kind::multiply, {std::nullopt, edit.head, std::nullopt, std::nullopt}, edit.factor});
    }

    void operator()(const SetCell& edit) const {
        const Ref step = plan.find(edit.tensor);
        if (step == nullptr)
            throw Error("{tensor}: this run has no such tensor, expected a name of its trace, a weight or an input",
                        {{"tensor", edit.tensor}});
        patch_step(plan, *step, {Patch::Kind::set, {edit.index.begin(), edit.index.end()}, edit.value});
    }

    void operator()(const RouteExpert& edit) const {
        const std::optional<MixtureSteps> mixture = mixture_called(plan, edit.mlp);
        if (!mixture)
            throw Error("{mlp}: this model has no such mixture of experts, expected one such as blocks.0.mlp",
                        {{"mlp", edit.mlp}});
        const Step &scores = *mixture->scores, &expert = *mixture->expert;
        if (!edit.alone) return patch_step(plan, scores, {Patch::Kind::set, {edit.batch, edit.pos, edit.expert}, 0.0F});
        patch_step(plan, scores, {Patch::Kind::set, {edit.batch, edit.pos, std::nullopt}, 0.0F});
        patch_step(plan, scores, {Patch::Kind::set, {edit.batch, edit.pos, edit.expert}, 1.0F});
        // If a correction takes part in the choice, the best score need not come first.
        if (plan.operand(expert, OperandRole::bias) != nullptr)
            patch_step(plan, expert,
                       {Patch::Kind::set, {edit.batch, edit.pos, Index{0}}, static_cast<float>(edit.expert)});
    }

    void operator()(const RewriteStep&) const { throw std::logic_error("a formula is no edit of cells"); }
    void operator()(const AddRow&) const { throw std::logic_error("a row is no edit of cells"); }
};

// ---- from JSON

// An index; nothing for "*".
std::optional<Index> index_or_all(JsonObject& json, const char* key) {
    const Json& value = json.member(key, message("an index or \"*\""));
    if (value.is_string() && value.get<std::string>() == "*") return std::nullopt;
    return json.as_index(value, key);
}

Edit parse_edit(const Json& json, std::size_t number) {
    JsonObject object(json, "edit " + std::to_string(number) + ": ");
    const std::string kind = object.text("edit");
    Edit edit;
    if (kind == "mask") {
        const std::string attention = object.text("attention");
        const auto batch = index_or_all(object, "batch"), head = index_or_all(object, "head");
        const auto query = index_or_all(object, "query"), key = index_or_all(object, "key");
        edit = MaskEdit{attention, batch, head, query, key, object.boolean("keep")};
    } else if (kind == "scale_head") {
        const std::string attention = object.text("attention");
        const Index head = object.index("head");
        edit = ScaleHead{attention, head, object.real("factor")};
    } else if (kind == "set_cell") {
        const std::string tensor = object.text("tensor");
        Cell cell = object.indices("index");
        edit = SetCell{tensor, std::move(cell), object.real("value")};
    } else if (kind == "expert") {
        const std::string mlp = object.text("mlp");
        const Index expert = object.index("expert");
        const auto batch = index_or_all(object, "batch"), pos = index_or_all(object, "pos");
        const std::string use = object.text("use");
        if (use != "off" && use != "alone")
            fail(number, message("\"use\": \"{use}\", expected off or alone", {{"use", use}}));
        edit = RouteExpert{mlp, expert, batch, pos, use == "alone"};
    } else if (kind == "formula") {
        const std::string step = object.text("step");
        edit = RewriteStep{step, object.text("formula")};
    } else if (kind == "row") {
        const std::string name = object.text("name"), of = object.text("of", "");
        const std::string formula = object.text("formula");
        edit = AddRow{name, of, formula, object.boolean("must_hold", false)};
    } else {
        fail(number, message("unknown edit \"{kind}\"; expected mask, scale_head, set_cell, expert, formula or row",
                             {{"kind", kind}}));
    }
    object.finish();
    return edit;
}

// ---- to JSON

OrderedJson index_json(const std::optional<Index>& index) { return index ? OrderedJson(*index) : OrderedJson("*"); }

struct Writer {
    OrderedJson operator()(const MaskEdit& edit) const {
        return {{"edit", "mask"},
                {"attention", edit.attention},
                {"batch", index_json(edit.batch)},
                {"head", index_json(edit.head)},
                {"query", index_json(edit.query)},
                {"key", index_json(edit.key)},
                {"keep", edit.keep}};
    }
    OrderedJson operator()(const ScaleHead& edit) const {
        return {{"edit", "scale_head"},
                {"attention", edit.attention},
                {"head", edit.head},
                {"factor", float_to_json(edit.factor)}};
    }
    OrderedJson operator()(const SetCell& edit) const {
        return {
            {"edit", "set_cell"}, {"tensor", edit.tensor}, {"index", edit.index}, {"value", float_to_json(edit.value)}};
    }
    OrderedJson operator()(const RouteExpert& edit) const {
        return {{"edit", "expert"},
                {"mlp", edit.mlp},
                {"expert", edit.expert},
                {"batch", index_json(edit.batch)},
                {"pos", index_json(edit.pos)},
                {"use", edit.alone ? "alone" : "off"}};
    }
    OrderedJson operator()(const RewriteStep& edit) const {
        return {{"edit", "formula"}, {"step", edit.step}, {"formula", edit.formula}};
    }
    OrderedJson operator()(const AddRow& edit) const {
        OrderedJson json = {{"edit", "row"}, {"name", edit.name}};
        if (!edit.of.empty()) json["of"] = edit.of;
        json["formula"] = edit.formula;
        if (edit.must_hold) json["must_hold"] = true;
        return json;
    }
};

// ---- in words

std::string place(const char* axis, const std::optional<Index>& index) {
    return index ? tr("{axis} {index}", {{"axis", axis}, {"index", *index}}) : tr("every {axis}", {{"axis", axis}});
}

struct Describer {
    std::string operator()(const MaskEdit& edit) const {
        const std::initializer_list<Argument> places = {{"attention", edit.attention},
                                                        {"query", place("query", edit.query)},
                                                        {"key", place("key", edit.key)},
                                                        {"batch", place("batch", edit.batch)},
                                                        {"head", place("head", edit.head)}};
        return edit.keep ? tr("{attention}: {query} sees {key} ({batch}, {head})", places)
                         : tr("{attention}: {query} does not see {key} ({batch}, {head})", places);
    }
    std::string operator()(const ScaleHead& edit) const {
        if (edit.factor == 0.0F)
            return tr("{attention}: head {head} off", {{"attention", edit.attention}, {"head", edit.head}});
        return tr("{attention}: head {head} × {factor}", {{"attention", edit.attention},
                                                          {"head", edit.head},
                                                          {"factor", short_number(static_cast<double>(edit.factor))}});
    }
    std::string operator()(const SetCell& edit) const {
        return cell_name(edit.tensor, edit.index) + " = " + short_number(static_cast<double>(edit.value));
    }
    std::string operator()(const RouteExpert& edit) const {
        const std::initializer_list<Argument> where = {{"mlp", edit.mlp},
                                                       {"expert", edit.expert},
                                                       {"position", edit.pos.value_or(0)},
                                                       {"batch", place("batch", edit.batch)}};
        if (!edit.pos)
            return edit.alone ? tr("{mlp}: every position to expert {expert} alone ({batch})", where)
                              : tr("{mlp}: expert {expert} off ({batch})", where);
        return edit.alone ? tr("{mlp}: position {position} to expert {expert} alone ({batch})", where)
                          : tr("{mlp}: expert {expert} off at position {position} ({batch})", where);
    }
    std::string operator()(const RewriteStep& edit) const { return edit.step + ": " + edit.formula; }
    std::string operator()(const AddRow& edit) const {
        const std::initializer_list<Argument> row = {{"name", row_name(edit)}, {"formula", edit.formula}};
        return edit.must_hold ? tr("row {name}, must hold: {formula}", row) : tr("row {name}: {formula}", row);
    }
};

}  // namespace

void patch_cells(Plan& plan, const Edit& edit) { std::visit(Applier{plan}, edit); }

std::string row_name(const AddRow& row) { return row.of.empty() ? row.name : row.of + "." + row.name; }

std::vector<Edit> edits_of(const Json& list) {
    if (!list.is_array()) throw Error("not a JSON list, expected a list of edits");
    std::vector<Edit> edits;
    for (const Json& item : list) edits.push_back(parse_edit(item, edits.size()));
    return edits;
}

OrderedJson json_of(const std::vector<Edit>& edits) {
    OrderedJson list = OrderedJson::array();
    for (const Edit& edit : edits) list.push_back(std::visit(Writer{}, edit));
    return list;
}

std::vector<Edit> parse_edits(std::string_view json) { return edits_of(parse_json(json, message("a list of edits"))); }

std::string edits_to_json(const std::vector<Edit>& edits) { return json_of(edits).dump(2); }

std::string describe(const Edit& edit) { return std::visit(Describer{}, edit); }

}  // namespace decoderscope
