#include "engine/files/mapped_file.h"

#include "engine/base/error.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>

namespace decoderscope {

namespace {

std::shared_ptr<const int> open_file(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a pipe must not block
    if (file < 0) throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
    return {new int(file), [](const int* descriptor) {
                ::close(*descriptor);
                delete descriptor;
            }};
}

// How many files stay open. A recording may have thousands, of which a process often may open a thousand; a mapping
// needs none of them open.
int most_open() {
    rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<int>(std::min<rlim_t>(limit.rlim_cur / 2, 4096)) : 128;
}

// One watched mapping. A place is never freed, only reused, so that the handler can walk the list at any moment,
// whatever other threads do.
struct Place {
    std::atomic<std::uintptr_t> begin = 0;  // 0: free
    std::atomic<std::uintptr_t> end = 0;
    std::array<char, 1024> path{};  // written while the place is free
    Place* next = nullptr;          // written before the place is in the list
};

std::atomic<Place*> first_place = nullptr;
std::mutex changing;
struct sigaction previous_handler;  // the one installed before ours

// Nothing but write() may be called in a signal handler.
void say(const char* text, std::size_t size) { static_cast<void>(!::write(STDERR_FILENO, text, size)); }
void say(const char* text) { say(text, std::strlen(text)); }

void end_with_a_sentence(int, siginfo_t* what, void*) {
    const auto address = reinterpret_cast<std::uintptr_t>(what->si_addr);
    for (const Place* place = first_place.load(std::memory_order_acquire); place != nullptr; place = place->next) {
        const std::uintptr_t begin = place->begin.load(std::memory_order_acquire);
        if (begin == 0 || address < begin || address >= place->end.load(std::memory_order_relaxed)) continue;
        say("decoderscope: ");
        say(place->path.data());
        // In a signal handler:
        say(": was truncated while it was open, expected it to stay as it was\n");  // not a message: English
        ::_exit(1);
    }
    ::sigaction(SIGBUS, &previous_handler, nullptr);  // not ours: the fault repeats under the previous handler
}

void install_handler() {
    struct sigaction action {};
    action.sa_sigaction = end_with_a_sentence;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, &previous_handler);
}

Place* free_place() {
    for (Place* place = first_place.load(); place != nullptr; place = place->next)
        if (place->begin.load() == 0) return place;
    if (first_place.load() == nullptr) install_handler();
    auto* place = new Place;  // never freed
    place->next = first_place.load();
    first_place.store(place, std::memory_order_release);
    return place;
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path), descriptor_(open_file(path)) {
    const auto fail = [&] {
        throw Error("{path}: cannot be read: {reason}", {{"path", path}, {"reason", std::strerror(errno)}});
    };
    struct stat status {};
    if (::fstat(*descriptor_, &status) != 0) fail();
    if (!S_ISREG(status.st_mode))
        throw Error("{path}: expected a safetensors file, found something that is not a file", {{"path", path}});
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ == 0) return;  // nothing to map
    void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, *descriptor_, 0);
    if (memory == MAP_FAILED) fail();
    // Small pages can be released one by one (Storage::leave_to_file); with large pages, each touch brings back two
    // megabytes.
    ::madvise(memory, size_, MADV_NOHUGEPAGE);
    auto* begin = static_cast<char*>(memory);
    bytes_ = {begin, [size = size_, watch = guard_against_truncation(path, {begin, size_})](char* bytes) mutable {
                  watch.reset();
                  ::munmap(bytes, size);
              }};
    if (*descriptor_ >= most_open()) descriptor_.reset();  // the lowest free number is always taken
}

void MappedFile::check() const {
    if (descriptor_ == nullptr) return;  // touching what is lost is still reported
    struct stat status {};
    if (::fstat(*descriptor_, &status) == 0 && static_cast<std::size_t>(status.st_size) >= size_) return;
    throw Error("{path}: was truncated after it was opened, expected it to stay {size} bytes long",
                {{"path", path_}, {"size", size_}});
}

std::shared_ptr<const void> guard_against_truncation(const std::string& path, std::span<const char> mapping) {
    const std::lock_guard lock(changing);
    Place* place = free_place();
    const std::size_t length = std::min(path.size(), place->path.size() - 1);
    std::copy_n(path.data(), length, place->path.data());
    place->path[length] = '\0';
    const auto begin = reinterpret_cast<std::uintptr_t>(mapping.data());
    place->end.store(begin + mapping.size(), std::memory_order_relaxed);
    place->begin.store(begin, std::memory_order_release);
    return {place, [](const Place* watched) {
                const std::lock_guard lock_again(changing);
                const_cast<Place*>(watched)->begin.store(0, std::memory_order_release);
            }};
}

}  // namespace decoderscope
