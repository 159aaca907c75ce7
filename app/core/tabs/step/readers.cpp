#include "app/core/tabs/step/readers.h"

#include "app/core/jobs/resumable.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <ostream>
#include <tuple>

namespace decoderscope::core::step {

namespace {

// "3", "0–15", "2+5": runs of indices that follow each other.
std::string indices_text(const std::vector<Index>& along) {
    std::string text;
    for (std::size_t i = 0; i < along.size();) {
        std::size_t end = i;
        while (end + 1 < along.size() && along[end + 1] == along[end] + 1) ++end;
        text += (text.empty() ? "" : "+") + std::to_string(along[i]);
        if (end > i) text += "–" + std::to_string(along[end]);
        i = end + 1;
    }
    return text;
}

}  // namespace

Value<ShownReaders> shown_readers(Derived& derived, const Snapshot& shown, const Step& step, const Cell& cell) {
    return derived.later<ShownReaders>({shown.run}, std::tie(step.id, cell), [&] {
        return in_one_slice([run = shown.run, id = step.id, cell] {
            return ShownReaders{decoderscope::sheet::readers_of(*run, run->plan()[id], cell)};
        });
    });
}

std::string reader_text(const Plan& plan, const decoderscope::sheet::Reader& reader) {
    std::string text;
    for (const std::vector<Index>& along : reader.cells) text += (text.empty() ? "" : ", ") + indices_text(along);
    return plan[reader.step].name + "[" + text + "]";
}

void write_readers(std::ostream& out, const Run& run, const Step& step, const Cell& cell) {
    const std::vector<decoderscope::sheet::Reader> readers = decoderscope::sheet::readers_of(run, step, cell);
    out << (readers.empty() ? tr("No step reads it.") : tr("Read by")) << '\n';
    for (const decoderscope::sheet::Reader& reader : readers)
        out << "  " << reader_text(run.plan(), reader) << "  " << tr(counted_numbers(reader.count)) << '\n';
}

}  // namespace decoderscope::core::step
