#include "engine/json.h"

#include "engine/error.h"

#include <algorithm>
#include <set>
#include <vector>

namespace decoderscope {

namespace {

using Json = nlohmann::json;

// Listens to the parser and keeps nothing but what it has to check: that no object has a key twice, and that lists and
// objects don't lie in each other without end (who reads them may go down step by step, on a stack that has one).
class Checker final : public nlohmann::json_sax<Json> {
public:
    Checker(std::string_view text, const std::string& expected) : text_(text), expected_(expected) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }

    bool start_array(std::size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool start_object(std::size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool key(string_t& name) override {
        if (!keys_.back().insert(name).second) throw Error(name + ": given twice, expected once");
        return true;
    }

    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
        const auto read = static_cast<std::ptrdiff_t>(std::min(position, text_.size()));
        const auto line = 1 + std::count(text_.begin(), text_.begin() + read, '\n');
        throw Error("not valid JSON from line " + std::to_string(line) + " on, expected " + expected_);
    }

private:
    bool open() {
        constexpr std::size_t kDeepest = 100;
        keys_.emplace_back();
        if (keys_.size() > kDeepest) throw Error("JSON nested too deep, expected " + expected_);
        return true;
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& expected_;
    std::vector<std::set<std::string>> keys_;  // of each list (it has none) and object that is not closed yet
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& expected) {
    Checker checker(text, expected);
    static_cast<void>(Json::sax_parse(text.begin(), text.end(), &checker));
    return Json::parse(text.begin(), text.end());
}

}  // namespace decoderscope
