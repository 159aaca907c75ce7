// The models that the project trained do what their model cards say. Nothing here is taken from the scripts that
// trained and measured them: words, decoding and measures are written independently.
#include "engine/base/error.h"
#include "engine/load/assets.h"
#include "engine/load/bundled_models.h"
#include "engine/model/inputs.h"
#include "tests/catch.h"
#include "tests/engine/fixtures.h"
#include "tests/engine/messages.h"
#include "tests/engine/reversed.h"
#include "tests/engine/run_of.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

using namespace decoderscope::testing;

namespace {

using Words = std::vector<std::string>;

// Words of a language, of 1 to 16 letters; training saw random letters.
const Words& words() {
    static const Words list = {"a",
                               "to",
                               "sea",
                               "mask",
                               "token",
                               "neural",
                               "decoder",
                               "attention",
                               "transformer",
                               "embedding",
                               "representation",
                               "interpretability",
                               "banana",
                               "mississippi",
                               "onomatopoeia",
                               "zzz",
                               "abracadabra",
                               "query",
                               "softmax",
                               "residual",
                               "normalization",
                               "spreadsheet",
                               "unquestionably",
                               "characteristics",
                               "jazz",
                               "quick",
                               "brown",
                               "fox",
                               "jumps",
                               "over",
                               "lazy",
                               "dog",
                               "straightforward",
                               "extraordinarily"};
    return list;
}

TokenBatch batch_of(const Tokenizer& tokenizer, const Words& texts, std::string_view length_axis) {
    std::vector<std::vector<Index>> rows;
    for (const std::string& text : texts) rows.push_back(tokenizer.encode(text));
    return padded_batch(rows, length_axis, tokenizer.special().pad.value_or(0));
}

Inputs inputs_of(const Model& model, const Words& sources, const Words& targets) {
    TokenBatch target = batch_of(model.tokenizer, targets, axis::pos);
    Inputs inputs = {.tokens = target.tokens, .attention_mask = target.mask};
    if (sources.empty()) return inputs;
    TokenBatch source = batch_of(model.encoder_tokenizer, sources, axis::src);
    inputs.encoder_tokens = source.tokens;
    inputs.encoder_attention_mask = source.mask;
    return inputs;
}

Index most_probable(const Tensor& probs, Index row, Index pos) {
    Index best = 0;
    for (Index id = 1; id < probs.dim(2); ++id)
        if (probs.at(Cell{row, pos, id}) > probs.at(Cell{row, pos, best})) best = id;
    return best;
}

// An encoder-decoder's greedy output for each source, up to the end token.
Words written(const Model& model, const Words& sources, Index longest) {
    Words texts(sources.size());
    std::vector<bool> ended(sources.size());
    for (Index pos = 0; pos <= longest; ++pos) {
        const auto run = run_of(model, inputs_of(model, sources, texts));
        for (std::size_t row = 0; row < sources.size(); ++row) {
            if (ended[row]) continue;
            const Index id = most_probable(run->value("probs"), static_cast<Index>(row), pos);
            ended[row] = id == model.tokenizer.special().end;
            if (!ended[row]) texts[row] += model.tokenizer.piece(id);
        }
    }
    return texts;
}

// The mean weight of `queries` (row, query, key) in one head of a pattern.
float mean_weight(const Tensor& pattern, Index head, const std::vector<std::array<Index, 3>>& cells) {
    double sum = 0.0;
    for (const auto& [row, query, key] : cells) sum += static_cast<double>(pattern.at(Cell{row, head, query, key}));
    return static_cast<float>(sum / static_cast<double>(cells.size()));
}

}  // namespace

TEST_CASE("every trained model is a folder with all that its card promises") {
    CHECK(bundled_models().size() == trained_models().size() + 6);
    for (std::size_t i = 0; i < trained_models().size(); ++i) {
        const std::string name(trained_models()[i]);
        INFO(name);
        CHECK(bundled_models()[i].name == name);
        const std::string folder = trained_model_folder(name);
        for (const char* file : {"/config.json", "/model.safetensors", "/example.json", "/README.md"})
            CHECK(std::filesystem::file_size(folder + file) > 0);
        CHECK(std::filesystem::exists(folder + "/vocabulary.json") !=
              std::filesystem::exists(folder + "/tokenizer.json"));
        // Not installed.
        CHECK(std::filesystem::file_size(DECODERSCOPE_TESTS_DIR "/../assets/models/" + name + "/train.py") > 0);
        const auto model = load_model(name);
        CHECK(model->tokenizer.size() == model->config().vocab_size);
        CHECK(model->tokenizer.can_encode());
        if (model->config().cross_attention)
            CHECK(model->encoder_tokenizer.size() == model->config().encoder_vocab_size);
        for (const Declared& parameter : declared_parameters(model->config()))
            CHECK((!parameter.required || model->weights.contains(parameter.name)));
        const auto run = run_of(*model, model->example);
        const Ref shown = run->plan().find(model->look_at.step);
        REQUIRE(shown != nullptr);
        CHECK(model->look_at.step.ends_with(".pattern"));
        CHECK(model->look_at.head < model->config().nhead);
        // The folder also opens by its path, under that name.
        CHECK(load_model(folder)->name == folder);
    }
}

TEST_CASE("if a model's files are missing, both searched places are named", "[posix]") {
    check_message(error_of([] { static_cast<void>(trained_model_folder("absent")); }),
                  {"absent", "missing", "share/decoderscope/models/absent", "assets/models/absent"});
}

TEST_CASE("reverse writes words backwards, and attends to the letter that is due") {
    for (const std::string name : {"reverse", "reverse-post-norm"}) {
        INFO(name);
        const auto model = load_model(name);
        const Words answers = written(*model, words(), 17);
        std::size_t right = 0;
        for (std::size_t i = 0; i < words().size(); ++i) right += answers[i] == reversed(words()[i]) ? 1 : 0;
        INFO("right: " << right << " of " << words().size());
        CHECK(right + 1 >= words().size());

        Words targets;
        std::vector<std::array<Index, 3>> due;
        for (std::size_t row = 0; row < words().size(); ++row) {
            targets.push_back(reversed(words()[row]));
            const auto length = static_cast<Index>(words()[row].size());
            for (Index t = 0; t <= length; ++t) due.push_back({static_cast<Index>(row), t, length - t});
        }
        const auto run = run_of(*model, inputs_of(*model, words(), targets));
        CHECK(mean_weight(run->value("blocks.1.cross_attn.pattern"), model->look_at.head, due) >= 0.8F);
        // Padding gets no weight at all, in any head of any layer.
        for (Index layer = 0; layer < model->config().num_layers; ++layer) {
            const Tensor& pattern = run->value("blocks." + std::to_string(layer) + ".cross_attn.pattern");
            for (Index i = 0; i < pattern.size(); ++i) {
                const Cell cell = pattern.cell(i);  // [batch, head, query, key]
                const auto length = static_cast<Index>(words()[static_cast<std::size_t>(cell[0])].size());
                if (cell[3] > length && pattern.at(cell) != 0.0F) FAIL("weight on padding");
            }
        }
    }
}

TEST_CASE("the two that reverse differ in their configuration by the place of the norm alone") {
    const Config pre = load_model("reverse")->config();
    CHECK(pre.norm_first);
    CHECK(load_model("reverse-post-norm")->config() == load_model("reverse")->config({{"norm_first", "false"}}));
}

TEST_CASE("dates come out as ISO 8601 from seven spellings") {
    const auto model = load_model("dates");
    struct Day {
        const char* iso;
        Words spelled;
    };
    const std::vector<Day> days = {
        {"1969-07-20",
         {"20 July 1969", "july 20, 1969", "20 Jul 1969", "Jul 20 1969", "20.7.1969", "7/20/1969", "1969 July 20"}},
        {"2026-11-08",
         {"8 november 2026", "November 8, 2026", "8 nov 2026", "Nov 8 2026", "8.11.2026", "11/8/2026",
          "2026 november 8"}},
        {"1912-02-29",
         {"29 February 1912", "February 29, 1912", "29 Feb 1912", "feb 29 1912", "29.2.1912", "2/29/1912",
          "1912 february 29"}},
        {"2001-12-31",
         {"31 december 2001", "december 31, 2001", "31 dec 2001", "Dec 31 2001", "31.12.2001", "12/31/2001",
          "2001 December 31"}},
    };
    for (const Day& day : days) {
        const Words answers = written(*model, day.spelled, 11);
        for (std::size_t i = 0; i < answers.size(); ++i) {
            INFO(day.spelled[i]);
            CHECK(answers[i] == day.iso);
        }
    }
}

TEST_CASE("induction knows the repeat: a head looks back by one, another one past where the letter stood before") {
    const auto model = load_model("induction");
    // Words without a letter twice: in the repeat every letter can be known.
    const Words once = {"dumbwaiter", "background",      "algorithm",       "blacksmith",     "pathfinder",
                        "importance", "dermatoglyphics", "uncopyrightable", "ambidextrously", "qwertyuiopasdfghjklzxc"};
    Words twice;
    std::vector<std::array<Index, 3>> before, past;
    for (std::size_t i = 0; i < once.size(); ++i) {
        twice.push_back(once[i] + once[i]);
        const auto row = static_cast<Index>(i), length = static_cast<Index>(once[i].size());
        for (Index p = 2; p <= length; ++p) before.push_back({row, p, p - 1});
        for (Index p = length + 1; p < 2 * length; ++p) past.push_back({row, p, p - length + 1});
    }
    const auto run = run_of(*model, inputs_of(*model, {}, twice));
    std::size_t right = 0;
    for (const auto& [row, p, unused] : past) {
        const Index next = most_probable(run->value("probs"), row, p);
        const std::string& text = twice[static_cast<std::size_t>(row)];
        right += model->tokenizer.piece(next) == text.substr(static_cast<std::size_t>(p), 1) ? 1 : 0;  // after <bos>
    }
    CHECK(static_cast<double>(right) >= 0.97 * static_cast<double>(past.size()));

    CHECK(model->look_at.step == "blocks.1.attn.pattern");
    CHECK(mean_weight(run->value("blocks.1.attn.pattern"), model->look_at.head, past) >= 0.85F);
    float previous = 0.0F;
    for (Index head = 0; head < model->config().nhead; ++head)
        previous = std::max(previous, mean_weight(run->value("blocks.0.attn.pattern"), head, before));
    CHECK(previous >= 0.65F);
}

TEST_CASE("experts continues rows of three kinds, and each expert works for one of them") {
    const auto model = load_model("experts");
    // Rows written by hand: the last two digits added; letters in even steps; capitals in steps that grow by one.
    const Words texts = {"1123583 acegikm ABDGKPV", "ABDGKPV 1123583 zyxwvut", "moqsuwy 9987527 CEHLQWD",
                         "4370774 JKMPTYE fczwtqn", "behkn 2022460 XYADHM",    "pqrstuv ILPUAH 9213471"};
    const auto kind_of = [](char c) { return c == ' ' ? -1 : c <= '9' ? 0 : c >= 'a' ? 1 : 2; };
    const auto run = run_of(*model, inputs_of(*model, {}, texts));
    const Tensor& probs = run->value("probs");
    std::size_t asked = 0, right = 0;
    for (std::size_t row = 0; row < texts.size(); ++row)
        for (std::size_t i = 2; i < texts[row].size(); ++i) {
            if (texts[row].substr(i - 2, 3).find(' ') != std::string::npos) continue;
            ++asked;
            const Index next = most_probable(probs, static_cast<Index>(row), static_cast<Index>(i));  // after <bos>
            right += model->tokenizer.piece(next) == texts[row].substr(i, 1) ? 1 : 0;
        }
    INFO(right << " of " << asked);
    CHECK(asked > 70);
    CHECK(static_cast<double>(right) >= 0.95 * static_cast<double>(asked));

    const Index experts = model->config().experts;
    REQUIRE(experts == 6);
    for (const Index layer : {0, 1}) {
        INFO("layer " << layer);
        const Tensor& chosen = run->value("blocks." + std::to_string(layer) + ".mlp.expert");  // [batch, pos, slot]
        std::vector<std::array<double, 3>> counts(static_cast<std::size_t>(experts));
        double all = 0.0;
        for (std::size_t row = 0; row < texts.size(); ++row)
            for (std::size_t i = 0; i < texts[row].size(); ++i)
                for (Index slot = 0; slot < chosen.dim(2); ++slot) {
                    const int kind = kind_of(texts[row][i]);
                    if (kind < 0) continue;
                    const Cell cell = {static_cast<Index>(row), static_cast<Index>(i) + 1, slot};
                    counts[static_cast<std::size_t>(chosen.at(cell))][static_cast<std::size_t>(kind)] += 1.0;
                    all += 1.0;
                }
        // Mutual information of a character's kind and its expert, as a share of the kinds' entropy: 0 by chance, 1 if
        // the expert tells the kind.
        std::array<double, 3> kinds = {};
        double information = 0.0, entropy = 0.0, of_one_kind = 0.0;
        for (const auto& count : counts) {
            for (std::size_t kind = 0; kind < 3; ++kind) kinds[kind] += count[kind] / all;
            of_one_kind += *std::ranges::max_element(count) / all;
        }
        for (const auto& count : counts) {
            const double load = (count[0] + count[1] + count[2]) / all;
            CHECK(load > 0.05);  // every expert works
            for (std::size_t kind = 0; kind < 3; ++kind)
                if (count[kind] > 0.0)
                    information += count[kind] / all * std::log(count[kind] / all / load / kinds[kind]);
        }
        for (const double share : kinds) entropy -= share * std::log(share);
        CHECK(information >= 0.9 * entropy);
        CHECK(of_one_kind >= 0.95);
    }
}

TEST_CASE("verses has learned how English is spelled") {
    const auto model = load_model("verses");
    // A sentence that is not in the book, and the same letters out of order.
    const auto loss = [&](const std::string& text) {
        const std::vector<Index> ids = model->tokenizer.encode(text);
        const auto run = run_of(*model, inputs_of(*model, {}, {text}));
        double sum = 0.0;
        for (std::size_t p = 0; p + 1 < ids.size(); ++p)
            sum -= std::log(static_cast<double>(run->value("probs").at(Cell{0, static_cast<Index>(p), ids[p + 1]})));
        return sum / static_cast<double>(ids.size() - 1);
    };
    CHECK(loss("And the people went down to the river, and there they stayed seven days.") < 2.0);
    CHECK(loss("dnA eht elpoep tnew nwod ot eht revir, dna ereht yeht deyats neves syad.") > 3.0);
    // More tokens than it has positions: an error, not a picture.
    CHECK_THROWS_AS(run_of(*model, inputs_of(*model, {}, {std::string(128, 'a')})), Error);
}

TEST_CASE("words goes on as its card says: the last word looks at who speaks, and is surer than not") {
    const auto model = load_model("words");
    const auto run = run_of(*model, model->example);
    const tokenizer::Tokenizer& words = model->tokenizer;
    const Index moses = words.encode("Moses").back(), lord = words.encode("LORD").back();
    const Index last = model->example.pos() - 1;
    const auto share = [&](const Run& of) {
        const Tensor& logits = of.value("logits");
        double sum = 0.0;
        for (Index token = 0; token < logits.dim(2); ++token)
            sum += std::exp(static_cast<double>(logits.at(Cell{0, last, token})));
        return std::exp(static_cast<double>(logits.at(Cell{0, last, moses}))) / sum;
    };
    CHECK(share(*run) >= 0.6);
    Index speaker = 0;
    while (static_cast<Index>(model->example.tokens.at(Cell{0, speaker})) != lord) ++speaker;
    CHECK(run->value(model->look_at.step).at(Cell{0, model->look_at.head, last, speaker}) >= 0.6F);
}
