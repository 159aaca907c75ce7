// Joint exports: heads, layers, masks, curves; and the formats that hold several exhibits.
#include "app/core/compare/depth.h"
#include "app/core/compare/norm_rows.h"
#include "app/core/figure/csv_and_json.h"
#include "app/core/figure/exhibit.h"
#include "app/core/figure/export.h"
#include "app/core/figure/numpy.h"
#include "app/core/figure/picture_files.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/tabs/masks/shown_masks.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/figure/figure_parts.h"
#include "tests/core/figure/markup.h"
#include "tests/engine/temporary_folder.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

using namespace decoderscope::testing;
using namespace decoderscope::core::masks;
using namespace decoderscope::core::norms;

namespace {

template <class T>
int count_primitives(const Figure& figure) {
    int count = 0;
    for (const figure::Primitive& primitive : figure.primitives) count += std::holds_alternative<T>(primitive) ? 1 : 0;
    return count;
}

// ---- a zip, read by its specification

struct Stored {
    std::string bytes;
    std::uint32_t date = 0;
};

std::uint32_t little(const std::string& bytes, std::size_t at, std::size_t count) {
    std::uint32_t value = 0;
    for (std::size_t i = count; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    return value;
}

std::uint32_t crc32(const std::string& bytes) {
    std::uint32_t crc = 0xFFFFFFFF;
    for (const char c : bytes) {
        crc ^= static_cast<unsigned char>(c);
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1U ^ (0xEDB88320U & (0U - (crc & 1U)));
    }
    return ~crc;
}

std::map<std::string, Stored> unzipped(const std::string& zip) {
    const std::size_t end = zip.rfind("PK\x05\x06");
    REQUIRE(end != std::string::npos);
    std::map<std::string, Stored> files;
    std::size_t at = little(zip, end + 16, 4);
    for (std::uint32_t i = 0; i < little(zip, end + 10, 2); ++i) {
        REQUIRE(zip.substr(at, 4) == "PK\x01\x02");
        REQUIRE(little(zip, at + 10, 2) == 0);  // stored
        const std::size_t size = little(zip, at + 24, 4), name_size = little(zip, at + 28, 2);
        const std::string name = zip.substr(at + 46, name_size);
        const std::size_t local = little(zip, at + 42, 4);
        REQUIRE(zip.substr(local, 4) == std::string("PK\x03\x04", 4));
        const std::size_t begin = local + 30 + little(zip, local + 26, 2) + little(zip, local + 28, 2);
        files[name] = {zip.substr(begin, size), little(zip, at + 12, 4)};
        CHECK(crc32(files[name].bytes) == little(zip, at + 16, 4));
        at += 46 + name_size + little(zip, at + 30, 2) + little(zip, at + 32, 2);
    }
    return files;
}

std::vector<float> npy_values_of(const std::string& npy, const std::string& shape) {
    const std::size_t header = little(npy, 8, 2);
    CHECK(npy.substr(10, header).find("'shape': " + shape) != std::string::npos);
    std::vector<float> values((npy.size() - 10 - header) / 4);
    std::memcpy(values.data(), npy.data() + 10 + header, values.size() * 4);  // little-endian, like this machine
    return values;
}

std::string npz_of(const Exhibit& exhibit) {
    std::ostringstream out;
    write_npz(out, arrays_of(exhibit));
    return out.str();
}

std::vector<float> tensor_values(const ShownRun& shown, const std::string& name, Index batch) {
    const Tensor& tensor = shown.run->value(step_of(shown, name).id);
    const Index each = tensor.size() / tensor.dim(0);
    const auto part = tensor.values().subspan(static_cast<std::size_t>(batch * each), static_cast<std::size_t>(each));
    return {part.begin(), part.end()};
}

}  // namespace

// ---- heads and layers

TEST_CASE("all heads of all layers are one figure, named by layer and head, with one range for all") {
    const ShownRun shown = shown_run();
    const Step& pattern = step_of(shown, "blocks.1.attn.pattern");
    const Exhibit exhibit = gathered_exhibit(shown, pattern, {1, 0}, {.all_heads = true, .all_layers = true});
    REQUIRE(exhibit.panels.size() == 5 * 8);
    CHECK(exhibit.panels[11].file_name() == "blocks.1.attn.pattern.head3");
    const Heatmap one = exhibit.panels[11].heatmap();
    CHECK(one.values == heatmap_of(shown.scenario, *shown.run, pattern, {1, 3}).values);
    CHECK(one.hidden == heatmap_of(shown.scenario, *shown.run, pattern, {1, 3}).hidden);
    for (const Panel& panel : exhibit.panels) CHECK(panel.heatmap().range == one.range);
    float largest = 0.0F;
    for (int layer = 0; layer < 5; ++layer)
        for (const float weight :
             shown.run->value(step_of(shown, "blocks." + std::to_string(layer) + ".attn.pattern").id).values())
            largest = std::max(largest, weight);
    CHECK(one.range == Range{0.0F, largest});
    const Figure figure = exhibit_figure(exhibit, {});
    for (const char* text : {"layer 0", "layer 4", "head 0", "head 7", "query", "key", "causal mask", "no edits"}) {
        INFO(text);
        CHECK(says(figure, text));
    }
    CHECK(count_primitives<figure::CellGrid>(figure) == 40 + 1);  // and the colour bar
    CHECK(fault_of(figure) == "");
}

TEST_CASE("with ranges of their own every head says which") {
    const ShownRun shown = shown_run();
    const Exhibit exhibit = gathered_exhibit(shown, step_of(shown, "blocks.0.attn.attn_scores"), {},
                                             {.all_heads = true, .own_ranges = true});
    const Heatmap first = exhibit.panels[0].heatmap(), second = exhibit.panels[1].heatmap();
    CHECK(first.range == range_of(first.values, Scale::diverging));
    CHECK_FALSE(first.range == second.range);
    const Figure figure = exhibit_figure(exhibit, {});
    CHECK(says(figure, "head 0: −"));
    CHECK(fault_of(figure) == "");
}

TEST_CASE("grids of any size have room for what is written") {
    const ShownRun shown = shown_run();
    for (const char* name : {"blocks.0.attn.pattern", "blocks.0.attn.z", "blocks.2.attn.masked_scores"})
        for (const bool layers : {false, true})
            for (const bool own : {false, true}) {
                INFO(name);
                const Exhibit exhibit = gathered_exhibit(shown, step_of(shown, name), {2, 0},
                                                         {.all_heads = true, .all_layers = layers, .own_ranges = own});
                CHECK(fault_of(exhibit_figure(exhibit, {})) == "");
                CHECK(fault_of(exhibit_figure(exhibit, {.dark = true})) == "");
            }
}

TEST_CASE("what has no heads or layers says so") {
    const ShownRun shown = shown_run();
    CHECK_THROWS_AS(gathered_exhibit(shown, step_of(shown, "blocks.0.resid_post"), {}, {.all_heads = true}), Error);
    CHECK_THROWS_AS(gathered_exhibit(shown, step_of(shown, "embed"), {}, {.all_layers = true}), Error);
    CHECK(gathered_exhibit(shown, step_of(shown, "blocks.0.resid_post"), {}, {.all_layers = true}).panels.size() == 5);
}

TEST_CASE("a caption names model, step, head and edits") {
    const ShownRun shown = shown_run("causal-lm", {ScaleHead{"blocks.0.attn", 3, 0.0F}});
    const Exhibit exhibit = step_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {1, 2});
    for (const std::string part : {"causal-lm", "blocks.0.attn.pattern", "batch 1, head 2", "1 edit: "})
        CHECK(exhibit.caption.find(part) != std::string::npos);
    CHECK(exhibit.caption.find(describe(shown.scenario.edits.front())) != std::string::npos);
    CHECK(says(exhibit_figure(exhibit, {}), "batch 1, head 2 · 1 edit"));
}

TEST_CASE("the masks of an attention are shown apart, combined and at work") {
    const ShownRun shown = shown_run("reverse");
    const Exhibit exhibit = masks_exhibit(shown, "blocks.0.attn", {1, 0});
    REQUIRE(exhibit.panels.size() == 8);
    const Heatmap causal = exhibit.panels[0].heatmap();
    for (Index query = 0; query < causal.rows; ++query)
        for (Index key = 0; key < causal.columns; ++key) CHECK(causal.at(query, key) == (key <= query ? 1.0F : 0.0F));
    const Figure figure = exhibit_figure(exhibit, {});
    CHECK(says(figure, "blocks.0.attn.masked_scores"));
    CHECK(fault_of(figure) == "");
}

// ---- several at once, as numbers

TEST_CASE("an NPZ is a zip of stored arrays that are the tensors, without dates") {
    const ShownRun shown = shown_run();
    const Exhibit exhibit = gathered_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {2, 0},
                                             {.all_heads = true, .all_layers = true});
    const auto files = unzipped(npz_of(exhibit));
    REQUIRE(files.size() == 5);
    for (const auto& [name, file] : files) {
        INFO(name);
        CHECK(file.date == 0x00210000);
        const std::string tensor = name.substr(0, name.size() - 4);
        CHECK(npy_values_of(file.bytes, "(8, 4, 4)") == tensor_values(shown, tensor, 2));
    }
    CHECK(files.contains("blocks.4.attn.pattern.npy"));
}

TEST_CASE("an NPY of layers and heads has an axis for each, and refuses what has no common shape") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run();
    const Step& pattern = step_of(shown, "blocks.0.attn.pattern");
    export_exhibit(gathered_exhibit(shown, pattern, {}, {.all_heads = true, .all_layers = true}), folder.file("a.npy"));
    const std::vector<float> values = npy_values_of(read_bytes(folder.file("a.npy")), "(5, 8, 4, 4)");
    CHECK(values.size() == 5 * 8 * 4 * 4);
    try {
        export_exhibit(step_exhibit(shown, pattern, {}, true), folder.file("b.npy"));
        export_exhibit(head_exhibit(shown, "blocks.0.attn", {}), folder.file("b.npy"));
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find("expected .npz or .safetensors") != std::string::npos);
        CHECK(std::string(error.what()).find("b.npy") != std::string::npos);
    }
}

TEST_CASE("safetensors hold every tensor that is shown, by its name") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run();
    export_exhibit(step_exhibit(shown, step_of(shown, "blocks.0.attn.attn_scores"), {1, 5}, true),
                   folder.file("a.safetensors"));
    const SafetensorsFile file(folder.file("a.safetensors"));
    REQUIRE(file.entries().size() == 3);
    const Tensor q = file.floats("blocks.0.attn.q"), scores = file.floats("blocks.0.attn.attn_scores");
    REQUIRE(file.contains("blocks.0.attn.k"));
    const Tensor& whole = shown.run->value(step_of(shown, "blocks.0.attn.q").id);
    for (Index pos = 0; pos < 4; ++pos)
        for (Index d = 0; d < 8; ++d) CHECK(q.at(Cell{pos, d}) == whole.at(Cell{1, 5, pos, d}));
    CHECK(scores.size() == 16);
}

TEST_CASE("several heatmaps are a line a cell of CSV, and a list in JSON") {
    const ShownRun shown = shown_run();
    const Exhibit exhibit = gathered_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {}, {.all_heads = true});
    std::ostringstream csv, json;
    write_csv(csv, exhibit);
    write_json(json, exhibit);
    CHECK(count_of(csv.str(), "\r\n") == 1 + 8 * 16);
    CHECK(csv.str().find("\"batch 0, head 7\",0,1,") != std::string::npos);
    CHECK(csv.str().find(",0,causal\r\n") != std::string::npos);
    const auto parsed = nlohmann::json::parse(json.str());
    REQUIRE(parsed["heatmaps"].size() == 8);
    CHECK(parsed["caption"] == exhibit.caption);
    const Tensor& pattern = shown.run->value(step_of(shown, "blocks.0.attn.pattern").id);
    CHECK(parsed["heatmaps"][6]["values"][3][2].get<float>() == pattern.at(Cell{0, 6, 3, 2}));
}

// ---- the norm curves

TEST_CASE("the norm curves are charts whose numbers are the lengths of the recorded rows") {
    Scenario scenario = scenario_of(make_bundled_model("reverse"));
    const auto run = [&](const char* norm_first) {
        return execute(plan_of(with_override(scenario, "norm_first", norm_first)));
    };
    const auto pre = run("true"), post = run("false");
    const Exhibit exhibit =
        depth_exhibit(scenario, depth_curves(*pre, StackKind::decoder), depth_curves(*post, StackKind::decoder));
    std::ostringstream json;
    write_json(json, exhibit);
    const auto parsed = nlohmann::json::parse(json.str());
    REQUIRE(parsed["charts"].size() == 5);
    // The mean length of the first block's input, over the positions that are not padding.
    const Tensor& entering = pre->value("blocks.0.resid_pre");
    const Tensor& kept = pre->value("attention_mask");
    double sum = 0.0;
    int rows = 0;
    for (Index row = 0; row < entering.size() / entering.dim(2); ++row) {
        if (!kept.empty() && kept.data()[row] == 0.0F) continue;
        double square = 0.0;
        for (Index i = 0; i < entering.dim(2); ++i)
            square += std::pow(static_cast<double>(entering.data()[row * entering.dim(2) + i]), 2);
        sum += std::sqrt(square);
        ++rows;
    }
    const auto& curve = parsed["charts"][0]["curves"][1];
    CHECK(curve["run"] == "Pre-Norm");
    CHECK(curve["steps"][0] == "blocks.0.resid_pre");
    CHECK(curve["values"][0].get<double>() == Approx(sum / rows).epsilon(1e-5));
    const Figure figure = exhibit_figure(exhibit, {});
    CHECK(fault_of(figure) == "");
    CHECK(count_primitives<figure::Polyline>(figure) >= 10);
    for (const char* text : {"Length of the stream", "Pre-Norm", "Post-Norm", "attn_out", "block"})
        CHECK(says(figure, text));
    std::ostringstream svg, csv;
    write_svg(svg, figure);
    CHECK(xml_fault(svg.str()) == "");
    CHECK(count_of(svg.str(), "stroke-dasharray") >= 5);
    write_csv(csv, exhibit);
    CHECK(csv.str().starts_with("chart,run,curve,step,depth,value\r\nstream,Post-Norm,resid,blocks.0.resid_pre,0,"));
    CHECK(unzipped(npz_of(exhibit)).contains("stream.Pre-Norm.resid.npy"));
}

// ---- PDF

TEST_CASE("a PDF is one page of vectors with text in embedded faces, and without a date") {
    const ShownRun shown = shown_run();
    const Figure figure = exhibit_figure(step_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {}), {});
    const auto pdf_of = [](const Figure& drawn) {
        std::ostringstream out;
        write_pdf(out, drawn);
        return out.str();
    };
    const std::string pdf = pdf_of(figure);
    CHECK(pdf.starts_with("%PDF-1."));
    CHECK(pdf.find("%%EOF") != std::string::npos);
    CHECK(pdf.find("/FontFile") != std::string::npos);
    CHECK(pdf.find("/ToUnicode") != std::string::npos);  // so that the text can be searched and copied
    CHECK(pdf.find("/Subtype /Image") == std::string::npos);
    CHECK(pdf.find("/CreationDate") == std::string::npos);
    CHECK(pdf.find("/ModDate") == std::string::npos);
    CHECK(pdf == pdf_of(figure));
}

TEST_CASE("very many cells are a lossless picture within the vectors") {
    Figure figure;
    figure.width = figure.height = 100;
    figure.primitives.emplace_back(
        figure::CellGrid{{0, 0, 100, 100}, 600, 600, std::vector<Rgba>(std::size_t{600} * 600, Rgba{1, 2, 3, 255})});
    REQUIRE(cells_as_pictures(figure));
    std::ostringstream svg;
    write_svg(svg, figure);
    CHECK(xml_fault(svg.str()) == "");
    CHECK(svg.str().find("data:image/png;base64,iVBORw0KGgo") != std::string::npos);
    CHECK(svg.str().find("pixelated") != std::string::npos);
    CHECK(svg.str().size() < 100'000);
}

// ---- a folder of files

TEST_CASE("each head is a separate file in a new folder") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run();
    const Exhibit exhibit =
        gathered_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {}, {.all_heads = true, .all_layers = true});
    export_each(exhibit, folder.file("heads"), ".csv");
    CHECK(folder.entries() == 1);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.file("heads"))) files += entry.exists() ? 1 : 0;
    CHECK(files == 40);
    std::ostringstream expected;
    write_csv(expected, exhibit.panels[9].heatmap());
    CHECK(read_bytes(folder.file("heads/blocks.1.attn.pattern.head1.csv")) == expected.str());
    try {
        export_each(exhibit, folder.file("heads"), ".csv");
        FAIL("no error");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find(folder.file("heads") + ": already exists") == 0);
    }
    CHECK(folder.entries() == 1);
    CHECK_THROWS_AS(export_each(exhibit, folder.file("no/where"), ".csv"), Error);
}

TEST_CASE("a folder that cannot be finished is not begun") {
    const TemporaryFolder folder;
    const ShownRun shown = shown_run();
    Exhibit exhibit = gathered_exhibit(shown, step_of(shown, "blocks.0.attn.pattern"), {}, {.all_heads = true});
    exhibit.panels[5].heatmap = []() -> Heatmap { throw Error("no numbers here"); };
    CHECK_THROWS_WITH(export_each(exhibit, folder.file("heads"), ".png"),
                      folder.file("heads/blocks.0.attn.pattern.head5.png") + ": no numbers here");
    CHECK_THROWS_AS(export_exhibit(exhibit, folder.file("heads.npz")), Error);
    CHECK_THROWS_AS(export_exhibit(exhibit, folder.file("heads.csv")), Error);
    CHECK(folder.entries() == 0);
}
