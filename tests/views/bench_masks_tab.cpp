// What a frame of the Masks tab costs on a model of 12 layers × 12 heads at 64 tokens. Hidden: run it with [bench].
#include "app/views/imgui_compat.h"
#include "app/views/panels.h"
#include "app/views/textures.h"
#include "engine/model/initial_weights.h"
#include "tests/catch.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <vector>

using namespace decoderscope;

namespace {

std::shared_ptr<const Model> large_model() {
    Model model{.name = "12x12", .config_json = R"({"model_type": "decoderscope", "d_model": 192, "nhead": 12,
        "num_layers": 12, "dim_feedforward": 768, "vocab_size": 97, "lm_head": true, "mask_value": "-inf"})"};
    model.weights = initial_weights(model.config(), 1);
    std::vector<float> tokens;
    for (int i = 0; i < 64; ++i) tokens.push_back(static_cast<float>(i * 31 % 97));
    model.example.tokens = Tensor({{axis::batch, 1}, {axis::pos, 64}}, tokens);
    return std::make_shared<const Model>(std::move(model));
}

// One frame of the tab alone; the milliseconds that building it took, and what it asked for.
std::pair<double, Commands> build_frame(const Ui& ui, const Session& session, ViewState& state) {
    Commands commands;
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({712, 653});
    ImGui::Begin("stage", nullptr, ImGuiWindowFlags_NoDecoration);
    const auto start = std::chrono::steady_clock::now();
    draw_masks_tab(ui, session, state, {{0, 0}, {712, 653}}, commands);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    ImGui::End();
    ImGui::Render();
    return {taken.count(), commands};
}

}  // namespace

TEST_CASE("the cost of a frame of the Masks tab", "[.][bench]") {
    ImGuiContext* context = ImGui::CreateContext();
    ImGui::SetCurrentContext(context);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1280, 800};
    const Theme theme = make_theme(true);
    const Fonts fonts = load_fonts(*io.Fonts, 1.0F);
    compat::set_default_font(fonts.text);
    compat::bake_on_cpu(*io.Fonts);
    apply_style(theme, 1.0F);
    NullTextures textures;
    Session session(large_model());
    ViewState state;
    const Ui ui = {fonts, theme, textures};
    const auto measure = [&](const char* what) {
        std::vector<double> frames;
        for (int i = 0; i < 101; ++i) {
            const auto [milliseconds, commands] = build_frame(ui, session, state);
            frames.push_back(milliseconds);
            for (const Command& command : commands) session.apply(command);
            session.finish();
        }
        const double first = frames.front();
        std::sort(frames.begin(), frames.end());
        std::cout << "masks tab, " << what << ": median " << frames[50] << " ms a frame, worst " << frames.back()
                  << " ms, the first after the change " << first << " ms; " << ImGui::GetDrawData()->TotalVtxCount
                  << " vertices\n";
        CHECK(ImGui::GetDrawData()->TotalVtxCount > 1000);
        CHECK(frames[50] < 4.0);
    };
    measure("as it opens");
    session.apply(command::PaintMasks{{"blocks.0.attn", 0, std::nullopt, cells_outside_band(64, 64, 8), false}});
    session.finish();
    measure("a band over all heads");
    session.apply(command::PaintMasks{{"blocks.0.attn", 0, 0, cells_of_row(20, 64), false}});
    session.finish();
    measure("a row with nothing left");
    ImGui::DestroyContext(context);
}
