#pragma once

#include "app/core/language/languages.h"
#include "app/core/lessons/progress.h"
#include "app/core/session/session.h"
#include "app/views/frame/commands.h"
#include "app/views/frame/view_state.h"
#include "app/window/frontend.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace decoderscope::views {
struct Fonts;
}

namespace decoderscope::app {

// The program as the window sees it: each frame draws the session and applies the user's commands.
class Application : public window::Frontend {
public:
    explicit Application(const core::Scenario& scenario, std::function<void()> wake = {});
    Application(const core::files::SavedSession& work, const core::FirstRuns& first, std::function<void()> wake);

    bool frame(views::Textures& textures) override;
    void use_fonts(const views::Fonts& fonts) override;
    [[nodiscard]] float text_scale(ImVec2 window) override;
    [[nodiscard]] bool wants_full_screen() const override { return state_.presenting; }
    void surroundings_changed() override;
    void dropped(std::span<const std::string> paths) override;
    [[nodiscard]] std::string title() const override;
    [[nodiscard]] std::string report() const override;
    void go_to(const std::string& place) override;
    void note_document() override { state_.document.collect(); }
    [[nodiscard]] std::string document() const override;
    void press(std::uint32_t id) override { state_.document.press(id); }
    void press_cell(const std::string& table, std::int64_t row, std::int64_t column) override;
    [[nodiscard]] bool wants_to_close() const override { return closes_; }
    [[nodiscard]] bool may_close() override;
    [[nodiscard]] double next_wake() const override;
    void advance(core::JobRunner::Clock::time_point until) override;
    [[nodiscard]] bool works() const override;
    void ended(bool closed_by_user) override { session_.end(closed_by_user); }

    // Loads the settings from a file, and saves them there from now on. Speaks the language that they ask for.
    void remember_settings(std::string path);

    // Keeps the lessons' progress in a file.
    void remember_lessons(std::string path);
    // Opens a lesson beside the stage.
    void open(std::shared_ptr<const core::lessons::Lesson> lesson);

    // Says in the window what failed, such as why it opens something other than what was asked for.
    void say(const Sentence& failure) { session_.apply(core::command::Tell{failure}); }

    // Shows the stage alone, within another page.
    void embed() { state_.embedded = true; }

    // Autosaves unsaved work into a folder, and offers what was left there.
    void autosave_in(const std::string& folder) { session_.autosave_in(folder); }

    [[nodiscard]] core::Session& session() { return session_; }
    [[nodiscard]] views::ViewState& state() { return state_; }
    [[nodiscard]] const views::ViewState& state() const { return state_; }

private:
    void find_languages();
    template <class Read>
    auto read_own(std::string& path, Read read);
    void keep_settings();
    [[nodiscard]] bool fetches_fonts(const views::Fonts& fonts);
    void follow_language();
    void keep_lessons();
    void telling(const std::function<void()>& work);
    void carry_out(const views::Commands& commands);
    void perform(const views::request::PickFiles& request);
    void perform(const views::request::ShowFolder& folder);
    void perform(const views::request::CopyPicture& picture);
    void perform(const views::request::Speak& asked);
    void perform(const views::request::PrintNotes& notes);
    void perform(const views::request::WriteTalk& asked);
    void perform(const views::request::HandIn& request);
    void perform(const views::request::CloseWindow& request);
    void remember_opened();
    [[nodiscard]] double next_picture() const;

    std::optional<core::language::WindowLanguage> language_;  // first: the other members' texts may be in it
    bool follows_language_ = false;
    core::Session session_;
    views::ViewState state_;
    bool closes_ = false;                    // the window closes
    core::files::Settings kept_;             // as they are in the file
    std::string settings_path_;              // empty: they are not kept
    core::lessons::Progress kept_progress_;  // as it is in its file
    const views::Fonts* fonts_ = nullptr;
    std::vector<char32_t> missing_glyphs_;  // as of the last fonts
    bool styled_dark_ = false;
    float styled_scale_ = 0.0F;
};

}  // namespace decoderscope::app
