#include "engine/chat/laid_out.h"

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/chat/template.h"
#include "engine/ops/kinds.h"

#include <algorithm>
#include <ctime>
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

// ---- tokens beside the text

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

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
        const Origin& byte = text.origins()[i];
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

LaidOutRow row_of(const OrderedJson& messages, const Text& text, const Conversation& conversation, bool marked,
                  const tokenizer::Tokenizer& tokenizer) {
    LaidOutRow row;
    for (const auto& message : messages) row.roles.push_back(message["role"].get<std::string>());
    row.text = text;
    if (text.empty()) throw Error("the template writes nothing");
    const std::vector<Index> inner = tokenizer.cut(text.bytes());
    row.tokens = conversation.special_tokens ? tokenizer.encode(text.bytes()) : inner;
    const auto before = static_cast<std::size_t>(
        std::search(row.tokens.begin(), row.tokens.end(), inner.begin(), inner.end()) - row.tokens.begin());
    row.origins.resize(row.tokens.size());
    const auto spans = spans_of(text.bytes(), inner, tokenizer);
    for (std::size_t i = 0; i < inner.size(); ++i) row.origins[before + i] = origin_of(text, spans[i]);
    train(row, conversation.trained, marked, tokenizer);
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
    for (std::size_t i = 0; i < text.bytes().size(); ++i) {
        const char c = text.bytes()[i];
        const bool begins = c == '<' || c == '[', ends = c == '>' || c == ']';
        if (text.origins()[i].content || is_space(c) || begins) marker.clear();
        if (text.origins()[i].content || is_space(c) || (marker.empty() && !begins)) continue;
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
void find_dropped(const LaidOutRow& row, const OrderedJson& messages, std::size_t number, Findings& findings) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const auto content = messages[i].find("content");
        const bool has_text =
            content != messages[i].end() && content->is_string() &&
            std::ranges::any_of(content->get_ref<const std::string&>(), [](char c) { return !is_space(c); });
        const bool written = std::ranges::any_of(row.text.origins(), [&](const Origin& origin) {
            return origin.content && origin.message == static_cast<std::int32_t>(i);
        });
        if (has_text && !written)
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
    const std::vector<OrderedJson> rows =
        naming(message("messages"), [&] { return read_messages(conversation.messages); });
    const ChatTemplate chat_template =
        naming(message("chat template"), [&] { return ChatTemplate(conversation.source); });
    const Prompted prompted = {conversation.generation_prompt, conversation.special, conversation.variables,
                               conversation.date};
    LaidOut result;
    Findings dropped;
    bool dated = false;
    for (const OrderedJson& messages : rows) {
        const Rendered rendered =
            naming(message("chat template"), [&] { return chat_template.render(messages, prompted); });
        dated = dated || rendered.asked_for_date;
        result.rows.push_back(
            row_of(messages, rendered.text, conversation, chat_template.marks_generation(), tokenizer));
        find_dropped(result.rows.back(), messages, result.rows.size() - 1, dropped);
    }
    result.special = special_in(result.rows, tokenizer);
    find_untrained(result, tokenizer, result.findings);
    find_cut(result, result.findings);
    result.findings.insert(result.findings.end(), dropped.begin(), dropped.end());
    find_beginnings(result, conversation, tokenizer, result.findings);
    find_markers(result, tokenizer, result.findings);
    find_rule(conversation, chat_template.marks_generation(), result.findings);
    if (dated)
        result.findings.push_back(
            {message("The template asks for the date, which is taken as {date}.", {{"date", conversation.date}}),
             false});
    std::ranges::stable_sort(result.findings, std::greater<>(), &Finding::wrong);
    return result;
}

std::string today() {
    const std::time_t now = std::time(nullptr);
    std::string text(16, '\0');
    text.resize(std::strftime(text.data(), text.size(), "%Y-%m-%d", std::localtime(&now)));
    return text;
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
