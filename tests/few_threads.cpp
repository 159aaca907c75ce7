// Loaded before a program's libraries (LD_PRELOAD), it has the system make no more threads than THREADS_AT_MOST, as in
// a container that limits them.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>

namespace {

std::atomic<int> made = 0;

}  // namespace

// The number of cores: as many as on a larger machine, so that threads are asked for on any.
extern "C" int get_nprocs() noexcept { return 6; }

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*work)(void*),
                              void* given) noexcept {
    using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    static const Create create = reinterpret_cast<Create>(::dlsym(RTLD_NEXT, "pthread_create"));
    const char* const most = std::getenv("THREADS_AT_MOST");
    if (most != nullptr && made.fetch_add(1) >= std::atoi(most)) return EAGAIN;
    return create(thread, how, work, given);
}
