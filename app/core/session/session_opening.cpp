// How a model or a session replaces what is open, and how work is collected for a file.
#include "app/core/session/session.h"

#include "engine/error.h"

#include <utility>

namespace decoderscope {

void Session::take(const ModelLoader::Result& result) {
    if (desk_.is_missing_something(result)) return;
    try {
        change(result.work ? result.work->scenario : scenario_of(result.model));
    } catch (const Error& error) {
        return desk_.refuse(error.sentence());
    }
    computed_.forget_companion_runs();
    desk_.run(result);
}

void Session::open(const command::OpenScenario& command) {
    change(*command.scenario);
    computed_.forget_companion_runs();
    finish_run();
    work_.leave_trail();
    Cursor cursor = opening_cursor(*scenario().model(), computed_.plan());
    if (computed_.plan().find(command.step) != nullptr) cursor = {command.step, {}, {}};
    look_at(std::move(cursor));
    desk_.set_file({});
    set_mark(mark());
    desk_.set_saved(work_.changes());
}

// The first run of the opened model or session is done.
void Session::look_at_opened(const ModelLoader::Result& opened) {
    work_.leave_trail();
    look_at(opening_cursor(*scenario().model(), computed_.plan()));
    desk_.set_file(opened.work ? opened.work->saved_as : std::string());
    if (opened.work)
        restore(*opened.work, opened.pinned);
    else
        tell_remarks();
    if (opened.work && opened.order.recovered) {
        // What it was opened as is not known; the model's own example comes closest.
        set_mark({scenario_of(scenario().model()), {}, nullptr});
        recovered_ = true;
        return desk_.adopt(opened.order.name);
    }
    set_mark(mark());
    desk_.set_saved(work_.changes());
}

void Session::tell_remarks(const std::vector<Sentence>& more) {
    std::vector<Sentence> remarks = shown().scenario.model()->remarks;
    remarks.insert(remarks.end(), more.begin(), more.end());
    if (remarks.empty()) return;
    Sentence all = remarks.front();
    for (std::size_t i = 1; i < remarks.size(); ++i)
        all = Sentence("{first}; {next}", {{"first", all}, {"next", remarks[i]}});
    desk_.tell({all});
}

// Restores the rest of a session once its run is done.
void Session::restore(const SavedWork& work, std::shared_ptr<const ReferenceRun> pinned) {
    work_.set_sampling(work.sampling);
    computed_.compare_with_run(std::move(pinned));
    computed_.compare_with_file(nullptr);
    std::vector<Sentence> remarks = work.remarks;
    if (!work.view.compare.file.empty()) {
        try {
            computed_.compare_with_file(std::make_shared<const ReferenceRun>(read_trace(work.view.compare.file)));
        } catch (const Error& error) {
            remarks.push_back(error.sentence());
        }
    }
    if (computed_.plan().find(work.cursor.step) != nullptr) {
        look_at(work.cursor);
        work_.keep_cursor_in(*shown().run);
    }
    desk_.set_view(work.view);
    tell_remarks(remarks);
}

SavedWork Session::work(const SavedView& view) const {
    SavedWork work{.scenario = scenario(),
                   .cursor = cursor(),
                   .sampling = sampling(),
                   .view = view,
                   .saved_as = file(),
                   .changed = unsaved_parts()};
    const Snapshot& now = shown();
    work.view.compare.file = now.trace_file ? now.trace_file->path : std::string();
    if (now.pinned && now.pinned->scenario) work.pins.push_back({now.pinned->label, *now.pinned->scenario});
    return work;
}

void Session::keep(const SavedView& view) {
    if (!unsaved()) return desk_.keep_nothing();
    const Desk::Kept now{changes(), cursor(), view};
    if (desk_.wants(now)) desk_.keep(work(view), now);
}

// ---- what is unsaved

WorkMark Session::mark() const { return {scenario(), sampling(), shown().pinned}; }

void Session::set_mark(WorkMark mark) {
    mark_ = std::move(mark);
    recovered_ = false;
    unsaved_.changes.reset();
}

// Takes over which of the saves under way is done.
void Session::note_saves() {
    const auto saved = saving_.find(desk_.saved_changes());
    if (saved == saving_.end()) return;
    set_mark(std::move(saved->second));
    saving_.erase(saving_.begin(), std::next(saved));
}

const std::vector<WorkPart>& Session::unsaved_parts() const {
    if (unsaved_.changes != changes()) unsaved_ = {changes(), changed_parts(mark_, mark())};
    return unsaved_.parts;
}

}  // namespace decoderscope
