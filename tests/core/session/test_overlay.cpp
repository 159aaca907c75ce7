// Numbers of a file that colour map and timeline: read, refused with file and line, kept, undone.
#include "app/application.h"
#include "app/cli.h"
#include "app/core/files/link.h"
#include "app/core/files/saved_session.h"
#include "app/core/run/overlay.h"
#include "app/core/session/session.h"
#include "engine/base/error.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/session/apply.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <filesystem>
#include <sstream>

using namespace decoderscope::testing;

namespace {

const std::string kColoredModel = "causal-lm-as-meant", kColoredStep = "blocks.0.attn.pattern";

const std::string kCsv =
    "Name, value, text\r\n"
    "blocks.0.attn.pattern, 0.5\n"
    "\n"
    "blocks.0.attn.pattern[0, 1, 2, 0], -2e-1, of a cell\n"
    "\"blocks.0.attn.q[0,0,0,0]\" , 3 ,\"quotes \"\"and\"\", a comma\nand a line\"\n"
    "blocks.1, 1,";

const std::string kJson = R"([{"name": "blocks.0.attn.pattern", "value": 0.5},
  {"name": "blocks.0.attn.pattern[0, 1, 2, 0]", "value": -0.2, "text": "of a cell"},
  {"name": "blocks.0.attn.q[0, 0, 0, 0]", "value": 3, "text": "quotes \"and\", a comma\nand a line"},
  {"name": "blocks.1", "value": 1, "text": ""}])";

const Plan& colored_plan() {
    static const Session session(load::make_bundled_model(kColoredModel));
    return session.shown().run->plan();
}

std::string refused_file(const std::string& text, const std::string& path = "a.csv") {
    try {
        static_cast<void>(parse_overlay(text, path, colored_plan()));
    } catch (const Error& error) {
        return error.what();
    }
    return "was read";
}

std::shared_ptr<const Overlay> overlay_of(std::vector<OverlayValue> values) {
    return std::make_shared<const Overlay>(make_overlay("a.csv", std::move(values), [](std::size_t) { return ""; }));
}

}  // namespace

TEST_CASE("CSV and JSON give the same numbers, by step and cell") {
    const Overlay csv = parse_overlay(kCsv, "here/a.csv", colored_plan());
    CHECK(csv.name == "a.csv");
    CHECK(csv.values ==
          std::vector<OverlayValue>{{kColoredStep, {}, 0.5F, ""},
                                    {kColoredStep, {0, 1, 2, 0}, -0.2F, "of a cell"},
                                    {"blocks.0.attn.q", {0, 0, 0, 0}, 3.0F, "quotes \"and\", a comma\nand a line"},
                                    {"blocks.1", {}, 1.0F, ""}});
    CHECK(csv.scale == Scale::diverging);
    CHECK(csv.range == Range{-3.0F, 3.0F});
    CHECK(parse_overlay(kJson, "a.json", colored_plan()).values == csv.values);
    CHECK(parse_overlay("\xEF\xBB\xBF" + kCsv, "a.csv", colored_plan()).values == csv.values);
    const Overlay times = parse_overlay("logits,2\nprobs,0", "a.csv", colored_plan());
    CHECK(times.scale == Scale::sequential);
    CHECK(times.range == Range{0.0F, 2.0F});
}

TEST_CASE("a file that can't be read is named with its line and what was expected") {
    CHECK(refused_file("name,value\nlogits,1\nblocks.9.attn.q,2") ==
          "a.csv:3: this run has no step blocks.9.attn.q; expected a step or a part of the model, such as embed");
    CHECK(refused_file("logits,nan") == "a.csv:1: \"nan\", expected a finite number");
    CHECK(refused_file("logits,1e99") == "a.csv:1: \"1e99\", expected a finite number");
    CHECK(refused_file("logits,\"1,5\"") == "a.csv:1: \"1,5\", expected a finite number");
    CHECK(refused_file("\nlogits") ==
          "a.csv:2: 1 fields, expected NAME, value, text; a text with a comma must be in quotes");
    CHECK(contains(refused_file("logits,1,one, two"), "a.csv:1: 4 fields"));
    CHECK(refused_file("logits,1\nlogits, 2") ==
          "a.csv:2: logits has a number before this one, expected one for each place");
    CHECK(contains(refused_file("logits[0, 1, 99999],1"), "a.csv:1: logits"));
    CHECK(contains(refused_file("logits[0, 1],1"), "a.csv:1: logits"));
    CHECK(contains(refused_file("logits[0, 1,1"), "a.csv:1: "));
    CHECK(contains(refused_file("logits,1,\"no end\nat all"), "a.csv:1: a text in quotes doesn't end"));
    CHECK(contains(refused_file("logits,1,\"an end\" and more"), "a.csv:1: more text after a text in quotes"));
    CHECK(refused_file("name, value, text\n") == "a.csv: no numbers, expected NAME, value, text in each line");
    CHECK(refused_file("") == "a.csv: no numbers, expected NAME, value, text in each line");
    CHECK(contains(refused_file("logits,1," + std::string(kLongestOverlayText + 1, 'a')), "at most 2000"));
    std::string many;
    for (std::size_t i = 0; i < kMostOverlayValues + 2; ++i) many += "logits,1\n";
    CHECK(refused_file(many) == "a.csv:100002: too many lines, expected at most 100001");

    CHECK(refused_file("[\n{\"name\": \"logits\", \"value\": 1},\n\n {\"name\": \"log\", \"value\": 1}]", "a.json") ==
          "a.json:4: this run has no step log; expected a step or a part of the model, such as embed");
    CHECK(contains(refused_file("[{\"name\": \"logits\",\n \"value\": \"nan\"}]", "a.json"), "a.json:1: "));
    CHECK(contains(refused_file("[{\"name\": \"logits\"},\n 7]", "a.json"), "a.json:1: \"value\""));
    CHECK(contains(refused_file("[{\"name\": \"logits\", \"value\": 1},\n 7]", "a.json"), "a.json:2: "));
    CHECK(contains(refused_file("[{\"name\": \"logits\", \"value\": 1, \"colour\": 2}]", "a.json"), "colour"));
    CHECK(contains(refused_file("{}", "a.json"), "a.json:1: no list, expected a list of objects"));
    CHECK(contains(refused_file("[\n\n{]", "a.json"), "line 3"));
}

TEST_CASE("a huge file is refused by its size") {
    const TemporaryFolder folder;
    const std::string path = folder.file("huge.csv");
    write_bytes(path, "logits,1\n");
    std::filesystem::resize_file(path, std::uintmax_t{1} << 30);
    CHECK_THROWS_WITH(static_cast<void>(read_overlay(path, colored_plan())),
                      path + ": too long, expected at most 16777216 bytes");
}

TEST_CASE("a step has its own number, else the largest of its cells', else that of the nearest part around it") {
    const auto overlay = overlay_of({{"blocks.0", {}, 1.0F, ""},
                                     {"blocks.0.attn", {}, 2.0F, ""},
                                     {"blocks.0.attn.q", {}, 3.0F, ""},
                                     {"blocks.0.attn.q", {0, 0, 0, 0}, 9.0F, ""},
                                     {"blocks.0.attn.k", {0, 0, 0, 0}, 4.0F, ""},
                                     {"blocks.0.attn.k", {0, 0, 0, 1}, -5.0F, ""}});
    const auto number = [&](const std::string& step) {
        const OverlayValue* found = number_of(*overlay, step);
        return found == nullptr ? 0.0F : found->value;
    };
    CHECK(number("blocks.0.attn.q") == 3.0F);
    CHECK(number("blocks.0.attn.k") == -5.0F);
    CHECK(number("blocks.0.attn.v") == 2.0F);
    CHECK(number("blocks.0.mlp.pre") == 1.0F);
    CHECK(number("blocks.01.mlp.pre") == 0.0F);
    CHECK(number("logits") == 0.0F);
    CHECK(number_of(*overlay_of({{"h.0.attn", {}, 7.0F, ""}}), "h.0.attn/softmax/out")->value == 7.0F);
}

TEST_CASE("a file's numbers are in the session's file and in a link, as they were; of another model they are not") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.csv"), kCsv);
    Session session(load::make_bundled_model(kColoredModel));
    const std::shared_ptr<const Run> run = session.shown().run;
    apply(session, command::OpenOverlay{folder.file("a.csv")});
    REQUIRE(session.overlay());
    CHECK(session.message()->text.english() == "a.csv: 4 numbers colour the strip.");
    CHECK(session.unsaved_parts() == std::vector{files::WorkPart::overlay});
    CHECK(session.shown().run == run);

    const files::SavedSession work = session.work({});
    const files::SessionFile file = files::session_file_of(work);
    files::write_session_file(folder.file("a.dscope"), file);
    CHECK(same_overlay(files::open_session(folder.file("a.dscope")).overlay, session.overlay()));
    CHECK(same_overlay(files::open_link(files::link_of(file)).overlay, session.overlay()));
    Session again(files::open_session(folder.file("a.dscope")));
    CHECK(same_overlay(again.overlay(), session.overlay()));
    CHECK(again.unsaved_parts().empty());
    apply(again, command::OpenModel{"induction", {}});
    again.finish();
    CHECK_FALSE(again.overlay());
}

TEST_CASE("more numbers than a link holds are refused by it, and kept by a session") {
    std::vector<OverlayValue> values;
    std::uint32_t random = 1;
    for (Index i = 0; i < 4000; ++i)
        values.push_back({"logits", {0, i, 0}, static_cast<float>(random = random * 1664525U + 1013904223U), ""});
    Session session(load::make_bundled_model(kColoredModel));
    files::SessionFile file = files::session_file_of(session.work({}));
    file.overlay = overlay_of(values);
    CHECK_THROWS_WITH(static_cast<void>(files::link_of(file)),
                      Catch::Matchers::ContainsSubstring("save a session file instead"));
    CHECK(same_overlay(files::parse_session(files::session_text(file, ""), "").overlay, file.overlay));
}

TEST_CASE("colouring and removing the colours are undone like edits") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.csv"), "logits,1");
    write_bytes(folder.file("b.csv"), "logits,2");
    write_bytes(folder.file("wrong.csv"), "logit,2");
    Session session(load::make_bundled_model(kColoredModel));
    const auto name = [&] { return session.overlay() ? session.overlay()->name : std::string(); };
    apply(session, command::OpenOverlay{folder.file("a.csv")});
    apply(session, command::OpenOverlay{folder.file("b.csv")});
    apply(session, command::OpenOverlay{folder.file("wrong.csv")});
    CHECK(session.message()->failed);
    CHECK(name() == "b.csv");
    apply(session, command::RemoveOverlay{});
    CHECK(name().empty());
    apply(session, command::Undo{});
    CHECK(name() == "b.csv");
    apply(session, command::Undo{});
    CHECK(name() == "a.csv");
    apply(session, command::Undo{});
    CHECK(name().empty());
    CHECK_FALSE(session.can_undo());
    apply(session, command::Redo{});
    CHECK(name() == "a.csv");
}

TEST_CASE("a session's numbers that can't be read are named") {
    const auto refused_in = [](const std::string& overlay) {
        const std::string json =
            R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": "reverse"}, "overlay": )" +
            overlay + "}";
        try {
            static_cast<void>(files::parse_session(json, ""));
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("was read");
    };
    CHECK(contains(refused_in("[]"), "overlay"));
    CHECK(contains(refused_in(R"({"name": "a", "values": []})"), "no numbers"));
    CHECK(
        contains(refused_in(R"({"name": "a", "values": [{"name": "logits", "value": "inf"}]})"), "overlay.values[0]"));
    CHECK(contains(refused_in(R"({"name": "a", "values": [{"name": "logits[", "value": 1}]})"), "logits["));
    CHECK(contains(refused_in(R"({"name": "a", "values": [{"name": "x", "value": 1}, {"name": "x", "value": 2}]})"),
                   "overlay.values[1]: x has a number before this one"));
}

TEST_CASE("a file of numbers that is dropped colours what is open, on every tab; what belongs to a model does not") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.csv"), "logits,1");
    write_bytes(folder.file("a.json"), R"([{"name": "probs", "value": 1}])");
    for (const char* tab : {"step", "diff"}) {
        app::Application application(scenario_of(load::make_bundled_model(kColoredModel)));
        application.state().tab = tab;
        application.dropped(std::vector{folder.file("a.csv")});
        REQUIRE(application.session().overlay());
        CHECK(application.session().overlay()->name == "a.csv");
        application.dropped(std::vector{folder.file("a.json")});
        CHECK(application.session().overlay()->name == "a.json");
    }
    write_bytes(folder.file("config.json"), R"({"d_model": [1]})");  // as recordings are
    CHECK_FALSE(is_overlay_path(folder.file("config.json")));
    CHECK_FALSE(is_overlay_path(folder.file("gone.json")));
    CHECK_FALSE(is_overlay_path("a.dscope"));
}

TEST_CASE("--overlay colours the window that is opened, and is refused with the file's line") {
    const TemporaryFolder folder;
    write_bytes(folder.file("a.csv"), "logits,1");
    write_bytes(folder.file("wrong.csv"), "logits,1\nlogit,1");
    const auto run = [](const std::string& path, std::string& said) {
        std::ostringstream out, err;
        const app::CliResult result =
            app::run_cli(std::vector<std::string>{"--model", kColoredModel, "--overlay", path}, out, err);
        said = err.str();
        return result;
    };
    std::string said;
    const app::CliResult result = run(folder.file("a.csv"), said);
    REQUIRE(result.window);
    REQUIRE(result.window->work.overlay);
    CHECK(result.window->work.overlay->values.front().step == "logits");
    const app::CliResult wrong = run(folder.file("wrong.csv"), said);
    CHECK(wrong.status == 1);
    CHECK_FALSE(wrong.window);
    CHECK(contains(said, "wrong.csv:2: this run has no step logit;"));
}
