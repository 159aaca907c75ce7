// What a lesson says, on the run that is on the screen when it says it: every number has a value, every place shows
// what it is to show, and what the words claim of the run holds.
#include "app/core/lessons/evaluate.h"
#include "app/core/lessons/library.h"
#include "app/core/lessons/page.h"
#include "app/core/lessons/player.h"
#include "app/views/frame/tab.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/core/lessons/learner.h"
#include "tests/sanitized.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::core;
using namespace decoderscope::core::lessons;
using decoderscope::testing::kSanitized;
using decoderscope::testing::looked_at;
using decoderscope::testing::Onlooker;
using decoderscope::testing::perform;
using decoderscope::testing::play;
using decoderscope::testing::settle;

namespace {

// A statement of a lesson: words of it that hold no number, and what must be true of the run when they are shown.
struct Claim {
    const char* words;
    const char* holds;
};

const std::map<std::string, std::vector<Claim>>& claims() {
    static const std::map<std::string, std::vector<Claim>> all = {
        {"text",
         {{"This model's tokens are single characters", "length() == 17 and token(1) == 'I' and token(2) == 'n'"},
          {"the mark of the beginning, so that there is something to read", "token(0) == '<bos>'"},
          {"A row of the picture is a position, a column a token",
           "size(probs, 'pos') == length() and size(probs, 'vocab') == config('vocab_size')"},
          {"the same text, shifted by one", "token(5) != token(4) and argmax(probs[0, 4, :]) == tokens[0, 5]"},
          {"it has learned something", "max(row) > 10 / config('vocab_size')"}}},
        {"tokens",
         {{"its vocabulary has the small letters, the space",
           "config('vocab_size') == 26 + 1 + 3 + 2 and id('ea') > 0 and id('eal') > 0 and id('sea') > 0 and id('z') > "
           "0"},
          {"it is **tied**", "not exists('lm_head.weight') and exists('embed.weight')"},
          {"stands twice in this text", "find(token(2), 0) == 2 and find(token(2), 1) > 2"},
          {"A word that the text never had", "length() == 4"}}},
        {"weight",
         {{"nearly all of the row lies on one letter, and a little on its neighbours",
           "max(row) > 0.9 and row[best - 1] + row[best] + row[best + 1] > 0.99"},
          {"is the third from the end of the source, and that is where this head looks",
           "argmax(row) == source_length() - 3"},
          {"The score is large where the two point the same way",
           "cosine(blocks.1.cross_attn.q[0, 3, 2, :], blocks.1.cross_attn.k[0, 3, best, :]) > "
           "cosine(blocks.1.cross_attn.q[0, 3, 2, :], blocks.1.cross_attn.k[0, 3, second, :])"},
          {"Row 3 writes the fourth letter", "argmax(probs[0, 3, :]) == tokens[0, 4]"},
          {"adding 100 to every score of the row would change no weight",
           "max(abs(softmax(scored + 100) - softmax(scored))) < 0.00001"},
          {"other heads, and they still look where they did",
           "all(each(h, 3, max(abs(blocks.1.cross_attn.pattern[0, h, :, :] - before(blocks.1.cross_attn.pattern[0, h, "
           ":, "
           ":]))) == 0))"},
          {"This is the same model with the scale left out",
           "config('attention_scale') == 1 and with('attention_scale=0', argmax(probs[0, 2, :])) == tokens[0, 3]"},
          {"comes out as", "argmax(probs[0, 2, :]) != tokens[0, 3]"}}},
        {"masks",
         {{"1 in the picture is allowed, 0 is not", "all(each(q, n, all(each(k, n, mask[0, 0, q, k] == (k <= q)))))"},
          {"but they have numbers, and those numbers come from later characters",
           "all(isfinite(scores)) and with('target=In the beginnins', scores[0, 0, 4, n - 1]) != scores[0, 0, 4, n - "
           "1]"},
          {"as long as nothing that it saw is passed on",
           "with('target=In the beginnins', max(abs(logits[0, n - 2, :] - before(logits[0, n - 2, :])))) == 0"},
          {"its leak test names the positions that now know the future", "max(abs(probs - before(probs))) > 0"},
          {"row 3 is 1, 1, 0, 0",
           "mask[1, 0, 3, 0] == 1 and mask[1, 0, 3, 1] == 1 and mask[1, 0, 3, 2] == 0 and mask[1, 0, 3, 3] == 0"}}},
        {"fill",
         {{"Here the fill is", "masked[0, 0, 4, 9] == -inf"},
          {"give the same weights, to the last bit",
           "with('mask_value=-10000', max(abs(pattern - before(pattern)))) == 0"},
          {"Here position 0 has lost the one key that it had",
           "sum(blocks.0.attn.mask[0, 0, 0, :]) == 0 and sum(blocks.0.attn.mask[0, 0, 1, :]) > 0"},
          {"Every score of row 0 is now", "all(masked[0, 0, 0, :] == masked[0, 0, 0, 0])"},
          {"the future included, and no error is raised", "min(pattern[0, 0, 0, :]) > 0 and all(isfinite(probs))"},
          {"in all its cells. The other rows are as they were",
           "all(isnan(pattern[0, 0, 0, :])) and max(abs(pattern[0, 0, 1, :] - "
           "with('[{\"edit\": \"mask\", \"attention\": \"blocks.0.attn\", \"batch\": 0, \"head\": \"*\", \"query\": 0, "
           "\"key\": 0, \"keep\": true}]', pattern[0, 0, 1, :]))) == 0"},
          {"predictions are numbers again. Programs", "all(isfinite(probs))"}}},
        {"positions",
         {{"each position sees all of", "min(blocks.0.attn.pattern) > 0 and not exists('pos_embed')"},
          {"pairs of columns hold the sine and the cosine of the position",
           "abs(pos_embed[3, 0] - 0.14112) < 0.0001 and abs(pos_embed[3, 1] + 0.989992) < 0.0001"},
          {"cos(a − b). So these codes hold distances",
           "abs(dot(pos_embed[1, :], pos_embed[4, :]) - dot(pos_embed[6, :], pos_embed[9, :])) < 0.0001"},
          {"adds nothing. It takes the columns of q and of k in pairs", "not exists('pos_embed')"},
          {"all along the diagonal 3 below the main one",
           "max(abs(each(i, 7, scores[0, 0, i + 4, i + 1] - scores[0, 0, 7, 4]))) < 0.0001"},
          {"wherever they stand. (In block 1 no longer",
           "abs(scores[0, 0, 4, 2] - scores[0, 0, 6, 4]) < 0.00001 and abs(blocks.1.attn.attn_scores[0, 0, 4, 2] - "
           "blocks.1.attn.attn_scores[0, 0, 6, 4]) > 0.001"},
          {"It takes something off each score, in proportion to the distance",
           "abs((scores[0, 0, 8, 8] - scores[0, 0, 8, 5]) - 3 * (scores[0, 0, 8, 8] - scores[0, 0, 8, 7])) < 0.01"}}},
        {"values",
         {{"is the mean of the values, weighted by the row of weights",
           "abs(sum(each(k, 3, blocks.0.attn.pattern[0, 0, 2, k] * blocks.0.attn.v[0, 0, k, 3])) - blocks.0.attn.z[0, "
           "0, "
           "2, 3]) < 0.00001"},
          {"z lies between the smallest and the largest of the values",
           "blocks.0.attn.z[0, 0, 2, 3] > min(each(k, 3, blocks.0.attn.v[0, 0, k, 3])) and blocks.0.attn.z[0, 0, 2, 3] "
           "< "
           "max(each(k, 3, blocks.0.attn.v[0, 0, k, 3]))"},
          {"looks for what followed last time. At the first",
           "argmax(pattern[0, 3, g, :]) == 0 and pattern[0, 3, g, 0] > "
           "0.8"},
          {"and *takes* next to nothing", "norm(z[0, 3, g, :]) < 0.3 * norm(v[0, 3, g, :])"},
          {"Queries and keys decide *where* a head looks", "size(v, 'pos') == n"},
          {"and not one value has changed", "max(abs(v - before(v))) == 0"},
          {"its **result**, is added to the stream",
           "abs(sum(each(h, config('nhead'), blocks.1.attn.result[0, h, 3, 0])) - blocks.1.attn_out[0, 3, 0]) < 0.5"},
          {"was carried to the end, and said",
           "argmax(probs[0, length() - 1, :]) == tokens[0, argmax(pattern[0, 3, "
           "length() - 1, :])]"}}},
        {"heads",
         {{"The split costs nothing", "size(blocks.0.attn.q, 'd_head') * config('nhead') == config('d_model')"},
          {"training gave the job to one of them",
           "count(each(h, 4, mean(diagonal(pattern[0, h, :, :], -1)) > 0.5)) == 1"},
          {"attn_out is the sum of what the heads write",
           "abs(sum(each(h, 4, blocks.0.attn.result[0, h, n - 1, 5])) + layers.0.self_attn.o_proj.bias[5] - "
           "blocks.0.attn_out[0, n - 1, 5]) < 0.0001"},
          {"No first choice changed. The probabilities did",
           "changed == 0 and max(abs(probs - before(probs))) > 0.001"},
          {"first choices change without it. A head that looks back by one",
           "norm(blocks.0.attn.z[0, argmax(each(h, 4, before(mean(diagonal(pattern[0, h, :, :], -1))))), :, :]) == 0"},
          {"On this text, head 2 of block 0 changed no first choice",
           "before(with('[{\"edit\": \"scale_head\", \"attention\": \"blocks.0.attn\", \"head\": 2, \"factor\": 0}]', "
           "changed)) == 0"}}},
        {"mlp",
         {{"What it reads is on the stage", "size(blocks.0.ln2.normalized, 'pos') == n"},
          {"the lowest of its row", "argmin(blocks.0.mlp.pre[0, 4, :]) >= 0"},
          {"are negative and nearly switched off", "abs(post[0, 4, argmin(blocks.0.mlp.pre[0, 4, :])]) < 0.17"},
          {"First letters of words",
           "count(each(p, 13, post[0, p, neuron] > 1)) == 2 and token(3) == token(7) and post[0, "
           "4, neuron] > 1 and post[0, 8, neuron] > 1"},
          {"One neuron with a meaning",
           "token(17) == token(3) and token(21) == token(3) and post[0, 18, neuron] > 1 and "
           "post[0, 22, neuron] > 1"},
          {"It is the same sum as in attention",
           "abs(sum(each(j, config('dim_feedforward'), post[0, 4, j] * down[2, j])) + layers.0.down_proj.bias[2] - "
           "blocks.0.mlp_out[0, 4, 2]) < 0.0001"},
          {"This decoder has the sizes of the first Transformer",
           "config('d_model') == 512 and config('nhead') == 8 and config('dim_feedforward') == 2048"},
          {"Its blocks have an attention to a source, too", "exists('blocks.0.cross_attn.pattern')"}}},
        {"stream",
         {{"It begins as the character's embedding plus the position's",
           "max(abs(blocks.0.resid_pre[0, 3, :] - embed[0, 3, :] - pos_embed[3, :])) < 0.00001"},
          {"has just these two terms",
           "abs(blocks.0.resid_pre[0, n - 1, 0] + blocks.0.attn_out[0, n - 1, 0] - blocks.0.resid_mid[0, n - 1, 0]) < "
           "0.000001"},
          {"A Pre-Norm model never norms its stream until the very end",
           "config('norm_first') and config('final_norm')"},
          {"each block has moved that a little", "argmax(logit_lens.embed.probs[0, n - 1, :]) != last"},
          {"Nothing before block 3 moved",
           "max(abs(blocks.2.resid_mid - before(blocks.2.resid_mid))) == 0 and last != before(last)"}}},
        {"norm",
         {{"This decoder is Post-Norm. Its gains are 1 and its shifts 0",
           "not config('norm_first') and all(layers.0.norm1.weight == 1) and all(layers.4.norm2.bias == 0)"},
          {"a norm throws away how long the vector was",
           "max(abs(each(q, p + 1, norm(blocks.0.ln1.normalized[0, q, :]) - sqrt(config('d_model'))))) < 0.05"},
          {"would read vectors that grow with depth",
           "with(shift, norm(blocks.4.resid_post[0, p, :]) > norm(blocks.2.resid_post[0, p, :]) and "
           "norm(blocks.2.resid_post[0, p, :]) > norm(blocks.0.resid_post[0, p, :]))"},
          {"`reverse` was trained with Pre-Norm",
           "config('norm_first') and count(each(q, size(probs, 'pos') - 1, argmax(probs[0, q, :]) == tokens[0, q + "
           "1])) "
           "== size(probs, 'pos') - 1"},
          {"Five blocks are too few to see what depth does", "config('num_layers') == 36 and not config('norm_first')"},
          {"In Post-Norm there is a norm on every way",
           "with(shift, norm(grad.blocks.0.resid_pre) > norm(grad.blocks.12.resid_pre) and "
           "norm(grad.blocks.12.resid_pre) "
           "> norm(grad.blocks.24.resid_pre) and norm(grad.blocks.24.resid_pre) > norm(grad.blocks.35.resid_pre)) and "
           "norm(grad.blocks.0.resid_pre) < norm(grad.blocks.35.resid_pre)"},
          {"the longer the stream, the less a late block can change",
           "with(shift, norm(blocks.35.resid_pre[0, p, :]) > norm(blocks.0.resid_pre[0, p, :]))"},
          {"times Pre-Norm's. That is what Xiong",
           "norm(grad.layers.35.down_proj.weight) > 2 * with(shift, norm(grad.layers.35.down_proj.weight))"}}},
        {"source",
         {{"Its self-attention looks at what it has written; its **cross-attention** looks at the source",
           "size(pattern, 'key') == source_length() and size(blocks.1.attn.pattern, 'key') == length()"},
          {"could be January or June, and April has an",
           "source_token(argmax(pattern[0, 1, 6, :])) == 'l' and argmax(pattern[0, 1, 6, :]) == 6"},
          {"are computed once for a source",
           "with('target=2001-01-01', max(abs(blocks.0.cross_attn.v - before(blocks.0.cross_attn.v)))) == 0"},
          {"The rest of the predictions still follow the old target",
           "argmax(probs[0, 0, :]) == id('2') and argmax(probs[0, 4, :]) == tokens[0, 5]"},
          {"the shorter one is filled up with padding, in the source and in the target",
           "sum(attention_mask[0, :]) < size(attention_mask, 'pos') and source_length() < size(encoder_tokens, 'src')"},
          {"in every row alike", "all(each(q, size(mask, 'query'), sum(mask[0, 0, q, :]) == sum(mask[0, 0, 3, :])))"}}},
        {"loss",
         {{"If p is 1, the loss is 0", "abs(loss_per_token[0, 7] - losses[7]) < 0.0001 and log(1) == 0"},
          {"At the next position, *e* after *b*", "token(8) == 'b' and token(9) == 'e' and losses[8] < losses[7]"},
          {"a number to compare every loss with", "mean(losses) < log(config('vocab_size'))"},
          {"a little better than guessing among three", "exp(mean(losses)) < config('vocab_size')"},
          {"being sure and wrong costs more", "max(losses) > log(config('vocab_size'))"},
          {"each position's prediction is compared with the token that follows",
           "abs(loss_per_token[0, 24] - losses[24]) < 0.0001"},
          {"and *ses* would still be the best end of the word",
           "token(25) == 'M' and token(26) == 'o' and token(27) == 's' and token(28) == 'e' and token(29) == 's'"},
          {"In training, each text before a prediction was a true one", "losses[26] < 1"},
          {"was trained on random strings of letters that come twice",
           "argmax(probs[0, 12, :]) == tokens[0, 13] and config('num_layers') == 2"},
          {"No training makes the first part smaller",
           "abs(mean(each(q, 9, losses[q])) - log(26)) < 0.3 and mean(each(q, 8, losses[q + 10])) < 0.1"}}},
        {"one-token",
         {{"This model has two layers of attention, no MLP",
           "config('num_layers') == 2 and not exists('blocks.0.mlp_out')"},
          {"close to one in 26", "max(probs[0, find('g', 0), :]) < 3 / 26 and max(probs[0, find('g', 1), :]) > 0.9"},
          {"one behind the first *g*. Such a head", "argmax(pattern[0, 3, find('g', 1), :]) == find('g', 0) + 1"},
          {"copies \"what stood before me\" into each position",
           "mean(diagonal(blocks.0.attn.pattern[0, 0, :, :], -1)) > 0.5"},
          {"The two heads do the same work: switching off one showed nothing",
           "before(with('[{\"edit\": \"scale_head\", \"attention\": \"blocks.1.attn\", \"head\": 0, \"factor\": 0}]', "
           "probs[0, find('t', 1), 'h'])) > 0.9 and before(with('[{\"edit\": \"scale_head\", \"attention\": "
           "\"blocks.1.attn\", \"head\": 3, \"factor\": 0}]', probs[0, find('t', 1), 'h'])) > 0.9"},
          {"at large T all become alike",
           "max(softmax(logits[0, n - 1, :] / 10)) < max(softmax(logits[0, n - 1, :] / 2))"},
          {"So their keys and values can be kept",
           "with('target=And the LORD saith', max(abs(blocks.3.attn.v[0, 0, 3, :] - before(blocks.3.attn.v[0, 0, 3, "
           ":])))) "
           "== 0"}}},
        {"choosing",
         {{"always the likeliest", "max(P) == top[0] and top[0] > top[1]"},
          {"in the middle of a word one letter is right", "with('target=In the beginnin', max(P)) > 0.9"},
          {"the number fits itself to how sure the model is", "with('target=And the sons o', kept) < kept"},
          {"There a draw decides much", "kept >= 9 and max(P) < 0.5"},
          {"its vocabulary has a token that stood behind each text in training", "id('<eos>') >= 0"},
          {"it only says that an end is likely", "probs[0, last, id('<eos>')] > 0.1"}}},
        {"modern",
         {{"norms without a mean, a gate in its MLP, fewer key heads than query heads",
           "config('norm') == 'rmsnorm' and config('gated_mlp') and size(blocks.0.attn.k, 'head') < "
           "size(blocks.0.attn.q, "
           "'head') and config('positional_encoding') == 'rope' and not config('bias')"},
          {"Its norms are **RMSNorms**", "abs(mean(blocks.0.ln1.normalized[0, 5, :] ^ 2)) > 0"},
          {"A neuron now asks two questions of the stream",
           "abs(blocks.0.mlp.pre[0, 5, k] * blocks.0.mlp.gate[0, 5, k] / (1 + exp(-blocks.0.mlp.gate[0, 5, k])) - "
           "post[0, "
           "5, k]) < 0.0001"},
          {"Each query head still has a pattern of its own",
           "max(abs(blocks.0.attn.pattern[0, 2, :, :] - blocks.0.attn.pattern[0, 3, :, :])) > 0.01"},
          {"they give nearly all weight to",
           "blocks.1.attn.pattern[0, 0, 5, 0] > 0.8 and blocks.1.attn.pattern[0, 3, 5, 0] > 0.8 and "
           "norm(blocks.1.attn.v[0, 3, 0, :]) < 0.3 * norm(blocks.1.attn.v[0, 3, 5, :])"},
          {"more than for a model that knows nothing of 26 letters",
           "with('[{\"edit\": \"mask\", \"attention\": \"blocks.1.attn\", \"batch\": 0, \"head\": \"*\", \"query\": "
           "\"*\", "
           "\"key\": 0, \"keep\": false}, {\"edit\": \"mask\", \"attention\": \"blocks.1.attn\", \"batch\": 0, "
           "\"head\": "
           "\"*\", \"query\": 0, \"key\": 0, \"keep\": true}]', mean(each(p, 9, -log(probs[0, p, tokens[0, p + 1]])))) "
           "> "
           "log(26)"},
          {"Nothing comes twice, so there is nothing to carry",
           "min(each(q, length() - 1, blocks.1.attn.pattern[0, 3, q + 1, 0])) >= 0.9"}}}};
    return all;
}

// The words of a text, its emphasis as a lesson's file writes it, and nothing where a number stands.
std::string words_of(const Shown& text) {
    static const std::map<Span::Style, std::string> marks = {
        {Span::Style::emphasis, "*"}, {Span::Style::strong, "**"}, {Span::Style::code, "`"}};
    std::string words;
    for (const ShownSpan& span : text) {
        const auto mark = marks.find(span.style);
        words += mark == marks.end() ? span.text : mark->second + span.text + mark->second;
    }
    return words;
}

// Fails if a number of a text has no value.
void need_numbers(const Shown& text) {
    for (const ShownSpan& span : text) {
        INFO(plain_text(text));
        CHECK_FALSE((span.is_number && span.text == "…"));
    }
}

void need_numbers(const ShownTable& table) {
    need_numbers(table.caption);
    for (const Shown& column : table.columns) need_numbers(column);
    for (const auto& row : table.rows)
        for (const std::string& cell : row) CHECK(cell != "…");
}

// Reads what is shown, as it comes to be shown.
class Watcher {
public:
    Watcher(Session& session, Player& player) : session_(session), player_(player) {}

    [[nodiscard]] Onlooker onlooker() {
        return {[this] { read_on(); }, [this](const lessons::Question& question) { read_solved(question); }};
    }
    [[nodiscard]] const std::set<std::string>& held() const { return held_; }

private:
    void read_on() {
        if (page_ != player_.page()) read_ = 0;
        page_ = player_.page();
        Runs runs(session_.shown().scenario, session_.shown().run, player_.opened());
        for (const std::size_t end = player_.shown_blocks(); read_ < end; ++read_) {
            const Block& block = player_.shown_page().blocks[read_];
            const ShownBlock shown = shown_block(*player_.lesson(), block, runs);
            read(shown.text, runs);
            for (const Shown& choice : shown.choices) read(choice, runs);
            for (const Shown& hint : shown.hints) read(hint, runs);
            need_numbers(shown.table);
            CHECK((!std::holds_alternative<Table>(block) || !shown.table.rows.empty()));
        }
    }
    // What is said now stays, whatever is opened next.
    void read_solved(const lessons::Question& question) {
        Runs runs(session_.shown().scenario, session_.shown().run, player_.opened());
        const Said* said = player_.said(question);
        REQUIRE(said != nullptr);
        INFO(question.id);
        read(said->ask, runs);
        read(said->learned, runs);
    }
    void read(const Shown& text, Runs& runs) {
        need_numbers(text);
        const auto found = claims().find(player_.lesson()->name);
        if (found == claims().end()) return;
        const std::string words = words_of(text);
        for (const Claim& claim : found->second) {
            if (words.find(claim.words) == std::string::npos) continue;
            INFO(player_.lesson()->name << ": " << claim.words);
            const Scope scope{runs, nullptr, &player_.lesson()->lets};
            CHECK(number_of(evaluate(*parse_expression(claim.holds), scope)) == 1.0);
            held_.insert(claim.words);
        }
    }

    Session& session_;
    Player& player_;
    std::size_t page_ = 0, read_ = 0;
    std::set<std::string> held_;
};

std::vector<LessonCard> course() {
    std::vector<LessonCard> cards = lesson_cards();
    std::erase_if(cards, [](const LessonCard& card) { return card.kind != LessonKind::lesson; });
    return cards;
}

constexpr std::array kLanguages = {"", "zh_CN"};

}  // namespace

TEST_CASE("every number has a value on the run that is open when it is shown, and what the words say of it holds") {
    for (const std::string language : kLanguages) {
        if (kSanitized && !language.empty()) continue;
        for (const LessonCard& card : looked_at(course(), 5)) {
            INFO(card.name << " " << language);
            Session session(load::load_model("reverse"));
            Player player(find_lesson(card.name, language), {});
            Watcher watcher(session, player);
            play(session, player, watcher.onlooker());
            if (!language.empty()) continue;  // the words are English
            REQUIRE(claims().contains(card.name));
            for (const Claim& claim : claims().at(card.name)) {
                INFO(claim.words);
                CHECK(watcher.held().contains(claim.words));
            }
        }
    }
}

TEST_CASE("every place of every lesson opens what it says, where it stands") {
    for (const LessonCard& card : looked_at(lesson_cards(), 20)) {
        const std::shared_ptr<const Lesson> lesson = find_lesson(card.name);
        Session session(load::load_model("reverse"));
        Player player(lesson, {});
        for (std::size_t page = 0; page < lesson->pages.size(); ++page) {
            player.turn_to(page);
            settle(session, player);
            while (const lessons::Question* question = player.open_question()) {
                player.skip(*question);
                settle(session, player);
            }
            for (std::size_t i = 0; i < player.shown_blocks(); ++i) {
                const auto* place = std::get_if<lessons::Place>(&player.shown_page().blocks[i]);
                if (place == nullptr) continue;
                INFO(card.name << ": " << plain_text(place->title));
                player.open(i);
                std::string tab;
                for (int frame = 0; frame < 4; ++frame) {
                    session.finish();
                    const Player::Step step = player.advance(session);
                    if (!step.tab.empty()) tab = step.tab;
                    perform(session, step.commands);
                }
                CHECK(tab == place->tab);
                CHECK((tab.empty() || views::find_tab(tab) != nullptr));
                if (!place->model.empty())
                    CHECK(session.shown().scenario.about().name == player.opened()->about().name);
                if (place->step.empty()) continue;
                CHECK(session.step().name == place->step);
                if (place->cell.empty()) continue;
                Runs runs(session.shown().scenario, session.shown().run, player.opened());
                const lessons::Spot spot = spot_of({place->step, place->cell}, {runs, nullptr, &player.lesson()->lets});
                CHECK(session.cursor().cell == spot.cell);
            }
        }
    }
}

TEST_CASE("five fresh Post-Norm blocks have gradients of about the same length, as the lesson on norms says") {
    core::Scenario scenario = scenario_of(load::make_bundled_model("causal-lm-as-meant"));
    scenario.gradient_target = "loss";
    Runs runs(std::move(scenario));
    std::vector<double> lengths;
    for (int block = 0; block < 5; ++block)
        lengths.push_back(number_of(
            evaluate(*parse_expression("norm(grad.blocks." + std::to_string(block) + ".resid_pre)"), {runs})));
    const auto [least, most] = std::ranges::minmax(lengths);
    CHECK(most < 1.2 * least);
}
