#include "app/application.h"

#include "app/core/figure/exhibit_figure.h"
#include "app/core/figure/png.h"
#include "app/core/files/link.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/session/paths_to_open.h"
#include "app/core/text/characters.h"
#include "app/core/text/missing_glyphs.h"
#include "app/platform.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/dialogs/export_dialog.h"
#include "app/views/dialogs/open_dialog.h"
#include "app/views/dialogs/saving.h"
#include "app/views/frame/lab.h"
#include "app/views/frame/window_layout.h"
#include "app/views/lessons/lesson_page.h"
#include "app/views/lessons/lessons_panel.h"
#include "app/views/shell/workspace.h"
#include "app/views/widgets/imgui_compat.h"
#include "app/views/widgets/theme.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/translate.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>

namespace decoderscope {

namespace {

// A frame can wait this long for a result: an edit of a small model then shows in the same frame.
constexpr std::chrono::milliseconds kPatience{12};

const char* environment(const char* name) { return std::getenv(name); }

}  // namespace

Application::Application(Scenario scenario, std::function<void()> wake)
    : language_(languages(), environment), session_(std::move(scenario), std::move(wake)) {}

Application::Application(SavedWork work, std::function<void()> wake)
    : language_(languages(), environment), session_(std::move(work), std::move(wake)) {}

void Application::use_fonts(const Fonts& fonts) {
    fonts_ = &fonts;
    if (fetches_fonts(fonts)) return;
    if (!fonts.lacking.empty()) session_.apply(command::Tell{language_.give_up(fonts.lacking)});
    std::vector<char32_t> missing = fonts.missing;
    // The names of the languages are not the person's own text; the settings show a code instead.
    for (const Language& language : language_.known())
        for (const Utf8Character& character : characters(language.name)) std::erase(missing, character.code);
    if (missing == missing_glyphs_) return;
    missing_glyphs_ = std::move(missing);
    const Sentence said = missing_glyphs_sentence(missing_glyphs_, compat::kLastCharacter);
    if (!said.empty()) session_.apply(command::Tell{said, false});
}

// Whether a font that the window needs is on its way: the window gets its fonts again when it is there.
bool Application::fetches_fonts(const Fonts& fonts) {
    std::vector<char32_t> missing = fonts.lacking;
    missing.insert(missing.end(), fonts.missing.begin(), fonts.missing.end());
    if (missing.empty()) return false;
    const Sentence said = fetch_fonts(missing);
    if (!said.empty()) session_.apply(command::Tell{said, false});
    return !said.empty();
}

float Application::text_scale(ImVec2 window) {
    state_.largest_text = largest_text_size(window);
    return state_.text_size();
}

bool Application::frame(Textures& textures) {
    const Theme theme = make_theme(state_.is_dark(), state_.settings.sequential);
    if (styled_dark_ != state_.is_dark() || styled_scale_ != fonts_->scale) {
        apply_style(theme, fonts_->scale);
        styled_dark_ = state_.is_dark();
        styled_scale_ = fonts_->scale;
    }
    ImGui::GetIO().ConfigInputTextCursorBlink = !state_.reduces_motion();
    session_.update();
    if (const auto view = session_.take_view())
        for (const Command& command : show_saved(state_, *view)) session_.apply(command);
    state_.link_base = link_base(state_.settings);
    state_.busy = state_.paced = false;
    const Commands commands = draw_workspace({*fonts_, theme, textures}, session_, state_);
    for (const Command& command : commands) session_.apply(command);
    session_.update(kPatience);
    session_.keep(saved_view(state_));
    copy_picture();
    show_folder();
    if (std::exchange(state_.pick_files, false)) pick_files();
    remember_opened();
    follow_language();
    keep_settings();
    keep_lessons();
    return !commands.empty() || session_.stale() || state_.busy ||
           (session_.derived().waiting() && !session_.derived().due());
}

void Application::remember_settings(std::string path) {
    settings_path_ = std::move(path);
    state_.settings = load_settings(settings_path_);
    kept_ = state_.settings;
    surroundings_changed();
    state_.languages = language_.known();
    follows_language_ = true;
    follow_language();
}

void Application::surroundings_changed() { state_.desktop = surroundings(); }

// The next frame is in the chosen language. Without settings, as in a tour, it stays English.
void Application::follow_language() {
    if (!follows_language_) return;
    if (const Sentence wrong = language_.follow(state_.settings.language); !wrong.empty())
        session_.apply(command::Tell{wrong});
    speak_lessons(state_, language_.spoken() == kEnglish ? std::string() : language_.spoken());
}

// Written after a change, but not while a splitter is being dragged. If the home can't be written, the settings last as
// long as the window.
void Application::keep_settings() {
    if (settings_path_.empty() || state_.settings == kept_ || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
    kept_ = state_.settings;
    try {
        save_settings(settings_path_, kept_);
    } catch (const Error& error) {
        settings_path_.clear();
        session_.apply(
            command::Tell{message("Settings last until the window closes: {error}", {{"error", error.sentence()}})});
    }
}

void Application::remember_lessons(const std::string& path) {
    if (path.empty()) return;
    keep_lesson_progress_in(state_, path);
    kept_progress_ = state_.part<LessonsState>().progress;
}

void Application::open(std::shared_ptr<const lessons::Lesson> lesson) { open_lesson(state_, std::move(lesson)); }

// Progress is written whenever it has changed, answers when they are handed in.
void Application::keep_lessons() {
    LessonsState& panel = state_.part<LessonsState>();
    try {
        if (!panel.progress_path.empty() && panel.progress != kept_progress_) {
            kept_progress_ = panel.progress;
            lessons::save_progress(panel.progress_path, kept_progress_);
        }
    } catch (const Error& error) {
        panel.progress_path.clear();
        session_.apply(command::Tell{error.sentence()});
    }
    if (std::exchange(panel.hands_in, false) && panel.player) hand_in(panel);
}

void Application::hand_in(LessonsState& panel) {
    try {
        const std::string text = lessons::handin_text(*panel.player->lesson(), panel.player->progress());
        const std::string path = lessons::handin_path(path_of("~"), *panel.player->lesson(), text);
        write_whole(path, [&](std::ostream& out) { out << text; });
        panel.handed_in = path;
    } catch (const Error& error) {
        session_.apply(command::Tell{error.sentence()});
    }
}

// A picture that a view wants on the clipboard.
void Application::copy_picture() {
    const std::shared_ptr<const Exhibit> exhibit = std::exchange(state_.part<ExportDialogState>().to_copy, nullptr);
    if (!exhibit) return;
    CopyResult copied;
    try {
        std::ostringstream png;
        write_png(png, exhibit_figure(*exhibit, state_.part<ExportDialogState>().options.style),
                  state_.part<ExportDialogState>().options.scale);
        copied = copy_png(png.str());
    } catch (const Error& error) {
        copied = {error.sentence(), true};
    }
    state_.part<ExportDialogState>().said = tr(copied.sentence);
    session_.apply(command::Tell{copied.sentence, copied.failed});
}

// A folder that was asked for.
void Application::show_folder() {
    const std::string folder = std::exchange(state_.path_to_open, {});
    if (folder.empty()) return;
    if (const Sentence failed = open_folder(folder); !failed.empty()) session_.apply(command::Tell{failed});
}

// Adds the shown session, or the user's own model, to the recent list.
void Application::remember_opened() {
    const std::string& name = session_.shown().scenario.model()->name;
    const auto& models = bundled_models();
    const bool bundled =
        std::any_of(models.begin(), models.end(), [&](const BundledModel& model) { return model.name == name; });
    if (bundled && session_.file().empty()) return;
    std::error_code failed;
    const std::string path =
        session_.file().empty() ? std::filesystem::absolute(name, failed).lexically_normal().string() : session_.file();
    if (failed || (!state_.settings.recent.empty() && state_.settings.recent.front() == path)) return;
    state_.settings.recent = with_recent(std::move(state_.settings.recent), path);
}

void Application::dropped(std::span<const std::string> paths) {
    if (paths.empty()) return;
    if (is_link(paths.front())) return session_.apply(command::OpenLink{paths.front()});
    if (paths.front().ends_with(".md")) return open_dropped_lesson(paths.front());
    const std::string path = model_among(paths);
    const Lab* open = find_lab(state_.tab);
    const std::optional<Command> taken =
        open != nullptr && open->take_file != nullptr ? open->take_file(session_, state_, path) : std::nullopt;
    if (taken) return session_.apply(*taken);
    state_.part<OpenDialogState>().awaited = state_.dialog == Dialog::open_model;  // which closes once this is open
    session_.apply(opening_command(path));
}

void Application::open_dropped_lesson(const std::string& path) {
    try {
        open(lessons::find_lesson(path));
    } catch (const Error& error) {
        session_.apply(command::Tell{error.sentence()});
    }
}

std::string Application::title() const {
    const std::string& file = session_.file();
    const std::string work =
        file.empty() ? "" : std::filesystem::path(file).filename().string() + (session_.unsaved() ? " • · " : " · ");
    return work + std::filesystem::path(session_.scenario().model()->name).filename().string() + " · " +
           session_.cursor().step + " · Decoderscope";
}

bool Application::may_close() {
    state_.wants_to_close = true;
    follow_closing(session_, state_);
    return state_.close;
}

double Application::next_wake() const {
    if (const auto when = session_.due())
        return std::min(next_picture(), std::chrono::duration<double>(*when - JobRunner::Clock::now()).count());
    return next_picture();
}

void Application::advance(JobRunner::Clock::time_point until) { session_.advance(until); }

bool Application::works() const {
    const auto when = session_.due();
    return when && *when <= JobRunner::Clock::now();
}

// Seconds until the next picture must be drawn even if nothing happens.
double Application::next_picture() const {
    if (state_.paced) return 0.05;
    // Loading progress is drawn only now and then: drawing takes time from reading.
    if (session_.opening() && session_.opening()->reading) return 0.1;
    return std::numeric_limits<double>::infinity();
}

}  // namespace decoderscope
