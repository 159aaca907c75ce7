// Files: one is written completely or not at all, and nothing else is left behind.
#include "engine/base/file.h"
#include "engine/files/mapped_file.h"
#include "engine/files/safetensors.h"
#include "engine/platform/folders.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace fs = std::filesystem;

namespace {

void write_text(const std::string& path, const std::string& text) {
    write_whole(path, [&](std::ostream& file) { file << text; });
}

// While it lives, no file may grow beyond this many bytes.
class SmallestFiles {
public:
    explicit SmallestFiles(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &before_);
        const rlimit limit = {bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        handler_ = std::signal(SIGXFSZ, SIG_IGN);  // so that writing fails instead of killing the process
    }
    SmallestFiles(const SmallestFiles&) = delete;
    SmallestFiles& operator=(const SmallestFiles&) = delete;
    ~SmallestFiles() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, handler_);
    }

private:
    rlimit before_ = {};
    void (*handler_)(int) = nullptr;
};

// A file system mounted there; unmounted on destruction.
class Mounted {
public:
    explicit Mounted(std::string path) : path_(std::move(path)) {}
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    ~Mounted() { ::umount(path_.c_str()); }

private:
    std::string path_;
};

// The message of the Error that `work` throws, run in its own process that may not write to /dev: these tests may run
// as root, and a fault that they should find must not replace the machine's devices with files.
std::string said_to_nobody(const std::function<void()>& work) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        constexpr uid_t kNobody = 65534;
        const bool harmless = ::geteuid() != 0 || (::setgid(kNobody) == 0 && ::setuid(kNobody) == 0);
        const std::string said = harmless && ::access("/dev", W_OK) != 0 ? error_of(work) : "(cannot give up root)";
        const bool told = ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
        ::_exit(told ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    char piece[256];
    for (ssize_t count = 0; (count = ::read(ends[0], piece, sizeof piece)) > 0;)
        said.append(piece, static_cast<std::size_t>(count));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return said;
}

}  // namespace

// ---- writing

TEST_CASE("a file is written whole, and replaced whole") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out");
    write_text(path, "first, and longer");
    write_text(path, "second");
    CHECK(read_bytes(path) == "second");
    CHECK(folder.entries() == 1);
}

TEST_CASE("when writing fails half-way, what was there stays and nothing is left behind") {
    const TemporaryFolder folder;
    const std::string path = folder.file("out");
    const auto fail_half_way = [&] {
        write_whole(path, [](std::ostream& file) {
            file << "half";
            throw Error("the other half is missing");
        });
    };
    check_message(error_of(fail_half_way), {"the other half"});
    CHECK(folder.entries() == 0);
    write_bytes(path, "before");
    check_message(error_of(fail_half_way), {"the other half"});
    CHECK(read_bytes(path) == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a path that can't be written is named, and nothing appears") {
    const TemporaryFolder folder;
    const std::vector<std::pair<std::string, Tensor>> tensors = {{"t", Tensor({{axis::pos, 2}}, {1.0F, 2.0F})}};
    const auto error_writing = [&](const std::string& path) {
        return error_of([&] { write_safetensors(path, tensors); });
    };
    check_message(error_writing(folder.file("absent/out")),
                  {"absent/out", "cannot be written", "No such file or directory"});
    check_message(error_writing(folder.path()), {folder.path(), "is a folder", "expected a file"});
    check_message(error_writing(""), {"cannot be written"});
    write_bytes(folder.file("file"), "text");
    check_message(error_writing(folder.file("file/out")), {"file/out", "cannot be written"});
    CHECK(folder.entries() == 1);
    CHECK(read_bytes(folder.file("file")) == "text");
}

TEST_CASE("when the disk takes no more, what was there stays and nothing is left behind") {
    const TemporaryFolder folder;
    write_bytes(folder.file("out"), "before");
    const SmallestFiles limit(4096);
    check_message(error_of([&] { write_text(folder.file("out"), std::string(100'000, 'x')); }),
                  {folder.file("out"), "cannot be written", "too large"});
    CHECK(read_bytes(folder.file("out")) == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("on a disk that is full what was there stays and nothing is left behind") {
    const TemporaryFolder folder;
    if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
        WARN("not tested, as no file system may be mounted here: " << std::strerror(errno));
        return;
    }
    const Mounted mounted(folder.path());
    write_text(folder.file("out"), "before");
    check_message(error_of([&] { write_text(folder.file("out"), std::string(1'000'000, 'x')); }),
                  {folder.file("out"), "cannot be written", "No space left on device"});
    CHECK(read_bytes(folder.file("out")) == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is replaced keeps its permissions; a new one has what the umask leaves") {
    const TemporaryFolder folder;
    const auto mode_of = [&](const std::string& name) {
        return static_cast<unsigned>(fs::status(folder.file(name)).permissions());
    };
    for (const unsigned mode : {0600U, 0644U, 0755U, 0200U, 0664U}) {
        write_text(folder.file("out"), "before");
        fs::permissions(folder.file("out"), static_cast<fs::perms>(mode));
        write_text(folder.file("out"), "after");
        CHECK(mode_of("out") == mode);
        fs::permissions(folder.file("out"), static_cast<fs::perms>(0600));
        CHECK(read_bytes(folder.file("out")) == "after");
    }
    const mode_t before = ::umask(027);
    write_text(folder.file("new"), "text");
    ::umask(before);
    CHECK(mode_of("new") == 0640U);
}

TEST_CASE("a file and a folder that may not be written say so, and stay as they are") {
    const TemporaryFolder folder;
    fs::permissions(folder.path(), static_cast<fs::perms>(0777));
    write_bytes(folder.file("out"), "before");
    fs::permissions(folder.file("out"), static_cast<fs::perms>(0444));
    CHECK(said_to_nobody([&] { write_text(folder.file("out"), "after"); }) ==
          folder.file("out") + ": cannot be written: Permission denied");
    fs::permissions(folder.path(), static_cast<fs::perms>(0555));
    CHECK(said_to_nobody([&] { write_text(folder.file("new"), "after"); }) ==
          folder.file("new") + ": cannot be written: Permission denied");
    fs::permissions(folder.path(), static_cast<fs::perms>(0777));
    CHECK(read_bytes(folder.file("out")) == "before");
    CHECK(folder.entries() == 1);
}

TEST_CASE("several threads that write one file leave one of their texts, whole") {
    const TemporaryFolder folder;
    {
        std::vector<std::jthread> threads;
        for (char c = 'a'; c <= 'd'; ++c)
            threads.emplace_back([&folder, c] {
                for (int i = 0; i < 20; ++i) write_text(folder.file("out"), std::string(100'000, c));
            });
    }
    const std::string text = read_bytes(folder.file("out"));
    REQUIRE(text.size() == 100'000);
    CHECK(text == std::string(100'000, text[0]));
    CHECK(folder.entries() == 1);
}

TEST_CASE("a pipe is written to, and stays a pipe") {
    const TemporaryFolder folder;
    const std::string path = folder.file("pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    write_text(path, "text");
    char read[8] = {};
    CHECK(::read(reader, read, sizeof read) == 4);
    CHECK(std::string(read) == "text");
    ::close(reader);
    CHECK(fs::is_fifo(path));
    CHECK(folder.entries() == 1);
}

TEST_CASE("a full device is an error") {
    CHECK(said_to_nobody([] { write_text("/dev/full", "text"); }) ==
          "/dev/full: cannot be written: No space left on device");
    CHECK(said_to_nobody([] { write_text("/dev/full", std::string(100'000, 'x')); }) ==
          "/dev/full: cannot be written: No space left on device");
    CHECK(said_to_nobody([] { write_text("/dev/null", "text"); }) == "(no error)");
}

TEST_CASE("a link stays a link, and the file behind it is written") {
    const TemporaryFolder folder;
    fs::create_directory(folder.file("deep"));
    write_bytes(folder.file("deep/file"), "before");
    fs::create_symlink("deep/file", folder.file("link"));
    fs::create_symlink("link", folder.file("link to link"));
    write_text(folder.file("link to link"), "after");
    CHECK(fs::is_symlink(folder.file("link to link")));
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK_FALSE(fs::is_symlink(folder.file("deep/file")));
    CHECK(read_bytes(folder.file("deep/file")) == "after");
    CHECK(folder.entries() == 3);
}

TEST_CASE("a link to a file that isn't there yet makes that file") {
    const TemporaryFolder folder;
    fs::create_symlink(folder.file("file"), folder.file("link"));
    write_text(folder.file("link"), "new");
    CHECK(fs::is_symlink(folder.file("link")));
    CHECK(read_bytes(folder.file("file")) == "new");
}

TEST_CASE("links that lead in a circle are an error") {
    const TemporaryFolder folder;
    fs::create_symlink("b", folder.file("a"));
    fs::create_symlink("a", folder.file("b"));
    check_message(error_of([&] { write_text(folder.file("a"), "text"); }), {folder.file("a")});
    CHECK(fs::is_symlink(folder.file("a")));
    CHECK(folder.entries() == 2);
}

// ---- reading

TEST_CASE("a text is read whole, whatever is in it but a zero byte, at which libraries would end") {
    const TemporaryFolder folder;
    const std::string text = "a\x01b\r\n\xff" + std::string(200'000, 'x');
    write_bytes(folder.file("text"), text);
    CHECK(read_text(folder.file("text")) == text);
    write_bytes(folder.file("empty"), "");
    CHECK(read_text(folder.file("empty")).empty());
    write_bytes(folder.file("zero"), std::string("{}\0 and more", 12));
    check_message(error_of([&] { static_cast<void>(read_text(folder.file("zero"))); }), {"zero", "byte 2 is 0"});
}

TEST_CASE(
    "a file and a folder with the longest name that a system allows are written, and nothing is left beside them") {
    const TemporaryFolder folder;
    for (const std::string& name : {std::string(255, 'n'), std::string(251, 'n') + ".txt", [] {
                                        std::string letters;
                                        for (int i = 0; i < 85; ++i) letters += "文";  // three bytes each
                                        return letters;
                                    }()}) {
        write_whole(folder.file(name), [](std::ostream& out) { out << "text"; });
        CHECK(read_text(folder.file(name)) == "text");
        const std::string beside = temporary_beside(folder.file(name));
        CHECK(beside.size() < folder.file("").size() + 255);
        CHECK(static_cast<unsigned char>(beside[beside.find(".part-") - 1]) != 0xE6);  // 文 is E6 96 87: not cut within
    }
    CHECK(folder.entries() == 3);
    check_message(error_of([&] { write_whole(folder.file(std::string(256, 'n')), [](std::ostream&) {}); }),
                  {"cannot be written", "too long"});
    CHECK(folder.entries() == 3);
}

TEST_CASE("a text that can't be read is named") {
    const TemporaryFolder folder;
    check_message(error_of([&] { static_cast<void>(read_text(folder.file("absent"))); }), {"absent", "No such file"});
    check_message(error_of([&] { static_cast<void>(read_text(folder.path())); }),
                  {folder.path(), "is a folder", "expected a file"});
}

TEST_CASE("a text beyond the limit is refused, even where it has no end") {
    const TemporaryFolder folder;
    write_bytes(folder.file("text"), "12345");
    CHECK(read_text(folder.file("text"), 5) == "12345");
    check_message(error_of([&] { static_cast<void>(read_text(folder.file("text"), 4)); }), {"text", "at most 4 bytes"});
    check_message(error_of([&] { static_cast<void>(read_text("/dev/zero", 1000)); }),
                  {"/dev/zero", "at most 1000 bytes"});
}

// ---- where a person's files are

TEST_CASE("folders that the environment names by relative paths are ignored; without HOME the system's is taken") {
    const auto kept = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::pair(name, value == nullptr ? std::optional<std::string>() : std::string(value));
    };
    const auto set = [](const char* name, const std::optional<std::string>& value) {
        value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    };
    const std::array before = {kept("HOME"), kept("XDG_CONFIG_HOME"), kept("XDG_STATE_HOME"), kept("XDG_DATA_HOME")};
    const std::string in_passwd = ::getpwuid(::getuid())->pw_dir;
    for (const std::optional<std::string>& home : std::vector<std::optional<std::string>>{"/home/ada", "", "ada", {}}) {
        const std::string expected = home == "/home/ada" ? *home : in_passwd;
        set("HOME", home);
        for (const char* named : {"", "state", "./state", "/named"}) {
            for (std::size_t i = 1; i < before.size(); ++i) set(before[i].first, named);
            const bool absolute = *named == '/';
            CHECK(platform::home_folder() == expected);
            CHECK(platform::config_folder() == (absolute ? named : expected + "/.config"));
            CHECK(platform::state_folder() == (absolute ? named : expected + "/.local/state"));
            CHECK(platform::data_folder() == (absolute ? named : expected + "/.local/share"));
        }
    }
    for (const auto& [name, value] : before) set(name, value);
}

TEST_CASE("more files can be mapped than a process may open") {
    const TemporaryFolder folder;
    rlimit before{}, few{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    few = before;
    few.rlim_cur = 64;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    std::vector<std::unique_ptr<MappedFile>> mapped;
    for (int i = 0; i < 300; ++i) {
        const std::string path = folder.file(std::to_string(i));
        write_bytes(path, path);
        mapped.push_back(std::make_unique<MappedFile>(path));
        fs::remove(path);
    }
    ::setrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < 300; ++i) {
        const MappedFile& file = *mapped[static_cast<std::size_t>(i)];
        CHECK(std::string(file.data(), file.size()) == folder.file(std::to_string(i)));
        file.check();
    }
}
