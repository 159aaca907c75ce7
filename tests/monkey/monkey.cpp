#include "tests/monkey/monkey.h"

#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/views/dialogs/dialogs.h"
#include "app/views/frame/tab.h"
#include "app/views/shell/workspace.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace decoderscope::testing {

using namespace decoderscope::core::files;
using namespace decoderscope::views::dialogs;
using namespace decoderscope::views::shell;

namespace {

// Texts, formulas, numbers, and what is neither.
constexpr std::array kWords = {"And God ",
                               "a",
                               "0",
                               "-1",
                               "1e38",
                               "nan",
                               "-inf",
                               "0.5",
                               "99999999999999999999",
                               "1,2,3",
                               "hello world",
                               "在起初",
                               "神说：要有光",
                               "👩‍👩‍👧 🎈",
                               "é",
                               "ﷺ",
                               "\t",
                               "\n",
                               " ",
                               "a\nb\n\nc",
                               "\"",
                               "{}",
                               "[[1, 2], [3]]",
                               "x + 1",
                               "softmax(attn_scores, key)",
                               "blocks.0.attn.pattern",
                               "resid_post - resid_pre",
                               "tokens[b, q]",
                               "x[",
                               "mean(x, d_model) / 0",
                               "sum(k) pattern[b, h, q, k]",
                               "row",
                               "let",
                               "loss",
                               "norm",
                               "mask",
                               "diff",
                               "head",
                               "export",
                               "train",
                               "sweep",
                               "palette",
                               "undo",
                               "settings",
                               "reset",
                               "lesson",
                               "causes",
                               "link",
                               "a.dscope",
                               "a.svg",
                               "a.npz",
                               "there/is/none",
                               "..",
                               "3 4 5 6",
                               "<pad>",
                               "2024-02-30",
                               "ABAB",
                               "kill\x7f",
                               "%s%n",
                               "##id"};

const std::array<ImVec2, 9> kSizes = {ImVec2{1280, 800}, {1920, 1080}, {1024, 768},  {800, 600}, {640, 480},
                                      {360, 640},        {320, 240},   {2560, 1440}, {1366, 300}};

Mods mods_of(int bits) { return {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0}; }

SessionFile file_of(const Session& session, const ViewState& state) {
    SessionFile file = session_file_of(session.work(saved_view(state)));
    file.changed.clear();  // what is unsaved is none of the work
    file.saved_as.clear();
    return file;
}

// The first line in which two texts differ.
std::string difference(const std::string& a, const std::string& b) {
    std::istringstream first(a), second(b);
    std::string one, other;
    for (;;) {
        const bool more = static_cast<bool>(std::getline(first, one)),
                   and_more = static_cast<bool>(std::getline(second, other));
        if (!more && !and_more) return "nothing";
        if (!more) one = "(its end)";
        if (!and_more) other = "(its end)";
        if (one == other) continue;
        std::string next, other_next;  // a list that is a line longer begins alike
        std::getline(first, next);
        std::getline(second, other_next);
        return one.substr(0, 300) + next.substr(0, 300) + "\n  then: " + other.substr(0, 300) +
               other_next.substr(0, 300);
    }
}

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

// What only a mistake of ours can say.
bool is_a_mistake(const std::string& said) {
    for (const char* part : {"can't be drawn", "std::", "vector::", "basic_string", "map::at", "bad_alloc",
                             "bad optional", "unordered_map", "stoi", "regex_error", "json.exception"})
        if (said.find(part) != std::string::npos) return true;
    return false;
}

// Returns whether both hold the same tensors: which of those on demand were looked at before isn't saved, and the
// window counts them.
bool compare_runs(const Run& a, const Run& b) {
    bool all = true;
    for (const Step& step : a.plan().steps()) {
        const Ref same = b.plan().find(step.name);
        if (same == nullptr) fail("the reopened run has no step " + step.name);
        const Tensor &before = a.value(step.id), &after = b.value(same->id);
        all = all && before.empty() == after.empty();
        if (before.empty() || after.empty()) continue;
        const auto x = before.values(), y = after.values();
        if (x.size() != y.size() || std::memcmp(x.data(), y.data(), x.size_bytes()) != 0)
            fail("the reopened run has other numbers in " + step.name);
    }
    return all;
}

std::string said(const DocumentItem& item) {
    return item.part + ", at " + std::to_string(item.area.low.x) + ", " + std::to_string(item.area.low.y) + ": " +
           item.text;
}

// What a new window shows of a session on its stage and in its map.
std::string stage_of(Driver& window, const ViewState& like) {
    window.state.settings = like.settings;
    for (int i = 0; i < 3; ++i) window.settle();
    std::string text;
    for (const DrawnText& piece : window.seen())
        if (piece.low.x < window.state.stage.high.x) text += piece.text + "\n";
    return text;
}

}  // namespace

std::string Prank::line() const {
    std::string numbers;
    for (const int number : at) numbers += " " + std::to_string(number);
    std::string escaped;
    for (const char c : text)
        escaped += c == '\n' ? std::string("\\n") : c == '\\' ? std::string("\\\\") : std::string(1, c);
    return std::string(1, what) + numbers + " " + std::to_string(pace) + " " + escaped;
}

std::optional<Prank> Prank::read(const std::string& line) {
    std::istringstream in(line);
    Prank action;
    in >> action.what;
    for (int& number : action.at) in >> number;
    if (!(in >> action.pace)) return std::nullopt;
    in.get();
    std::string escaped;
    std::getline(in, escaped);
    for (std::size_t i = 0; i < escaped.size(); ++i) {
        const bool is_escape = escaped[i] == '\\' && i + 1 < escaped.size();
        if (is_escape) ++i;
        action.text += is_escape && escaped[i] == 'n' ? '\n' : escaped[i];
    }
    return action;
}

Monkey::Monkey(const std::string& model, std::uint64_t seed, std::string folder)
    : folder_(std::move(folder)), chance_(seed), window_(model) {
    window_.waits = false;
    // It writes nothing outside its folder, whatever it types.
    window_.may = [this](const Command& command) {
        const auto is_inside = [this](const std::string& path) {
            return std::filesystem::absolute(path).lexically_normal().string().starts_with(folder_ + "/");
        };
        if (const auto* save = command.get_if<command::SaveSession>()) return is_inside(save->path);
        if (const auto* save = command.get_if<command::SaveModel>()) return is_inside(save->path);
        if (const auto* written = command.get_if<command::Export>()) return is_inside(written->path);
        return true;
    };
    window_.session.autosave_in(folder_ + "/autosaves");
}

ImVec2 Monkey::somewhere() {
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    return {static_cast<float>(below(static_cast<std::size_t>(size.x))),
            static_cast<float>(below(static_cast<std::size_t>(size.y)))};
}

// The middle of a text, mostly, or of a control that has none.
ImVec2 Monkey::something() {
    if (one_in(6)) return somewhere();
    if (one_in(4)) {
        window_.state.document.collect();
        window_.settle_one();
        const std::vector<DocumentItem>& items = window_.state.document.items();
        std::vector<Area> areas;
        std::map<ImGuiID, const DocumentItem*> controls;
        for (const DocumentItem& item : items) {
            if (item.id == 0) continue;
            areas.push_back(item.area);
            const auto [other, is_new] = controls.emplace(item.id, &item);
            // What is scrolled out of sight is all in one place.
            const bool apart =
                other->second->area.low.x != item.area.low.x || other->second->area.low.y != item.area.low.y;
            if (!is_new && apart) fail("two controls have one id: " + said(*other->second) + ", and " + said(item));
        }
        if (!areas.empty()) {
            const Area& area = areas[below(areas.size())];
            return {(area.low.x + area.high.x) / 2, (area.low.y + area.high.y) / 2};
        }
    }
    const std::vector<DrawnText>& seen = window_.seen();
    return seen.empty() ? somewhere() : seen[below(seen.size())].middle();
}

int Monkey::mods() { return one_in(4) ? static_cast<int>(below(8)) : 0; }

std::string Monkey::words() {
    std::string text;
    do text += kWords[below(kWords.size())];
    while (one_in(4));
    return text;
}

Prank Monkey::think() {
    constexpr std::array kPaces = {1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 8, 8, 0};
    Prank next{.pace = kPaces[below(kPaces.size())]};
    const auto put = [&](ImVec2 at, std::size_t first) {
        next.at[first] = static_cast<int>(at.x);
        next.at[first + 1] = static_cast<int>(at.y);
    };
    const std::size_t dice = below(100);
    if (dice < 42) {
        next.what = 'c';
        put(something(), 0);
        next.at[2] = one_in(8) ? static_cast<int>(below(3)) : 0;
        next.at[3] = one_in(8) ? mods() : 0;
    } else if (dice < 58) {
        next.what = 'k';
        next.at[0] = 1 + static_cast<int>(below(static_cast<std::size_t>(Key::f12)));
        next.at[1] = mods();
    } else if (dice < 62) {
        next.what = 'k';
        constexpr std::array kOften = {Key::escape, Key::enter, Key::tab, Key::left, Key::right, Key::del};
        next.at[0] = static_cast<int>(kOften[below(kOften.size())]);
    } else if (dice < 69) {
        next.what = 'd';
        put(something(), 0);
        put(one_in(2) ? something() : somewhere(), 2);
        next.at[4] = one_in(4) ? 1 : 0;
    } else if (dice < 74) {
        next.what = 'w';
        put(something(), 0);
        next.at[2] = static_cast<int>(below(9)) - 4;
        next.at[3] = mods();
    } else if (dice < 83) {
        next.what = 't';
        next.text = words();
    } else if (dice < 85) {
        next.what = 'p';
        put(something(), 0);
    } else if (dice < 87) {
        next.what = 'r';
        put(kSizes[one_in(2) ? 0 : below(kSizes.size())], 0);
    } else if (dice < 91) {
        next.what = 'm';
        const auto& models = load::bundled_models();
        next.text = models[below(models.size())].name;
    } else if (dice < 95) {
        next.what = 'k';
        next.at[0] = static_cast<int>(one_in(3) ? Key::y : Key::z);
        next.at[1] = 1;
    } else if (dice < 98) {
        next.what = 'b';
        next.text = tabs()[below(tabs().size())].id;
    } else {
        constexpr std::array kSessions = {'S', 'o', 'l'};
        next.what = kSessions[below(kSessions.size())];
    }
    return next;
}

void Monkey::feed(const Prank& g) {
    const auto x = [&](std::size_t i) { return static_cast<float>(g.at[i]); };
    InputQueue& hands = window_.hands;
    switch (g.what) {
        case 'k':
            return hands.tap(static_cast<Key>(g.at[0]), mods_of(g.at[1]));
        case 'c':
            return hands.click(x(0), x(1), static_cast<Button>(g.at[2]), mods_of(g.at[3]));
        case 'd':
            return hands.drag(x(0), x(1), x(2), x(3), static_cast<Button>(g.at[4]));
        case 'w':
            hands.push(MouseMove{x(0), x(1)});
            hands.push(KeyEvent{Key::none, true, mods_of(g.at[3])});
            hands.push(Wheel{0.0F, x(2)});
            return hands.push(KeyEvent{});
        case 'p':
            return hands.push(MouseMove{x(0), x(1)});
        case 't':
            return hands.type(g.text);
        case 'r':
            ImGui::GetIO().DisplaySize = {x(0), x(1)};
            return;
        case 'm':
            return window_.session.apply(command::OpenModel{g.text, {}});
        case 'b':
            window_.state.tab = g.text;
            return;
        case 'S':
            write_session_file(folder_ + "/kept.dscope", file_of(window_.session, window_.state));
            try {
                kept_link_ = link_of(file_of(window_.session, window_.state));
            } catch (const Error&) {  // too long, or it names a file
            }
            return;
        case 'o':
            return window_.session.apply(command::OpenSession{folder_ + "/kept.dscope"});
        case 'l':
            return window_.session.apply(command::OpenLink{kept_link_});
        default:
            return;
    }
}

void Monkey::act(const Prank& action) {
    window_.forget();
    feed(action);
    if (action.pace == 0) window_.live(3, std::chrono::seconds(3));
    for (int later = action.pace; later > 0;) {
        window_.session.update();
        window_.settle_one();
        if (window_.hands.empty()) --later;
    }
    look();
}

void Monkey::look() {
    const auto* told = window_.last<command::Tell>();
    if (told != nullptr && is_a_mistake(told->sentence.english())) fail("the window says: " + told->sentence.english());
    if (window_.session.message() && is_a_mistake(window_.session.message()->text.english()))
        fail("the session says: " + window_.session.message()->text.english());
    window_.session.keep(saved_view(window_.state));
    std::string text = session_text(file_of(window_.session, window_.state), folder_);
    if (text == saved_) return;
    const std::string again = session_text(parse_session(text, folder_), folder_);
    if (again != text) fail("the session reads back differently: " + difference(text, again));
    saved_ = std::move(text);
}

void Monkey::reopen() {
    window_.session.apply(command::Tell{});  // a message is none of the work
    window_.state.presenting = false;        // nor is the lecture hall, which changes what there is room for
    window_.waits = true;
    for (int i = 0; i < 3; ++i) window_.settle();
    window_.waits = false;
    window_.session.apply(command::StopOpening{});  // nor is what couldn't be opened, and is said until it is sent away
    const SavedView view = saved_view(window_.state);
    const std::string text = session_text(file_of(window_.session, window_.state), folder_);
    const ImVec2 size = ImGui::GetIO().DisplaySize;
    std::string before, after;
    {
        Driver same(window_.session, 1.0F, size);
        static_cast<void>(show_saved(same.state, view));
        before = stage_of(same, window_.state);
        const SessionFile file = parse_session(text, folder_);
        Driver reopened(open_session(file, std::string("the saved session")), 1.0F, size);
        // What was saved is shown in the same room: what is folded changes what the canvas shows.
        reopened.state.settings = window_.state.settings;
        reopened.settle();
        static_cast<void>(show_saved(reopened.state, file.view));
        after = stage_of(reopened, window_.state);
        const std::string again = session_text(file_of(reopened.session, reopened.state), folder_);
        if (again != text) fail("the reopened session is another: " + difference(text, again));
        if (!compare_runs(*window_.session.shown().run, *reopened.session.shown().run)) after = before;
        if (!window_.session.input_error().empty()) after = before;  // a text that can't be run isn't saved
    }
    window_.settle_one();
    static constexpr std::array kMeasuredAnew = {"train", "ask"};
    if (std::ranges::find(kMeasuredAnew, view.tab) == kMeasuredAnew.end() && before != after)
        fail("the reopened window shows something else: " + difference(before, after));
}

}  // namespace decoderscope::testing
