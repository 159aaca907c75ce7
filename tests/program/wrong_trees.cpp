// Files that are made to take the stack, the memory or the time: each is refused as any other is.
#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <utility>

namespace decoderscope::testing {

namespace {

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    all.reserve(text.size() * times);
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

// The mistake itself is a line of the standard output.
Wrong lesson(std::string says, const std::string& text) {
    const bool is_judged = says.ends_with("1 mistake; expected none");
    return {std::move(says), {{"l.md", "# A lesson\n" + text}}, {"lessons", "check", "HERE/l.md"}, is_judged};
}

Wrong chat_of(std::string says, const std::string& messages) {
    return {std::move(says), {{"m.json", messages}}, {"chat", "verses", "--messages", "HERE/m.json"}};
}

// A message of many keys, whose role is missing: an ordered object of nlohmann's would compare each with all before it.
std::string many_keys() {
    std::string text = R"([{"content": "a")";
    for (int i = 0; i < 400'000; ++i) text += ", \"k" + std::to_string(i) + "\": 1";
    return text + "}]";
}

// What a recording says its module was made with.
Wrong recorded(std::string says, const std::string& hyperparameters) {
    nlohmann::json header;
    header["__metadata__"] = {
        {"format", "decoderscope-trace 1"}, {"finished", "yes"}, {"hyperparameters", hyperparameters}};
    header["a"] = {{"dtype", "F32"}, {"shape", {1}}, {"data_offsets", {0, 4}}};
    return {std::move(says),
            {{"a.safetensors", with_header(header.dump(), std::string(4, '\0'))}},
            {"open", "HERE/a.safetensors"}};
}

}  // namespace

std::vector<Wrong> wrong_trees() {
    const std::string messages = R"([{"role": "user", "content": "a"}])";
    const std::string one_mistake = "HERE/l.md: 1 mistake; expected none";
    return {
        lesson(one_mistake, repeated("> ", 40'000) + "deep"),
        lesson(one_mistake, repeated("- ", 40'000) + "deep"),
        lesson(one_mistake, repeated("*a **b ", 500) + repeated("x** y*", 500)),
        lesson(one_mistake, repeated("![", 900) + "a" + repeated("](b)", 900)),
        lesson(one_mistake, repeated("![[]()", 170'000)),
        lesson("HERE/l.md: too long, expected at most 1048576 bytes", std::string(20'000'000, 'x')),
        lesson("HERE/l.md: byte 12 is 0, expected a text", std::string("a\0b", 3)),
        chat_of("HERE/m.json: conversation 1, message 1: expected an object with \"role\", a text, and \"content\"",
                many_keys()),
        chat_of(
            "HERE/m.json: JSON nested too deep, beyond 100 levels, expected a list of messages, or one conversation "
            "per line",
            repeated("[", 1'000'000)),
        chat_of("HERE/m.json: a: given twice, expected once", R"([{"a": 1, "b": 2, "a": 3}])"),
        chat_of("HERE/m.json: byte 34 is 0, expected a text", messages + std::string("\0[", 2)),
        recorded("HERE/a.safetensors: JSON nested too deep, beyond 100 levels, expected an object of modules",
                 repeated("{\"a\":", 100'000)),
        recorded("HERE/a.safetensors: not valid JSON from line 1 on, expected an object of modules",
                 std::string("{}\0{}", 5)),
    };
}

}  // namespace decoderscope::testing
