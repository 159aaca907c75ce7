#include "engine/ops/words.h"

#include "engine/base/tables.h"
#include "engine/base/translate.h"
#include "engine/formulas/book.h"
#include "engine/formulas/print.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace decoderscope::ops {

namespace {

struct Words {
    Phrase name, teaches;
    std::string symbol;  // a name that is the same in every language
    std::string formula;
    std::string_view line;  // the book's label

    [[nodiscard]] OpDescription description() const {
        return {symbol.empty() ? std::string_view(tr(name)) : symbol, formula, tr(teaches), line};
    }
};

// The label as the book has it; empty if it has none.
std::string_view line_of(std::string_view label) {
    const formulas::BookLine* line = formulas::the_book().find(label);
    return line == nullptr ? std::string_view() : line->label;
}

// The book's formula as a person reads it: without what only its evaluation needs.
std::string formula_of(std::string_view label) {
    using namespace formulas;
    const auto found = the_book().formulas.find(label);
    if (found == the_book().formulas.end()) return {};
    Formula read = with_bodies(found->second, [](const Expr& body) {
        return rewrite(body, [](const Expr& e) -> Expr {
            if (e->is(Op::stop) || e->is(Op::stored)) return (*e)[0];
            if (const auto* cell = e->as<CellOf>(); cell != nullptr && cell->optional)
                return cell_of(cell->name, e->children);
            return e;
        });
    });
    for (LeftIndex& index : read.main.indices) index.axis.clear();
    return text_of(read);
}

// What a label has, and what it takes over from another: {"as": "rmsnorm"}. "line" is the label of its line in the
// book, if that isn't called so, too.
Words words_of(const OrderedJson& table, std::string_view label) {
    const OrderedJson& entry = table.at(label);
    const auto text = [&](const char* key) { return entry.value(key, std::string()); };
    Words words = entry.contains("as") ? words_of(table, text("as"))
                                       : Words{asset_phrase(text("name")), asset_phrase(text("teaches")), {}, {}, {}};
    if (const auto line = line_of(entry.value("line", std::string(label))); !line.empty()) words.line = line;
    words.symbol = text("symbol");
    if (entry.contains("formula"))
        words.formula = text("formula");
    else if (std::string own = formula_of(label); !own.empty() && words.formula.empty())
        words.formula = std::move(own);
    return words;
}

// An activation's: its function of the book, of pre.
std::string activation_formula(const formulas::Formula& function) {
    using namespace formulas;
    return "post = " + text_of(rewrite(function.main.body, [&](const Expr& e) {
               const auto* parameter = e->as<Constant>();
               return parameter != nullptr && parameter->name == function.parameters[0] ? constant("pre") : e;
           }));
}

// The gradients of a label, its own or those of another: {"as": "rmsnorm"}, or one of another's: "linear.bias".
const OrderedJson* gradient_of(const OrderedJson& table, std::string_view label, std::string_view operand) {
    const bool activation = !table.contains(label) && formulas::the_book().functions.contains(label);
    const auto entry = table.find(activation ? "activation" : label);
    if (entry == table.end()) return nullptr;
    if (const auto as = entry->find("as"); as != entry->end())
        return gradient_of(table, as->get_ref<const std::string&>(), operand);
    const auto gradients = entry->find("gradients");
    if (gradients == entry->end() || !gradients->contains(operand)) return nullptr;
    const OrderedJson& found = gradients->at(operand);
    if (!found.is_string()) return &found;
    const std::string_view other = found.get_ref<const std::string&>();
    const std::size_t dot = other.find('.');
    return gradient_of(table, other.substr(0, dot), other.substr(dot + 1));
}

const OrderedJson& table() {
    static const OrderedJson& operations = asset_table("operations");
    return operations;
}

}  // namespace

OpDescription described(std::string_view label) {
    static const auto all = [] {
        std::map<std::string, Words, std::less<>> read;
        for (const auto& [name, entry] : table().items()) read.emplace(name, words_of(table(), name));
        for (const auto& [name, function] : formulas::the_book().functions) {
            if (!function.along.empty() || function.parameters.size() != 1) continue;
            Words& words = read.emplace(name, read.at("activation")).first->second;
            words.symbol = name;
            words.line = line_of(name);
            words.formula = activation_formula(function);
        }
        return read;
    }();
    return all.find(label) != all.end() ? all.find(label)->second.description()
                                        : throw std::out_of_range(std::string(label));
}

bool has_gradient(std::string_view label, std::string_view operand) {
    return gradient_of(table(), label, operand) != nullptr;
}

OpDescription gradient_described(std::string_view label, std::string_view operand) {
    const OrderedJson* found = gradient_of(table(), label, operand);
    if (found == nullptr) throw std::out_of_range(std::string(label) + "." + std::string(operand));
    const auto text = [&](const char* key) -> const std::string& {
        return (*found)[key].get_ref<const std::string&>();
    };
    const std::string_view by_hand = line_of(std::string(label) + "." + std::string(operand));
    return {tr(asset_phrase(text("name"))), text("formula"), tr(asset_phrase(text("teaches"))),
            by_hand.empty() ? described(label).line : by_hand};
}

}  // namespace decoderscope::ops
