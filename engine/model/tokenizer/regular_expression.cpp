#include "engine/model/tokenizer/regular_expression.h"

#include "engine/error.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <array>
#include <new>

namespace decoderscope {

namespace {

struct FreeCompiled {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Code = std::unique_ptr<pcre2_code, FreeCompiled>;
using Match = std::unique_ptr<pcre2_match_data, FreeCompiled>;

PCRE2_SPTR code_units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string reason(int error) {
    std::array<PCRE2_UCHAR, 256> text{};
    pcre2_get_error_message(error, text.data(), text.size());
    return reinterpret_cast<const char*>(text.data());
}

}  // namespace

struct RegularExpression::Compiled {
    Code code;
};

RegularExpression::RegularExpression(const std::string& pattern) {
    int error = 0;
    PCRE2_SIZE at = 0;
    Code code(pcre2_compile(code_units(pattern), pattern.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C,
                            &error, &at, nullptr));
    if (!code)
        throw Error("\"{pattern}\" can't be used: {reason}",
                    {{"pattern", pattern.substr(0, 200)}, {"reason", reason(error)}});
    std::uint32_t matches_empty = 0;
    pcre2_pattern_info(code.get(), PCRE2_INFO_MATCHEMPTY, &matches_empty);
    if (matches_empty != 0)
        throw Error("\"{pattern}\" can match nothing, expected at least one character",
                    {{"pattern", pattern.substr(0, 200)}});
    compiled_ = std::make_shared<const Compiled>(Compiled{std::move(code)});
}

std::vector<Span> RegularExpression::matches(std::string_view text) const {
    const Match match(pcre2_match_data_create_from_pattern(compiled_->code.get(), nullptr));
    if (!match) throw std::bad_alloc();
    std::vector<Span> spans;
    for (std::size_t at = 0; at < text.size();) {
        const int found = pcre2_match(compiled_->code.get(), code_units(text), text.size(), at, PCRE2_NO_UTF_CHECK,
                                      match.get(), nullptr);
        if (found == PCRE2_ERROR_NOMATCH) break;
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
        if (found < 0 || ends[1] <= ends[0])
            throw Error("the text can't be cut into words from byte {at} on", {{"at", at}});
        spans.push_back({ends[0], ends[1]});
        at = ends[1];
    }
    return spans;
}

}  // namespace decoderscope
