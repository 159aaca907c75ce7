// How a model or a session takes the place of what is open.
#include "app/core/session/session.h"

#include "engine/error.h"

namespace decoderscope {

void Session::take(const ModelLoader::Result& result) {
    opening_->reading = false;
    if (!result.model && !result.work) {
        if (result.asks) opening_->asks = result.asks;
        opening_->error = result.error;
        opening_->python = result.python;
        if (!result.error.empty()) message_ = Message{result.error, true};
        return;
    }
    try {
        change(result.work ? result.work->scenario : scenario_of(result.model));
    } catch (const Error& error) {
        opening_->error = error.what();
        message_ = Message{error.what(), true};
        return;
    }
    // Runs of the model before say nothing of this one.
    for (auto& [name, companion] : companions_) companion.run = nullptr;
    opening_.reset();
    opened_ = true;
    opened_session_.reset();
    if (result.work) opened_session_ = result;
}

// The first run of what was opened is there.
void Session::look_at_opened() {
    opened_ = false;
    trail_.clear();
    look_at(opening_cursor(*scenario_.model(), plan()));
    const auto opened = std::exchange(opened_session_, std::nullopt);
    file_ = opened ? opened->work->saved_as : std::string();
    if (opened)
        restore(*opened->work, opened->pinned);
    else
        tell_remarks();
    if (opened && opened->order.recovered) return take_over_leftover(opened->order.name);
    saved_changes_ = changes_;
    keeper_.drop_autosave();
}

void Session::tell_remarks(const std::vector<std::string>& more) {
    std::vector<std::string> remarks = shown_.scenario.model()->remarks;
    remarks.insert(remarks.end(), more.begin(), more.end());
    std::string all;
    for (const std::string& remark : remarks) all += (all.empty() ? "" : "; ") + remark;
    if (!all.empty()) message_ = Message{all};
}

// What a session brings beside its run, once that is there.
void Session::restore(const SavedWork& work, std::shared_ptr<const ReferenceRun> pinned) {
    sampling_ = work.sampling;
    shown_.pinned = std::move(pinned);
    shown_.trace_file = nullptr;
    std::vector<std::string> remarks = work.remarks;
    if (!work.view.compare.file.empty()) {
        try {
            shown_.trace_file = std::make_shared<const ReferenceRun>(read_trace(work.view.compare.file));
        } catch (const Error& error) {
            remarks.emplace_back(error.what());
        }
    }
    if (plan().find(work.cursor.step) != nullptr) {
        look_at(work.cursor);
        keep_cursor_in_plan();
    }
    opened_view_ = work.view;
    tell_remarks(remarks);
}

}  // namespace decoderscope
