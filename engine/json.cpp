#include "engine/json.h"

#include "engine/error.h"
#include "engine/limits.h"

#include <algorithm>
#include <set>
#include <vector>

namespace decoderscope {

namespace {

using Json = nlohmann::json;

// Listens to the parser and keeps nothing but what it has to check: that no object has a key twice, and that lists and
// objects don't lie in each other without end (who reads them may go down step by step, on a stack that has one), and
// that there are not so many values that they take many times the text's memory.
class Checker final : public nlohmann::json_sax<Json> {
public:
    Checker(std::string_view text, const std::string& expected) : text_(text), expected_(expected) {}

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t&) override { return count(); }
    bool binary(binary_t&) override { return count(); }

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
    bool count() {
        if (++values_ > limits::kJsonValues)
            throw Error("more than " + std::to_string(limits::kJsonValues) + " values, expected " + expected_);
        return true;
    }
    bool open() {
        keys_.emplace_back();
        if (keys_.size() > limits::kJsonDepth)
            throw Error("JSON nested too deep, beyond " + std::to_string(limits::kJsonDepth) + " levels, expected " +
                        expected_);
        return count();
    }
    bool close() {
        keys_.pop_back();
        return true;
    }

    std::string_view text_;
    const std::string& expected_;
    std::size_t values_ = 0;
    std::vector<std::set<std::string>> keys_;  // of each list (it has none) and object that is not closed yet
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& expected) {
    Checker checker(text, expected);
    static_cast<void>(Json::sax_parse(text.begin(), text.end(), &checker));
    return Json::parse(text.begin(), text.end());
}

}  // namespace decoderscope
