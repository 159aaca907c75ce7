
#include "app/window/window.h"

#include <GLFW/glfw3.h>

#include <mutex>
#include <utility>

namespace decoderscope::window {

namespace {

struct Waker {
    std::mutex mutex;
    bool open = false;   // GLFW can take an event
    bool woken = false;  // a frame was requested since the last take_wake()
};

Waker& waker() {
    static Waker the_one;
    return the_one;
}

}  // namespace

void accept_wakes(bool accept) {
    const std::lock_guard lock(waker().mutex);
    waker().open = accept;
}

bool take_wake() {
    const std::lock_guard lock(waker().mutex);
    return std::exchange(waker().woken, false);
}

void wake_window() {
    const std::lock_guard lock(waker().mutex);
    waker().woken = true;
    if (waker().open) glfwPostEmptyEvent();
}

}  // namespace decoderscope::window
