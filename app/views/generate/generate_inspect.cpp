// What the inspector says beside the Generate tab.
#include "app/core/generate/generation.h"
#include "app/core/generate/generation_text.h"
#include "app/views/generate/generate_parts.h"
#include "app/views/shell/inspector_parts.h"
#include "app/views/widgets/terms.h"
#include "engine/translate.h"

namespace decoderscope {

namespace {

void say(const GenerateScene& scene, const std::vector<Sentence>& sentences) {
    for (const Sentence& sentence : sentences) {
        if (const GlossaryTerm* term =
                prose_with_terms(scene.ui, scene.state, scene.ui.fonts.text, scene.ui.theme.text, tr(sentence)))
            open_glossary(scene.state, term->id);
        ImGui::Dummy({1, scene.ui.px(2)});
    }
}

// A link to one number of the output, explained in the Step tab.
void link_to(const GenerateScene& scene, const std::string& text, const char* tensor, Index token, int id) {
    if (scene.run().plan().find(tensor) == nullptr) return;
    if (!link(scene.ui, scene.ui.fonts.caption, scene.ui.theme.accent, text, id)) return;
    scene.state.tab = kStepLab;
    scene.commands.push_back(command::Follow{tensor, {scene.row, scene.length - 1, token}});
}

void say_next_token(const GenerateScene& scene) {
    if (const std::string end = why_text_ends(scene.scenario(), scene.row); !end.empty())
        return paragraph(scene.ui.fonts.text, scene.ui.theme.text, end);
    const auto piece = [&](Index token) { return scene.piece(token); };
    const std::vector<Sentence> sentences = next_token_sentences(*scene.next, piece);
    if (sentences.empty())
        return paragraph(scene.ui.fonts.text, scene.ui.theme.muted, tr("There is nothing to draw from."));
    say(scene, sentences);
    const Index first = scene.next->next->candidates.front().token;
    const std::string token = piece(first);
    link_to(scene, tr("Explain the logit of “{token}” →", {{"token", token}}), "logits", first, 1);
    link_to(scene, tr("Explain the probability of “{token}” →", {{"token", token}}), "probs", first, 2);
}

void say_lens(const GenerateScene& scene) {
    const Companion* lens = scene.session.shown().companion(kLensRun);
    const Value<LensTable> table =
        lens != nullptr ? shown_lens(scene.session.derived(), lens->run, scene.row, scene.length) : Value<LensTable>();
    if (!table) return paragraph(scene.ui.fonts.text, scene.ui.theme.muted, tr("Computing …"));
    say(scene, lens_sentences(*table, scene.length - 1, [&](Index token) { return scene.piece(token); }));
}

void say_cache(const GenerateScene& scene) {
    const std::string attention = "blocks." + std::to_string(scene.tab().layer) + ".attn";
    const Tensor& k = scene.run().value(attention + ".k");  // [batch, kv_head, pos, d_head]
    if (k.rank() != 4) return;
    say(scene,
        {message("What is kept of layer {layer}: a key and a value of {width} numbers for each position and each "
                 "of {heads} heads. Later positions can't change them, because the causal mask hides what comes "
                 "later.",
                 {{"layer", scene.tab().layer}, {"width", k.dim(3)}, {"heads", k.dim(1)}})});
}

// The newest position, and the token that stands there.
std::string heading_of(const GenerateScene& scene) {
    return tr("After “{token}”, position {position}",
              {{"token", scene.piece(scene.token_at(scene.length - 1))}, {"position", scene.length - 1}});
}

}  // namespace

void inspect_generation(const Ui& ui, const Session& session, ViewState& state, Commands& commands) {
    const Scenario& scenario = session.shown().scenario;
    term_line(ui, state, ui.fonts.heading, ui.theme.text, tr("Generate"), find_term("generation"));
    if (const std::string obstacle = tr(generation_obstacle(scenario)); !obstacle.empty())
        return paragraph(ui.fonts.text, ui.theme.muted, obstacle);
    const GenerateScene scene = generate_scene(ui, session, state, commands);
    paragraph(ui.fonts.caption, ui.theme.muted, heading_of(scene));
    inspector_line(ui);
    switch (scene.tab().page) {
        case GeneratePage::next_token:
            return say_next_token(scene);
        case GeneratePage::cache:
            return say_cache(scene);
        case GeneratePage::lens:
            return say_lens(scene);
    }
}

}  // namespace decoderscope
