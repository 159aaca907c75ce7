#include "tests/core/files/child_process.h"

#include "engine/platform/windows/windows_text.h"

#include <windows.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace decoderscope::testing {

namespace {

using platform::narrow, platform::wide;

// The process begins with the variables of this one.
constexpr const wchar_t* kFolder = L"DECODERSCOPE_TEST_FOLDER";
constexpr const wchar_t* kReports = L"DECODERSCOPE_TEST_REPORTS";

constexpr DWORD kLongest = 32768;

std::wstring variable(const wchar_t* name) {
    std::wstring value(kLongest, L'\0');
    value.resize(::GetEnvironmentVariableW(name, value.data(), kLongest));
    return value;
}

HANDLE handle_of(std::intptr_t number) { return reinterpret_cast<HANDLE>(number); }

}  // namespace

ChildProcess::ChildProcess(const std::string& test_case, const std::string& folder) {
    SECURITY_ATTRIBUTES inherited{};
    inherited.nLength = sizeof inherited;
    inherited.bInheritHandle = TRUE;
    HANDLE read_end = nullptr, write_end = nullptr;
    if (::CreatePipe(&read_end, &write_end, &inherited, 0) == 0) throw std::runtime_error(platform::windows_reason());
    ::SetHandleInformation(read_end, HANDLE_FLAG_INHERIT, 0);
    ::SetEnvironmentVariableW(kFolder, wide(folder).c_str());
    ::SetEnvironmentVariableW(kReports, wide(std::to_string(reinterpret_cast<std::uintptr_t>(write_end))).c_str());
    std::wstring program(kLongest, L'\0');
    program.resize(::GetModuleFileNameW(nullptr, program.data(), kLongest));
    std::wstring arguments = L"test \"" + wide(test_case) + L"\"";
    const HANDLE nowhere =
        ::CreateFileW(L"NUL", GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherited, OPEN_EXISTING, 0, nullptr);
    STARTUPINFOW start{};
    start.cb = sizeof start;
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdOutput = nowhere;
    start.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
    PROCESS_INFORMATION started{};
    const BOOL runs = ::CreateProcessW(program.c_str(), arguments.data(), nullptr, nullptr, TRUE, 0, nullptr, nullptr,
                                       &start, &started);
    const std::string reason = runs != 0 ? std::string() : platform::windows_reason();
    ::CloseHandle(nowhere);
    ::CloseHandle(write_end);
    if (runs == 0) {
        ::CloseHandle(read_end);
        throw std::runtime_error(reason);
    }
    ::CloseHandle(started.hThread);
    process_ = reinterpret_cast<std::intptr_t>(started.hProcess);
    reports_ = reinterpret_cast<std::intptr_t>(read_end);
}

ChildProcess::~ChildProcess() {
    kill();
    ::CloseHandle(handle_of(reports_));
}

std::optional<std::uint64_t> ChildProcess::next_report() {
    std::uint64_t number = 0;
    DWORD read = 0;
    if (::ReadFile(handle_of(reports_), &number, sizeof number, &read, nullptr) == 0 || read != sizeof number)
        return std::nullopt;
    return number;
}

// As the Task Manager ends it.
void ChildProcess::kill() {
    if (process_ == 0) return;
    const HANDLE process = handle_of(std::exchange(process_, 0));
    ::TerminateProcess(process, 1);
    ::WaitForSingleObject(process, INFINITE);
    ::CloseHandle(process);
}

std::string folder_of_test() { return narrow(variable(kFolder)); }

void report(std::uint64_t number) {
    const auto reports = static_cast<std::intptr_t>(std::stoull(variable(kReports)));
    DWORD written = 0;
    if (::WriteFile(handle_of(reports), &number, sizeof number, &written, nullptr) == 0) ::ExitProcess(1);
}

}  // namespace decoderscope::testing
