#include "app/core/labs/step/outline.h"

#include "engine/backward/gradient.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <set>

namespace decoderscope::core::step {

namespace {

// Whether `reader` continues `read` as the stream.
bool continues_stream(const Step& reader, const Step& read) {
    return reader.operation.traits().passes_through && reader.operand(OperandRole::stream) == read.id;
}

bool on_stream(const Plan& plan, const OutlinePart& part) {
    if (part.meaning == Meaning::residual || part.meaning == Meaning::embedding) return true;
    if (part.meaning != Meaning::norm) return part.meaning == Meaning::output;
    const Step& last = plan[part.steps.back()];
    bool read_in_block = false;
    for (const Step& step : plan.steps()) {
        if (std::find(step.operands.begin(), step.operands.end(), last.id) == step.operands.end()) continue;
        if (continues_stream(step, last)) return true;
        read_in_block = read_in_block || step.block == last.block;
    }
    return !read_in_block || last.block.empty();
}

// The index of the part that a step belongs to; the number of parts if it is in none of this block.
std::size_t part_with(const OutlineBlock& block, StepId id) {
    const auto holds = [&](const OutlinePart& part) { return std::ranges::binary_search(part.steps, id); };
    return static_cast<std::size_t>(std::ranges::find_if(block.parts, holds) - block.parts.begin());
}

void note_reads(const Plan& plan, OutlineBlock& block) {
    for (std::size_t i = 0; i < block.parts.size(); ++i) {
        std::set<std::size_t> reads;
        for (const StepId id : block.parts[i].steps)
            for (const StepId operand : plan[id].operands) reads.insert(part_with(block, operand));
        reads.erase(i);
        reads.erase(block.parts.size());
        block.parts[i].reads.assign(reads.begin(), reads.end());
    }
}

}  // namespace

const char* stack_name(StackKind stack) { return stack == StackKind::encoder ? tr("Encoder") : tr("Decoder"); }

std::vector<OutlineBlock> outline_of(const Plan& plan) {
    std::vector<OutlineBlock> outline;
    const StepId back = backward::backward_begins(plan).value_or(plan.steps().size());
    Ref before = nullptr;
    for (const Step& step : plan.steps()) {
        if (step.is_source()) continue;
        const bool is_back = step.id >= back;
        if (before == nullptr || before->block != step.block || before->stack != step.stack ||
            outline.back().is_back != is_back)
            outline.push_back({step.block, step.stack, {}, is_back});
        std::vector<OutlinePart>& parts = outline.back().parts;
        if (parts.empty() || before->part != step.part)
            parts.push_back({step.part, step.title, step.meaning, {}, false});
        parts.back().steps.push_back(step.id);
        // A part's colour is what most of it is about: attention, not the query that it begins with.
        parts.back().meaning = step.meaning;
        before = &step;
    }
    for (OutlineBlock& block : outline) {
        note_reads(plan, block);
        for (OutlinePart& part : block.parts) part.on_stream = on_stream(plan, part);
    }
    return outline;
}

}  // namespace decoderscope::core::step
