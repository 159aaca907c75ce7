// How the commands that judge end: 0 right, 1 judged and different, 2 refused or unreadable, 3 not all compared.
#include "engine/base/json.h"
#include "engine/files/safetensors.h"
#include "tests/catch.h"
#include "tests/core/cli/outcome.h"
#include "tests/engine/contains.h"
#include "tests/engine/temporary_folder.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace decoderscope::testing;

namespace {

using Tensors = std::vector<std::pair<std::string, Tensor>>;

// A trace of induction, with another one in the same file's place: what `change` makes of it.
struct Traces {
    TemporaryFolder folder;
    std::string whole = folder.file("whole.safetensors");
    Tensors tensors;

    Traces() {
        REQUIRE(run({"trace", "induction", "--out", whole}).status == 0);
        const SafetensorsFile file(whole);
        for (const std::string& name : file.names_in_order()) tensors.emplace_back(name, file.floats(name));
    }

    [[nodiscard]] std::string with(const std::string& name, const std::function<void(Tensors&)>& change) const {
        Tensors changed = tensors;
        change(changed);
        write_safetensors(folder.file(name), changed);
        return folder.file(name);
    }
    [[nodiscard]] std::string without(const std::string& name, const std::string& beginning) const {
        return with(name, [&](Tensors& all) {
            std::erase_if(all, [&](const auto& one) { return one.first.starts_with(beginning); });
        });
    }
};

Tensor times(const Tensor& tensor, float factor) {
    Tensor made(tensor.axes());
    for (Index i = 0; i < tensor.size(); ++i)
        made.writable()[static_cast<std::size_t>(i)] = factor * tensor.values()[static_cast<std::size_t>(i)];
    return made;
}

void ends(const std::vector<std::string>& command, int status) {
    const Outcome outcome = run(command);
    INFO(command[0] << " " << command[1] << ": " << outcome.out.substr(0, 500) << outcome.err);
    CHECK(outcome.status == status);
    CHECK((status == 0 ? outcome.err.empty() : is_one_line(outcome.err)));
}

}  // namespace

TEST_CASE("each command that judges tells right, different, refused and compared in part apart") {
    const Traces traces;
    const std::string other = traces.with("other.safetensors", [](Tensors& all) {
        for (auto& [name, tensor] : all)
            if (name == "blocks.0.attn.z") tensor = times(tensor, 1.5F);
    });
    const std::string part = traces.without("part.safetensors", "blocks.0.");
    const std::string none = traces.folder.file("none.safetensors");
    const std::vector<std::pair<std::string, int>> against = {{traces.whole, 0}, {other, 1}, {none, 2}, {part, 3}};
    for (const auto& [path, status] : against) {
        ends({"bisect", "induction", "--against", path}, status);
        ends({"diff", "induction", "--against", path}, status);
        ends({"compare", "induction", path, "--markdown"}, status);
        ends({"compare", traces.whole, path, "--markdown"}, status);
    }
    ends({"bisect", "induction", "--against", traces.whole, "--tolerance", "x"}, 2);
    ends({"bisect", "induction", "--against", traces.whole, "--tokens", "1 2 100000"}, 2);

    const auto check = [&](const std::string& path, const std::string& formula, int status) {
        ends({"check", path, "--got", "blocks.0.attn_out", "--formula", formula}, status);
    };
    check(traces.whole, "blocks.0.resid_mid - blocks.0.resid_pre", 0);
    check(traces.whole, "blocks.0.resid_mid", 1);
    check(traces.whole, "blocks.0.resid_mid + (", 2);
    check(none, "blocks.0.resid_mid", 2);

    ends({"lessons", "check", "masks"}, 0);
    ends({"lessons", "check", "no-such-lesson"}, 2);
    ends({"lessons", "check", traces.whole + ".json"}, 2);
    ends({"lessons", "write", "write/softmax"}, 0);
    ends({"lessons", "write", "write/softmax", "--formula", "softmax(x, -1)"}, 0);
    ends({"lessons", "write", "write/softmax", "--formula", "x"}, 1);
    ends({"lessons", "write", "write/softmax", "--formula", "softmax("}, 2);
    ends({"lessons", "write", "write/softmax", "--numbers", none}, 2);

    // Other commands know work that failed, and a wrong command line.
    ends({"trace", "induction", "--inputs", none, "--out", traces.folder.file("t.safetensors")}, 1);
    ends({"trace", "induction"}, 2);
    ends({"lessons", "judge", none}, 1);
    ends({"lessons", "grade", none, "--csv", none}, 2);  // moved to Python
    ends({"lessons", "export", "masks", "--out", none + ".zip"}, 2);
}

TEST_CASE("an output that agrees with nothing is not compared, whatever else agrees, and that is said first") {
    const Traces traces;
    const auto output_is = [&](const std::string& name, float factor) {
        return traces.with(name, [&](Tensors& all) {
            std::erase_if(all, [](const auto& one) { return one.first == "probs"; });
            for (auto& [of, tensor] : all)
                if (of == "logits") {
                    of = "returned";
                    tensor = times(tensor, factor);
                }
        });
    };
    for (const float factor : {1.0F / 0.7F, 0.0F}) {
        const std::string path = output_is("scaled.safetensors", factor);
        const Outcome text = run({"bisect", "induction", "--against", path});
        INFO(text.out << text.err);
        CHECK(text.status == 3);
        CHECK(contains(text.out.substr(0, text.out.find('\n')), "the first that wasn't: returned."));
        CHECK(contains(text.err, "logits"));
        const auto found = nlohmann::json::parse(run({"bisect", "induction", "--against", path, "--json"}).out);
        CHECK(found["first"].is_null());
        CHECK(found["first_not_compared"] == "returned");
        CHECK(found["recorded"] == traces.tensors.size() - 1);
        CHECK(found["compared"] == traces.tensors.size() - 2);
    }
    // The same numbers under another name are known by what they are.
    CHECK(run({"bisect", "induction", "--against", output_is("named.safetensors", 1.0F)}).status == 0);
    const auto whole = nlohmann::json::parse(run({"bisect", "induction", "--against", traces.whole, "--json"}).out);
    CHECK(whole["compared"] == whole["recorded"]);
    CHECK(whole["first_not_compared"].is_null());
}
