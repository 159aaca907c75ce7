#include "tests/engine/raw_safetensors.h"
#include "tests/program/wrong_files.h"

#include <utility>

namespace decoderscope::testing {

namespace {

const std::string kSession =
    R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "causal-lm-as-meant"}, "input": {}})";

Wrong session(std::string says, const std::string& json, const Files& files = {}) {
    return {std::move(says), Files{{"a.dscope", json}} + files, trace_of("HERE/a.dscope")};
}

Wrong input(std::string says, const std::string& json, const Files& files = {}) {
    return session(std::move(says), with(kSession, "/input", json), files);
}

Wrong link(std::string says, const std::string& text) { return {std::move(says), {}, trace_of(text)}; }

std::string long_batch() {
    std::string rows = "[[1";
    for (int i = 0; i < 5000; ++i) rows += ",1";
    rows += "]";
    for (int i = 0; i < 5000; ++i) rows += ",[1]";
    return R"({"tokens": )" + rows + "]}";
}

}  // namespace

std::vector<Wrong> wrong_sessions() {
    const Files mask = {{"in.safetensors", zeros({{"other", {2}}})}};
    return {
        session("HERE/a.dscope: not a Decoderscope session, expected a JSON object", "[]"),
        session("HERE/a.dscope: passes: expected sizes that add up to the 4 positions of the text",
                with(kSession, "/passes", R"({"sizes": [1, 1]})")),
        session("HERE/a.dscope: passes.sizes: expected how many positions each pass computes",
                with(kSession, "/passes", R"({"sizes": []})")),
        session("HERE/a.dscope: passes.shown: expected the number of a pass, 0 to 1",
                with(kSession, "/passes", R"({"sizes": [1, 1], "shown": 2})")),
        session("HERE/a.dscope: not a Decoderscope session, expected \"format\": \"decoderscope-session\"",
                R"({"format": "another"})"),
        session(
            "HERE/a.dscope: a session of version 99, but this program reads only up to version 1; open it with a newer "
            "Decoderscope",
            with(kSession, "/version", "99")),
        input("HERE/a.dscope: input: tokens: an empty batch row, expected at least one token",
              R"({"tokens": [[1, 2], []]})"),
        input("HERE/a.dscope: input: tokens: more than 16777216 tokens once rows are padded; expected fewer",
              long_batch()),
        input("HERE/a.dscope: input: attention_mask: rows of different lengths, expected as many numbers in each",
              R"({"tokens": [[1, 2]], "attention_mask": [[1], [1, 1]]})"),
        input("HERE/a.dscope: input: text: the model has no vocabulary that tokenizes text; expected tokens",
              R"({"text": ["abc"]})"),
        input("HERE/a.dscope: input: x: the model's example has none; expected numbers or a file",
              R"({"x": {"from": "example"}})"),
        input("HERE/a.dscope: input: custom_mask: HERE/in.safetensors: custom_mask: missing",
              R"({"custom_mask": {"file": "in.safetensors"}})", mask),
        input("HERE/a.dscope: input: custom_mask: 5 axes, expected at most 4", R"({"custom_mask": [[[[[1]]]]]})"),
        {"HERE/t.html: state 1 of the talk: HERE/m: this state of the talk is of a model that isn't open; open it "
         "first",
         {{"a.dscope", with(kSession, "/talk", R"([{"say": "x", "show": {"format": "decoderscope-session", "version": 1,
           "model": {"path": "m"}}}])")}},
         {"talk", "HERE/a.dscope", "--out", "HERE/t.html"}},
        link("the link: 20000 characters, but a link has at most 8000", "#s1=" + std::string(20000, 'A')),
        link("the link: damaged: it has characters that can't be in a link; copy it again, to its end", "#s1=abc!"),
        link("the link: truncated: its end is missing", "#s1=abcde"),
        link("the link: made by a newer version of Decoderscope; open it with that one", "#s2=abcd"),
        link("the link: names the file /somewhere/model, but a link may only open bundled models",
             "#s1="
             "eNoljEsKwCAMRK8iWbdIt95GNEWhMWJsuxDv3kh383kzA05u5Ds4AxEDR2wSuOIuKJK5wGbg0WxJZw51pMylekD1Pa2dFSZ8Eza0fzkVy"
             "6Xe63XM-QGndyF4"),
    };
}

}  // namespace decoderscope::testing
