#include "app/core/run/bounds.h"
#include "app/core/run/comparison.h"
#include "app/core/run/edit_groups.h"
#include "app/views/frame/place_choices.h"
#include "app/views/tabs/compare/tab.h"
#include "app/views/widgets/imgui_compat.h"
#include "engine/base/translate.h"

#include <algorithm>

namespace decoderscope::views::compare {

namespace {

// A choice of one of few, as a button.
struct Choice {
    Phrase title, tip;
    Phrase page = Phrase("");  // the title of what it shows
};
// What B is, from Against::unedited on; before that stand the places of the norms.
constexpr std::array kOthers = {
    Choice{message("Unedited"), message("The same run without its edits"), message("What the edits change")},
    Choice{message("Configuration"), message("The same weights and input with one configuration key changed"),
           message("The same weights, configured otherwise")},
    Choice{message("Pinned"), message("A run that was pinned before"), message("This run against a pinned one")},
    Choice{message("File"), message("A trace in a file, from here or from PyTorch, by the tensors' names"),
           message("This run against a file")},
    Choice{message("Bisect"), message("Where and why a recording of another program differs from this model"),
           message("Where two runs part, and why")}};
constexpr std::array kViews = {
    Choice{message("By depth"),
           message("How the residual stream, the updates and the norms change from block to block")},
    Choice{message("Step by step"), message("Which steps differ; the current step in both, and the difference")},
    Choice{message("One row"), message("What one norm does to one row of numbers")},
    Choice{message("Gradients"), message("How gradients grow from layer to layer before any training, by norm "
                                         "placement")}};

// Bisect measures relative to a tensor's magnitude; nothing: it tells rounding from a mistake.
// What is in one of them alone comes last: the others stay where they are.
constexpr std::array<double, 4> kTolerances = {1e-6, 1e-5, 1e-3, 0.0};
constexpr std::array<std::optional<double>, 4> kBisectTolerances = {1e-6, 1e-4, 1e-2, std::nullopt};

FlowItem tolerance_item(const Ui& ui, CompareTabState& tab) {
    const auto place = [](const auto& of, const auto& value) {
        return static_cast<int>(std::ranges::find(of, value) - of.begin());
    };
    if (tab.against == Against::bisect)
        return choice_item(
            ui, tr("tolerance"), "tolerance", {"1e-6", "1e-4", "1e-2", tr("auto")},
            place(kBisectTolerances, tab.bisect.question.tolerance),
            tr("A difference counts if it exceeds this fraction of the tensor's largest magnitude; auto: "
               "if it is no rounding"),
            [&tab](std::size_t i) { tab.bisect.question.tolerance = kBisectTolerances[i]; });
    return choice_item(ui, tr("tolerance"), "tolerance", {"1e-6", "1e-5", "1e-3", "0"},
                       place(kTolerances, tab.tolerance), tr("A larger |A − B| counts as a difference"),
                       [&tab](std::size_t i) { tab.tolerance = kTolerances[i]; });
}

// ---- what B is, more closely

void choose_option(const core::Session& session, CompareTabState& tab) {
    if (!begin_list("##option", (tab.option.first + " = " + tab.option.second).c_str(), ImGuiComboFlags_HeightLarge))
        return tooltip(tr("Configuration key that differs in B"));
    const core::Snapshot& shown = session.shown();
    const auto others = core::diff::shown_alternatives(session.derived(), shown.scenario, shown.run);
    if (!others) ImGui::TextUnformatted(tr("Being tried out …"));
    for (const auto& option : others ? others->options : Overrides())
        if (press_row((option.first + " = " + option.second).c_str(), option == tab.option)) tab.option = option;
    ImGui::EndCombo();
}

void add_configuration(std::vector<FlowItem>& items, const Ui& ui, const core::Session& session, ViewState& state,
                       float most) {
    CompareTabState& tab = state.part<CompareTabState>();
    if (!session.shown().scenario.computes()) {
        items.push_back(
            word_item(ui, tr("Recorded elsewhere: without weights no other configuration can be computed."), 0, most));
        return;
    }
    if (tab.option.first.empty()) tab.option = core::flipped_norm(session.shown().scenario);
    const float width = std::min(ui.px(260), most);
    items.push_back({width, ui.px(10), [&session, &tab, width] {
                         ImGui::SetNextItemWidth(width);
                         choose_option(session, tab);
                     }});
    items.push_back({button_width(tr("All keys …")), ui.px(10), [&state] {
                         if (button(tr("All keys …"), "keys")) state.show(Dialog::configuration);
                         tooltip(
                             tr("What if the whole model had another configuration: each key, to be changed in "
                                "this run"));
                     }});
    items.push_back(word_item(ui, tr("same weights, input and edits"), ui.px(10), most));
}

void add_pinned(std::vector<FlowItem>& items, const Ui& ui, const core::Session& session, float most,
                Commands& commands) {
    const auto& pinned = session.shown().pinned;
    const char* text = pinned ? tr("Pin this run instead") : tr("Pin this run");
    items.push_back({button_width(text), ui.px(10), [text, &commands] {
                         if (button(text, "pin")) commands.push_back(core::command::Pin{});
                         tooltip(tr("Keep this run to compare later runs with it"));
                     }});
    if (pinned) items.push_back(word_item(ui, tr("pinned: {label}", {{"label", pinned->label}}), ui.px(10), most));
}

void add_file(std::vector<FlowItem>& items, const Ui& ui, const core::Session& session, CompareTabState& tab,
              float most, Commands& commands) {
    const float compare = button_width(tr("Compare")), field = std::min(ui.px(300), most - compare - ui.px(4));
    items.push_back({field + compare + ui.px(4), ui.px(10), [&ui, &tab, field, &commands] {
                         ImGui::SetNextItemWidth(field);
                         bool entered = text_field("##trace", tab.typed, ImGuiInputTextFlags_EnterReturnsTrue,
                                                   tr("path of a trace: .safetensors, .npz, .json"));
                         ImGui::SameLine(0, ui.px(4));
                         if (button(tr("Compare"), "compare")) entered = true;
                         tooltip(tr("Read the file (again) and compare with it"));
                         const std::string path = tab.typed;
                         if (entered && !path.empty())
                             commands.push_back(tab.against == Against::bisect ? bisect_with_file(tab, path)
                                                                               : compare_with_file(tab, path));
                     }});
    if (const auto& file = session.shown().trace_file)
        items.push_back(word_item(
            ui,
            tr_n("{file}, {count} tensor", "{file}, {count} tensors", file->tensors.size(), {{"file", file->label}}),
            ui.px(10), most));
}

std::string edits_text(const core::Session& session) {
    const std::size_t edits = core::count_of_edits(session.shown().scenario.edits);
    const Sentence settings = core::changed_settings(session.shown().scenario);
    if (session.shown().scenario.dropout_seed)
        return edits == 0 ? tr("A is this run with dropout, B the same run without")
                          : tr_n("A is this run with dropout and {count} edit, B the same run without them",
                                 "A is this run with dropout and {count} edits, B the same run without them", edits);
    if (edits == 0) return tr("A is this run. It has no edits.");
    if (!settings.empty())
        return tr_n("A is this run ({settings}) with {count} edit, B the same run without",
                    "A is this run ({settings}) with {count} edits, B the same run without", edits,
                    {{"settings", settings}});
    return tr_n("A is this run with {count} edit, B the same run without",
                "A is this run with {count} edits, B the same run without", edits);
}

// ---- what the runs of norms are computed with

// Which of the three kinds of norm that can be switched: LayerNorms, RMSNorms, tanh.
std::size_t group_of(NormKind kind) { return kind == NormKind::dynamic_tanh ? 2 : is_centred(kind) ? 0 : 1; }

// The value of `norm`: the model's own if it is of this group, otherwise the plain one.
std::string norm_word(const Config& own, std::size_t group) {
    if (group != group_of(own.norm)) return group == 0 ? "layernorm" : "rmsnorm";
    const Overrides values = config_values(own);
    return std::ranges::find(values, "norm", &Overrides::value_type::first)->second;
}

// Only a model that has tanh can be switched back to it: no other has its alphas.
FlowItem kind_item(const Ui& ui, const core::Session& session, Commands& commands) {
    const Config own = session.fitting_scenario().model()->config();
    const std::size_t now = group_of(session.fitting_scenario().config().norm);
    std::vector<std::string> kinds = {"LayerNorm", "RMSNorm"};
    if (own.norm == NormKind::dynamic_tanh) kinds.emplace_back("tanh");
    return choice_item(ui, "", "kind", std::move(kinds), static_cast<int>(now), "",
                       [own, now, &commands](std::size_t i) {
                           if (i != now) commands.push_back(core::command::SetOption{"norm", norm_word(own, i)});
                       });
}

FlowItem layers_item(const Ui& ui, const core::Session& session, NormsState& norms) {
    const Index own = session.shown().scenario.config().num_layers;
    std::vector<Index> depths = {own};
    for (const Index depth : {Index{6}, Index{12}, core::bounds::kStackedLayers.most})
        if (depth != own) depths.push_back(depth);
    const std::string title = tr("blocks");
    float width = compat::text_size(ui.fonts.caption, title).x + ui.px(6);
    for (const Index depth : depths) width += button_width(std::to_string(depth).c_str()) + ui.px(2);
    return {
        width, ui.px(16), [&ui, &norms, own, depths, title] {
            word_before(ui, title);
            for (std::size_t i = 0; i < depths.size(); ++i) {
                const Index depth = depths[i];
                const std::string tip =
                    i == 0        ? tr("As many blocks as the model has")
                    : depth < own ? tr_n("Only the first block", "Only the first {count} blocks", depth)
                                  : tr_n("Stack {count} block.",
                                         "Stack {count} blocks: the added ones get fresh weights, as PyTorch would "
                                         "initialise them, from a seed. The model itself does not change.",
                                         depth);
                if (i > 0) ImGui::SameLine(0, ui.px(2));
                if (toggle_button(ui, std::to_string(depth).c_str(), norms.layers.value_or(own) == depth, tip.c_str()))
                    norms.layers = i == 0 ? std::nullopt : std::optional(depth);
            }
        }};
}

FlowItem factor_item(const Ui& ui, const char* title, std::vector<std::pair<std::string, float>> choices, float& factor,
                     const char* tip) {
    std::vector<std::string> texts;
    for (const auto& [text, value] : choices) texts.push_back(text);
    const auto now = std::ranges::find(choices, factor, [](const auto& choice) { return choice.second; });
    const int chosen = static_cast<int>(now - choices.begin());
    return choice_item(ui, title, title, std::move(texts), chosen, tip,
                       [choices = std::move(choices), &factor](std::size_t i) { factor = choices[i].second; });
}

// What both runs are computed with.
std::vector<FlowItem> switches_of_norms(const Ui& ui, const core::Session& session, NormsState& norms,
                                        Commands& commands) {
    std::vector<FlowItem> items = {layers_item(ui, session, norms)};
    items.push_back(kind_item(ui, session, commands));
    static constexpr std::array kUsual = {"0.01", "1"};
    const auto eps = core::number_choices(session.derived(), session.fitting_scenario(), "layer_norm_eps", kUsual);
    float width = compat::text_size(ui.fonts.caption, "eps").x + ui.px(6);
    for (const std::string& label : eps->labels()) width += button_width(label.c_str()) + ui.px(2);
    items.push_back({width, ui.px(16), [&ui, &commands, eps] {
                         word_before(ui, "eps");
                         choose_number(ui, "layer_norm_eps", *eps,
                                       tr("Added to the variance under the root: keeps the scale away from 0"),
                                       tr("What the model itself adds to the variance under the root"), commands);
                     }});
    items.push_back(factor_item(
        ui, tr("gain ×"), {{"½", 0.5F}, {"1", 1.0F}, {"2", core::bounds::kNormFactor.most}}, norms.gain_factor,
        tr("Multiplies the gains of all norms, in these two runs only. To change a single gain, go to One row.")));
    items.push_back(factor_item(
        ui, tr("shift ×"), {{"0", 0.0F}, {"1", 1.0F}}, norms.shift_factor,
        tr("Multiplies the shifts of all norms, in these two runs only. An untrained model has shifts of 0.")));
    return items;
}

// A button that opens them, one below the other.
FlowItem norm_item(const Ui& ui, const core::Session& session, NormsState& norms, Commands& commands) {
    std::string label = std::string(tr("Change the norm")) + "  ▾";
    return {button_width(label.c_str()), ui.px(16), [&ui, &session, &norms, &commands, label = std::move(label)] {
                if (!begin_menu_below(
                        ui, label, "change-norm",
                        tr("The number of blocks, the kind of norm, its eps, its gains and shifts, in both runs")))
                    return;
                for (const FlowItem& item : switches_of_norms(ui, session, norms, commands)) {
                    ImGui::BeginGroup();
                    item.draw();
                    ImGui::EndGroup();
                }
                ImGui::EndPopup();
            }};
}

// What is shown of both, and how they are computed: beside the title, where no view moves another.
std::vector<FlowItem> views_of(const Ui& ui, const core::Session& session, CompareTabState& tab, Commands& commands) {
    std::vector<FlowItem> items;
    const bool has_views = tab.against != Against::file && tab.against != Against::bisect;
    if (!has_views || !session.shown().scenario.computes()) return items;
    const bool norms = tab.against == Against::norms;
    if (norms) items.push_back(norm_item(ui, session, tab.norms, commands));
    // Gradients are measured of other stacks: its room stays.
    if (norms && tab.norms.view == View::gradients) items.back().draw = [] {};
    const std::size_t count = norms ? kViews.size() : kViews.size() - 1;
    for (std::size_t i = 0; i < count; ++i)
        items.push_back(toggle_item(ui, tr(kViews[i].title), kViews[i].title.english(),
                                    tab.shown_view() == static_cast<View>(i), tr(kViews[i].tip), ui.px(i == 0 ? 16 : 2),
                                    [&tab, i] { tab.shown_view() = static_cast<View>(i); }));
    return items;
}

std::vector<FlowItem> items_of(const Ui& ui, const core::Session& session, ViewState& state, float width,
                               Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    std::vector<FlowItem> items;
    if (tab.against == Against::unedited)
        items.push_back(word_item(ui, edits_text(session), ui.px(10), width));
    else if (tab.against == Against::configuration)
        add_configuration(items, ui, session, state, width);
    else if (tab.against == Against::pinned)
        add_pinned(items, ui, session, width, commands);
    else if (tab.against != Against::norms)
        add_file(items, ui, session, tab, width, commands);
    return items;
}

// What A is, where both are computed: the places of its norms. Another one goes to B's side.
void choose_place(const core::Session& session, CompareTabState& tab, NormPlacement core::Places::*which,
                  NormPlacement chosen) {
    core::Places places = compared_places(session, tab);
    if (places.left == chosen || places.right == chosen)
        std::swap(places.left, places.right);
    else
        places.*which = chosen;
    tab.norms.places = places;
}

// The four places; returns the one that was chosen just now.
std::optional<NormPlacement> choose_place(NormPlacement now, bool is_chosen) {
    std::optional<NormPlacement> chosen;
    for (const core::PlaceOfNorms& place : core::places_of_norms()) {
        const std::string label = std::string(tr(place.title)) + "   " + place.formula;
        if (press_row(labelled(label, place.word).c_str(), is_chosen && place.placement == now))
            chosen = place.placement;
        tooltip(tr(place.meaning));
    }
    return chosen;
}

// All that this run can be compared with.
void list_what_b_can_be(const Ui& ui, const core::Session& session, CompareTabState& tab) {
    const auto turn_to = [&](Against against) {
        if (tab.against != Against::norms) tab.other = tab.against;
        tab.against = against;
    };
    if (session.shown().scenario.computes()) {
        if (const auto place = choose_place(compared_places(session, tab).right, tab.against == Against::norms)) {
            if (*place != compared_places(session, tab).right) choose_place(session, tab, &core::Places::right, *place);
            turn_to(Against::norms);
        }
        section_line(ui);
    }
    for (std::size_t i = 0; i < kOthers.size(); ++i) {
        const auto against = static_cast<Against>(i + 1);
        if (press_row(labelled(tr(kOthers[i].title), kAgainstNames[i + 1]).c_str(), tab.against == against))
            turn_to(against);
        tooltip(tr(kOthers[i].tip));
    }
}

// "Pre-Norm against Post-Norm".
PageTitle title_of_both(const core::Session& session, const CompareTabState& tab) {
    if (tab.against != Against::norms) return {tr(kOthers[static_cast<std::size_t>(tab.against) - 1].page), {}};
    const core::Places places = compared_places(session, tab);
    const auto title = [](NormPlacement place) { return core::place_of_norms(place).title; };
    return {tr("{a} against {b}", {{"a", title(places.left)}, {"b", title(places.right)}}), tr("the same weights")};
}

}  // namespace

std::vector<FlowItem> selectors_of_both(const Ui& ui, const core::Session& session, ViewState& state, Commands&) {
    CompareTabState& tab = state.part<CompareTabState>();
    const Against against = against_now(session, tab);
    std::vector<FlowItem> items;
    Phrase b = Phrase("");
    if (against == Against::norms) {
        const core::Places places = compared_places(session, tab);
        const auto title = [](NormPlacement place) { return core::place_of_norms(place).title; };
        b = title(places.right);
        items.push_back(
            list_item(ui, state, tr("A: {run}", {{"run", title(places.left)}}), "pre-norm", [&session, &tab, places] {
                const auto place = choose_place(places.left, true);
                if (place && *place != places.left) choose_place(session, tab, &core::Places::left, *place);
            }));
    } else {
        b = kOthers[static_cast<std::size_t>(against) - 1].title;
        items.push_back(word_item(ui, tr("A: this run"), 0, ui.px(160)));
    }
    items.push_back(list_item(ui, state, tr("B: {run}", {{"run", b}}), "difference",
                              [&ui, &session, &tab] { list_what_b_can_be(ui, session, tab); }));
    return items;
}

void draw_choices_of_both(const Ui& ui, const core::Session& session, ViewState& state, Area& area,
                          Commands& commands) {
    CompareTabState& tab = state.part<CompareTabState>();
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(ui.px(6), ui.px(3)));
    std::vector<FlowItem> items = items_of(ui, session, state, area.width(), commands);
    const bool has_steps = tab.against == Against::file || tab.against == Against::bisect;
    if (has_steps || tab.shown_view() == View::step) items.push_back(tolerance_item(ui, tab));
    area.low.y += draw_titled(ui, title_of_both(session, tab), views_of(ui, session, tab, commands), area);
    draw_flow_on_top(ui, items, area, ui.px(2));
    ImGui::PopStyleVar();
}

}  // namespace decoderscope::views::compare
