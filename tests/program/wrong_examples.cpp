#include "tests/program/wrong_files.h"

#include <utility>

namespace decoderscope::testing {

namespace {

// The small model with letters and this example.json.
Wrong example(std::string says, const std::string& json) {
    return {std::move(says),
            model_with({{"vocabulary.json", R"({"tokens": ["a", "b", "c"]})"}, {"example.json", json}}), trace()};
}

// Something to try in an example that is well otherwise.
Wrong trial(std::string says, const std::string& json) {
    return example(std::move(says), R"({"target": ["abc"], "try": [)" + json + "]}");
}

}  // namespace

std::vector<Wrong> wrong_examples() {
    return {
        example("HERE/model/example.json: the example: expected a JSON object", "[]"),
        example("HERE/model/example.json: \"title\": unknown key of the example, expected one of description, look_at, "
                "source, target, targets, tokens, try",
                R"({"title": "a"})"),
        example("HERE/model/example.json: description: expected a text", R"({"description": 3})"),
        example("HERE/model/example.json: target: expected a list of texts, one per batch row", R"({"target": "abc"})"),
        example("HERE/model/example.json: tokens: expected a list of lists of ids, one per batch row",
                R"({"tokens": [1, 2]})"),
        example("HERE/model/example.json: tokens: given beside target, expected one of them",
                R"({"target": ["abc"], "tokens": [[1, 2]]})"),
        example("HERE/model/example.json: targets: given without tokens, expected both",
                R"({"target": ["abc"], "targets": [[1, 2]]})"),
        example("HERE/model/example.json: target: a text without a token, expected at least one",
                R"({"target": [""]})"),
        example("HERE/model/example.json: look_at: expected a \"step\" such as blocks.0.attn.pattern",
                R"({"target": ["abc"], "look_at": {}})"),
        example("HERE/model/example.json: head: expected the number of a head, from 0",
                R"({"target": ["abc"], "look_at": {"step": "blocks.0.attn.pattern", "head": -1}})"),
        example("HERE/model/example.json: look_at: this model has no step nothing",
                R"({"target": ["abc"], "look_at": {"step": "nothing"}})"),
        example("HERE/model/example.json: look_at: head 9, expected 0 to 1",
                R"({"target": ["abc"], "look_at": {"step": "blocks.0.attn.pattern", "head": 9}})"),
        example("HERE/model/example.json: try: expected a list of things to try", R"({"target": ["abc"], "try": {}})"),
        trial("HERE/model/example.json: try: expected a \"title\", a few words", R"({"step": "logits"})"),
        trial("HERE/model/example.json: try: cell: expected a \"step\" that it is a cell of",
              R"({"title": "a", "cell": [0]})"),
        trial("HERE/model/example.json: try: cell: expected a list of indices, from 0",
              R"({"title": "a", "step": "logits", "cell": 3})"),
        trial("HERE/model/example.json: try: set: expected an object of configuration keys",
              R"({"title": "a", "set": []})"),
        trial("HERE/model/example.json: try “a”: this model has no step nothing",
              R"({"title": "a", "step": "nothing"})"),
        trial("HERE/model/example.json: try “a”: cell: not a cell of logits, which is [batch, pos, vocab] [1, 3, 20]",
              R"({"title": "a", "step": "logits", "cell": [0, 9, 0]})"),
    };
}

}  // namespace decoderscope::testing
