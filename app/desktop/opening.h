#pragma once

#include "app/cli.h"
#include "app/core/files/settings.h"
#include "app/core/jobs/job.h"
#include "app/core/language/languages.h"
#include "app/window/window.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace decoderscope::app {

// What the program opens on while it is being read: says what that is, and how far it is. Ends when it is read, or the
// person closes the window.
class Opening : public window::Frontend {
public:
    // Begins to read. `wake` is called when that is done, from another thread if there are threads.
    Opening(std::string name, Read read, std::function<void()> wake);

    // What was read, once; waits for it, but no longer than `patience`. Rethrows what the reading threw.
    [[nodiscard]] std::optional<core::files::SavedSession> collect(std::chrono::milliseconds patience);

    bool frame(views::Textures& textures) override;
    void use_fonts(const views::Fonts& fonts) override { fonts_ = &fonts; }
    [[nodiscard]] std::string title() const override;
    [[nodiscard]] bool wants_to_close() const override { return closed_ || !job_.busy(); }
    [[nodiscard]] bool may_close() override { return closed_ = true; }
    [[nodiscard]] double next_wake() const override { return 0.1; }
    void advance(window::Clock::time_point until) override { job_.advance(until); }

private:
    std::string name_;
    core::files::Settings settings_;
    core::language::WindowLanguage language_;
    std::shared_ptr<LoadProgress> progress_ = std::make_shared<LoadProgress>();
    const views::Fonts* fonts_ = nullptr;
    bool closed_ = false;
    core::Job<core::files::SavedSession> job_;
};

// Reads what the window opens on; what takes longer than a moment is read behind a window, in which the program is
// shown then.
class OpeningWindow {
public:
    [[nodiscard]] core::files::SavedSession read(const std::string& name, const Read& read);
    // Shows the program, and returns its exit status.
    int run(std::unique_ptr<window::Frontend> program);

private:
    window::DesktopWindow window_;
};

}  // namespace decoderscope::app
