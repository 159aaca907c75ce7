#include "app/application.h"

#include "app/core/figure/exhibit.h"
#include "app/core/figure/picture_files.h"
#include "app/core/files/link.h"
#include "app/core/lessons/handin.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/progress.h"
#include "app/core/report/talk_page.h"
#include "app/core/run/edit_groups.h"
#include "app/core/run/overlay.h"
#include "app/core/session/paths_to_open.h"
#include "app/core/text/characters.h"
#include "app/core/text/token_text.h"
#include "app/platform.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
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
#include "engine/platform/folders.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <limits>
#include <sstream>
#include <utility>

namespace decoderscope::app {

namespace {

// A frame can wait this long for a result: an edit of a small model then shows in the same frame.
constexpr std::chrono::milliseconds kPatience{12};

}  // namespace

Application::Application(const core::Scenario& scenario, std::function<void()> wake)
    : language_(std::in_place, core::language::languages(), platform::language_variable),
      session_(scenario, std::move(wake)) {}

Application::Application(const core::files::SavedSession& work, const core::FirstRuns& first,
                         std::function<void()> wake)
    : language_(std::in_place, core::language::languages(), platform::language_variable),
      session_(work, first, std::move(wake)) {}

void Application::use_fonts(const views::Fonts& fonts) {
    fonts_ = &fonts;
    if (fetches_fonts(fonts)) return;
    if (!fonts.lacking.empty()) session_.apply(core::command::Tell{language_->give_up(fonts.lacking)});
    std::vector<char32_t> missing = fonts.missing;
    // The names of the languages are not the person's own text; the settings show a code instead.
    for (const core::language::Language& language : language_->known())
        for (const core::Utf8Character& character : core::characters(language.name))
            std::erase(missing, character.code);
    if (missing == missing_glyphs_) return;
    missing_glyphs_ = std::move(missing);
    const Sentence said = core::missing_glyphs_sentence(missing_glyphs_, views::compat::kLastCharacter);
    if (!said.empty()) session_.apply(core::command::Tell{said, false});
}

// Whether a font that the window needs is on its way: the window gets its fonts again when it is there.
bool Application::fetches_fonts(const views::Fonts& fonts) {
    std::vector<char32_t> missing = fonts.lacking;
    missing.insert(missing.end(), fonts.missing.begin(), fonts.missing.end());
    if (missing.empty()) return false;
    const std::optional<Sentence> said = fetch_fonts(missing);
    if (said && !said->empty()) session_.apply(core::command::Tell{*said, false});
    return said.has_value();
}

float Application::text_scale(ImVec2 window) {
    state_.largest_text = views::largest_text_size(window);
    return state_.text_size();
}

bool Application::frame(views::Textures& textures) {
    const views::Theme theme = views::make_theme(state_.is_dark(), state_.settings.sequential);
    if (styled_dark_ != state_.is_dark() || styled_scale_ != fonts_->scale) {
        views::apply_style(theme, fonts_->scale);
        styled_dark_ = state_.is_dark();
        styled_scale_ = fonts_->scale;
    }
    ImGui::GetIO().ConfigInputTextCursorBlink = !state_.reduces_motion();
    session_.update();
    if (const auto view = session_.take_view()) carry_out(views::dialogs::show_saved(state_, *view));
    state_.link_base = link_base(state_.settings);
    state_.busy = state_.paced = false;
    const views::Commands commands = views::shell::draw_workspace({*fonts_, theme, textures}, session_, state_);
    carry_out(commands);
    session_.update(kPatience);
    telling([&] { session_.keep(session_.unsaved() ? views::dialogs::saved_view(state_) : core::files::SavedView()); });
    remember_opened();
    follow_language();
    keep_settings();
    keep_lessons();
    return !commands.empty() || session_.stale() || state_.busy ||
           (session_.derived().waiting() && !session_.derived().due());
}

// What a file of the person's holds. A damaged one is set aside, as the next save would replace it; if that can't be
// done, nothing is kept there.
template <class Read>
auto Application::read_own(std::string& path, Read read) {
    try {
        return read(path);
    } catch (const Error& damaged) {
        telling([&] {
            const std::string kept = std::exchange(path, {});
            say(core::files::set_aside(kept, damaged.sentence()));
            path = kept;
        });
    }
    return decltype(read(path))();
}

void Application::remember_settings(std::string path) {
    settings_path_ = std::move(path);
    state_.settings = read_own(settings_path_, core::files::read_settings);
    kept_ = state_.settings;
    state_.desktop = surroundings();
    state_.languages = language_->known();
    follows_language_ = true;
    follow_language();
}

void Application::surroundings_changed() {
    state_.desktop = surroundings();
    views::lesson_panel::list_again(state_);
    find_languages();
}

// A page has its translations some seconds after its window.
void Application::find_languages() {
    std::vector<core::language::Language> now = core::language::languages();
    if (now != language_->known()) language_.emplace(std::move(now), platform::language_variable);
    state_.languages = language_->known();
}

// The next frame is in the chosen language. Without settings, as in a tour, it stays in English.
void Application::follow_language() {
    if (!follows_language_) return;
    if (const Sentence wrong = language_->follow(state_.settings.language); !wrong.empty())
        session_.apply(core::command::Tell{wrong});
    views::lesson_panel::speak_lessons(
        state_, language_->spoken() == core::language::kEnglish ? std::string() : language_->spoken());
}

// Written after a change, but not while a splitter is being dragged. If the home can't be written, the settings last as
// long as the window.
void Application::keep_settings() {
    if (settings_path_.empty() || state_.settings == kept_ || ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
    kept_ = state_.settings;
    try {
        core::files::save_settings(settings_path_, kept_);
    } catch (const Error& error) {
        settings_path_.clear();
        session_.apply(core::command::Tell{message("Settings can't be saved and last until the window closes: {error}",
                                                   {{"error", error.sentence()}})});
    }
}

void Application::remember_lessons(std::string path) {
    if (path.empty()) return;
    core::lessons::Progress progress = read_own(path, core::lessons::read_progress);
    views::lesson_panel::keep_lesson_progress_in(state_, path, std::move(progress));
    kept_progress_ = state_.part<views::lesson_panel::LessonsState>().progress;
}

void Application::open(std::shared_ptr<const core::lessons::Lesson> lesson) {
    views::lesson_panel::open_lesson(state_, std::move(lesson));
}

// Progress is written whenever it has changed.
void Application::keep_lessons() {
    views::lesson_panel::LessonsState& panel = state_.part<views::lesson_panel::LessonsState>();
    try {
        if (!panel.progress_path.empty() && panel.progress != kept_progress_) {
            kept_progress_ = panel.progress;
            core::lessons::save_progress(panel.progress_path, kept_progress_);
        }
    } catch (const Error& error) {
        panel.progress_path.clear();
        session_.apply(core::command::Tell{error.sentence()});
    }
}

// Does it; whatever it throws is said in the window.
void Application::telling(const std::function<void()>& work) {
    try {
        work();
    } catch (...) {
        say(sentence_of_current());
    }
}

// What the views asked for, in their order.
void Application::carry_out(const views::Commands& commands) {
    for (const auto& asked : commands) {
        if (const core::Command* command = std::get_if<core::Command>(&asked)) {
            if (!views::dialogs::asks_before(session_, state_, *command)) session_.apply(*command);
        } else {
            telling([&] { std::get<views::Request>(asked).visit([this](const auto& request) { perform(request); }); });
        }
    }
}

void Application::perform(const views::request::PickFiles&) { pick_files(); }

void Application::perform(const views::request::CloseWindow&) { closes_ = true; }

void Application::perform(const views::request::HandIn&) {
    views::lesson_panel::LessonsState& panel = state_.part<views::lesson_panel::LessonsState>();
    if (!panel.player) return;
    const core::lessons::Lesson& lesson = *panel.player->lesson();
    const core::lessons::Learner& learner = panel.progress.learner;
    const std::string text = core::lessons::handin_text(lesson, panel.player->progress(), learner);
    const std::string path = core::lessons::handin_path(folder_for_files(), lesson, learner.name, text);
    write_whole(path, [&](std::ostream& out) { out << text; });
    panel.handed_in = path;
}

void Application::perform(const views::request::CopyPicture& picture) {
    CopyResult copied;
    try {
        std::ostringstream png;
        core::write_png(png, core::exhibit_figure(*picture.exhibit, picture.options.style), picture.options.scale);
        copied = copy_png(png.str());
    } catch (const Error& error) {
        copied = {error.sentence(), true};
    }
    state_.part<views::dialogs::ExportDialogState>().said = tr(copied.sentence);
    session_.apply(core::command::Tell{copied.sentence, copied.failed});
}

void Application::perform(const views::request::ShowFolder& folder) {
    if (const Sentence failed = open_folder(folder.path); !failed.empty()) session_.apply(core::command::Tell{failed});
}

void Application::perform(const views::request::Speak& asked) {
    const Sentence failed = speak(asked.text, language_->spoken());
    if (!failed.empty()) session_.apply(core::command::Tell{failed});
}

void Application::perform(const views::request::PrintNotes& notes) { std::cout << notes.text << std::endl; }

void Application::perform(const views::request::WriteTalk& asked) {
    const std::string path = core::path_of(asked.path);
    core::report::write_talk(path, session_.talk(), session_.scenario(), views::shell::stage_picture,
                             {.title = title(), .site = state_.link_base.address, .notes = true});
    session_.apply(core::command::Tell{message("Written: {path}", {{"path", path}}), false});
}

// Adds the shown session, or the user's own model, to the recent list.
void Application::remember_opened() {
    const std::string& name = session_.shown().scenario.about().name;
    const auto& models = load::bundled_models();
    const bool bundled =
        std::any_of(models.begin(), models.end(), [&](const load::BundledModel& model) { return model.name == name; });
    if (bundled && session_.file().empty()) return;
    std::error_code failed;
    const std::string path =
        session_.file().empty() ? std::filesystem::absolute(name, failed).lexically_normal().string() : session_.file();
    if (failed || (!state_.settings.recent.empty() && state_.settings.recent.front() == path)) return;
    state_.settings.recent = core::files::with_recent(std::move(state_.settings.recent), path);
}

void Application::dropped(std::span<const std::string> paths) {
    if (paths.empty()) return;
    if (core::files::is_link(paths.front())) return carry_out({core::command::OpenLink{paths.front()}});
    if (paths.front().ends_with(".md")) return telling([&] { open(core::lessons::find_lesson(paths.front())); });
    const std::string path = core::model_among(paths);
    const views::Tab* open = views::find_tab(state_.tab);
    const bool takes = open != nullptr && open->take_file != nullptr && !core::is_overlay_path(path);
    telling([&] {
        const std::optional<core::Command> taken = takes ? open->take_file(session_, state_, path) : std::nullopt;
        if (taken) return session_.apply(*taken);
        state_.part<views::dialogs::OpenDialogState>().awaited =
            state_.dialog == views::Dialog::open_model;  // which closes once this is open
        carry_out({core::opening_command(path)});
    });
}

std::string Application::title() const {
    const std::string& file = session_.file();
    const std::string work =
        file.empty() ? "" : std::filesystem::path(file).filename().string() + (session_.unsaved() ? " • · " : " · ");
    return work + std::filesystem::path(session_.scenario().about().name).filename().string() + " · " +
           session_.cursor().step + " · Decoderscope";
}

// {"model": NAME, "step": NAME, "cell": [0, 1, 2, 3] or null, "edits": [SENTENCE, …], "said": SENTENCE or null}
std::string Application::report() const {
    if (!state_.embedded) return {};
    nlohmann::json edits = core::texts_of_edits(session_.scenario().edits), cell, said;
    if (const std::optional<Cell>& selected = session_.cursor().cell) cell = *selected;
    if (session_.message()) said = tr(session_.message()->text);
    return nlohmann::json{{"model", session_.scenario().about().name},
                          {"step", session_.cursor().step},
                          {"cell", cell},
                          {"edits", edits},
                          {"said", said}}
        .dump();
}

std::string Application::document() const {
    Json json = views::shell::document_json(session_, state_);
    json["language"] = core::language::html_code(language_->spoken());
    json["title"] = title();
    // A token may be a part of a character.
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void Application::press_cell(const std::string& table, std::int64_t row, std::int64_t column) {
    std::uint64_t key = 0;
    const char* end = table.data() + table.size();
    if (std::from_chars(table.data(), end, key).ptr == end) state_.document.press_cell(key, row, column);
}

void Application::go_to(const std::string& place) {
    telling([&] {
        const CellName name = core::step_or_cell(place);
        const Ref step = session_.shown().run->plan().find(name.tensor);
        if (step == nullptr) throw Error("this model has no step {step}", {{"step", name.tensor}});
        if (name.cell.empty()) return session_.apply(core::command::GoTo{step->name});
        check_cell(name, step->axes);
        session_.apply(core::command::Follow{step->name, name.cell});
    });
}

bool Application::may_close() {
    views::Commands asked;
    views::dialogs::ask_to_close(session_, state_, asked);
    carry_out(asked);
    return closes_;
}

double Application::next_wake() const {
    if (const auto when = session_.due())
        return std::min(next_picture(), std::chrono::duration<double>(*when - core::JobRunner::Clock::now()).count());
    return next_picture();
}

void Application::advance(core::JobRunner::Clock::time_point until) { session_.advance(until); }

bool Application::works() const {
    const auto when = session_.due();
    return when && *when <= core::JobRunner::Clock::now();
}

// Seconds until the next picture must be drawn even if nothing happens.
double Application::next_picture() const {
    if (state_.paced) return 0.05;
    // Loading progress is drawn only now and then: drawing slows the reading down.
    if (session_.opening() && session_.opening()->reading) return 0.1;
    return std::numeric_limits<double>::infinity();
}

}  // namespace decoderscope::app
