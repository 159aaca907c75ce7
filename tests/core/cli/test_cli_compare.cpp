// decoderscope compare: several runs beside the first of them.
#include "app/core/run/comparison.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/recorded_traces.h"
#include "tests/engine/temporary_folder.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

using namespace decoderscope::testing;

namespace {

const std::string kModel = "causal-lm-as-meant", kStored = DECODERSCOPE_TESTS_DIR "/reference/stored/";

std::string traced(const TemporaryFolder& folder, const std::string& name, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"trace", kModel, "--out", folder.file(name)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    REQUIRE(run(arguments).status == 0);
    return folder.file(name);
}

NamedTensors tensors_of(const std::string& path) {
    NamedTensors tensors;
    const SafetensorsFile file(path);
    for (const std::string& name : file.names_in_order()) tensors.emplace_back(name, file.floats(name));
    return tensors;
}

// The same file with one number of one tensor changed by `by`.
std::string planted(const std::string& path, const std::string& name, std::size_t at, float by) {
    NamedTensors tensors = tensors_of(path);
    for (auto& [tensor, values] : tensors)
        if (tensor == name) values.writable()[at] += by;
    const std::string changed = path + ".planted.safetensors";
    write_safetensors(changed, tensors);
    return changed;
}

// A safetensors file's bytes with every number of a float32 tensor that much larger.
std::string scaled(std::string bytes, const std::string& name, float factor) {
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const auto offsets = nlohmann::json::parse(bytes.substr(8, header)).at(name).at("data_offsets");
    for (auto at = offsets[0].get<std::size_t>(); at < offsets[1].get<std::size_t>(); at += sizeof(float)) {
        float value = 0.0F;
        std::memcpy(&value, bytes.data() + 8 + header + at, sizeof(value));
        value *= factor;
        std::memcpy(bytes.data() + 8 + header + at, &value, sizeof(value));
    }
    return bytes;
}

// As Markdown writes a path: Windows' separators twice.
std::string in_markdown(const std::string& path) {
    std::string written;
    for (const char c : path) written += c == '\\' ? std::string("\\\\") : std::string(1, c);
    return written;
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
}

}  // namespace

TEST_CASE("compare: runs that are equal agree, and the status is 0") {
    const TemporaryFolder folder;
    const std::string page = folder.file("page.html");
    const Outcome same =
        run({"compare", kModel, kModel, traced(folder, "t.safetensors"), "--html", page, "--markdown"});
    INFO(same.out << same.err);
    CHECK(same.status == 0);
    CHECK(same.err.empty());
    CHECK(count(same.out, "steps agree.") == 2);
    CHECK_FALSE(contains(same.out, "First difference"));
    const std::string html = read_text(page);
    CHECK(count(html, "<section>") == 2);
    CHECK(count(html, "the largest difference is 0") == 2);
    CHECK(contains(html, "logits stayed the same"));
    CHECK_FALSE(contains(html, "<svg"));
}

// Each step once, though a module's name may be a step's own, too ("embed").
TEST_CASE("compare counts as many steps beside a recording as beside the model that made it") {
    for (const std::string& model :
         looked_at(std::vector{kModel, std::string("pre-ln-layer"), std::string("experts")}, 3)) {
        INFO(model);
        const TemporaryFolder folder;
        const std::string trace = folder.file("t.safetensors");
        REQUIRE(run({"trace", model, "--out", trace}).status == 0);
        const Outcome same = run({"compare", model, model, trace, "--markdown"});
        INFO(same.out);
        const std::regex agree("([0-9]+) steps agree");
        const std::sregex_iterator beside_model(same.out.begin(), same.out.end(), agree);
        REQUIRE(std::distance(beside_model, std::sregex_iterator()) == 2);
        CHECK((*beside_model)[1] == (*std::next(beside_model))[1]);
    }
}

TEST_CASE("compare names a planted difference, its cell and both numbers, between recordings and beside a model") {
    const TemporaryFolder folder;
    const std::string right = traced(folder, "right.safetensors");
    const auto before = tensors_of(right);
    const auto post = std::ranges::find(before, "blocks.1.mlp.post", [](const auto& named) { return named.first; });
    REQUIRE(post != before.end());
    const std::size_t at = 7;
    const float largest = *std::ranges::max_element(post->second.values());
    const std::string wrong = planted(right, "blocks.1.mlp.post", at, largest);
    const Cell cell = post->second.cell(static_cast<Index>(at));
    for (const std::string& first : looked_at(std::vector{right, kModel}, 2)) {
        INFO(first);
        const std::string page = folder.file("page.html");
        const Outcome other = run({"compare", first, wrong, "--html", page, "--markdown"});
        INFO(other.out << other.err);
        CHECK(other.status == 1);
        CHECK(is_one_line(other.err));
        CHECK(contains(other.err, wrong));
        CHECK(contains(other.err, "1 of "));
        CHECK(contains(other.err, "first blocks.1.mlp.post"));
        const std::string html = read_text(page);
        CHECK(contains(html, "First difference: blocks.1.mlp.post"));
        CHECK(contains(html, "Worst cell: " + cell_name("blocks.1.mlp.post", cell)));
        CHECK(count(html, "<svg") == 1);  // the first difference is the largest, too
        // What is above the tolerance is not there with a larger one: the planted number is its tensor's largest.
        CHECK(run({"compare", first, wrong, "--markdown", "--tolerance", "1.1"}).status == 0);
    }
}

TEST_CASE("compare: of a model and a recording, the mistake that bisect finds is the cause, whichever comes first") {
    const TemporaryFolder folder;
    const std::string wrong = traced(folder, "wrong.safetensors", {"--mutation", "no-scale"});
    const Outcome bisected = run({"bisect", kModel, "--against", wrong});
    for (const auto& [a, b] : looked_at(std::vector{std::pair(kModel, wrong), std::pair(wrong, kModel)}, 2)) {
        const Outcome found = run({"compare", a, b, "--markdown"});
        INFO(found.out << found.err);
        CHECK(found.status == 1);
        CHECK(contains(found.out, "Here: " + kModel));
        for (const char* sentence : {"First difference: blocks.0.attn.attn_scores",
                                     "no-scale: The scores are not divided by √d_head. With it, everything agrees."}) {
            CHECK(contains(found.out, sentence));
            CHECK(contains(bisected.out, sentence));
        }
    }
}

TEST_CASE("compare: three runs, a session among them, on one input; edits and settings are the cause") {
    const TemporaryFolder folder;
    const std::string session = folder.file("edited.dscope"), page = folder.file("page.html");
    std::ofstream(session)
        << R"({"format": "decoderscope-session", "version": 1, "model": {"bundled": ")" << kModel
        << R"("}, "edits": [{"edit": "scale_head", "attention": "blocks.1.attn", "head": 0, "factor": 0}]})";
    const Outcome found =
        run({"compare", kModel, session, traced(folder, "t.safetensors"), "--html", page, "--markdown"});
    INFO(found.out << found.err);
    CHECK(found.status == 1);
    CHECK(contains(found.err, session));
    CHECK(contains(found.err, "first blocks.1.attn.z"));
    CHECK(contains(found.out, "1 edit in " + in_markdown(session)));
    CHECK(contains(found.out, "steps agree."));
    const std::string html = read_text(page);
    CHECK(count(html, "<section>") == 2);
    CHECK(count(html, "<svg") == 1);  // the first difference is the largest, too
    CHECK_FALSE(contains(html, "src="));
    CHECK(count(html, "href=\"#") == count(html, "href="));
}

TEST_CASE("compare: other weights are named as the cause, the furthest first") {
    const std::string original = kStored + "twin", quantised = kStored + "models/llama/model.gguf";
    const Outcome found =
        run({"compare", original, quantised, "--inputs", kStored + "models/llama/inputs.safetensors", "--markdown"});
    INFO(found.out << found.err);
    CHECK(found.status == 1);
    CHECK(contains(found.out, "Weights: "));
    CHECK(contains(found.out, "Furthest: layers."));
}

TEST_CASE("compare: what is in one recording alone is not compared, and is listed") {
    const TemporaryFolder folder;
    const std::string whole = traced(folder, "whole.safetensors"), part = folder.file("part.safetensors");
    NamedTensors tensors = tensors_of(whole);
    std::erase_if(tensors, [](const auto& named) { return named.first == "blocks.0.attn.q"; });
    write_safetensors(part, tensors);
    const Outcome found = run({"compare", whole, part, "--markdown"});
    INFO(found.out);
    CHECK(found.status == 3);
    CHECK(contains(found.err, "1 is not in both"));
    CHECK(contains(found.out, "blocks.0.attn.q: only in " + in_markdown(whole)));
}

TEST_CASE("compare: a file that is cut is named, and nothing is written") {
    const TemporaryFolder folder;
    const std::string whole = traced(folder, "whole.safetensors"), cut = folder.file("cut.safetensors"),
                      page = folder.file("page.html");
    const std::string bytes = decoderscope::testing::read_bytes(whole);
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, bytes.size() / 2);
    for (const auto& [a, b] :
         {std::pair(kModel, cut), std::pair(cut, whole), std::pair(whole, folder.file("none.npz"))}) {
        const Outcome refused = run({"compare", a, b, "--html", page});
        INFO(refused.err);
        CHECK(refused.status == 2);
        CHECK(is_one_line(refused.err));
        CHECK((contains(refused.err, "cut.safetensors") || contains(refused.err, "none.npz")));
        CHECK_FALSE(std::filesystem::exists(page));
    }
    const Outcome nowhere = run({"compare", kModel, kModel, "--html", folder.file("no/such/folder/page.html")});
    CHECK(nowhere.status == 2);
    CHECK(is_one_line(nowhere.err));
}

TEST_CASE("compare: of two recordings, the one without its parameters is computed by the model in the other one") {
    const std::string gpt = kTraces + "gpt/", right = gpt + "gradients.safetensors",
                      wrong = gpt + "no-scale.safetensors";
    for (const auto& [a, b] : looked_at(std::vector{std::pair(right, wrong), std::pair(wrong, right)}, 2)) {
        const Outcome found = run({"compare", a, b, "--markdown"});
        INFO(found.out << found.err);
        CHECK(found.status == 1);
        CHECK(contains(found.out, "no-scale: The scores are not divided by √d_head. With it, everything agrees."));
        CHECK_FALSE(contains(found.out, "gelu-tanh"));
        CHECK(contains(found.out, "only in " + right));
    }
}

TEST_CASE("compare: of two recordings, mistakes are found on the model in one, whose eps its numbers tell") {
    const std::string llama = kTraces + "llama/", right = llama + "gradients.safetensors",
                      wrong = llama + "rope-theta-500000.safetensors";
    for (const auto& [a, b] : looked_at(std::vector{std::pair(right, wrong), std::pair(wrong, right)}, 2)) {
        const Outcome found = run({"compare", a, b, "--markdown"});
        INFO(found.out << found.err);
        CHECK(found.status == 1);
        CHECK(contains(found.out,
                       "rope-theta-500000: RoPE's theta is 500000, as in Llama 3. With it, everything agrees."));
    }
}

// 3e-5 of a tensor's largest is less than the constant for float32, and far more than rounding makes.
TEST_CASE("compare: a recording whose model computes it again says what rounding is in another one") {
    const TemporaryFolder folder;
    const std::string right = kTraces + "gpt/right-apart.safetensors", other = kTraces + "gpt/right-plain.safetensors";
    const std::string wrong = folder.file("wrong.safetensors");
    std::ofstream(wrong, std::ios::binary)
        << scaled(decoderscope::testing::read_bytes(other), "h.1.mlp.c_fc/out", 1.00003F);
    for (const auto& [a, b] : looked_at(std::vector{std::pair(right, wrong), std::pair(wrong, right)}, 2)) {
        const Outcome found = run({"compare", a, b, "--markdown"});
        INFO(found.out << found.err);
        CHECK(contains(found.out, "First difference: blocks.1.mlp.pre, theirs h.1.mlp.c_fc/out"));
        CHECK(contains(found.out, "That is not rounding"));
        CHECK(contains(found.out, "theirs are ours times 1.00003"));
        CHECK_FALSE(contains(run({"compare", a, b, "--markdown", "--tolerance", "1e-4"}).out, "First difference"));
    }
    CHECK_FALSE(contains(run({"compare", right, other, "--markdown"}).out, "First difference"));
}

TEST_CASE("a wrong compare: status 2") {
    CHECK(run({"compare", "--help"}).status == 0);
    CHECK(run({"compare", kModel, "--markdown"}).status == 2);
    CHECK(run({"compare", kModel, kModel}).status == 2);
    CHECK(run({"compare", kModel, kModel, "--markdown", "--tolerance", "-1"}).status == 2);
    const Outcome none = run({"compare", kModel, "no-such-model", "--markdown"});
    CHECK(none.status == 2);
    CHECK(is_one_line(none.err));
    CHECK(contains(none.err, "no-such-model"));
}
