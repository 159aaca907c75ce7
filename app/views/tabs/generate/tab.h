#pragma once

#include "app/core/derived/derived.h"
#include "app/core/generate/shown_conversation.h"
#include "app/core/generate/shown_generation.h"
#include "app/core/generate/shown_passes.h"
#include "app/core/run/conversations.h"
#include "app/core/run/scenario.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/tab.h"
#include "app/views/frame/view_state.h"

#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views::generate {

[[nodiscard]] Tab generate_tab();

// What the Generate tab shows below the text.
enum class GeneratePage { next_token, messages, beams, draft, cache, passes, lens };

// The tokens that a logit lens was read over: of one batch row, in readable form.
struct LensQuestion {
    std::vector<std::string> tokens;
};

// The messages that are typed on the Messages page, and how they become a text.
struct MessagesDraft {
    std::shared_ptr<const load::Model> model;              // whose templates these are
    std::vector<core::KnownTemplate> templates;            // its own, then the formats
    Sentence unread;                                       // why its own can't be read; empty if they can
    std::optional<chat::Conversation> seen;                // the run's, when it was last looked at
    chat::Conversation conversation;                       // as it is asked for, but for its messages
    std::optional<std::vector<core::TypedMessage>> typed;  // nothing: messages that can't be typed
    std::optional<std::size_t> active;                     // the message that is being typed into
    bool asks_python = false;                              // to lay this conversation out
    Sentence refused;                                      // why Python could not
};

// What the Generate tab remembers from frame to frame.
struct GenerateTabState {
    GeneratePage page = GeneratePage::next_token;
    bool running = false;        // generates tokens at intervals until the end
    double next_token_at = 0.0;  // seconds, ImGui's clock
    Index layer = 0;             // whose k and v are shown
    bool proving = false;        // the cached pass is computed alongside the run, and compared
    Index lens_back = 0;         // columns by which the lens is scrolled back from the newest
    // Of which candidate, by rank, the temperature is sought that gives it this probability.
    std::size_t wanted_rank = 1;
    float wanted_probability = 0.25F;

    MessagesDraft messages;
    core::generate::BeamSearch beams;     // as it is asked for
    core::generate::DraftQuestion draft;  // as it is asked for, but for its sampling
    std::optional<std::size_t> beam;      // the node whose text is lit; nothing: the best text

    // What these pages show, each until the next is computed.
    core::LastAnswer<LensQuestion, core::generate::LensTable> lens;
    core::LastAnswer<Index, core::generate::ShownProof> proof;  // of a batch row
    core::LastAnswer<core::generate::PassesQuestion, core::generate::ShownPasses> passes;
    core::LastAnswer<core::generate::BeamSearch, core::generate::ShownBeams> found;
    core::LastAnswer<core::generate::DraftQuestion, core::generate::ShownDraft> speculated;
};

using core::files::kGenerateTab;

// Appends the next sampled token to the text of the cursor's batch row. Returns whether there is one.
bool generate_token(const core::Session& session, Commands& commands);
// Removes the last token of that row.
void step_back(const core::Session& session, Commands& commands);

// The parts of the Generate tab, one file each.

// The name of the companion run.
inline constexpr const char* kLensRun = "generate.lens";

// What every part draws from.
struct GenerateScene {
    const Ui& ui;
    const core::Session& session;
    ViewState& state;
    Commands& commands;
    Index row;     // of the batch
    Index length;  // its number of tokens
    core::Value<core::generate::ShownNextToken> next;

    [[nodiscard]] GenerateTabState& tab() const { return state.part<GenerateTabState>(); }
    [[nodiscard]] const core::Scenario& scenario() const { return session.shown().scenario; }
    [[nodiscard]] const Run& run() const { return *session.shown().run; }
    // A token in readable form: its piece on one line, or its id.
    [[nodiscard]] std::string piece(Index token) const;
    // The row's token at a position.
    [[nodiscard]] Index token_at(Index position) const;
};

// Why no token can be appended to a row, in one sentence; empty if one can.
[[nodiscard]] std::string why_text_ends(const core::Scenario& scenario, Index row);

// Back, next, run; temperature, top-k, top-p, seed. Returns the height used.
float draw_generate_controls(const GenerateScene& scene, Area area);
// The text as chips, generated tokens set apart from given ones. Returns the height used.
float draw_generated_text(const GenerateScene& scene, Area area);

// The most probable tokens before and after the cuts, and where the drawn number falls.
void draw_next_token(const GenerateScene& scene, Area area);
// Messages, the text that a chat template makes of them, and the labels; what there is to say of them.
void draw_messages(const GenerateScene& scene, Area area);
// A file of messages that was dropped on the page, laid out or not. Throws Error naming what is wrong with it.
[[nodiscard]] core::Command take_messages(MessagesDraft& draft, const std::shared_ptr<const load::Model>& model,
                                          const std::string& path);
[[nodiscard]] std::vector<Sentence> message_sentences(const GenerateScene& scene);
// The tree of beam search, and the texts that it found; what there is to say of it.
void draw_beams(const GenerateScene& scene, Area area);
[[nodiscard]] std::vector<Sentence> beam_sentences(const GenerateScene& scene);
// Speculative decoding, pass by pass: what a draft proposed, and what the model accepted; what there is to say of it.
void draw_draft(const GenerateScene& scene, Area area);
[[nodiscard]] std::vector<Sentence> draft_sentences(const GenerateScene& scene);
// The KV cache of a layer and head, and the proof that it changes nothing.
void draw_cache(const GenerateScene& scene, Area area);
// The passes of a text that is computed in several, each beside the whole text; what there is to say of them. One of
// them may be what the window shows, in which the other pages have nothing to say.
void draw_passes(const Ui& ui, const core::Session& session, ViewState& state, Area area, Commands& commands);
[[nodiscard]] std::vector<Sentence> pass_sentences(const ViewState& state);
// The next pass, or the one before; the whole text stands before the first.
void go_to_pass(const core::Session& session, int by, Commands& commands);
// The table of the logit lens.
void draw_lens(const GenerateScene& scene, Area area);

}  // namespace decoderscope::views::generate
