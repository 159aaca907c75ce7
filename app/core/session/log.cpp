#include "app/core/session/log.h"

#include "engine/base/error.h"
#include "engine/base/message.h"
#include "engine/base/parallel.h"
#include "engine/platform/process.h"

#include <array>
#include <cstdio>

namespace decoderscope::core {

namespace {

std::string megabytes(std::uint64_t bytes) { return std::to_string(bytes / 1'000'000) + " MB"; }

}  // namespace

Log::Log(const std::string& path) : path_(path), file_(path, std::ios::trunc) {
    if (!file_) throw Error("{path}: cannot be written", {{"path", path}});
    write(std::string("Decoderscope ") + DECODERSCOPE_VERSION + " on " + platform::system_name());
    const auto all = platform::bytes_of_memory(), free = platform::free_bytes_of_memory();
    write(std::to_string(thread_count()) + " threads" +
          (all ? ", " + megabytes(*all) + " of memory" : "") +  // not a message: a log is English
          (free ? ", " + megabytes(*free) + " free" : ""));
}

void Log::write(std::string_view line) {
    const std::lock_guard lock(mutex_);
    std::array<char, 32> time{};
    std::snprintf(time.data(), time.size(), "%10.3f  ",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count());
    file_ << time.data() << one_line(std::string(line)) << '\n';
    file_.flush();
}

Sentence Log::failure() const {
    const std::lock_guard lock(mutex_);
    return file_ ? Sentence() : message("{path}: not all of the log could be written", {{"path", path_}});
}

}  // namespace decoderscope::core
