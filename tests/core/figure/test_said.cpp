// What a picture says in words: each number is the run's, each comparison holds.
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/figure/export.h"
#include "app/core/figure/picture_files.h"
#include "app/core/figure/said.h"
#include "app/core/run/comparison.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/text/numbers.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

using namespace decoderscope::testing;

namespace {

ShownRun told_run(const std::string& model, std::vector<Edit> edits) {
    ShownRun shown{scenario_of(make_bundled_model(model)), nullptr};
    shown.unedited = [run = std::shared_ptr<const Run>(execute(plan_of(shown.scenario)))] { return run; };
    shown.scenario.edits = std::move(edits);
    shown.run = execute(plan_of(shown.scenario));
    return shown;
}

// The last two axes of a tensor at batch row 0 and a head, read without any picture.
struct Numbers {
    Index rows = 0, columns = 0;
    std::vector<float> values;
    std::vector<bool> hidden;
};

Numbers numbers_of(const Run& run, const Step& step, Index head) {
    const Tensor& tensor = run.value(step.id);
    const std::size_t rank = step.axes.size();
    Numbers numbers{step.axes[rank - 2].size, step.axes[rank - 1].size, {}, {}};
    const Ref mask = step.attention.empty() ? nullptr : run.plan().step_of(step.attention, AttentionStep::mask);
    const bool masked = mask != nullptr && step.name.ends_with("pattern") && !run.value(mask->id).empty();
    for (Index row = 0; row < numbers.rows; ++row)
        for (Index column = 0; column < numbers.columns; ++column) {
            const Cell cell = rank == 4 ? Cell{0, head, row, column} : Cell{0, row, column};
            numbers.values.push_back(tensor.at(cell));
            const Index one = masked && mask->axes[1].size == 1 ? 0 : head;
            numbers.hidden.push_back(masked && run.value(mask->id).at(Cell{0, one, row, column}) == 0.0F);
        }
    return numbers;
}

double read(std::string text) {
    if (const std::size_t minus = text.find("−"); minus == 0) return -read(text.substr(std::string("−").size()));
    for (std::size_t at = text.find("−"); at != std::string::npos; at = text.find("−")) text.replace(at, 3, "-");
    std::erase(text, ',');
    return std::stod(text);
}

bool is_told(const std::string& text, double value, int digits) {
    return std::fabs(read(text) - value) <=
           0.50001 * std::pow(10.0, std::floor(std::log10(std::max(std::fabs(value), 1e-30))) - digits + 1);
}

// The places in a sentence: "query 3 “a”, key 2" gives 3 and 2.
std::vector<Index> places_in(const std::string& text) {
    std::vector<Index> places;
    static const std::regex place("(?:query|key|pos|src|vocab|d_model|d_head|d_ff) ([0-9]+)");
    for (std::sregex_iterator at(text.begin(), text.end(), place), end; at != end; ++at)
        places.push_back(std::stoll((*at)[1]));
    return places;
}

std::smatch match(const std::string& text, const std::string& pattern) {
    static std::string kept;
    kept = text;
    std::smatch found;
    INFO(text);
    INFO(pattern);
    REQUIRE(std::regex_search(kept, found, std::regex(pattern)));
    return found;
}

std::size_t big_endian_at(const std::string& bytes, std::size_t at) {
    std::size_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
    return number;
}

// https://www.w3.org/TR/png/#5CRC-algorithm
std::uint32_t checksum_of_chunk(const std::string& bytes) {
    std::uint32_t sum = 0xFFFFFFFFU;
    for (const char byte : bytes) {
        sum ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) sum = (sum & 1U) != 0 ? 0xEDB88320U ^ sum >> 1U : sum >> 1U;
    }
    return ~sum;
}

constexpr const char* kNumber = "([−0-9.,e-]*[0-9])";

void check_extremes(const Numbers& numbers, const std::string& text) {
    INFO(text);
    float largest = -INFINITY, smallest = INFINITY;
    for (std::size_t i = 0; i < numbers.values.size(); ++i)
        if (!numbers.hidden[i]) {
            largest = std::max(largest, numbers.values[i]);
            smallest = std::min(smallest, numbers.values[i]);
        }
    const auto at = [&](Index row, Index column) {
        return numbers.values[static_cast<std::size_t>(row * numbers.columns + column)];
    };
    if (largest == smallest) {
        CHECK(is_told(match(text, std::string("are ") + kNumber)[1], static_cast<double>(largest), 4));
        return;
    }
    const std::vector<Index> places = places_in(text);
    if (text.starts_with("The largest weight")) {
        const std::smatch found =
            match(text, std::string("weight is ") + kNumber + ", at .* on average " + kNumber + " % ");
        CHECK(is_told(found[1], static_cast<double>(largest), 4));
        REQUIRE(places.size() == 3);
        CHECK(at(places[0], places[1]) == largest);
        std::vector<double> shares(static_cast<std::size_t>(numbers.columns));
        for (Index row = 0; row < numbers.rows; ++row)
            for (Index column = 0; column < numbers.columns; ++column)
                shares[static_cast<std::size_t>(column)] +=
                    static_cast<double>(at(row, column)) / static_cast<double>(numbers.rows);
        const double share = shares[static_cast<std::size_t>(places[2])];
        CHECK(share == *std::ranges::max_element(shares));
        CHECK(is_told(found[2], 100 * share, 3));
        return;
    }
    const std::smatch found = match(text, std::string("largest number is ") + kNumber + ", at .* smallest is " +
                                              kNumber + ", at [^;]*; " + kNumber + " % of the sum of squares");
    CHECK(is_told(found[1], static_cast<double>(largest), 4));
    CHECK(is_told(found[2], static_cast<double>(smallest), 4));
    REQUIRE(places.size() == 5);
    CHECK(at(places[0], places[1]) == largest);
    CHECK(at(places[2], places[3]) == smallest);
    std::vector<double> squares(static_cast<std::size_t>(numbers.rows));
    double all = 0;
    for (Index row = 0; row < numbers.rows; ++row)
        for (Index column = 0; column < numbers.columns; ++column)
            if (!numbers.hidden[static_cast<std::size_t>(row * numbers.columns + column)]) {
                squares[static_cast<std::size_t>(row)] += std::pow(static_cast<double>(at(row, column)), 2);
                all += std::pow(static_cast<double>(at(row, column)), 2);
            }
    CHECK(squares[static_cast<std::size_t>(places[4])] == *std::ranges::max_element(squares));
    CHECK(is_told(found[3], 100 * squares[static_cast<std::size_t>(places[4])] / all, 3));
}

void check_changes(const Numbers& before, const Numbers& after, const std::string& text) {
    INFO(text);
    Index changed = 0;
    double furthest = 0;
    for (std::size_t i = 0; i < after.values.size(); ++i)
        if (const double distance = distance_between(before.values[i], after.values[i]); distance != 0) {
            ++changed;
            furthest = std::max(furthest, distance);
        }
    if (changed == 0) {
        CHECK(text.starts_with("The edits change none of these"));
        return;
    }
    const std::smatch found =
        match(text, std::string("change ([0-9,]+) of these ([0-9,]+) numbers, most at .*: from ") + kNumber + " to " +
                        kNumber);
    CHECK(read(found[1]) == static_cast<double>(changed));
    CHECK(read(found[2]) == static_cast<double>(after.values.size()));
    const std::vector<Index> places = places_in(text);
    REQUIRE(places.size() == 2);
    const auto at = static_cast<std::size_t>(places[0] * after.columns + places[1]);
    CHECK(distance_between(before.values[at], after.values[at]) == furthest);
    CHECK(is_told(found[3], static_cast<double>(before.values[at]), 4));
    CHECK(is_told(found[4], static_cast<double>(after.values[at]), 4));
}

}  // namespace

TEST_CASE("the three sentences of forty pictures are true") {
    int pictures = 0;
    const std::array<std::pair<std::string, std::vector<Edit>>, 4> states = {
        {{"causal-lm", {}},
         {"causal-lm", {ScaleHead{"blocks.0.attn", 0, 0.0F}}},
         {"reverse", {SetCell{"blocks.0.attn.z", {0, 0, 2, 3}, 2.5F}}},
         {"dates", {ScaleHead{"blocks.0.attn", 0, 3.0F}}}}};
    for (const auto& [model, edits] : states) {
        const ShownRun shown = told_run(model, edits);
        for (const Step& step : shown.run->plan().steps()) {
            if (step.is_source() || step.axes.size() < 3 || step.axes.size() > 4 ||
                step.axes.front().name != axis::batch)
                continue;
            if (step.axes.back().size < 2 || step.axes[step.axes.size() - 2].size < 2 ||
                shown.run->value(step.id).empty())
                continue;
            const std::string last = step.name.substr(step.name.rfind('.') + 1);
            if (last != "pattern" && last != "attn_scores" && last != "z" && last != "resid_post" &&
                last != "normalized" && last != "logits" && last != "post")
                continue;
            INFO(model << " " << step.name);
            const std::vector<Sentence> sentences = said(step_exhibit(shown, step, {}));
            REQUIRE(sentences.size() == 3);
            const Numbers now = numbers_of(*shown.run, step, 0);
            const std::string what = sentences[0].english();
            const std::smatch size = match(what, "([0-9,]+) × ([0-9,]+) numbers");
            CHECK(read(size[1]) == static_cast<double>(now.rows));
            CHECK(read(size[2]) == static_cast<double>(now.columns));
            const auto hidden = std::ranges::count(now.hidden, true);
            Index told = 0;
            static const std::regex kind("([0-9,]+) \\([a-z +]*mask\\)");
            for (std::sregex_iterator at(what.begin(), what.end(), kind), end; at != end; ++at)
                told += static_cast<Index>(read((*at)[1]));
            CHECK(told == hidden);
            check_extremes(now, sentences[1].english());
            if (edits.empty())
                CHECK(sentences[2].english().ends_with("no edits."));
            else
                check_changes(numbers_of(*shown.unedited(), *shown.unedited()->plan().find(step.name), 0), now,
                              sentences[2].english());
            ++pictures;
        }
    }
    CHECK(pictures >= 40);
}

TEST_CASE("several pictures, and curves, are told together") {
    const ShownRun shown = told_run("causal-lm", {ScaleHead{"blocks.1.attn", 1, 0.0F}});
    const Step& pattern = *shown.run->plan().find("blocks.1.attn.pattern");
    const std::vector<Sentence> heads = said(gathered_exhibit(shown, pattern, {}, {.all_heads = true}));
    REQUIRE(heads.size() == 3);
    const std::smatch found =
        match(heads[1].english(), std::string("largest number is ") + kNumber +
                                      ", at head ([0-9]+), .* the smallest is " + kNumber + ", at head ([0-9]+),");
    std::vector<float> largest;
    for (Index head = 0; head < pattern.axes[1].size; ++head) {
        const Numbers numbers = numbers_of(*shown.run, pattern, head);
        largest.push_back(*std::ranges::max_element(numbers.values));
    }
    CHECK(largest[std::stoul(found[2])] == *std::ranges::max_element(largest));
    CHECK(largest[std::stoul(found[4])] == *std::ranges::min_element(largest));
    CHECK(is_told(found[1], static_cast<double>(*std::ranges::max_element(largest)), 4));
    CHECK(heads[2].english().starts_with("The edits change none of these"));  // a pattern is computed before the scale

    const norms::DepthCurves curves = norms::depth_curves(*shown.run, StackKind::decoder);
    const std::vector<Sentence> told = said(norms::depth_exhibit(shown.scenario, curves, curves));
    REQUIRE(told.size() == 3);
    CHECK(told[1].english().find("the highest is") != std::string::npos);
}

TEST_CASE("NaN, infinities and equal numbers are told, and nothing is said of nothing") {
    const auto of = [](std::vector<float> values) {
        Heatmap heatmap{.title = "x",
                        .row_axis = "query",
                        .column_axis = "key",
                        .rows = 1,
                        .columns = static_cast<Index>(values.size())};
        heatmap.row_labels = {"0"};
        for (Index i = 0; i < heatmap.columns; ++i) heatmap.column_labels.push_back(std::to_string(i));
        heatmap.range = range_of(values, heatmap.scale);
        heatmap.values = std::move(values);
        return english_text(said(Exhibit{.panels = {panel_of("x", heatmap)}}));
    };
    CHECK(of({2, 2}) == "x: 1 × 2 numbers, query by key. All numbers that aren't masked are 2.");
    CHECK(of({NAN, NAN, INFINITY})
              .ends_with("It has no finite number that isn't masked. 2 numbers are NaN. 1 number is infinite."));
    CHECK(said(Exhibit{}).size() <= 1);
}

TEST_CASE("what a picture says is in its file, and alone in a .txt") {
    const ShownRun shown = told_run("causal-lm", {});
    const Step& pattern = *shown.run->plan().find("blocks.0.attn.pattern");
    const Exhibit exhibit = step_exhibit(shown, pattern, {});
    const std::string text = english_text(said(exhibit));
    const TemporaryFolder folder;
    const auto written = [&](const std::string& name) {
        export_exhibit(exhibit, folder.file(name));
        return read_bytes(folder.file(name));
    };
    CHECK(written("a.txt") == text + "\n");
    CHECK(written("a.svg").find("<desc>" + xml_escaped(text) + "</desc>") != std::string::npos);
    // The chunk stands behind the header, and its checksum is right.
    const std::string png = written("a.png");
    REQUIRE(png.substr(37, 4) == "iTXt");
    const std::size_t length = big_endian_at(png, 33);
    const std::string chunk = png.substr(37, length + 4);
    CHECK(chunk == std::string("iTXtDescription") + std::string(5, '\0') + text);
    CHECK(big_endian_at(png, 37 + chunk.size()) == checksum_of_chunk(chunk));
    CHECK(png.substr(37 + chunk.size() + 8, 4) != "iTXt");
}
