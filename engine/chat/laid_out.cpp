#include "engine/chat/laid_out.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/json_object.h"
#include "engine/base/limits.h"
#include "engine/base/tables.h"
#include "engine/ops/kinds.h"
#include "engine/tokenizer/unicode.h"

#include <algorithm>
#include <functional>
#include <set>

namespace decoderscope::chat {

namespace {

// ---- messages

bool is_message(const OrderedJson& json) { return json.is_object() && json.contains("role"); }

OrderedJson checked_messages(const OrderedJson& json, std::size_t row) {
    const Arguments where = {{"row", row + 1}};
    const OrderedJson& list = json.is_object() && json.contains("messages") ? json["messages"] : json;
    if (!list.is_array() || list.empty())
        throw Error("conversation {row}: expected a list of messages, or an object with \"messages\"", where);
    for (std::size_t i = 0; i < list.size(); ++i)
        if (!is_message(list[i]) || !list[i]["role"].is_string())
            throw Error(
                "conversation {row}, message {number}: expected an object with \"role\", a text, and \"content\"",
                {{"row", row + 1}, {"number", i + 1}});
    return list;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    for (std::size_t first = 0; first < text.size();) {
        const std::size_t end = std::min(text.find('\n', first), text.size());
        const std::string_view line = text.substr(first, end - first);
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) lines.push_back(line);
        first = end + 1;
    }
    return lines;
}

OrderedJson parsed(std::string_view text) {
    return parse_ordered_json(text, message("a list of messages, or one conversation per line"));
}

// The text as one JSON value, or one per line if already the first line is a conversation.
std::vector<OrderedJson> json_values(std::string_view text) {
    const std::vector<std::string_view> lines = lines_of(text);
    std::vector<OrderedJson> values;
    try {
        return {parsed(text)};
    } catch (const Error&) {
        if (lines.size() < 2 || !nlohmann::json::accept(lines.front())) throw;
    }
    for (const std::string_view line : lines)
        values.push_back(
            naming(message("conversation {row}", {{"row", values.size() + 1}}), [&] { return parsed(line); }));
    return values;
}

// ---- a text, and whose it is

// One conversation as a template wrote it.
struct Written {
    std::vector<std::string> roles;  // [message]
    std::vector<bool> says;          // [message]: whether it has a text
    Text text;
    std::optional<std::vector<Index>> tokens, labels;  // where they were cut elsewhere, [pos]
};
struct Document {
    std::vector<Written> rows;
    bool marked = false;                 // the template says itself what is trained
    std::string date;                    // that it asked for; empty: it didn't
    Trained trained = Trained::answers;  // what the labels are for
    std::vector<Finding> findings;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool has_text(const OrderedJson& message) {
    const auto content = message.find("content");
    return content != message.end() && content->is_string() &&
           !std::ranges::all_of(content->get_ref<const std::string&>(), is_space);
}

// A format: what stands around each message.
struct Around {
    std::string before, after;
};

std::string put(std::string text, const std::string& name, const std::string& value) {
    const std::size_t at = text.find("{" + name + "}");
    return at == std::string::npos ? text : text.replace(at, name.size() + 2, value);
}

Around around(const OrderedJson& format, const std::string& role, const std::map<std::string, std::string>& special) {
    const auto text = [&](const char* key) {
        const auto own = format.find("roles") == format.end() ? format.end() : format.find("roles");
        const bool of_role = own != format.end() && own->contains(role) && (*own)[role].contains(key);
        std::string found = of_role ? (*own)[role][key].get<std::string>() : format.value(key, std::string());
        for (const char* token : {"bos_token", "eos_token"})
            found = put(std::move(found), token, special.contains(token) ? special.at(token) : "");
        return put(std::move(found), "role", role);
    };
    return {text("before"), text("after")};
}

// Without white space at its ends, as Python's strip().
std::string_view trimmed(std::string_view text) {
    const auto is_blank = [](std::string_view rest) {
        return (rest.front() >= '\x1c' && rest.front() <= '\x1f') ||
               tokenizer::is_white_space(tokenizer::first_code_point(rest).code);
    };
    const auto continues = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; };
    while (!text.empty() && is_blank(text))
        for (text.remove_prefix(1); !text.empty() && continues(text.front());) text.remove_prefix(1);
    while (!text.empty()) {
        std::size_t last = text.size() - 1;
        while (last > 0 && continues(text[last])) --last;
        if (!is_blank(text.substr(last))) break;
        text = text.substr(0, last);
    }
    return text;
}

const OrderedJson* format_of(const std::string& name) {
    for (const OrderedJson& one : asset_table("chat_templates"))
        if (one["template"] == name) return &one;
    return nullptr;
}

std::string content_of(const OrderedJson& message, std::size_t row, std::size_t number) {
    const auto content = message.find("content");
    if (content == message.end() || content->is_null()) return {};
    if (!content->is_string())
        throw Error(
            "conversation {row}, message {number}: \"content\" is not a text, which a format needs; "
            "`python3 -m decoderscope chat` lays it out by a template",
            {{"row", row + 1}, {"number", number + 1}});
    return content->get<std::string>();
}

Written written_by(const OrderedJson& format, const OrderedJson& messages, std::size_t row,
                   const Conversation& conversation) {
    Written made;
    const auto token = conversation.special.find("bos_token");
    made.text.append(put(format.value("start", ""), "bos_token",
                         token == conversation.special.end() ? std::string() : token->second),
                     {});
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto role = messages[i]["role"].get<std::string>();
        made.roles.push_back(role);
        made.says.push_back(has_text(messages[i]));
        if (format.contains("roles") && !format.contains("other_roles") && !format["roles"].contains(role))
            throw Error("conversation {row}, message {number}: only user and assistant can speak here, not {role}",
                        {{"row", row + 1}, {"number", i + 1}, {"role", role}});
        const Around its = around(format, role, conversation.special);
        const std::string content = content_of(messages[i], row, i);
        const auto number = static_cast<std::int32_t>(i);
        made.text.append(its.before, {number});
        made.text.append(format.value("trim", false) ? trimmed(content) : content, {number, true});
        made.text.append(its.after, {number});
        if (i + 1 < messages.size()) made.text.append(format.value("between", ""), {number});
    }
    if (conversation.generation_prompt) made.text.append(format.value("prompt", ""), {});
    return made;
}

// ---- what `python3 -m decoderscope chat` wrote

// Where each character of a text begins, and its end.
std::vector<std::size_t> boundaries_of(std::string_view text) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < text.size(); ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) all.push_back(i);
    all.push_back(text.size());
    return all;
}

// [[begin, end, message], …] or [[begin, end], …]: what `change` makes of the origins there.
template <class Change>
void mark(JsonObject& json, const char* key, bool of_messages, Written& row, Change change) {
    const Json* spans = json.find(key);
    if (spans == nullptr) return;
    const std::vector<std::size_t> bytes = boundaries_of(row.text.bytes);
    const auto wrong = [&](const Json& span) {
        const std::string given = span.dump();
        const Arguments what = {{"found", given.size() <= 40 ? Sentence::verbatim(given) : found_text(span)},
                                {"last", bytes.size() - 1}};
        json.fail(key, of_messages
                           ? message("{found}, expected [begin, end, message], characters of the text from 0 to "
                                     "{last}, and the number of a message",
                                     what)
                           : message("{found}, expected [begin, end], characters of the text from 0 to {last}", what));
    };
    if (!spans->is_array()) wrong(*spans);
    for (const Json& span : *spans) {
        std::vector<std::size_t> numbers;
        for (const Json& number : span.is_array() ? span : Json::array())
            if (number.is_number_unsigned()) numbers.push_back(number.get<std::size_t>());
        if (numbers.size() != (of_messages ? 3U : 2U) || numbers.size() != span.size() || numbers[0] > numbers[1] ||
            numbers[1] >= bytes.size() || (of_messages && numbers[2] >= row.roles.size()))
            wrong(span);
        for (std::size_t i = bytes[numbers[0]]; i < bytes[numbers[1]]; ++i)
            change(row.text.origins[i], of_messages ? static_cast<std::int32_t>(numbers[2]) : -1);
    }
}

std::optional<std::vector<Index>> ids_in(JsonObject& json, const char* key, Index least) {
    const Json* list = json.find(key);
    if (list == nullptr || list->is_null()) return std::nullopt;
    std::vector<Index> ids;
    for (const Json& id : list->is_array() ? *list : Json::array({nullptr})) {
        if (!id.is_number_integer() || id.get<Index>() < least)
            json.fail(key, message("{found}, expected a list of token ids", {{"found", found_text(id)}}));
        ids.push_back(id.get<Index>());
    }
    return ids;
}

Written read_row(JsonObject json, std::vector<Finding>& findings) {
    Written row;
    row.text.append(json.text("text"), {});
    for (const Json& role : json.list("roles")) {
        if (!role.is_string()) json.fail("roles", message("expected the role of each message"));
        row.roles.push_back(role.get<std::string>());
    }
    row.says.assign(row.roles.size(), false);
    if (const Json* messages = json.find("messages"); messages != nullptr && messages->size() == row.roles.size())
        for (std::size_t i = 0; i < row.roles.size(); ++i) row.says[i] = has_text(OrderedJson((*messages)[i]));
    mark(json, "around", true, row, [](Origin& origin, std::int32_t message) { origin = {message}; });
    mark(json, "spans", true, row, [](Origin& origin, std::int32_t message) { origin = {message, true}; });
    mark(json, "generated", false, row, [](Origin& origin, std::int32_t) { origin.marked = true; });
    row.tokens = ids_in(json, "tokens", 0);
    row.labels = ids_in(json, "labels", static_cast<Index>(kIgnoredTarget));
    if (row.labels && (!row.tokens || row.tokens->size() != row.labels->size()))
        json.fail("labels", message("expected one for each of the tokens"));
    if (const Json* said = json.find("findings"); said != nullptr && said->is_array())
        for (const Json& what : *said) {
            JsonObject one(what, json.where() + "findings: ");
            findings.push_back({Sentence::verbatim(one.text("what")), one.boolean("wrong", false)});
        }
    return row;
}

Json parsed_document(std::string_view json) {
    return parse_json(json, message("what `python3 -m decoderscope chat` writes"));
}

Document read_document(std::string_view text) {
    const Json json = parsed_document(text);
    JsonObject whole(json, "");
    Document document;
    for (const Json& one : whole.list("conversations")) {
        document.marked = document.marked || (one.is_object() && one.contains("generated"));
        document.rows.push_back(read_row(
            JsonObject(one, message("conversation {row}", {{"row", document.rows.size() + 1}}).english() + ": "),
            document.findings));
    }
    if (document.rows.empty()) whole.fail("conversations", message("expected at least one"));
    document.date = whole.text("date", "");
    if (whole.find("train_on") != nullptr) document.trained = static_cast<Trained>(whole.word("train_on", kTrained));
    return document;
}

Document document_of(const Conversation& conversation) {
    if (!conversation.written.empty())
        return naming(message("messages"), [&] { return read_document(conversation.written); });
    const std::vector<OrderedJson> messages =
        naming(message("messages"), [&] { return read_messages(conversation.messages); });
    const OrderedJson* format = format_of(conversation.name);
    if (format == nullptr)
        throw Error(
            "The chat template {name} is in Jinja, which Python runs: `python3 -m decoderscope chat FOLDER "
            "MESSAGES --template {name} --out FILE`, and `--messages FILE` here",
            {{"name", conversation.name}});
    Document document;
    for (std::size_t i = 0; i < messages.size(); ++i)
        document.rows.push_back(written_by(*format, messages[i], i, conversation));
    return document;
}

// ---- tokens beside the text

// How many bytes of the text a token's piece takes at this place, or nothing if it is not there. SentencePiece may put
// a space before the first word that the text doesn't have.
std::optional<std::size_t> taken(std::string_view rest, std::string_view piece) {
    if (rest.starts_with(piece)) return piece.size();
    if (piece.starts_with(' ') && rest.starts_with(piece.substr(1))) return piece.size() - 1;
    return std::nullopt;
}

// ---- what is trained

bool is_answer(std::string_view role) { return role == "assistant" || role == "model"; }

// The token's own bytes decide whose it is: one with a byte of content is the message's.
Origin origin_of(const Text& text, std::pair<std::size_t, std::size_t> span) {
    Origin origin;
    bool marked = false;
    for (std::size_t i = span.first; i < span.first + span.second; ++i) {
        const Origin& byte = text.origins[i];
        marked = marked || byte.marked;
        if (i == span.first || (byte.content && !origin.content)) origin = byte;
    }
    origin.marked = marked;
    return origin;
}

bool is_special(const tokenizer::Tokenizer& tokenizer, Index token) {
    return tokenizer.recognises(token) || tokenizer.special().ends_at(token);
}

// From a message's first token to its last, with what the template put between, and the special token that ends it.
void train_message(LaidOutRow& row, std::int32_t message, const tokenizer::Tokenizer& tokenizer) {
    std::size_t first = row.tokens.size(), end = 0;
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
        if (row.origins[i].message == message && row.origins[i].content) {
            first = std::min(first, i);
            end = i + 1;
        }
    const auto is_here = [&](std::size_t i) { return row.origins[i].message == message || row.origins[i].message < 0; };
    for (std::size_t i = first; i < end; ++i) row.trained[i] = is_here(i);
    if (first >= end) return;
    for (std::size_t i = end; i < row.tokens.size() && is_here(i); ++i) {
        if (!is_special(tokenizer, row.tokens[i])) continue;
        for (std::size_t j = end; j <= i; ++j) row.trained[j] = true;
        return;
    }
}

void train(LaidOutRow& row, Trained trained, bool marked, const tokenizer::Tokenizer& tokenizer) {
    row.trained.assign(row.tokens.size(), trained == Trained::everything);
    if (trained == Trained::everything) return;
    const auto last = std::find_if(row.roles.rbegin(), row.roles.rend(), is_answer);
    const auto last_number = static_cast<std::int32_t>(row.roles.rend() - last) - 1;
    for (std::size_t number = 0; number < row.roles.size(); ++number) {
        const auto message = static_cast<std::int32_t>(number);
        if (!is_answer(row.roles[number]) || (trained == Trained::last_answer && message != last_number)) continue;
        if (!marked) train_message(row, message, tokenizer);
        for (std::size_t i = 0; marked && i < row.tokens.size(); ++i)
            if (row.origins[i].marked && row.origins[i].message == message) row.trained[i] = true;
    }
}

void cut_to(LaidOutRow& row, Index length) {
    const auto kept = static_cast<std::size_t>(std::max<Index>(length, 1));
    if (row.tokens.size() <= kept) return;
    row.cut = static_cast<Index>(row.tokens.size() - kept);
    row.trained_cut = static_cast<Index>(
        std::count(row.trained.begin() + static_cast<std::ptrdiff_t>(kept), row.trained.end(), true));
    row.tokens.resize(kept);
    row.origins.resize(kept);
    row.trained.resize(kept);
}

// Where the text's own tokens begin among these, around which a tokenizer may have put others.
std::size_t own_tokens(const std::vector<Index>& tokens, const std::vector<Index>& inner) {
    return static_cast<std::size_t>(std::search(tokens.begin(), tokens.end(), inner.begin(), inner.end()) -
                                    tokens.begin());
}

void cut_text(LaidOutRow& row, const Written& written, bool special_tokens, const tokenizer::Tokenizer& tokenizer) {
    std::vector<Index> inner;
    if (!written.tokens) {
        inner = tokenizer.cut(row.text.bytes);
        row.tokens = special_tokens ? tokenizer.encode(row.text.bytes) : inner;
    } else {
        for (const Index token : *written.tokens)
            if (token >= tokenizer.size())
                throw Error("messages: token {id} is not in the vocabulary, which has {count}",
                            {{"id", token}, {"count", tokenizer.size()}});
        row.tokens = inner = *written.tokens;
        const std::optional<Index> first = tokenizer.special().beginning;
        const bool twice = inner.size() > 1 && inner[0] == first && inner[1] == first;
        if (!inner.empty() && inner[0] == first && (twice || !row.text.bytes.starts_with(tokenizer.piece(*first))))
            inner.erase(inner.begin());
        if (!inner.empty() && tokenizer.special().ends_at(inner.back()) &&
            !row.text.bytes.ends_with(tokenizer.piece(inner.back())) && tokenizer.cut(row.text.bytes) != inner)
            inner.pop_back();
    }
    const std::size_t before = own_tokens(row.tokens, inner);
    row.origins.resize(row.tokens.size());
    const auto spans = spans_of(row.text.bytes, inner, tokenizer);
    for (std::size_t i = 0; i < inner.size(); ++i) row.origins[before + i] = origin_of(row.text, spans[i]);
}

LaidOutRow row_of(const Written& written, const Document& document, const Conversation& conversation,
                  const tokenizer::Tokenizer& tokenizer) {
    LaidOutRow row{.roles = written.roles, .text = written.text};
    if (row.text.bytes.empty()) throw Error("the template writes nothing");
    cut_text(row, written, conversation.special_tokens, tokenizer);
    train(row, conversation.trained, document.marked, tokenizer);
    if (written.labels && conversation.trained == document.trained)
        for (std::size_t i = 0; i < row.trained.size(); ++i) row.trained[i] = (*written.labels)[i] >= 0;
    if (conversation.max_length) cut_to(row, *conversation.max_length);
    return row;
}

// ---- what is said about it

using Findings = std::vector<Finding>;

void find_untrained(const LaidOut& laid_out, const tokenizer::Tokenizer& tokenizer, Findings& findings) {
    bool any = false, ends = false;
    for (std::size_t r = 0; r < laid_out.rows.size(); ++r) {
        const LaidOutRow& row = laid_out.rows[r];
        bool here = false;
        for (std::size_t i = 1; i < row.tokens.size(); ++i) {  // nothing predicts the first
            here = here || row.trained[i];
            ends = ends || (row.trained[i] && tokenizer.special().ends_at(row.tokens[i]));
        }
        any = any || here;
        if (!here)
            findings.push_back(
                {message("Nothing is trained in conversation {row}: all its labels are −100.", {{"row", r + 1}}),
                 true});
    }
    if (!any || ends) return;
    if (tokenizer.special().end)
        findings.push_back(
            {message("The token that ends a text, {token}, is never trained: the model will not learn to stop.",
                     {{"token", tokenizer.piece(*tokenizer.special().end)}}),
             true});
    else
        findings.push_back(
            {message("The vocabulary names no token that ends a text, so that it can't be said whether the "
                     "model learns to stop."),
             false});
}

void find_cut(const LaidOut& laid_out, Findings& findings) {
    for (std::size_t r = 0; r < laid_out.rows.size(); ++r)
        if (const LaidOutRow& row = laid_out.rows[r]; row.cut > 0)
            findings.push_back(
                {message_n("{count} token of conversation {row} is cut off at the end; to be trained was {trained}.",
                           "{count} tokens of conversation {row} are cut off at the end; {trained} of them were to be "
                           "trained.",
                           row.cut, {{"row", r + 1}, {"trained", row.trained_cut}}),
                 row.trained_cut > 0});
}

void find_beginnings(const LaidOut& laid_out, const Conversation& conversation, const tokenizer::Tokenizer& tokenizer,
                     Findings& findings) {
    const std::optional<Index> beginning = tokenizer.special().beginning;
    if (!beginning) return;
    const Arguments token = {{"token", tokenizer.piece(*beginning)}};
    for (const LaidOutRow& row : laid_out.rows) {
        const bool first = !row.tokens.empty() && row.tokens[0] == *beginning;
        if (first && row.tokens.size() > 1 && row.tokens[1] == *beginning)
            return findings.push_back(
                {message("The text begins with {token} twice: the template writes it, and the tokenizer adds it again.",
                         token),
                 true});
        if (first && !conversation.special_tokens)
            return findings.push_back({message("The template writes {token} itself: a tokenizer that is asked for "
                                               "special tokens would add a second one.",
                                               token),
                                       false});
        if (!first)
            return findings.push_back(
                {message("The text does not begin with {token}, as the model's texts otherwise do.", token), false});
    }
}

// "<|im_end|>" or "[INST]", as the template wrote it: without blanks.
std::vector<std::string> markers_in(const Text& text) {
    std::vector<std::string> markers;
    std::string marker;
    for (std::size_t i = 0; i < text.bytes.size(); ++i) {
        const char c = text.bytes[i];
        const bool begins = c == '<' || c == '[', ends = c == '>' || c == ']';
        if (text.origins[i].content || is_space(c) || begins) marker.clear();
        if (text.origins[i].content || is_space(c) || (marker.empty() && !begins)) continue;
        marker += c;
        if (!ends) continue;
        if (marker.size() > 2) markers.push_back(marker);
        marker.clear();
    }
    return markers;
}

void find_markers(const LaidOut& laid_out, const tokenizer::Tokenizer& tokenizer, Findings& findings) {
    std::set<std::string> said;
    for (const LaidOutRow& row : laid_out.rows)
        for (const std::string& marker : markers_in(row.text)) {
            if (!said.insert(marker).second) continue;
            const std::size_t count = tokenizer.cut(marker).size();
            if (count > 1)
                findings.push_back({message("{marker} is no token of this vocabulary: it is cut into {count} pieces, "
                                            "as any other text is.",
                                            {{"marker", marker}, {"count", count}}),
                                    false});
        }
}

// The messages of which no byte was written, though they have a text.
void find_dropped(const LaidOutRow& row, const Written& written, std::size_t number, Findings& findings) {
    for (std::size_t i = 0; i < written.says.size(); ++i) {
        const bool is_there = std::ranges::any_of(row.text.origins, [&](const Origin& origin) {
            return origin.content && origin.message == static_cast<std::int32_t>(i);
        });
        if (written.says[i] && !is_there)
            findings.push_back(
                {message("The template leaves out message {number} of conversation {row}, which is by {role}.",
                         {{"number", i + 1}, {"row", number + 1}, {"role", row.roles[i]}}),
                 true});
    }
}

void find_rule(const Conversation& conversation, bool marked, Findings& findings) {
    if (conversation.trained == Trained::everything) return;
    findings.push_back(
        {marked ? message("The template says itself what is trained, by {tag}.", {{"tag", "{% generation %}"}})
                : message("The template does not say what is trained. Taken are the answers' own texts, each with the "
                          "special token that ends it."),
         false});
}

std::vector<std::pair<Index, Index>> special_in(const std::vector<LaidOutRow>& rows,
                                                const tokenizer::Tokenizer& tokenizer) {
    std::map<Index, Index> counted;
    for (const LaidOutRow& row : rows)
        for (const Index token : row.tokens)
            if (is_special(tokenizer, token) || token == tokenizer.special().beginning) ++counted[token];
    return {counted.begin(), counted.end()};
}

}  // namespace

void Text::append(std::string_view more, Origin origin) {
    bytes += more;
    origins.insert(origins.end(), more.size(), origin);
}

const std::vector<std::string>& formats() {
    static const std::vector<std::string> all = [] {
        std::vector<std::string> names;
        for (const OrderedJson& one : asset_table("chat_templates")) names.push_back(one["template"]);
        return names;
    }();
    return all;
}

Conversation conversation_in(const std::string& json, Conversation given) {
    Json whole;
    try {
        if (json.find("\"conversations\"") != std::string::npos) whole = parsed_document(json);
    } catch (const Error&) {  // one conversation per line, perhaps
    }
    if (!whole.is_object() || !whole.contains("conversations")) {
        static_cast<void>(read_messages(json));
        given.messages = json;
        return given;
    }
    const Document document = read_document(json);
    OrderedJson conversations = OrderedJson::array();
    for (std::size_t i = 0; i < document.rows.size(); ++i) {
        const Json& row = whole["conversations"][i];
        OrderedJson messages = OrderedJson::array();
        for (const std::string& role : document.rows[i].roles) messages.push_back({{"role", role}});
        conversations.push_back(row.contains("messages") ? OrderedJson(row["messages"]) : messages);
    }
    given.messages = conversations.size() == 1 ? conversations[0].dump() : conversations.dump();
    static_cast<void>(read_messages(given.messages));
    JsonObject object(whole, "");
    given.name = object.text("template", "");
    given.written = json;
    given.date = document.date;
    given.trained = document.trained;
    given.special_tokens = object.boolean("special_tokens", given.special_tokens);
    if (!given.max_length && object.find("max_length") != nullptr)
        given.max_length = object.within("max_length", Bounds<Index>{1, limits::kSize});
    return given;
}

std::vector<nlohmann::ordered_json> read_messages(std::string_view json) {
    std::vector<OrderedJson> given = json_values(json);
    const auto is_conversation = [](const OrderedJson& one) { return one.is_array() || one.contains("messages"); };
    if (given.size() == 1 && given[0].is_array() && !given[0].empty() && is_conversation(given[0][0])) {
        const OrderedJson several = given[0];
        given.assign(several.begin(), several.end());
    }
    std::vector<OrderedJson> rows;
    for (const OrderedJson& one : given) rows.push_back(checked_messages(one, rows.size()));
    return rows;
}

std::vector<std::pair<std::size_t, std::size_t>> spans_of(std::string_view text, const std::vector<Index>& tokens,
                                                          const tokenizer::Tokenizer& tokenizer) {
    std::vector<std::pair<std::size_t, std::size_t>> spans;
    std::size_t place = 0;
    for (const Index token : tokens) {
        const std::string piece = tokenizer.piece(token);
        std::size_t at = place;
        auto count = taken(text.substr(at), piece);
        while (!count && at < text.size() && is_space(text[at])) count = taken(text.substr(++at), piece);
        if (!count)
            throw Error("token {id}, “{piece}”, can't be found in the template's text, which the tokenizer changes",
                        {{"id", token}, {"piece", piece}});
        spans.emplace_back(at, *count);
        place = at + *count;
    }
    return spans;
}

LaidOut laid_out(const Conversation& conversation, const tokenizer::Tokenizer& tokenizer) {
    const Document document = document_of(conversation);
    LaidOut result;
    Findings dropped;
    for (const Written& written : document.rows) {
        result.rows.push_back(row_of(written, document, conversation, tokenizer));
        find_dropped(result.rows.back(), written, result.rows.size() - 1, dropped);
    }
    result.special = special_in(result.rows, tokenizer);
    find_untrained(result, tokenizer, result.findings);
    find_cut(result, result.findings);
    result.findings.insert(result.findings.end(), dropped.begin(), dropped.end());
    find_beginnings(result, conversation, tokenizer, result.findings);
    find_markers(result, tokenizer, result.findings);
    find_rule(conversation, document.marked, result.findings);
    if (!document.date.empty())
        result.findings.push_back(
            {message("The template asks for the date, which is taken as {date}.", {{"date", document.date}}), false});
    // What was found elsewhere, in the same words, and can't be found here: of tokens that were cut off there.
    for (const Finding& finding : document.findings)
        if (conversation.trained == document.trained &&
            std::ranges::find(result.findings, finding.what, &Finding::what) == result.findings.end())
            result.findings.push_back(finding);
    std::ranges::stable_sort(result.findings, std::greater<>(), &Finding::wrong);
    return result;
}

std::vector<Index> labels_of(const LaidOutRow& row) {
    std::vector<Index> labels;
    for (std::size_t i = 0; i < row.tokens.size(); ++i)
        labels.push_back(row.trained[i] ? row.tokens[i] : static_cast<Index>(kIgnoredTarget));
    return labels;
}

Inputs inputs_of(const LaidOut& laid_out, const tokenizer::Tokenizer& tokenizer) {
    std::vector<std::vector<Index>> tokens, targets;
    for (const LaidOutRow& row : laid_out.rows) {
        tokens.push_back(row.tokens);
        std::vector<Index> next = labels_of(row);
        if (!next.empty()) next.erase(next.begin());
        next.push_back(static_cast<Index>(kIgnoredTarget));
        targets.push_back(std::move(next));
    }
    TokenBatch batch = padded_batch(tokens, axis::pos, tokenizer.special().pad.value_or(0));
    Inputs inputs;
    inputs.tokens = std::move(batch.tokens);
    inputs.attention_mask = std::move(batch.mask);
    inputs.targets = padded_batch(targets, axis::pos, static_cast<Index>(kIgnoredTarget)).tokens;
    return inputs;
}

}  // namespace decoderscope::chat
