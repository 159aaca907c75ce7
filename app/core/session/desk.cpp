// How models and sessions are opened, and messages about files.
#include "app/core/session/desk.h"

#include "app/core/work/link.h"

#include <memory>
#include <utility>

namespace decoderscope {

void Desk::open(const command::OpenModel& command) {
    // A question stays in case the answers don't fit.
    std::optional<Recognised> asks;
    if (opening_ && opening_->name == command.name && (!command.answers.empty() || !command.mapping.empty()))
        asks = std::move(opening_->asks);
    opening_ = Opening{.name = command.name,
                       .answers = command.answers,
                       .mapping = command.mapping,
                       .as = command.as,
                       .since = std::chrono::steady_clock::now(),
                       .asks = std::move(asks)};
    loader_.start({.name = command.name, .answers = command.answers, .mapping = command.mapping, .as = command.as});
}

void Desk::open(const command::OpenSession& command) {
    opening_ = Opening{.name = command.path, .since = std::chrono::steady_clock::now()};
    loader_.start({.name = command.path, .session = true, .recovered = command.recovered});
}

void Desk::open(const command::OpenLink& command) {
    auto linked = std::make_shared<const SessionFile>(session_of_link(command.link));
    const std::string& model = linked->run.model.name;
    opening_ = Opening{.name = model, .since = std::chrono::steady_clock::now()};
    loader_.start({.name = model, .linked = linked});
}

void Desk::ask_again(const Model& model) {
    if (model.recognised.questions.empty()) return;
    loader_.stop();
    opening_ = Opening{.name = model.path,
                       .answers = model.answers,
                       .mapping = model.mapping,
                       .reading = false,
                       .since = std::chrono::steady_clock::now(),
                       .asks = model.recognised};
}

void Desk::stop_opening() {
    loader_.stop();
    opening_.reset();
}

std::optional<ModelLoader::Result> Desk::collect_read(std::chrono::milliseconds patience) {
    if (!reading()) return std::nullopt;
    if (patience.count() > 0) loader_.wait(patience);
    return loader_.collect();
}

bool Desk::is_missing_something(const ModelLoader::Result& result) {
    opening_->reading = false;
    if (result.model || result.work) return false;
    if (result.asks) opening_->asks = result.asks;
    opening_->error = result.error;
    opening_->python = result.python;
    if (!result.error.empty()) message_ = Message{result.error, true};
    return true;
}

void Desk::refuse(const Sentence& error) {
    opening_->error = error;
    message_ = Message{error, true};
}

void Desk::run(const ModelLoader::Result& result) {
    opening_.reset();
    opened_ = result;
}

std::optional<ModelLoader::Result> Desk::run_is_there() { return std::exchange(opened_, std::nullopt); }

void Desk::collect(std::uint64_t changes) {
    if (const auto result = exporter_.collect()) message_ = Message{result->sentence, result->failed, result->path};
    for (const SessionKeeper::Outcome& outcome : keeper_.collect()) take(outcome, changes);
}

void Desk::advance_others(JobRunner::Clock::time_point until) {
    loader_.advance(until);
    exporter_.advance(until);
}

std::optional<JobRunner::Clock::time_point> Desk::due() const {
    return earliest({keeper_.due(), loader_.due(), exporter_.due()});
}

}  // namespace decoderscope
