#include "app/window/window_painter.h"

#include "app/views/widgets/imgui_compat.h"
#include "engine/base/error.h"

#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include "app/window/window_gl.h"

#include <algorithm>
#include <new>
#include <utility>

namespace decoderscope::window {
namespace {

// Dear ImGui writes to what it is given, also where there is no memory left.
ImGuiContext* new_context() {
    ImGui::SetAllocatorFunctions([](std::size_t bytes, void*) { return ::operator new(bytes); },
                                 [](void* memory, void*) { ::operator delete(memory); });
    return ImGui::CreateContext();
}

void start_backend() {
    if (!ImGui_ImplOpenGL3_Init(kShaderVersion)) throw Error("Dear ImGui found no OpenGL 3.3 to draw with");
}

void clear(int width, int height) {
    const ImVec4 color = ImGui::GetStyleColorVec4(ImGuiCol_WindowBg);
    glViewport(0, 0, width, height);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(color.x, color.y, color.z, 1.0F);
    glClear(GL_COLOR_BUFFER_BIT);
}

}  // namespace

void Painter::ContextDeleter::operator()(ImGuiContext* context) const { ImGui::DestroyContext(context); }

Painter::Painter() : context_(new_context()) {
    ImGui::SetCurrentContext(context());
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.LogFilename = nullptr;
    io.BackendPlatformName = "decoderscope";
    views::use_demand(demand_);
    start_backend();
    textures_ = std::make_unique<GlTextures>();
}

Painter::~Painter() {
    ImGui::SetCurrentContext(context());
    textures_.reset();
    if (between_frames_)
        ImGui_ImplOpenGL3_Shutdown();
    else
        static_cast<void>(context_.release());
}

void Painter::begin_again() {
    ImGui::SetCurrentContext(context());
    textures_ = std::make_unique<GlTextures>();
    fonts_ = {};  // they are loaded with a new backend
}

void Painter::use_scale(Frontend& frontend, float scale) {
    const bool other_files = std::exchange(new_fonts_, false);
    const bool anew = other_files || fonts_.text == nullptr || fonts_.scale != scale || demand_.grew();
    if (anew) {
        // The old atlas was filled with the old files' bytes: they are freed after it.
        const auto files = demand_.files;
        if (other_files) demand_.files = std::make_shared<views::FontFiles>();
        // The backend holds the old atlas on the GPU. In 1.86 only a new backend works: an old one assumes that its
        // buffers, once recreated, are as large as before.
        ImGui_ImplOpenGL3_Shutdown();
        fonts_ = views::load_fonts(*ImGui::GetIO().Fonts, scale, demand_);
        start_backend();
    }
    if (anew || told_ != &frontend) frontend.use_fonts(fonts_);
    told_ = &frontend;
}

bool Painter::draw(Frontend& frontend, views::InputQueue& input, const Canvas& canvas) {
    ImGui::SetCurrentContext(context());
    bool more = build(frontend, input, canvas);
    // Characters that are drawn for the first time get their glyphs before anything is shown.
    if (demand_.grew()) more = build(frontend, input, canvas);
    clear(canvas.width, canvas.height);
    ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
    textures_->end_frame();
    return more || demand_.grew();
}

bool Painter::build(Frontend& frontend, views::InputQueue& input, const Canvas& canvas) {
    between_frames_ = false;
    const ImVec2 window = {static_cast<float>(canvas.width) / canvas.scale,
                           static_cast<float>(canvas.height) / canvas.scale};
    use_scale(frontend, std::clamp(canvas.scale * frontend.text_scale(window), 0.5F, 4.0F));

    ImGuiIO& io = ImGui::GetIO();
    io.DisplaySize = ImVec2(static_cast<float>(canvas.width), static_cast<float>(canvas.height));
    io.DeltaTime = std::max(static_cast<float>(canvas.seconds), 1e-4F);
    const bool more_input = input.feed(io);

    ImGui_ImplOpenGL3_NewFrame();
    ImGui::NewFrame();
    const views::compat::StackDepths before;
    bool moves = false;
    try {
        moves = frontend.frame(*textures_);
    } catch (...) {
        before.restore();
        ImGui::EndFrame();
        between_frames_ = true;
        throw;
    }
    ImGui::Render();
    between_frames_ = true;
    return more_input || moves;
}

}  // namespace decoderscope::window
