// A part of a picture: which rows and columns are kept, in every format.
#include "app/core/figure/crop.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/export.h"
#include "app/core/figure/numpy.h"
#include "app/core/run/exhibit_step.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/core/figure/figure_parts.h"
#include "tests/engine/contains.h"
#include "tests/engine/messages.h"
#include "tests/engine/temporary_folder.h"

#include <random>
#include <sstream>

using namespace decoderscope::testing;

namespace {

Exhibit exhibit_of(const ShownRun& shown, const std::string& name) {
    const Ref step = shown.run->plan().find(name);
    REQUIRE(step != nullptr);
    return step_exhibit(shown, *step, {});
}

}  // namespace

TEST_CASE("what is kept is said as Python writes slices, and nothing else is taken for it") {
    CHECK(crop_from("2:9,0:4") == Crop{Extent{2, 9}, Extent{0, 4}});
    CHECK(crop_from(":9,:") == Crop{Extent{0, 9}, std::nullopt});
    CHECK(crop_from("0:,0:").keeps_all());
    for (const char* text : {"2:9,0:4", "3:5,:", ":,1:2"}) CHECK(text_of(crop_from(text)) == text);
    for (const char* nonsense : {"", ",", "1", "1:2", "1:2,3", "2:2,:", "3:2,:", "-1:2,:", "0:1.5,:", "a:b,:",
                                 "0:1,0:1,0:1", "0:99999999999999999999,:", "1::2,:", " 0:1,:"})
        CHECK(contains(error_of([&] { static_cast<void>(crop_from(nonsense)); }), "expected rows and columns"));
}

TEST_CASE("a part has the whole's numbers, masks, labels, texts and notes at its own places") {
    const ShownRun shown = shown_run("causal-lm");
    std::mt19937 random(7);
    for (const char* name : {"blocks.0.attn.pattern", "blocks.1.attn.masked_scores", "blocks.0.mlp.post", "logits"}) {
        const Exhibit all = exhibit_of(shown, name);
        Heatmap whole = all.panels.front().heatmap();
        whole.notes = {{1, 2, "a cell"}, {2, std::nullopt, "a row"}};
        whole.texts.assign(whole.values.size(), "");
        for (std::size_t i = 0; i < whole.texts.size(); ++i) whole.texts[i] = std::to_string(i);
        const Exhibit given{.panels = {panel_of(name, whole)}};
        for (int trial = 0; trial < 20; ++trial) {
            const auto extent = [&](Index count) {
                const Index a = std::uniform_int_distribution<Index>(0, count - 1)(random);
                return Extent{a, std::uniform_int_distribution<Index>(a + 1, count)(random)};
            };
            const Crop crop{extent(whole.rows), extent(whole.columns)};
            INFO(name << " " << text_of(crop));
            const Panel panel = cropped(given, crop).panels.front();
            const Heatmap part = panel.heatmap();
            REQUIRE(part.rows == crop.rows->end - crop.rows->first);
            REQUIRE(part.columns == crop.columns->end - crop.columns->first);
            CHECK((panel.rows == part.rows && panel.columns == part.columns));
            for (Index row = 0; row < part.rows; ++row)
                for (Index column = 0; column < part.columns; ++column) {
                    const auto there = static_cast<std::size_t>((row + crop.rows->first) * whole.columns + column +
                                                                crop.columns->first),
                               here = static_cast<std::size_t>(row * part.columns + column);
                    const auto same = [&](const auto& a, const auto& b) {
                        return a.empty() ? b.empty() : a[here] == b[there];
                    };
                    REQUIRE(same(part.texts, whole.texts));
                    REQUIRE(same(part.hidden, whole.hidden));
                    REQUIRE((part.values[here] == whole.values[there] || std::isnan(part.values[here])));
                }
            CHECK(part.row_labels.front() == whole.row_labels[static_cast<std::size_t>(crop.rows->first)]);
            CHECK(part.column_labels.back() == whole.column_labels[static_cast<std::size_t>(crop.columns->end - 1)]);
            const bool keeps_cell =
                crop.rows->first <= 1 && 1 < crop.rows->end && crop.columns->first <= 2 && 2 < crop.columns->end;
            const bool keeps_row = crop.rows->first <= 2 && 2 < crop.rows->end;
            CHECK(part.notes.size() == (keeps_cell ? 1U : 0U) + (keeps_row ? 1U : 0U));
            if (keeps_cell) CHECK(part.notes.front().row == 1 - crop.rows->first);
        }
    }
}

TEST_CASE("a crop beyond a tensor is refused by its name and its size, before anything is written") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run("reverse");
    const Exhibit exhibit = exhibit_of(shown, "blocks.0.attn.pattern");
    const Index rows = exhibit.panels.front().rows;
    for (const std::string& text : {"0:" + std::to_string(rows + 1) + ",:", std::to_string(rows) + ":,:"}) {
        const std::string said = error_of([&] { static_cast<void>(cropped(exhibit, crop_from(text))); });
        CHECK(contains(said, "blocks.0.attn.pattern: has " + std::to_string(rows) + " rows"));
    }
    const Outcome outcome = run(
        {"export", "reverse", "--tensor", "blocks.0.attn.pattern", "--out", folder.file("a.png"), "--crop", "0:500,:"});
    CHECK(outcome.status == 1);
    CHECK(is_one_line(outcome.err));
    CHECK(folder.entries() == 0);
}

TEST_CASE("special tokens can be left out, wherever they stand") {
    const ShownRun shown = shown_run("reverse");
    const Exhibit all = exhibit_of(shown, "blocks.0.cross_attn.pattern");
    const Heatmap whole = all.panels.front().heatmap(),
                  part = cropped(all, {.special = false}).panels.front().heatmap();
    const auto texts_of = [](const std::vector<std::string>& labels) {
        std::vector<std::string> texts;
        for (const std::string& label : labels)
            if (!label.starts_with("<")) texts.push_back(label);
        return texts;
    };
    REQUIRE(texts_of(whole.row_labels) != whole.row_labels);
    CHECK(part.row_labels == texts_of(whole.row_labels));
    CHECK(part.column_labels == texts_of(whole.column_labels));
}

TEST_CASE("files of numbers are cropped, too, and say so") {
    const TemporaryFolder folder;
    const auto exported = [&](const std::string& ending) {
        const Outcome outcome = run({"export", "words", "--tensor", "blocks.0.attn.pattern", "--crop", "1:4,0:3",
                                     "--out", folder.file("a" + ending)});
        CHECK(outcome.status == 0);
        CHECK(contains(outcome.out, "cropped to rows 1:4, columns 0:3 of "));
        return read_bytes(folder.file("a" + ending));
    };
    const ShownRun shown = shown_run("words");
    const Heatmap whole = exhibit_of(shown, "blocks.0.attn.pattern").panels.front().heatmap();
    const std::string csv = exported(".csv"), first = csv.substr(0, csv.find("\r\n"));
    CHECK(contains(first, "rows 1:4, columns 0:3 of "));
    CHECK(std::ranges::count(csv, '\n') == 4);
    const nlohmann::json json = nlohmann::json::parse(exported(".json"));
    CHECK(json["kept_rows"] == std::vector<int>{1, 2, 3});
    CHECK(json["kept_columns"] == std::vector<int>{0, 1, 2});
    for (Index row = 0; row < 3; ++row)
        for (Index column = 0; column < 3; ++column)
            CHECK(json["values"][static_cast<std::size_t>(row)][static_cast<std::size_t>(column)].get<float>() ==
                  whole.at(row + 1, column));
    static_cast<void>(exported(".safetensors"));
    const SafetensorsFile file(folder.file("a.safetensors"));
    CHECK(file.floats("blocks.0.attn.pattern").axes()[0].size == 3);
    CHECK(contains(read_bytes(folder.file("a.safetensors")), "rows 1:4, columns 0:3"));
    CHECK(contains(exported(".npy"), "'shape': (3, 3)"));
    CHECK(contains(exported(".svg"), "rows 1:4, columns 0:3"));
}
