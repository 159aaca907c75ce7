// What a frame of each tab costs to build on a model of 12 layers × 12 heads at 64 tokens: CPU time of the whole
// window, and of the first frame after a change. Hidden: test_app_views "[bench]" prints it.
#include "app/views/frame/tab.h"
#include "app/views/tabs/canvas/tab.h"
#include "app/views/tabs/compare/tab.h"
#include "engine/decoder/initial_weights.h"
#include "tests/catch.h"
#include "tests/views/driver.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

using namespace decoderscope::testing;
using namespace decoderscope::views::compare;

namespace {

std::shared_ptr<const Model> large_model() {
    Model model{{.name = "12x12"}, R"({"model_type": "decoderscope", "d_model": 192, "nhead": 12, "num_layers": 12,
        "dim_feedforward": 768, "vocab_size": 97, "lm_head": true})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens;
    for (int i = 0; i < 64; ++i) tokens.push_back(static_cast<float>(i * 31 % 97));
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 64}}, tokens);
    return std::make_shared<const Model>(std::move(model));
}

// The median CPU time of a frame in which nothing changes.
double median_frame(Driver& d) {
    std::vector<double> steady;
    for (int i = 0; i < 51; ++i) {
        d.settle();
        steady.push_back(d.frame_milliseconds());
    }
    std::nth_element(steady.begin(), steady.begin() + 25, steady.end());
    return steady[25];
}

// The CPU time of the longest of the first frames after a change: the median of three changes.
double median_first_frames(Driver& d) {
    std::vector<double> worst;
    for (int change = 0; change < 3; ++change) {
        d.session.apply(command::PaintMask{"blocks.6.attn", 0, 0, 40, 3, false});
        d.session.finish();
        worst.push_back(0.0);
        for (int i = 0; i < 4; ++i) {
            d.settle_one();
            worst.back() = std::max(worst.back(), d.frame_milliseconds());
        }
        d.session.apply(command::Undo{});
        d.session.finish();
        d.settle_one();
    }
    std::nth_element(worst.begin(), worst.begin() + 1, worst.end());
    return worst[1];
}

// The CPU times of all frames while the pictures of 60 steps glide to their places, in order of length.
std::vector<double> gliding_frames(Driver& d) {
    d.state.settings.reduced_motion = false;
    d.apply(command::GoFirst{});
    std::vector<double> frames;
    for (int step = 0; step < 60; ++step) {
        d.session.apply(command::Move{1});
        d.session.finish();
        for (int frame = 0; frame < 12; ++frame) {  // a glide takes 150 ms
            d.settle_one();
            frames.push_back(d.frame_milliseconds());
        }
    }
    std::ranges::sort(frames);
    return frames;
}

// As large as GPT-2, with random weights, on 64 tokens.
std::shared_ptr<const Model> gpt2_size() {
    Model model{{.name = "gpt2-size"}, R"({"model_type": "decoderscope", "d_model": 768, "nhead": 12, "num_layers": 12,
        "dim_feedforward": 3072, "vocab_size": 50257, "lm_head": true})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens;
    for (int i = 0; i < 64; ++i) tokens.push_back(static_cast<float>(i * 811 % 50257));
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 64}}, tokens);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

TEST_CASE("the cost of a frame while pictures glide from step to step", "[.][bench]") {
    const auto measure = [](const char* name, Driver& d) {
        const std::vector<double> frames = gliding_frames(d);
        const auto part = [&](double share) {
            return frames[static_cast<std::size_t>(share * static_cast<double>(frames.size() - 1))];
        };
        std::cout << name << ": " << frames.size() << " frames, median " << part(0.5) << " ms, 95 % within "
                  << part(0.95) << " ms, longest " << frames.back() << " ms\n";
    };
    std::cout << "milliseconds of CPU a frame while pictures glide\n";
    Driver small("verses");
    measure("verses", small);
    Driver large(gpt2_size());
    measure("GPT-2's size, 64 tokens", large);
}

TEST_CASE("the cost of a frame of every tab", "[.][bench]") {
    Driver d(large_model());
    std::cout << "milliseconds of CPU a frame, 12 layers x 12 heads, 64 tokens\ntab      median   longest of a "
                 "change's first frames\n";
    for (const Tab& tab : tabs()) {
        d.state.tab = tab.id;
        d.settle();
        const double steady = median_frame(d);
        const double worst = median_first_frames(d);
        const std::string title = tab.title.english();
        std::cout << title << std::string(9 - title.size(), ' ') << steady << "   " << worst << '\n';
        CHECK_FALSE(d.seen().empty());
    }
}

TEST_CASE("the cost of a frame of the Norms tab with 36 blocks", "[.][bench]") {
    Driver d;
    d.state.tab = "norms";
    d.state.part<CompareTabState>().norms.layers = 36;
    d.settle();
    std::cout << "milliseconds of CPU a frame, Norms tab, 36 blocks: " << median_frame(d) << '\n';
    CHECK(d.session.shown().companion("norms.left") != nullptr);
}

namespace {

// A model of one block whose projections are 4,096 × 4,096.
std::shared_ptr<const Model> wide_model() {
    Model model{{.name = "4096"}, R"({"model_type": "decoderscope", "d_model": 4096, "nhead": 32, "num_layers": 1,
        "dim_feedforward": 0, "bias": false})"};
    model.weights = initial_weights(model.config(), 1);
    model.example.x = Tensor({{axis::batch, 1}, {axis::pos, 1}, {axis::d_model, 4096}});
    std::ranges::fill(model.example.x.writable(), 1.0F);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

TEST_CASE("the cost of a frame while a matrix of 4,096 × 4,096 is panned and zoomed", "[.][bench]") {
    Driver d(wide_model());
    d.apply(command::GoTo{"layers.0.self_attn.q_proj.weight"});
    std::vector<double> times;
    const auto frames = [&](const InputEvent& event) {
        d.hands.push(event);
        d.settle_one();
        times.push_back(d.frame_milliseconds());
    };
    frames(MouseMove{640, 400});
    for (const float notch : {1.0F, 1.0F, 1.0F, 1.0F, -1.0F, -1.0F, -1.0F, -1.0F}) {
        frames(Wheel{0, notch});
        frames(MouseButton{Button::left, true});
        for (int i = 1; i <= 20; ++i)
            frames(MouseMove{640.0F + 7.0F * static_cast<float>(i % 10), 400.0F - 3.0F * static_cast<float>(i)});
        frames(MouseButton{Button::left, false});
        frames(MouseMove{640, 400});
    }
    std::ranges::sort(times);
    std::cout << "milliseconds of CPU a frame, 4,096 x 4,096, " << times.size() << " frames of wheel and drag: median "
              << times[times.size() / 2] << ", worst " << times.back() << '\n';
    CHECK(d.textures.pictures().size() > 0);
}

namespace {

class Watch {
public:
    [[nodiscard]] double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Wall time until everything that a click asked for is shown.
template <class Ask>
void print_wait(const char* what, Driver& d, const Ask& ask) {
    const Watch watch;
    ask();
    d.settle();
    std::cout << what << ": " << watch.seconds() << " s\n";
}

// Frames that don't wait for what is computed, until this is so.
template <class Enough>
double seconds_until(Driver& d, const Watch& watch, const Enough& enough) {
    d.waits = false;
    while (!enough()) {
        d.settle_one();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    d.waits = true;
    return watch.seconds();
}

// Until the first of the three models after this step is shown with its patterns, and until all are.
void print_looking_back(Driver& d, Index step) {
    const auto shown = [&] {
        return std::ranges::count_if(
            d.seen(), [end = ",step" + std::to_string(step)](const auto& piece) { return piece.text.ends_with(end); });
    };
    const Watch watch;
    d.session.apply(command::LookAtTraining{step});
    const double first = seconds_until(d, watch, [&] { return shown() > 0; });
    const double all = seconds_until(d, watch, [&] { return shown() == 3; });
    std::cout << "Train, looking back at step " << step << ": the first model after " << first << " s, all after "
              << all << " s\n";
}

// A decoder of one block with heads of 64 columns, on 16,384 tokens.
std::shared_ptr<const Model> long_model(Index heads) {
    Model model{{.name = "16384"},
                R"({"model_type": "decoderscope", "num_layers": 1, "vocab_size": 97,
        "norm_first": true, "nhead": )" +
                    std::to_string(heads) + R"(, "d_model": )" + std::to_string(64 * heads) + "}"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens;
    for (int i = 0; i < 16384; ++i) tokens.push_back(static_cast<float>(i * 31 % 97));
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 16384}}, tokens);
    return std::make_shared<const Model>(std::move(model));
}

}  // namespace

TEST_CASE("what a person waits for, on a pattern of 16,384 rows", "[.][bench][tiles]") {
    const auto median = [](std::vector<double> times) {
        std::ranges::sort(times);
        return times[times.size() / 2];
    };
    for (const Index heads : {1, 4, 12}) {
        std::vector<double> first, all, zoomed;
        for (int round = 0; round < 3; ++round) {
            Driver d(long_model(heads));
            d.waits = false;  // for what is measured on the run, too
            const auto read = [&](const Watch& watch, std::string_view note) {
                return seconds_until(d, watch, [&] { return d.sees(note); });
            };
            d.session.apply(command::GoFirst{});
            d.settle_one();
            d.session.apply(command::PaintMask{"blocks.0.attn", 0, 0, 16000, 3, false});
            d.session.finish();
            d.session.apply(command::Undo{});  // another tensor with the same numbers: no picture of it is there
            d.session.finish();
            d.session.apply(command::GoTo{"blocks.0.attn.pattern"});
            const Watch begun;
            first.push_back(read(begun, "1of64rows"));
            all.push_back(read(begun, "strongestof16"));
            for (auto& [key, view] : d.state.viewports) view = {.zoom = 30.0F, .origin = {5000, 6000}};
            const Watch zooming;
            zoomed.push_back(seconds_until(d, zooming, [&] { return !d.sees("strongestof16"); }));
        }
        std::cout << heads << " heads: the first picture after " << median(first) << " s, of all rows after "
                  << median(all) << " s, a zoomed tile after " << median(zoomed) << " s\n";
        CHECK(median(first) < median(all));
    }
}

TEST_CASE("what a person waits for, on dates", "[.][bench][waits]") {
    Driver d("dates");
    print_wait("Causes, what moves it", d, [&] { d.press(Key::k); });
    print_wait("Causes, what comes back", d, [&] { REQUIRE(d.click_label("Whatcomesback")); });
    print_wait("Norms, gradients", d, [&] {
        d.state.part<CompareTabState>().norms.view = View::gradients;
        d.state.tab = "norms";
    });
    CHECK_FALSE(d.seen().empty());
}

TEST_CASE("what a person waits for, in Train", "[.][bench][waits]") {
    Driver d("induction");
    d.press(Key::f);
    const Watch watch;
    REQUIRE(d.click_text("Threeruns:whatwarm-upisfor"));
    const double all = seconds_until(d, watch, [&] { return d.session.training().finished(); });
    std::cout << "Train, three runs, 900 steps together: " << all << " s\n";
    d.session.finish_training();
    d.settle();
    for (const Index step : {159, 158, 160, 15, 299, 204}) print_looking_back(d, step);
}

namespace {

// A random model of GPT-2-small's size, on as many tokens as it can read.
std::shared_ptr<const Model> gpt2_sized() {
    Model model{{.name = "gpt2-sized"}, R"({"model_type": "decoderscope", "d_model": 768, "nhead": 12, "num_layers": 12,
        "dim_feedforward": 3072, "vocab_size": 50257, "lm_head": true})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens;
    for (int i = 0; i < 1024; ++i) tokens.push_back(static_cast<float>(i * 31 % 50257));
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 1024}}, tokens);
    return std::make_shared<const Model>(std::move(model));
}

struct FrameTimes {
    double median = 0.0, worst = 0.0;
};

// Of frames that each have something to do, without waiting for it.
template <class Act>
FrameTimes times_of(Driver& d, int frames, const Act& act) {
    std::vector<double> times;
    for (int i = 0; i < frames; ++i) {
        act(i);
        d.settle_one();
        times.push_back(d.frame_milliseconds());
    }
    std::ranges::sort(times);
    return {times[times.size() / 2], times.back()};
}

void print_canvas(const std::string& name, Driver& d) {
    using views::canvas::CanvasTabState;
    d.state.settings.reduced_motion = true;
    d.state.tab = "canvas";
    d.waits = false;
    const auto print = [&](const char* what, FrameTimes times) {
        std::cout << name << ", " << what << ": median " << times.median << ", worst " << times.worst
                  << " ms of CPU a frame\n";
    };
    const Watch watch;
    print("opening", times_of(d, 30, [](int) {}));
    d.settle_one();
    while (d.state.busy || d.session.derived().waiting()) {
        d.state.busy = false;
        d.settle_one();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    std::cout << name << ", until all pictures are there: " << watch.seconds() << " s\n";
    print("the whole, nothing changes", times_of(d, 101, [](int) {}));
    const CanvasTabState& tab = d.state.part<CanvasTabState>();
    const auto at = views::canvas::picture_on_canvas(d.session, tab, "blocks.1.attn.pattern", 2);
    REQUIRE(at);
    d.hands.push(MouseMove{(at->low.x + at->high.x) * 0.5F, at->low.y + at->height() * 0.75F});
    d.settle_one();
    print("zooming in to the digits", times_of(d, 60, [&](int) { d.hands.push(Wheel{0, 1}); }));
    d.hands.push(MouseButton{Button::left, true});
    print("panning there", times_of(d, 60, [&](int i) {
              d.hands.push(MouseMove{640.0F + 3.0F * static_cast<float>(i), 400.0F});
          }));
    d.hands.push(MouseButton{Button::left, false});
    print("zooming out again", times_of(d, 80, [&](int) { d.hands.push(Wheel{0, -1}); }));
    CHECK(tab.is_whole);
    d.waits = true;
}

}  // namespace

TEST_CASE("the cost of a frame of the canvas, on verses", "[.][bench][canvas]") {
    Driver d("verses");
    print_canvas("verses", d);
}

TEST_CASE("the cost of a frame of the canvas, on a model of GPT-2's size at 1,024 tokens", "[.][bench][canvas]") {
    Driver d(gpt2_sized());
    print_canvas("GPT-2's size", d);
}
