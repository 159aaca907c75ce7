#include "engine/chat/template.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/chat/builtins.h"
#include "engine/tokenizer/unicode.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace decoderscope::chat {

namespace {

constexpr int kDeepestValue = 400;

using Scope = std::map<std::string, Value, std::less<>>;

// A line is named once: the innermost.
class AtLine : public Error {
public:
    AtLine(int line, const Sentence& why) : Error("line {line}: {why}", {{"line", line}, {"why", why}}) {}
};

template <class Work>
auto at_line(int line, Work work) {
    try {
        return work();
    } catch (const AtLine&) {
        throw;
    } catch (const Error& error) {
        throw AtLine(line, error.sentence());
    }
}

enum class Flow { on, leave, skip };

class Renderer {
public:
    Renderer(Scope given, std::string date) : around_{allowance_, std::move(date), asked_for_date_} {
        scopes_.push_back(std::move(given));
        scopes_.emplace_back();
    }

    Rendered render(const Node& whole) {
        run(whole);
        return {std::move(out_), asked_for_date_};
    }

private:
    struct Deeper {
        explicit Deeper(int& count) : depth(count) {
            if (++depth > kDeepestValue)
                throw Error("more than {count} pieces stand in each other", {{"count", kDeepestValue}});
        }
        Deeper(const Deeper&) = delete;
        Deeper& operator=(const Deeper&) = delete;
        ~Deeper() { --depth; }
        int& depth;
    };

    // ---- what is written

    void write(const Text& text) {
        allowance_.bytes(text.bytes().size());
        out_.append(text.with_origins([&](Origin origin) {
            if (origin.message < 0) origin.message = turn_;
            origin.marked = origin.marked || generation_ > 0;
            return origin;
        }));
    }

    // What a body writes, as a value.
    Text captured(const Node& body) {
        Text outside = std::exchange(out_, Text());
        scopes_.emplace_back();
        run(body);
        scopes_.pop_back();
        return std::exchange(out_, std::move(outside));
    }

    // ---- statements

    // Does what a piece asks for: as one step, no deeper than is allowed, and with its line in what goes wrong.
    template <class Work>
    auto visit(const Node& node, Work work) {
        const Deeper deeper(depth_);
        return at_line(node.line, [&] {
            allowance_.step();
            return work();
        });
    }

    Flow run(const Node& node) {
        return visit(node, [&] { return run_kind(node); });
    }

    Flow run_kind(const Node& node) {
        switch (node.kind) {
            case NodeKind::body:
                for (const Node& part : node.parts)
                    if (const Flow flow = run(part); flow != Flow::on) return flow;
                return Flow::on;
            case NodeKind::text:
                write(*node.value.text());
                return Flow::on;
            case NodeKind::print:
                write(written(value(node.parts[0])));
                return Flow::on;
            case NodeKind::condition:
                return run(node.parts[is_true(value(node.parts[0])) ? 1 : 2]);
            case NodeKind::loop:
                return run_loop(node);
            case NodeKind::leave:
                return Flow::leave;
            case NodeKind::skip:
                return Flow::skip;
            case NodeKind::generation: {
                ++generation_;
                scopes_.emplace_back();
                const Flow flow = run(node.parts[0]);
                scopes_.pop_back();
                --generation_;
                return flow;
            }
            case NodeKind::set:
                set(node);
                return Flow::on;
            case NodeKind::set_block:
                scopes_.back()[node.names[0]] = with_blank(node.parts[1], captured(node.parts[0]));
                return Flow::on;
            case NodeKind::filter_block:
                write(written(with_blank(node.parts[1], captured(node.parts[0]))));
                return Flow::on;
            default:
                scopes_.back()[node.names[0]] = Function{node.names[0], macros_.size()};
                macros_.push_back(&node);
                return Flow::on;
        }
    }

    // Filters on what a block wrote: the name "" stands for it.
    Value with_blank(const Node& filters, Text text) {
        scopes_.emplace_back()[""] = std::move(text);
        Value result = value(filters);
        scopes_.pop_back();
        return result;
    }

    void assign(const std::vector<std::string>& names, const Value& found) {
        if (names.size() == 1) {
            scopes_.back()[names[0]] = found;
            return;
        }
        const List parts = items_of(found);
        if (parts.size() != names.size())
            throw Error("{count} values are given for {names} names",
                        {{"count", parts.size()}, {"names", names.size()}});
        for (std::size_t i = 0; i < names.size(); ++i) scopes_.back()[names[i]] = parts[i];
    }

    void set(const Node& node) {
        Value found = value(node.parts[0]);
        if (node.name != "attribute") return assign(node.names, found);
        const Value object = named(node.names[0]);
        const auto* space = object.as<std::shared_ptr<Namespace>>();
        if (space == nullptr)
            throw Error("{name} is {type}, expected a namespace", {{"name", node.names[0]}, {"type", type_of(object)}});
        if (found.as<std::shared_ptr<Namespace>>() != nullptr) throw Error("a namespace can't hold a namespace");
        (**space)[node.names[1]] = std::move(found);
    }

    // What the template sees as `loop`.
    static Value loop_of(const List& items, std::size_t at) {
        const auto index = static_cast<std::int64_t>(at), count = static_cast<std::int64_t>(items.size());
        Dictionary loop;
        loop.members = {{"index", index + 1},
                        {"index0", index},
                        {"revindex", count - index},
                        {"revindex0", count - index - 1},
                        {"first", at == 0},
                        {"last", at + 1 == items.size()},
                        {"length", count},
                        {"previtem", at > 0 ? items[at - 1] : Value(Undefined{"previtem"})},
                        {"nextitem", at + 1 < items.size() ? items[at + 1] : Value(Undefined{"nextitem"})},
                        {"cycle", Value(std::make_shared<const Method>(Method{index, "cycle"}))}};
        return value_of(std::move(loop));
    }

    List chosen(const Node& node) {
        List items;
        for (Value& item : items_of(operand(node.parts[0]))) {
            allowance_.step();
            scopes_.emplace_back();
            assign(node.names, item);
            const bool wanted = is_true(value(node.parts[1]));
            scopes_.pop_back();
            if (wanted) items.push_back(std::move(item));
        }
        return items;
    }

    Flow run_loop(const Node& node) {
        const List items = chosen(node);
        const std::int32_t turn = turn_;
        for (std::size_t i = 0; i < items.size(); ++i) {
            const Dictionary* message = items[i].dictionary();
            turn_ = message != nullptr && message->message >= 0 ? message->message : turn;
            scopes_.emplace_back()["loop"] = loop_of(items, i);
            assign(node.names, items[i]);
            const Flow flow = run(node.parts[2]);
            scopes_.pop_back();
            if (flow == Flow::leave) break;
        }
        turn_ = turn;
        return items.empty() ? run(node.parts[3]) : Flow::on;
    }

    // ---- values

    Value named(const std::string& name) const {
        for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
            if (const auto found = scope->find(name); found != scope->end()) return found->second;
        if (is_function(name)) return Function{name, kNoMacro};
        return Undefined{name};
    }

    Value value(const Node& node) {
        return visit(node, [&] { return value_of_kind(node); });
    }

    Value value_of_kind(const Node& node) {
        const auto part = [&](std::size_t i) { return operand(node.parts[i]); };
        switch (node.kind) {
            case NodeKind::literal:
                return node.value;
            case NodeKind::name:
                return named(node.name);
            case NodeKind::list: {
                List list;
                for (const Node& item : node.parts) list.push_back(value(item));
                return value_of(std::move(list));
            }
            case NodeKind::dictionary:
                return dictionary_of(node);
            case NodeKind::attribute:
                return attribute_of(part(0), node.name);
            case NodeKind::item:
                return member_of(part(0), part(1));
            case NodeKind::slice:
                return sliced(part(0), part(1), part(2), part(3));
            case NodeKind::call:
                return call(node);
            case NodeKind::filter:
                return filtered_by(node);
            case NodeKind::test:
                return tested(node.name, part(0), arguments_of(node), around_);
            case NodeKind::negative:
                return combined("*", part(0), std::int64_t{node.name == "-" ? -1 : 1}, allowance_);
            case NodeKind::inverse:
                return !is_true(part(0));
            case NodeKind::both: {
                Value left = part(0);
                return is_true(left) ? part(1) : left;
            }
            case NodeKind::either: {
                Value left = part(0);
                return is_true(left) ? left : part(1);
            }
            case NodeKind::compare:
                return compare(node);
            case NodeKind::binary:
                return combined(node.name, part(0), part(1), allowance_);
            default:
                return is_true(part(1)) ? part(0) : node.parts.size() > 2 ? part(2) : Value(Undefined{"else"});
        }
    }

    // What an operation reads: a long text takes it longer.
    Value operand(const Node& node) {
        Value found = value(node);
        if (const Text* text = found.text()) allowance_.step(text->bytes().size() / 256);
        if (const List* list = found.list()) allowance_.step(list->size() / 16);
        return found;
    }

    Value dictionary_of(const Node& node) {
        Dictionary dictionary;
        for (std::size_t i = 0; i < node.parts.size(); i += 2) {
            const Value key = value(node.parts[i]);
            if (key.text() == nullptr) throw Error("a key is {type}, expected str", {{"type", type_of(key)}});
            Value item = value(node.parts[i + 1]);
            allowance_.step(dictionary.members.size() / 16);  // all of them are compared with this key
            const auto same = std::ranges::find(dictionary.members, key.text()->bytes(), &Member::key);
            if (same != dictionary.members.end())
                same->value = std::move(item);
            else
                dictionary.members.push_back({key.text()->bytes(), std::move(item)});
        }
        return value_of(std::move(dictionary));
    }

    // A method goes before a key of the same name, as in Jinja.
    static Value attribute_of(const Value& object, const std::string& name) {
        if (is_method(object, name)) return std::make_shared<const Method>(Method{object, name});
        return member_of(object, Text(name));
    }

    Value compare(const Node& node) {
        Value left = operand(node.parts[0]);
        for (std::size_t i = 0; i < node.names.size(); ++i) {
            Value right = operand(node.parts[i + 1]);
            if (!compared(node.names[i], left, right)) return false;
            left = std::move(right);
        }
        return true;
    }

    Given arguments_of(const Node& node) {
        Given given;
        for (std::size_t i = 0; i < node.names.size(); ++i) {
            Value argument = operand(node.parts[i + 1]);
            if (!node.names[i].empty())
                given.named.emplace_back(node.names[i], std::move(argument));
            else if (given.named.empty())
                given.places.push_back(std::move(argument));
            else
                throw Error("an argument without a name follows one with a name");
        }
        return given;
    }

    Value filtered_by(const Node& node) {
        const Value input = operand(node.parts[0]);
        return filtered(node.name, input, arguments_of(node), around_);
    }

    Value call(const Node& node) {
        const Value callee = value(node.parts[0]);
        Given given = arguments_of(node);
        if (const auto* method = callee.as<std::shared_ptr<const Method>>()) {
            if (const Text* text = (*method)->object.text()) allowance_.step(text->bytes().size() / 256);
            if ((*method)->name == "cycle") return cycled((*method)->object, given);
            return called_method((*method)->object, (*method)->name, std::move(given), around_);
        }
        if (const auto* function = callee.as<Function>()) {
            if (function->macro == kNoMacro) return called_function(function->name, std::move(given), around_);
            return call_macro(*macros_[function->macro], std::move(given));
        }
        if (const auto* missing = callee.as<Undefined>())
            throw Error("{name} is no function here", {{"name", missing->name}});
        throw Error("{type} can't be called", {{"type", type_of(callee)}});
    }

    static Value cycled(const Value& index, const Given& given) {
        if (given.places.empty())
            throw Error("{name} needs the argument {argument}", {{"name", "cycle"}, {"argument", "1"}});
        return given.places[static_cast<std::size_t>(*index.as<std::int64_t>()) % given.places.size()];
    }

    Value call_macro(const Node& macro, Given given) {
        const std::size_t count = macro.names.size() - 1, defaults = macro.parts.size() - 1;
        if (given.places.size() > count)
            throw Error("{name} is given too many arguments, expected {count} at most",
                        {{"name", macro.names[0]}, {"count", count}});
        Scope arguments;
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t last = count - defaults;
            if (i < given.places.size())
                arguments[macro.names[i + 1]] = std::move(given.places[i]);
            else if (i >= last)
                arguments[macro.names[i + 1]] = value(macro.parts[1 + i - last]);
            else
                arguments[macro.names[i + 1]] = Undefined{macro.names[i + 1]};
        }
        for (auto& [name, argument] : given.named) {
            if (std::find(macro.names.begin() + 1, macro.names.end(), name) == macro.names.end())
                throw Error("{name} has no argument {argument}", {{"name", macro.names[0]}, {"argument", name}});
            arguments[name] = std::move(argument);
        }
        // It sees the template's own variables, not those of the loop that it is called from.
        std::vector<Scope> outside(std::make_move_iterator(scopes_.begin() + 2),
                                   std::make_move_iterator(scopes_.end()));
        scopes_.resize(2);
        scopes_.push_back(std::move(arguments));
        Text text = captured(macro.parts[0]);
        scopes_.resize(2);
        scopes_.insert(scopes_.end(), std::make_move_iterator(outside.begin()), std::make_move_iterator(outside.end()));
        return text;
    }

    static constexpr std::size_t kNoMacro = static_cast<std::size_t>(-1);

    Allowance allowance_;
    bool asked_for_date_ = false;
    Surroundings around_;
    std::vector<Scope> scopes_;  // what the template is given, its own variables, those of loops and macros
    std::vector<const Node*> macros_;
    Text out_;
    std::int32_t turn_ = -1;  // the message that the loop is at
    int generation_ = 0, depth_ = 0;
};

// Jinja refuses what it doesn't know before it runs a template.
void check_names(const Node& node) {
    if (node.kind == NodeKind::filter && !is_filter(node.name))
        fail(node.line, message("the filter {name} is unknown here", {{"name", node.name}}));
    if (node.kind == NodeKind::test && !is_test(node.name))
        fail(node.line, message("the test {name} is unknown here", {{"name", node.name}}));
    // What a condition guards may ask for a filter that only some programs have.
    if (node.kind == NodeKind::condition || node.kind == NodeKind::choice) return;
    for (const Node& part : node.parts) check_names(part);
}

bool has_generation(const Node& node) {
    return node.kind == NodeKind::generation || std::ranges::any_of(node.parts, has_generation);
}

// The messages, each of which knows its number.
Value messages_of(const nlohmann::ordered_json& messages) {
    List list;
    for (const auto& message : messages) {
        const auto number = static_cast<std::int32_t>(list.size());
        Dictionary dictionary{.members = {}, .message = number};
        for (const auto& [key, item] : message.items()) {
            // The role is the message's, but no content.
            dictionary.members.push_back({key, value_of(item, Origin{number, key != "role"})});
        }
        list.push_back(value_of(std::move(dictionary)));
    }
    return value_of(std::move(list));
}

}  // namespace

ChatTemplate::ChatTemplate(std::string_view source) {
    if (!tokenizer::is_utf8(source)) throw Error("the text is not UTF-8");
    whole_ = parse_template(source);
    marks_generation_ = has_generation(whole_);
    check_names(whole_);
}

Rendered ChatTemplate::render(const nlohmann::ordered_json& messages, const Prompted& prompted) const {
    Scope given;
    for (const char* absent : {"tools", "documents"}) given[absent] = None();
    for (const auto& [name, text] : prompted.special) given[name] = Text(text);
    if (!prompted.more.empty()) {
        const OrderedJson more = parse_ordered_json(prompted.more, message("an object of variables"));
        if (!more.is_object())
            throw Error("the variables are {type}, expected an object", {{"type", more.type_name()}});
        for (const auto& [name, item] : more.items()) given[name] = value_of(item, {});
    }
    given["messages"] = messages_of(messages);
    given["add_generation_prompt"] = prompted.generation_prompt;
    return Renderer(std::move(given), prompted.date).render(whole_);
}

}  // namespace decoderscope::chat
