// Formulas that can't be read or computed: one sentence, its place in the text, both shapes or the nearest name; and
// hostile ones, which cost no more than docs/limits.md says.
#include "engine/base/limits.h"
#include "engine/formulas/book.h"
#include "engine/formulas/derive.h"
#include "engine/formulas/evaluate.h"
#include "engine/formulas/latex.h"
#include "engine/formulas/print.h"
#include "engine/formulas/whole_tensors.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"
#include "tests/sanitized.h"

#include <cmath>
#include <limits>

using namespace decoderscope::testing;
using namespace decoderscope::formulas;

namespace {

Known small_known() {
    const Dim batch{"batch", 2}, head{"head", 4}, pos{"pos", 6}, d_head{"d_head", 8};
    Known known{.constants = {{"eps", 1e-5}}};
    for (const char* name : {"q", "k", "v"}) known.operands[name] = {batch, head, pos, d_head};
    known.operands["x"] = {batch, pos, {"d_model", 32}};
    known.operands["W"] = {{"out", 5}, {"in", 32}};
    known.operands["wide"] = {{"rows", 1 << 20}, {"columns", 1 << 20}};
    return known;
}

Formula meant(const std::string& text) {
    const Known known = small_known();
    return elaborate(read(text, known, the_book().functions), known, the_book().functions);
}

// The place of the mistake.
std::size_t place_of(const std::string& text) {
    try {
        static_cast<void>(meant(text));
    } catch (const FormulaError& error) {
        return error.at();
    }
    return kNowhere;
}

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

// Indices or numbers: "n1, n2, …".
std::string names(int count, const std::string& between = ", ", const std::string& name = "n") {
    std::string all;
    for (int i = 0; i < count; ++i) all += (i == 0 ? "" : between) + name + std::to_string(i);
    return all;
}

}  // namespace

TEST_CASE("what PyTorch's spelling doesn't allow is said at its place, with both shapes or the nearest name") {
    struct Mistake {
        std::string text, at;  // where the sentence points: at the first of these words
        std::vector<std::string> says;
    };
    const std::vector<Mistake> mistakes{
        {"q @ k", "@", {"d_head (8) of q[batch 2, head 4, pos 6, d_head 8]", "pos (6) of k[batch 2, head 4, pos 6"}},
        {"x * q.mT",
         "*",
         {"d_model (32) of x[batch 2, pos 6, d_model 32]", "pos (6) of q.mT[batch 2, head 4, d_head 8"}},
        {"x + (q + W)", "+ W", {"d_head (8) of q[", "in (32) of W[out 5, in 32]"}},
        {"x @ W", "@", {"d_model (32) of x[", "out (5) of W[out 5, in 32]"}},
        {"y = quary @ k.mT", "quary", {"no operand “quary”"}},
        {"q[]", "[", {"a whole number is needed here"}},
        {"x / esp", "esp", {"no operand “esp”", "is “eps” meant?"}},
        {"x.sofmax(-1)", "sofmax", {"no function “sofmax”", "“softmax”"}},
        {"torch.rsqr(x)", "rsqr", {"no function “rsqr”", "“rsqrt”"}},
        {"x.mean(3)", "mean", {"no axis 3 of x[batch 2, pos 6, d_model 32]"}},
        {"x.softmax()", "softmax", {"softmax needs “dim”"}},
        {"x.softmax(dmi=-1)", "-1", {"softmax has no “dmi”", "“dim”"}},
        {"torch.exp(x, x)", "exp", {"exp takes 1 operand"}},
        {"x.softmax((0, 1))", "softmax", {"softmax needs one axis"}},
        {"F.layer_norm(x, (6, 32))", "(6", {"in parentheses, as in (32,)"}},
        {"F.layer_norm(x, (6,))",
         "(6",
         {"layer_norm needs the size of the last axis of x[batch 2, pos 6, d_model 32]"}},
        {"x.mean(eps)", "eps", {"a whole number"}},
        {"x.sort(-1) + 1", "x", {"x.sort(-1) are values and their places", "write .values or .indices"}},
        {"np.partition(x, 2)[..., 3]", "np", {"np.partition(x, 2) has only the number at that place in order"}},
        {"np.partition(x, 2, axis=0)", "partition", {"partition is read along the last axis only"}},
        {"torch.max(x, -1) + 1", "torch", {"are values and their places", "write .values or .indices"}},
        {"F.one_hot(x.argmax(-1))", "one_hot", {"needs “num_classes” here", "which is no axis"}},
        {"np.max(x, where=x > 0)", "max", {"max needs “initial”"}},
        {"np.max(x, where=1, initial=0)", "1,", {"“where” needs a comparison or a mask"}},
        {"[a for a, b in x]", "for a", {"x has not 2 parts, one for each name"}},
        {"[a for a in range(3) if x.sum() > 0]", "x.sum", {"“if” needs a condition of known numbers here"}},
        {"x + \"one\"", "\"one", {"a tensor or a number is needed here"}},
        {"einsum(\"bhqd,bhkd->bhqk\", x, q)", "x,", {"“bhqd”", "x[batch 2, pos 6, d_model 32]"}},
        {"einsum(\"bpd,od->bpo\", x, q[0, 0])", "q[0", {"d_model (32)", "d_head (8)"}},
        {"einsum(\"bpd->bz\", x)", "einsum", {"“bz”"}},
        {"x[0, 0, 0, 0]", "[", {"x[batch 2, pos 6, d_model 32] has fewer axes"}},
        {"x[:, 6]", "6", {"pos of x[batch 2, pos 6, d_model 32] has no place 6"}},
        {"x = x + 1", "x", {"“x” is an operand already"}},
        {"x.mean(-1", "", {"“)” is missing at the end"}},
        {"x.mean(-1 0)", "0)", {"“,” is missing before “0”"}},
        {"x @", "", {"a number or a name is missing at the end"}},
        {"torch.softmax(", "", {"a number or a name is missing at the end"}},
        {"x @ @ W", "@ W", {"a number or a name is missing before “@”"}},
        {"x y", "y", {"“y” doesn't continue the formula"}},
        {"0 < x < 1", "< 1", {"a comparison has two sides: write (a < x) & (x < b)"}},
        {"sum(q)", "sum", {"along the first axis: write x.sum(0), or x.sum() for all numbers"}},
        {"x > 0 & x < 1", "&", {"“&” needs comparisons, each in parentheses"}},
        {"blocks.0.attn.hook_q.mean(0)", "blocks", {"no operand “blocks.0.attn.hook_q”", "is “q” meant?"}},
        {"W_U", "W_U", {"is “lm_head.weight” meant?"}},
        {"sum(sum(x for a in range(20)) for b in range(20))", "for a", {"a list has at most 160 parts"}},
        {"model.eps", "model", {"no operand “model.eps”", "is “eps” meant?"}},
        {"V + 1", "V", {"is “v” meant?"}},
        {"q_bhpd", "q_bhpd", {"is “q[b, h, p, d]” meant?"}},
        {"y[b, p] = x[b, p, :] · 2", ":", {"“:” names no index here", "norm_d"}},
        {"y[b, p] = softmax(x[b, p, :])", "softmax", {"write its index, as in softmax_k(x[i, k])"}},
        {"y[b, p, d] = softmax_{p, d}(x[b, p, d])", "softmax_", {"softmax needs one axis"}},
        {"y[b, p, d] = log 2 x[b, p, d]", "log", {"put what log takes into parentheses"}},
        {"x(0, 1)", "x", {"“x” is a tensor: its places stand in square brackets, as in x[0]"}},
        {"x + log", "log", {"“log” is a function", "as in log(x)"}},
        {"y[b, p] = Σ_{|p - d| < 2} x[b, p, d]", "|p", {"which index runs is not said"}},
        {"y[b, p, d] = x[b, p, :] * x[b, d, :]", ":", {"“:” names no index here"}},
        {"y[b, p] = δ_{p} x[b, p, 0]", "δ", {"δ takes two places"}},
        {"y[b, p] = ⟨x[b, p, 0], x[b, p, 1]⟩", "⟨", {"along which index is not said"}},
        {"LN(x)", "LN", {"is “layernorm(x)” meant?"}},
        {"print(x.max())", "print", {"a formula is one expression"}},
        {"f\"{x.max()}\"", "f", {"a text is no number"}},
        {"y = x.mean(-1); q", "q", {"is read behind it"}},
        {"y[b, p] = gini_d x[b, p, d]", "gini_d", {"no function of that name along an index"}},
    };
    for (const auto& mistake : mistakes) {
        const auto& [text, at, says] = mistake;
        INFO(text);
        check_message(error_of([&, &text = text] { static_cast<void>(meant(text)); }), says);
        CHECK(place_of(text) == (at.empty() ? text.size() : text.find(at)));
    }
}

TEST_CASE("PyTorch's spelling reads as index notation") {
    const auto shown = [](const std::string& text) { return text_of(read(text, small_known(), the_book().functions)); };
    CHECK(shown("scores = softmax(q @ k.mT / sqrt(d_head), dim=-1)") ==
          "scores[b, h, p, j] = softmax_j((Σ_d q[b, h, p, d] · k[b, h, j, d]) / √d_head)");
    CHECK(shown("x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)") ==
          "y[b, p, d] = x[b, p, d] · (1 / √(mean_j x[b, p, j]² + eps))");
    CHECK(shown("einsum('bhqd,bhkd->bhqk', q, k)") == "y[b, h, p, j] = Σ_d q[b, h, p, d] · k[b, h, j, d]");
    CHECK(shown("D_KL(x ‖ x + 1)") == shown("kl(x, x + 1)"));
    CHECK(shown("KL(x.softmax(-1) || x)") == shown("kl(x.softmax(-1), x)"));
    CHECK(shown("F.gelu(x)") == "y[b, p, d] = gelu(x[b, p, d])");
    CHECK(shown("x.max(axis=-1) * 2") == shown("x.amax(-1) * 2"));
    CHECK(shown("x.mean(-1, keepdim=True)") == "y[b, p, i: 1] = mean_d x[b, p, d]");
    // As people write: with a remark, in steps, with capitals, a function before a name, places that a comparison says.
    CHECK(shown("x.mean(-1)  # of each position") == shown("x.mean(-1)"));
    CHECK(shown("m = x.mean(-1, keepdim=True); (x - m).mean(-1);") == shown("(x - x.mean(-1, keepdim=True)).mean(-1)"));
    CHECK(shown("y = LayerNorm(ReLU(x))") == shown("y = layernorm(relu(x))"));
    CHECK(shown("log softmax(x) * 2") == shown("log(softmax(x)) * 2"));
    CHECK(shown("|x|_2 + 1") == shown("norm(x) + 1"));
    CHECK(shown("x[:, arange(6) % 3 == 0]") == shown("x[:, [0, 3]]"));
    CHECK(shown("q[:, torch.tensor([True, False, False, True])]") == shown("q[:, [0, 3]]"));
    CHECK(shown("y[b, p] = ‖x[b, p, :]‖") == shown("y[b, p] = ‖x[b, p, d]‖_d"));
    CHECK(shown("y[b, p, r] = ‖x[b, p, :] − x[b, r, :]‖²") == shown("y[b, p, r] = ‖x[b, p, d] − x[b, r, d]‖²_d"));
    CHECK(shown("y[b, p] = max(x[b, p, :]) - std(x[b, p, :])") ==
          shown("y[b, p] = max_d x[b, p, d] - std_d x[b, p, d]"));
    CHECK(shown("y[b] = mean_p,d x[b, p, d]") == shown("y[b] = mean_{p, d} x[b, p, d]"));
    CHECK(shown("y[b, p] = Σ_{d: d < p} x[b, p, d]") == shown("y[b, p] = Σ_{d < p} x[b, p, d]"));
    CHECK(shown("y[b, p] = E_d[x[b, p, d]²] / log 2") == shown("y[b, p] = (mean_d x[b, p, d]²) / log(2)"));
    CHECK(shown("y[b, p] = Σ_{d, d < p} x[b, p, d]") == shown("y[b, p] = Σ_{d: d < p} x[b, p, d]"));
    CHECK(shown("y[b, p, r] = x[b, p, :] · x[b, r, :]") == shown("y[b, p, r] = Σ_d x[b, p, d] · x[b, r, d]"));
    CHECK(shown("y[b, p, r] = cos(x[b, p, :], x[b, r, :])") == shown("y[b, p, r] = cosine_d(x[b, p, d], x[b, r, d])"));
    // Index notation is read as such.
    const std::string indexed = "y[b, p] = Σ_d x[b, p, d] · eps";
    CHECK(shown(indexed) == indexed);
    CHECK(shown("y = Σ_{b, p, d} x[b, p, d]") == "y = Σ_{b, p, d} x[b, p, d]");
}

TEST_CASE("a paper's LaTeX reads as the other notations") {
    const Known known = small_known();
    const auto plain = [&](const std::string& text) {
        return from_latex(text, [&](const std::string& name) {
            const auto tensor = known.operands.find(name);
            return tensor == known.operands.end() ? 0 : tensor->second.size();
        });
    };
    const auto shown = [&](const std::string& text) { return text_of(read(text, known, the_book().functions)); };
    for (const auto& [latex, same] :
         {std::pair{R"(\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_{head}}}\right)K)",
                    "softmax(q @ k.mT / sqrt(d_head), -1) @ k"},
          std::pair{R"(\mathrm{Attention}(Q, K) = \mathrm{softmax}(\frac{q k^{T}}{\sqrt{d_{\text{head}}}})\, k)",
                    "softmax(q @ k.mT / sqrt(d_head), -1) @ k"},
          std::pair{R"(y_{bhij} = \sum_{d=1}^{D} q_{bhid} k_{b,h,j,d})",
                    "y[b, h, i, j] = Σ_d q[b, h, i, d] · k[b, h, j, d]"},
          std::pair{R"(y_{bp} = \sqrt{\sum_{d} x_{bpd}^2} + \varepsilon)", "y[b, p] = √(Σ_d x[b, p, d]²) + eps"},
          std::pair{R"(y_{b,p} = \max_{d} \left|x_{bpd}\right| \cdot 2)", "y[b, p] = max_d abs(x[b, p, d]) · 2"},
          std::pair{R"(e^{x} \odot \sigma(x))", "exp(x) * sigmoid(x)"},
          std::pair{R"(\frac{1}{2} x \odot \left(1 + \tanh(x)\right))", "1 / 2 * x * (1 + tanh(x))"},
          std::pair{R"(\frac12 x^10)", "1 / 2 * x ** 10"}, std::pair{R"(\log \sigma(x))", "log(sigmoid(x))"},
          std::pair{R"(y_{bp} = \arg\max_d x_{bpd})", "y[b, p] = argmax_d x[b, p, d]"},
          std::pair{R"(y_{bph} = \sum_{d \le h} x_bpd)", "y[b, p, h] = Σ_{d ≤ h} x[b, p, d]"},
          std::pair{R"(y_{bp} = \mathbb{E}_{d}\left[x_{bpd}^2\right])", "y[b, p] = mean_d x[b, p, d]²"},
          std::pair{R"(y_{bp} = \operatorname*{arg\,max}_d x_{bpd})", "y[b, p] = argmax_d x[b, p, d]"},
          std::pair{R"(y_{bp} = \sum_d \mathbf{1}\{x_{bpd} > 0\})", "y[b, p] = Σ_d 1 · [x[b, p, d] > 0]"},
          std::pair{"y_bhij = Σ_d q_bhid q_bhjd", "y[b, h, i, j] = Σ_d q[b, h, i, d] · q[b, h, j, d]"},
          std::pair{R"(y_{bpd} = \delta_{pd} x_{bpd})", "y[b, p, d] = [p = d] · x[b, p, d]"},
          std::pair{R"(\mathrm{ReLU}(\left\lfloor x \right\rfloor))", "relu(floor(x))"}}) {
        INFO(latex << " is " << plain(latex));
        CHECK(shown(plain(latex)) == shown(same));
    }
    CHECK(plain("softmax(QKᵀ/√d_k)K") == plain(R"(softmax(q k^{\top} / \sqrt{d_k}) k)"));
    // Steps by their names here, too.
    CHECK(plain(R"(\frac{\tanh(blocks.1.attn_out)}{2})").find("(blocks.1.attn_out)") != std::string::npos);
    check_message(error_of([&] { static_cast<void>(plain(R"(x \left(1 + x\right))")); }),
                  {"may be a product of matrices"});
    check_message(error_of([&] { static_cast<void>(plain(R"(x^{-1})")); }), {"may be the inverse of the matrix"});
    check_message(error_of([&] { static_cast<void>(plain(R"(\frac{x}{2)")); }), {"“}” is missing at the end"});
    for (const char* text :
         {"\\", "\\frac", "_", "^", "x_", "x^", "\\sum_", "{", "\\sqrt[", "\\operatorname", "\xe2\\x", "$$"}) {
        INFO(text);
        try {
            static_cast<void>(plain(text));
        } catch (const FormulaError& error) {
            check_message(error.sentence(), {});
        }
    }
    CHECK_THROWS_AS(plain(repeated("\\sqrt{", 30000)), FormulaError);
}

TEST_CASE("hostile formulas end in a sentence, or cost no more than the limits say") {
    const std::size_t most = limits::kFormulaBytes;
    const std::vector<std::string> texts{
        repeated("(", 1'000'000),
        repeated("(", most),
        repeated("[", most),
        repeated("-", most),
        repeated("~", most),
        repeated("not ", most / 4),
        "y[b] = " + repeated("√", most / 4),
        "y = " + repeated("1 ? ", most / 5),
        "y = eps" + repeated("^eps", most / 5),
        "eps" + repeated(" ** eps", most / 8),
        "eps" + repeated(" + eps", most / 8),
        "x" + repeated(" - x", most / 5),
        "x" + repeated(".mT", most / 4),
        "x" + repeated(".unsqueeze(0)", most / 14),
        "x" + repeated(".sum(0,True)", most / 14),
        "x" + repeated(".log_softmax(-1)", most / 18),
        "x" + repeated(".repeat_interleave(99,0)", most / 26),
        repeated("sum(", 30) + "x" + repeated(" for a in range(2))", 30),
        "sum(x for a in range(99999999))",
        repeated("(x) ", most / 4) + repeated("[", 30) + "for a in",
        repeated("F.gelu(", 30) + "x" + repeated(", approximate='tanh')", 30),
        "y[b] = " + repeated("gelu_tanh(", 30) + "x[b, 0, 0]" + repeated(")", 30),
        "y[b, p] = " + repeated("softmax_p(", 30) + "x[b, p, 0]" + repeated(")", 30),
        "wide.mT @ wide",
        "y = Σ_{i: rows, j: columns} wide[i, j]",
        "y = Σ_{i: 9999999999999999999999} i",
        "y[i: 99999999999] = i",
        "torch.arange(99999999999)",
        "y = a where " + repeated("a = a; ", most / 8),
        std::string("x + \0 x", 7),
        "x + \x1b[31m",
        "x + \xff",
        "x + \xc3",
        "y[\xe2\x88] = 1",
        "einsum(\"" + std::string(1, '\xff') + "\", x)",
        "einsum(\"" + repeated("a,", 5000) + "\", x)",
        "x[" + repeated("None,", 3000) + "]",
        "x" + repeated("[None]", 2000),
        "einsum(equation='a')",
        "y[" + names(900) + "] = " + names(900, " + "),
        "y = Σ_{" + names(900) + "} (" + names(900, " + ") + ")",
        "x" + repeated(".log_softmax(-1)", 12),
        "x" + repeated(".softmax(-1)", 300),
        "y[i: 0, j: 9223372036854775807, k: 9223372036854775807] = 1",
        "np.transpose(input=x)",
        "x.permute()",
        "torch.permute(input=x)",
        "x.sum(torch.arange(999999999).sum())",
        "x.permute(" + repeated("0,", 5000) + ")",
        "\"",
        "",
        repeated("a", most),
        "y = " + repeated("1", most - 4),
        "x + " + repeated("long", 200),
    };
    for (const std::string& text : testing::looked_at(texts, 4)) {
        INFO(text.substr(0, 60) << " … " << text.size());
        try {
            const Formula f = meant(text);
            for (const Definition* d : definitions(f)) CHECK(d->body->nodes <= limits::kFormulaNodes);
        } catch (const FormulaError& error) {
            check_message(error.sentence(), {});
            CHECK(std::string(error.what()).size() < 1000);
            CHECK((error.at() == kNowhere || error.at() <= text.size()));
        }
    }
    const auto refuses = [](const std::string& text, const std::vector<std::string>& says) {
        INFO(text.substr(0, 60));
        check_message(error_of([&] { static_cast<void>(meant(text)); }), says);
    };
    refuses(repeated("(", 1'000'000), {"more than " + std::to_string(most) + " bytes"});
    refuses(repeated("(", most), {"more than " + std::to_string(limits::kFormulaDepth) + " levels"});
    refuses("wide.mT @ wide", {"steps", std::to_string(limits::kFormulaSteps)});
    refuses("y = Σ_{i: rows, j: columns} wide[i, j]", {"steps", std::to_string(limits::kFormulaSteps)});
    refuses(repeated("F.gelu(", 30) + "x" + repeated(", approximate='tanh')", 30),
            {"more than " + std::to_string(limits::kFormulaNodes) + " parts"});
    refuses("x" + repeated("[None]", 20), {"at most " + std::to_string(limits::kAxes) + " axes"});
    refuses("y = Σ_{" + names(900) + "} 1", {"more than 40 levels"});
    refuses("y[i: eps] = i", {"no axis “eps”"});
    refuses("y[i: 0, j: 999999999999, k: 999999999999] = i", {"steps", std::to_string(limits::kFormulaSteps)});
    refuses("y[b] = Σ_p x[…, p]", {"“…” is read here"});
    refuses("y = 1 from 0", {"“y” may read itself only whole steps back"});
    refuses("y[p: pos] = y[p] from 0", {"“y” may read itself only whole steps back"});
    refuses("y[p: pos] = a[p − 1] from 0 where a[p: pos] = y[p − 1] from 0", {"may read itself only whole steps back"});
    refuses("y[p: pos] = y[p − 1] from y[0 − 1]", {"a recurrence begins from a number"});
    refuses("y[b] = x[]", {"“x” needs its indices"});
    refuses("x['a':]", {"a whole number is needed here"});
    refuses("x + \xff", {"can't be shown"});
    refuses(std::string("x + \0 x", 7), {"can't be shown"});
}

TEST_CASE("the derivative of a long formula is made at once, or refused") {
    std::string powers, products;
    for (int i = 0; i < 900; ++i) {
        powers += (i == 0 ? "" : " + ") + ("x[b, 0, 0]^" + std::to_string(i + 2));
        if (i < 500) products += (i == 0 ? "" : " · ") + ("exp(x[b, 0, 0] · " + std::to_string(i) + ")");
    }
    const std::string tower = "y[b] = x[b, 0, 0]" + repeated(" ^ x[b, 0, 0]", 30);
    const auto slope = [](const std::string& text) { return derivative(meant(text), "x", small_known()); };
    CHECK(slope("y[b] = " + powers).main.body->nodes > 900);
    CHECK(slope(tower).main.body->nodes > 100);
    check_message(error_of([&] { static_cast<void>(slope("y[b] = " + products)); }), {"the formula is too large"});
    check_message(error_of([&] { static_cast<void>(slope("x" + repeated(".silu()", 12))); }),
                  {"the formula is too large"});
}

TEST_CASE("a recurrence is explained by one step") {
    const std::vector<double> numbers{1.0, 2.0, 4.0};
    const Operands operands{{"x", {{"pos", 3}}, std::span<const double>(numbers)}};
    const Known known = known_of(operands, {});
    for (const char* text : {"y[t] = y[t − 1] + x[t] from 0", "y[t] = y[t + 1] + x[t] from 0",
                             "y[t] = a[t] from 0 where a[t] = y[t − 1] + x[t]",
                             "y[t: pos] = s[t] where s[t: pos] = s[t − 1] + x[t] from 0",
                             "y[t: pos] = sum[t] where sum[t: pos] = sum[t − 1] + x[t] from 0",
                             "y[t: pos] = Σ_i x[i] · s[t] where s[t: pos] = s[t − 1] + x[t] from 0"}) {
        INFO(text);
        const Formula f = elaborate(parse(text), known);
        Evaluator evaluator(f, operands, known);
        for (Index t = 0; t < 3; ++t) {
            const Explanation explanation = explain(evaluator, Cell{t});
            CHECK(explanation.lines.size() <= 2);
            CHECK(explanation.lines.back().value == evaluator.cell(Cell{t}));
        }
    }
}

TEST_CASE("an index that is no number of a cell is outside") {
    const std::vector<double> numbers{1.0, 2.0, 4.0};
    const std::vector<double> places{std::nan(""), 1e300, std::numeric_limits<double>::infinity(), -1.0, 0.5, 3.0};
    const Operands operands{{"x", {{"pos", 3}}, std::span<const double>(numbers)},
                            {"at", {{"place", 6}}, std::span<const double>(places)}};
    const Known known = known_of(operands, {});
    for (const char* text : {"y[p] = x[at[p]]", "y[p: place] = z[9] where z[i] = x[i]"}) {
        INFO(text);
        const Formula f = elaborate(parse(text), known);
        Evaluator evaluator(f, operands, known);
        for (const double value : evaluator.all()) CHECK(std::isnan(value));
        for (Index p = 0; p < 6; ++p) {
            CHECK(std::isnan(evaluator.cell(std::vector{p})));
            CHECK(std::isnan(explain(evaluator, Cell{p}).lines.back().value));
        }
    }
    // Where the formula itself says it, it is refused.
    for (const char* text : {"y = x[∞]", "y = x[1e300]", "y = x[0 / 0]", "y = x[−9]", "y = x[3]", "y = x[0.5]"}) {
        INFO(text);
        CHECK_THROWS_AS(elaborate(parse(text), known), FormulaError);
    }
}

TEST_CASE("what has no cells is computed as nothing, also as a recurrence") {
    const Operands none;
    const Known known;
    for (const char* text :
         {"y[t: 3, i: 0] = y[t − 1, i] + 1 from 0", "y[t: 0] = y[t − 1] + 1 from 0", "y[i: 0] = i"}) {
        INFO(text);
        CHECK(Evaluator(elaborate(parse(text), known), none, known).all().empty());
    }
}
