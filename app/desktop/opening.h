#pragma once

#include "app/cli.h"
#include "app/core/files/settings.h"
#include "app/core/jobs/job.h"
#include "app/core/language/languages.h"
#include "app/core/session/computed.h"
#include "app/views/widgets/theme.h"
#include "app/window/window.h"

#include <functional>
#include <memory>
#include <string>

namespace decoderscope::app {

// What the program opens on while that is being read or computed: says what it is, and how far it is. Ends when it is
// done, or the person closes the window.
class Opening : public window::Frontend {
public:
    struct Work {
        std::function<void(const views::Ui& ui, float width)> draw_progress;
        std::function<bool()> is_done;
        std::function<bool()> works;  // without threads: whether there is work for advance()
        std::function<void(window::Clock::time_point until)> advance;  // without threads: works until then
    };
    // Speaks the language of the settings.
    Opening(std::string name, Work work);

    bool frame(views::Textures& textures) override;
    void use_fonts(const views::Fonts& fonts) override { fonts_ = &fonts; }
    [[nodiscard]] std::string title() const override;
    [[nodiscard]] bool wants_to_close() const override { return closed_ || work_.is_done(); }
    [[nodiscard]] bool may_close() override { return closed_ = true; }
    [[nodiscard]] double next_wake() const override { return 0.1; }
    [[nodiscard]] bool works() const override { return work_.works(); }
    void advance(window::Clock::time_point until) override { work_.advance(until); }

private:
    std::string name_;
    Work work_;
    core::files::Settings settings_;
    core::language::WindowLanguage language_;
    const views::Fonts* fonts_ = nullptr;
    bool closed_ = false;
};

// Reads and computes what the window opens on; what takes longer than a moment is done behind a window, in which the
// program is shown then.
class OpeningWindow {
public:
    // Throw what reading or computing throws, or LoadStopped if the person closes the window.
    [[nodiscard]] core::files::SavedSession read(const std::string& name, const Read& read);
    [[nodiscard]] core::FirstRuns compute(const core::files::SavedSession& work);
    // Shows the program, and returns its exit status.
    int run(std::unique_ptr<window::Frontend> program);

private:
    template <class Result>
    Result wait_for(core::Job<Result>& job, const std::string& name,
                    std::function<void(const views::Ui& ui, float width)> draw_progress);

    window::DesktopWindow window_;
};

}  // namespace decoderscope::app
