#pragma once

#include "engine/base/json.h"
#include "engine/base/message.h"
#include "engine/tensor/tensor.h"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace decoderscope::load::families {

// A key, or several names for the same key.
class KeyNames {
public:
    KeyNames(const char* name) : names_{name} {}             // NOLINT: reads as a name
    KeyNames(std::string name) : names_{std::move(name)} {}  // NOLINT: the same
    KeyNames(const OrderedJson& names)                       // NOLINT: a name, or a list of them
        : names_(names.is_array() ? names.get<std::vector<std::string>>()
                                  : std::vector<std::string>{names.get<std::string>()}) {}
    KeyNames(std::initializer_list<const char*> names) : names_(names.begin(), names.end()) {}
    [[nodiscard]] const std::vector<std::string>& all() const { return names_; }
    [[nodiscard]] const std::string& first() const { return names_.front(); }

private:
    std::vector<std::string> names_;
};

// A family's config.json, or an object in it. Remembers which keys were read, so that none is passed over. Null counts
// as absent. Everything throws Error naming the key and what was expected.
class FamilyKeys {
public:
    // `inside` is the key of an object within the configuration.
    explicit FamilyKeys(OrderedJson json, std::string inside = {})
        : json_(std::move(json)), inside_(std::move(inside)) {}

    [[nodiscard]] bool has(const KeyNames& names);
    // Whether it says null, which may mean something else than leaving the key out.
    [[nodiscard]] bool is_null(const std::string& name) const;
    // A positive integer.
    [[nodiscard]] Index size(const KeyNames& names);
    [[nodiscard]] Index size(const KeyNames& names, Index otherwise);
    [[nodiscard]] double number(const KeyNames& names, double otherwise);
    [[nodiscard]] double positive(const KeyNames& names, double otherwise);
    [[nodiscard]] bool flag(const KeyNames& names, bool otherwise);
    [[nodiscard]] std::string word(const KeyNames& names, const std::string& otherwise);
    // In the contract's words.
    [[nodiscard]] std::string activation(const KeyNames& names, const std::string& otherwise);
    [[nodiscard]] std::vector<std::string> list(const KeyNames& names);
    [[nodiscard]] FamilyKeys object(const KeyNames& names);
    // An object that is a configuration itself. What it doesn't say is as in `defaults`.
    [[nodiscard]] FamilyKeys configuration(const KeyNames& names, const OrderedJson& defaults);
    // The value as it is; null if there is none.
    [[nodiscard]] OrderedJson value(const KeyNames& names);

    // Throws unless the value is the usual one; `why` says what it would change.
    void expect(const KeyNames& names, const OrderedJson& usual, const Sentence& why);
    // Keys that this family has and that don't change the numbers.
    void ignore(const KeyNames& names) { read_.insert(names.all().begin(), names.all().end()); }
    // Refuses every key that wasn't read and isn't known to be irrelevant for all families.
    void finish(const std::string& model_type) const;
    // Throws the Error about a key.
    [[noreturn]] void fail(const KeyNames& names, const Sentence& expected) const;

private:
    [[nodiscard]] std::string path(std::string_view name) const;

    OrderedJson json_;
    std::string inside_;
    bool is_whole_ = inside_.empty();  // a configuration, not an object in one
    std::set<std::string, std::less<>> read_;
};

}  // namespace decoderscope::load::families
