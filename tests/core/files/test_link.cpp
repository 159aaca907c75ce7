// Sessions as links: what is copied is opened again, and a link from anywhere does no harm.
#include "app/core/files/link.h"
#include "app/core/session/session.h"
#include "engine/base/base64.h"
#include "engine/base/packed_text.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/files/sessions.h"
#include "tests/core/session/apply.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <string>
#include <vector>

using namespace decoderscope::testing;
using namespace decoderscope::load::names;

namespace {

// All that a session without files can hold.
SavedSession rich_work() {
    SavedSession work = changed_work();
    work.view.tabs["compare"] = R"({"set":{"activation":"gelu"},"tolerance":1e-05,"with":"configuration"})";
    work.view.tabs["causes"] = R"({"page":"moves"})";
    work.view.lesson = "weight";
    return work;
}

std::string text_of(const SessionFile& file) { return session_text(file, ""); }

// A link to this JSON, whatever it is.
std::string link_to(const std::string& json) { return "#s1=" + base64(packed_text(json), Base64::url); }

std::string error_opening_link(const std::string& link) {
    return error_of([&] { static_cast<void>(open_link(link)); });
}

}  // namespace

TEST_CASE("a session comes back from its link as it was, byte for byte") {
    const SavedSession work = rich_work();
    const SessionFile file = session_file_of(work);
    const std::string link = link_of(file);
    CHECK(link.find("#s1=") == 0);
    CHECK(link.find_first_not_of(kBase64UrlCharacters, 4) == std::string::npos);
    for (const std::string& given : {link, link.substr(1), "https://example.org/decoderscope/" + link,
                                     "http://localhost:8000/?embed" + link, "  " + link + "\r\n"}) {
        INFO(given);
        CHECK(is_link(given));
        CHECK(text_of(session_of_link(given)) == text_of(file));
    }
    const SavedSession again = open_link(link);
    CHECK(again.remarks.empty());
    CHECK(again.view == work.view);
    CHECK(again.cursor == work.cursor);
    CHECK(again.scenario.edits == work.scenario.edits);
    CHECK(text_of(session_file_of(again)) == text_of(file));
    CHECK(link_of(session_file_of(again)) == link);
}

TEST_CASE("every bundled model is opened by a link that is short enough to be sent") {
    for (const BundledModel& model : bundled_models()) {
        INFO(model.name);
        const SessionFile file = session_file_of(work_of(scenario_of(make_bundled_model(model.name))));
        const std::string link = link_of(file);
        CHECK(link.size() < 2000);
        const SavedSession again = open_link(link);
        CHECK(again.scenario.about().name == model.name);
        CHECK(text_of(session_file_of(again)) == text_of(file));
    }
}

TEST_CASE("a link that Python's zlib and base64 made is opened") {
    const SessionFile file = session_of_link(
        "#s1=eJwVi7ENwCAMBFdBrkORlm0MdpRIgCMMaRC7x3T3p_"
        "sJl7SCHYID4iTETZO87JVVH6lwOPjMbQzutFWsycYT4qiUmfY14VDMPhdYlnSMW96MpLB-fsEgQg");
    CHECK(file.run.model.name == "causal-lm");
    CHECK(file.view.tab == "heads");
}

TEST_CASE("which file the work is in and what of it is unsaved stay behind") {
    SessionFile file = session_file_of(work_of(scenario_of(make_bundled_model("causal-lm"))));
    const std::string plain = link_of(file);
    file.saved_as = "/home/someone/secret.dscope";
    file.changed = {WorkPart::edits};
    CHECK(link_of(file) == plain);
}

TEST_CASE("a link that is cut off anywhere says so in one sentence") {
    const std::string link = link_to(session(R"("tab": "heads", "cursor": {"step": "logits"})"));
    REQUIRE(error_opening_link(link) == "(no error)");
    for (std::size_t length = 0; length < link.size(); ++length) {
        INFO(link.substr(0, length));
        check_message(error_opening_link(link.substr(0, length)), {length < 4 ? "#s1=" : "truncated"});
    }
    check_message(error_opening_link(link + "A"), {"the link: "});
    check_message(error_opening_link(link + "AAAA"), {"the link: ", "damaged"});
}

TEST_CASE("a link with another character anywhere is refused in one sentence, or opens the same") {
    const std::string link = link_to(session(R"("tab": "heads", "cursor": {"step": "logits"})"));
    const std::string opened = text_of(session_of_link(link));
    std::size_t same = 0;
    for (std::size_t at = 0; at < link.size(); ++at) {
        const std::size_t now = kBase64UrlCharacters.find(link[at]);
        std::string others = "!%.";
        for (std::size_t by = 1; by < 64; by += 4)
            others += kBase64UrlCharacters[((now == std::string_view::npos ? 0 : now) + by) % 64];
        for (const char other : others) {
            std::string flipped = link;
            flipped[at] = other;
            INFO(flipped);
            std::string text;
            const std::string error = error_of([&] { text = text_of(session_of_link(flipped)); });
            if (text == opened)
                ++same;
            else
                check_message(error, {"link"});
        }
    }
    CHECK(same < 64);  // the bits between the last deflated byte and the checksum mean nothing
}

TEST_CASE("each thing that can be wrong with a link has its sentence") {
    check_message(error_opening_link(""), {"#s1="});
    check_message(error_opening_link("https://example.org/#chapter-2"), {"#s1="});
    check_message(error_opening_link("#s2=eJwDAAAAAAE"), {"newer version"});
    check_message(error_opening_link("#s1=a b"), {"the link: damaged", "characters"});
    check_message(error_opening_link(link_to("")), {"the link: ", "a Decoderscope session"});
    check_message(error_opening_link(link_to("[]")), {"the link: ", "not a Decoderscope session"});
    check_message(error_opening_link(link_to(session(R"("wrong": 1)"))), {"the link: ", "wrong"});
    check_message(error_opening_link(link_to(R"({"format": "decoderscope-session", "version": 2})")),
                  {"the link: ", "newer Decoderscope"});
    check_message(error_opening_link(link_to(
                      R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "of-tomorrow"}})")),
                  {"the link: ", "of-tomorrow", "bundled model"});
    check_message(error_opening_link(link_to(session(
                      R"("edits": [{"edit": "scale_head", "attention": "blocks.99.attn", "head": 0, "factor": 0}])"))),
                  {"the link: ", "edits", "blocks.99.attn"});
    check_message(error_opening_link(link_to(session(R"("tab": ")" + std::string(200, '[') + "\""))),
                  {"the link: ", "tab"});
    check_message(error_opening_link(link_to(std::string(100'000, '['))), {"the link: "});
}

TEST_CASE("a link opens no file of the machine that it is opened on") {
    const auto refused = [](const std::string& json, const std::string& path) {
        INFO(json);
        check_message(error_opening_link(link_to(json)),
                      {"the link: ", std::filesystem::path(path).make_preferred().string()});
    };
    refused(R"({"format": "decoderscope-session", "version": 1, "model": {"path": "/etc/passwd"}})", "/etc/passwd");
    refused(session(R"("input": {"x": {"file": "/home/a.safetensors"}})"), "/home/a.safetensors");
    refused(session(R"("input": {"memory": {"file": "/home/a.safetensors"}})"), "/home/a.safetensors");
    refused(session(R"("compare": {"file": "/home/a.safetensors"})"), "/home/a.safetensors");
    refused(session(R"("pins": [{"label": "a", "model": {"path": "/home/model"}}])"), "/home/model");
    refused(session(R"("saved_as": "/home/lesson.dscope")"), "/home/lesson.dscope");
}

TEST_CASE("what unpacks to more than any session is refused before it takes the memory") {
    const std::string bomb = "#s1=" + base64(packed_text(std::string(kMostLinkBytes + 1, ' ')), Base64::url);
    REQUIRE(bomb.size() < kMostLinkCharacters);
    check_message(error_opening_link(bomb), {"the link: ", std::to_string(kMostLinkBytes)});
    CHECK_THROWS_AS(unpacked_text(packed_text(std::string(1000, ' ')), 999), Error);
    CHECK(unpacked_text(packed_text(std::string(1000, ' ')), 1000) == std::string(1000, ' '));
    check_message(error_opening_link("#s1=" + std::string(kMostLinkCharacters + 1, 'A')),
                  {std::to_string(kMostLinkCharacters + 1), std::to_string(kMostLinkCharacters)});
}

TEST_CASE("a link asks for no more than a run of its bound, and one that does is refused before it is computed") {
    const auto session = [](const std::string& model, const std::string& more) {
        return link_to(R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": ")" + model + "\"}, " +
                       more + "}");
    };
    const auto text = [&](const std::string& model, std::size_t letters) {
        return session(model, R"("input": {"text": [")" + std::string(letters, 'a') + "\"]}");
    };
    std::string rows;
    for (int i = 0; i < 20'000; ++i) rows += std::string(i == 0 ? "" : ", ") + "\"ab\"";
    const auto formula = [&](const char* row) {
        return session("induction",
                       R"("edits": [{"edit": "row", "name": "z", "formula": ")" + std::string(row) + "\"}]");
    };
    for (const std::string& link :
         {text("reverse", 20'000), text("induction", 20'000), session("verses", R"("input": {"text": [)" + rows + "]}"),
          formula("zeros(20000, 20000)"),
          session("reverse", R"("input": {"text": [")" + std::string(9000, 'a') +
                                 R"("]}, "passes": {"sizes": [9000, 1], "shown": 1})")}) {
        const std::string error = error_opening_link(link);
        INFO(error);
        CHECK(error.starts_with("the link: "));
        CHECK(error.find(" run computes ") != std::string::npos);
    }
    // What a person can type into a line is far from it.
    CHECK(error_opening_link(text("reverse", 200)) == "(no error)");
    CHECK(error_opening_link(formula("zeros(200, 200)")) == "(no error)");
}

TEST_CASE("a session that is too long for a link says by how much, and what to do instead") {
    SessionFile file = session_file_of(work_of(scenario_of(make_bundled_model("causal-lm"))));
    for (Index i = 0; i < 2000; ++i)
        file.run.edits.emplace_back(
            SetCell{"blocks.0.attn.z", {i % 3, i % 8, i % 10, i % 16}, 1.0F / (3.0F + static_cast<float>(i))});
    check_message(error_of([&] { static_cast<void>(link_of(file)); }),
                  {std::to_string(kMostLinkCharacters), "characters", "save a session file instead"});
    file.run.edits.resize(20);
    CHECK_NOTHROW(link_of(file));
    file.run.input.numbers["x"] =
        SavedTensor{.numbers = Tensor({{axis::pos, Index{1} << 20}}, std::vector<float>(std::size_t{1} << 20))};
    check_message(error_of([&] { static_cast<void>(link_of(file)); }),
                  {std::to_string(kMostLinkBytes), "save a session file instead"});
}

TEST_CASE("no link contains the user's own files") {
    const auto refused = [](SessionFile file, const std::string& path) {
        check_message(error_of([&] { static_cast<void>(link_of(std::move(file))); }),
                      {path, "save a session file instead"});
    };
    const std::string own = DECODERSCOPE_TESTS_DIR "/reference/fixtures/gpt2-like";
    refused(session_file_of(work_of(scenario_of(load_model(own)))), std::filesystem::absolute(own).string());
    SessionFile file = session_file_of(work_of(scenario_of(make_bundled_model("causal-lm"))));
    file.view.trace = "/home/trace.safetensors";
    refused(file, "/home/trace.safetensors");
}

TEST_CASE("a link replaces what is open, and a bad one leaves it") {
    Session session(make_bundled_model("pre-ln-layer"));
    SavedView view;
    apply(session, command::OpenLink{"#s1=damaged"});
    REQUIRE(session.message());
    CHECK(session.message()->failed);
    CHECK(session.scenario().about().name == "pre-ln-layer");
    const SavedSession work = rich_work();
    apply(session, command::OpenLink{"https://example.org/" + link_of(session_file_of(work))});
    CHECK(session.scenario().about().name == "causal-lm-as-meant");
    CHECK(session.scenario().edits == work.scenario.edits);
    CHECK(session.cursor() == work.cursor);
    CHECK(session.shown().pinned);
    CHECK(session.file().empty());
    CHECK_FALSE(session.unsaved());
    CHECK(session.take_view() == work.view);
}

TEST_CASE("the attention that was looked at comes back with a step that is in none, wherever a model opens") {
    for (const char* last : {"blocks.0.attn.pattern", "blocks.2.attn.pattern", "blocks.2.mlp.post"})
        for (const char* step : {"probs", "embed", "blocks.1.resid_post", "blocks.2.mlp.pre", "blocks.1.attn.z"}) {
            INFO(last << " and then " << step);
            Session session(make_bundled_model("causal-lm-as-meant"));
            session.apply(command::GoTo{last});
            apply(session, command::GoTo{step});
            REQUIRE(session.cursor().step == step);
            SavedSession work = work_of(session.scenario());
            work.cursor = session.cursor();
            Session again(make_bundled_model("pre-ln-layer"));
            again.apply(command::GoTo{"blocks.0.attn.pattern"});
            apply(again, command::OpenLink{link_of(session_file_of(work))});
            CHECK(again.cursor() == session.cursor());
            CHECK(again.attention() == session.attention());
        }
}

TEST_CASE("a link leads to its address, and HTML around it is well-formed") {
    CHECK(address_of(" https://example.org/d/#s1=old\n") == "https://example.org/d/");
    CHECK(address_of("  ").empty());
    CHECK(link_at("https://example.org/d/", "#s1=a") == "https://example.org/d/#s1=a");
    CHECK(link_at("", "#s1=a") == "#s1=a");
    CHECK(embedding_of("https://example.org/d/", "#s1=a", "a < b · \"c\"") ==
          "<iframe src=\"https://example.org/d/?embed#s1=a\" width=\"800\" height=\"500\" loading=\"lazy\" "
          "title=\"a &lt; b · &quot;c&quot;\"></iframe>");
    CHECK(embedding_of("https://example.org/?a=1", "#s1=a", "").find("?a=1&amp;embed#s1=a") != std::string::npos);
}
