#pragma once

// What the tests use of POSIX and MinGW's library doesn't have. Included before each of their files
// (tests/CMakeLists.txt).
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

// A new folder: the six X at the end of its name become one that is not there yet.
inline char* mkdtemp(char* name) {
    constexpr const char* kLetters = "abcdefghijklmnopqrstuvwxyz";
    std::random_device random;
    for (char* at = name + std::strlen(name) - 6; *at != '\0'; ++at) *at = kLetters[random() % 26];
    std::error_code failed;
    return std::filesystem::create_directory(name, failed) ? name : nullptr;
}

// Windows' pipes have no place among files: tests of those have the tag [posix].
inline int mkfifo(const char*, unsigned) {
    errno = ENOSYS;
    return -1;
}

// A variable of the environment, for std::getenv() and for processes that are started from now on.
inline int setenv(const char* name, const char* value, int) { return _putenv_s(name, value); }
inline int unsetenv(const char* name) { return _putenv_s(name, ""); }
