// Formulas as they are typed: whatever stands there so far is computed or refused, and nothing breaks.
#include "app/core/sheet/draft.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/load/bundled_models.h"
#include "engine/load/model.h"
#include "tests/catch.h"
#include "tests/sanitized.h"

using namespace decoderscope::testing;

namespace {

// As PyTorch's users type them; the names are the model's.
constexpr const char* kTyped[] = {
    "softmax(query @ key.mT / sqrt(d_head), dim=-1)",
    "torch.cat((torch.zeros(1, 0, 4, 4), pattern), dim=1).max(-1).values",
    "pattern.transpose(1, 2).reshape(-1, 4).var(0, unbiased=False, keepdim=True)",
    "logits[0, arange(2), tokens[0, :2]] - logits[:, -1, None].softmax(-1)[..., 0]",
    "loss_per_token[targets >= 0].mean() ** 2 // 0.1",
    "einsum(\"bhqk,bhkd->bhqd\", pattern, value).norm(p=inf, dim=(0, 1))",
    "torch.gather(logits, -1, targets[..., None]).clamp(min=0, max=1)",
    "torch.where((pattern > 0.1) & ~(pattern == 1), pattern, -inf).amax((0, 1, 2))",
    "F.layer_norm(resid_post, (d_model,), eps=1e-5)[..., 1:3].round(decimals=2)",
    "y[b, h, q] = Σ_k [k ≤ q] · pattern[b, h, q, k] · log(pattern[b, h, q, k])",
    "far[b, h, q] = argmax_k (k = q − 1 ? pattern[b, h, q, k] : 0) where x = 1 / 0; y[k] = mean_d key[0, 0, k, d]"};

}  // namespace

TEST_CASE("every beginning of a formula is computed or refused while it is typed") {
    Snapshot shown{.scenario = scenario_of(load::load_model("reverse")), .run = nullptr};
    shown.run = shown.unedited = execute(plan_of(shown.scenario));
    std::vector<std::pair<std::string, std::string>> all;  // the part, and what is typed
    for (const char* text : kTyped) all.emplace_back("blocks.0.attn", text);
    std::size_t number = 0;
    for (const core::sheet::ReadyRow& ready : core::sheet::ready_rows())
        if (number++ % 3 == 0) all.emplace_back("blocks.0.attn", ready.row.formula);
    const Json recorded = Json::parse(read_text(std::string(DECODERSCOPE_TESTS_DIR) + "/reference/functions.json"));
    for (const Json& json : recorded.at("cases"))  // whose names are few of the model's
        if (number++ % 40 == 0) all.emplace_back("blocks.0.attn", json[0]);
    std::size_t typed = 0, looked_at = 0, computed = 0;
    for (const auto& [part, text] : all)
        for (std::size_t end = 1; end <= text.size(); ++end) {
            const bool in_character = end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80;
            if (in_character || !is_looked_at(typed++, 7)) continue;
            ++looked_at;
            Derived derived;
            core::sheet::Draft draft{.is_row = true, .step = part + ".pattern", .name = part + ".typed"};
            draft.formula = text.substr(0, end);
            CAPTURE(draft.formula);
            const Value<core::sheet::Outcome> outcome = core::sheet::outcome_of(derived, shown, draft);
            CHECK((outcome->run != nullptr) != !outcome->error.empty());
            if (outcome->at) CHECK(*outcome->at <= end);
            computed += outcome->run != nullptr ? 1 : 0;
            static_cast<void>(core::sheet::completions(shown, draft, draft.formula, 5));
        }
    CHECK(typed > 1000);
    CHECK(computed * 100 > looked_at);
}
