#include "app/core/compare/depth.h"

#include "app/core/figure/colormap.h"
#include "app/core/figure/figure_canvas.h"
#include "app/core/run/exhibit_step.h"
#include "app/core/text/numbers.h"
#include "engine/base/translate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <tuple>

namespace decoderscope::core::norms {

namespace {

using Row = std::span<const float>;

// Σ a·b in four running sums, which the processor adds in parallel.
double dot(Row a, Row b) {
    std::array<double, 4> sums{};
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4)
        for (std::size_t lane = 0; lane < 4; ++lane)
            sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (; i < a.size(); ++i) sums[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sums[0] + sums[1] + sums[2] + sums[3];
}

double length(Row row) { return std::sqrt(dot(row, row)); }

// Means over the rows of [batch, pos, n] that are not padding; over all rows if there is no mask.
class Rows {
public:
    Rows(const Run& run, StackKind stack)
        : mask_(run.value(stack == StackKind::decoder ? "attention_mask" : "encoder_attention_mask")) {}

    // The mean of `measure`, which takes a row's number, over the rows of tensors with `count` rows.
    [[nodiscard]] double mean(Index count, const std::function<double(Index)>& measure) const {
        double sum = 0.0;
        Index kept = 0;
        for (Index row = 0; row < count; ++row) {
            if (padded(row, count)) continue;
            sum += measure(row);
            ++kept;
        }
        return kept > 0 ? sum / static_cast<double>(kept) : std::nan("");
    }

private:
    [[nodiscard]] bool padded(Index row, Index count) const {
        return mask_.size() == count && mask_.data()[row] == 0.0F;
    }

    const Tensor& mask_;  // [batch, pos]
};

Row row_of(const Tensor& x, Index row) {
    const Index n = x.axes().back().size;
    return x.values().subspan(static_cast<std::size_t>(row * n), static_cast<std::size_t>(n));
}

Index rows_in(const Tensor& x) { return x.size() / x.axes().back().size; }

double mean_length(const Rows& rows, const Tensor& x) {
    return rows.mean(rows_in(x), [&](Index r) { return length(row_of(x, r)); });
}

double mean_ratio(const Rows& rows, const Tensor& update, const Tensor& stream) {
    return rows.mean(rows_in(update), [&](Index r) { return length(row_of(update, r)) / length(row_of(stream, r)); });
}

double mean_cosine(const Rows& rows, const Tensor& a, const Tensor& b) {
    return rows.mean(rows_in(a), [&](Index r) {
        return dot(row_of(a, r), row_of(b, r)) / (length(row_of(a, r)) * length(row_of(b, r)));
    });
}

double mean_value(const Rows& rows, const Tensor& x) {
    return rows.mean(x.size(), [&](Index r) { return static_cast<double>(x.data()[r]); });
}

// "attn_out" for "blocks.0.attn_out.dropped".
std::string name_in(const Step& step) {
    std::string name = step.name.substr(step.block.size() + 1);
    return name.substr(0, name.find('.'));
}

// A block's computed steps, in order.
std::vector<Ref> steps_of_block(const Run& run, const std::string& block) {
    std::vector<Ref> steps;
    for (const Step& step : run.plan().steps())
        if (step.block == block && !step.is_source() && !run.value(step.id).empty()) steps.push_back(&step);
    return steps;
}

bool is_sum(const Step& step) { return step.part == Part::add; }

// Adds a point measured on `step` to the curve of `of`.
void add_point(std::vector<DepthCurve>& curves, const Step& of, const Step& step, double depth, double value) {
    const std::string name = name_in(of);
    auto curve = std::find_if(curves.begin(), curves.end(), [&](const DepthCurve& c) { return c.name == name; });
    if (curve == curves.end()) curve = curves.insert(curve, {name, of.meaning, of.part, {}});
    curve->points.push_back({depth, value, step.name});
}

// What the sublayer itself wrote, where a norm comes between it and the sum.
const Step& written_by_sublayer(const Plan& plan, const Step& update) {
    const Step* step = &update;
    while (step->part == Part::norm) step = plan.main_operand(*step);
    return *step;
}

// What enters a block is at the block's number, what leaves it at the next number, its sums evenly between.
void measure_stream(const Run& run, const Rows& rows, const std::vector<Ref>& steps, double depth,
                    DepthCurves& curves) {
    const auto add = [&](double at, const Step& step) {
        curves.stream.points.push_back({at, mean_length(rows, run.value(step.id)), step.name});
    };
    add(depth, *steps.front());
    const auto sums =
        static_cast<double>(std::count_if(steps.begin(), steps.end(), [](Ref step) { return is_sum(*step); }));
    double number = 0.0;
    for (const Ref step : steps)
        if (is_sum(*step)) add(depth + ++number / sums, *step);
}

// Sublayers added by one sum are placed midway between the sums before and after. The norms are spaced evenly: each is
// in the middle of its sublayer if each sublayer has its own sum.
void measure_sublayers(const Run& run, const Rows& rows, const std::vector<Ref>& steps, double depth,
                       DepthCurves& curves) {
    const auto sums =
        static_cast<double>(std::count_if(steps.begin(), steps.end(), [](Ref step) { return is_sum(*step); }));
    const auto norms = static_cast<double>(
        std::count_if(steps.begin(), steps.end(), [](Ref step) { return step->operation.traits().scale.has_value(); }));
    double sum = 0.0, norm = 0.0;
    for (const Ref step : steps) {
        if (step->operation.traits().scale)
            add_point(curves.scales, *step, *step, depth + (norm++ + 0.5) / norms,
                      mean_value(rows, run.value(step->id)));
        if (!is_sum(*step)) continue;
        const double at = depth + (sum++ + 0.5) / sums;
        for (const StepId added_by_sum : step->operands_as(OperandRole::update)) {
            const Step& update = run.plan()[added_by_sum];
            const Tensor& added = run.value(update.id);
            const Step& written = written_by_sublayer(run.plan(), update);
            add_point(curves.updates, written, update, at, mean_length(rows, added));
            add_point(curves.ratios, written, update, at,
                      mean_ratio(rows, added, run.operand(*step, OperandRole::stream)));
        }
    }
}

// How the stream's length changed.
Sentence fold_text(double growth) {
    const Arguments by = {{"fold", number_text(growth, 2)}};
    if (!std::isfinite(growth)) return message("ends in numbers that are not finite");
    if (growth > 1.05) return message("grows {fold}-fold", by);
    if (growth < 0.95) return message("shrinks to {fold} of its length", by);
    return message("keeps its length ({fold}-fold)", by);
}

double last_ratio(const DepthCurves& curves) { return curves.ratios.back().points.back().value; }

std::string percent(double ratio) { return number_text(100.0 * ratio, 2) + " %"; }

// How large the last update is beside the stream, in words if there is no number for it.
Sentence last_updates(const std::string& before, const Both<std::string>& names, double left, double right) {
    const bool of_left = std::isfinite(left), of_right = std::isfinite(right);
    if (of_left && of_right)
        return message("{sentence} The last update is {left} of the stream under {first}, {right} under {second}.",
                       {{"sentence", before},
                        {"first", names.left},
                        {"second", names.right},
                        {"left", percent(left)},
                        {"right", percent(right)}});
    if (of_left || of_right)
        return message(
            "{sentence} The last update is {ratio} of the stream under {first}; under {second} it can't be compared, "
            "because numbers there are NaN or infinite.",
            {{"sentence", before},
             {"first", of_left ? names.left : names.right},
             {"second", of_left ? names.right : names.left},
             {"ratio", percent(of_left ? left : right)}});
    return message(
        "{sentence} The last update can't be compared with the stream: under both, numbers there are NaN or infinite.",
        {{"sentence", before}});
}

// The mean over the rows of the length of a − b over that of a.
double mean_difference(const Rows& rows, const Tensor& a, const Tensor& b) {
    return rows.mean(rows_in(a), [&](Index r) {
        const Row one = row_of(a, r), other = row_of(b, r);
        double squares = 0.0;
        for (std::size_t i = 0; i < one.size(); ++i) {
            const double apart = static_cast<double>(one[i]) - static_cast<double>(other[i]);
            squares += apart * apart;
        }
        return squares == 0.0 ? 0.0 : std::sqrt(squares) / length(one);
    });
}

// One of the measures of a stack, as charts show it.
struct Measure {
    const char* id;         // "stream": names files
    Phrase title, caption;  // "How far each part moves it", "update ÷ stream"
    bool may_be_logarithmic;
    std::span<const DepthCurve> (*curves)(const DepthCurves& of);
};
// All of them, in the order in which they are drawn.
constexpr std::array kMeasures = {
    Measure{"stream", message("Length of the stream"), message("after each sum and norm"), true,
            [](const DepthCurves& of) { return std::span(&of.stream, 1); }},
    Measure{"update", message("How long each update is"), message("length of f(x)"), true,
            [](const DepthCurves& of) { return std::span(of.updates); }},
    Measure{"ratio", message("How far each part moves it"), message("update ÷ stream"), true,
            [](const DepthCurves& of) { return std::span(of.ratios); }},
    Measure{"scale", message("Scale of the norms"), message("what they divide by"), true,
            [](const DepthCurves& of) { return std::span(of.scales); }},
    Measure{"cosine", message("From block to block"), message("cosine of x before and after"), false,
            [](const DepthCurves& of) { return std::span(&of.cosines, 1); }},
};

// Mixed with grey by a share: the same hue, paler, on light and on dark ground.
Rgba paler(Rgba color, double share) {
    const auto mixed = [share](std::uint8_t c) { return static_cast<std::uint8_t>(c + share * (170.0 - c)); };
    return {mixed(color.r), mixed(color.g), mixed(color.b), 255};
}

// Of several norms, and of cross-attention beside self-attention, how strong the colour of a curve is.
float strength_of(const DepthCurve& curve, std::size_t number) {
    if (curve.meaning == Meaning::norm) return 1.0F - 0.3F * static_cast<float>(std::min<std::size_t>(number, 2));
    return curve.part == Part::cross_attention ? 0.5F : 1.0F;
}

ChartCurve charted(const std::string& run, const DepthCurve& curve, std::size_t number, bool dashed) {
    const float strength = strength_of(curve, number);
    const Rgba color = curve.part != Part::residual_stream ? paler(meaning_color(curve.meaning), 1.0 - strength)
                       : dashed                            ? meaning_color(Meaning::query)
                                                           : figure::inks(false).text;
    return {run, curve, color, dashed, strength};
}

// The length of a row of [batch, pos, d_model]; nothing if the tensor has no such row.
std::optional<double> length_at(const Tensor& rows, Index batch, Index position) {
    if (rows.rank() != 3 || batch >= rows.dim(0) || position >= rows.dim(1)) return std::nullopt;
    double squares = 0.0;
    for (const float x : rows.row({batch, position, 0})) squares += static_cast<double>(x) * static_cast<double>(x);
    return std::sqrt(squares);
}

bool is_stream(const Step& step, StackKind stack) {
    return step.stack == stack && !step.block.empty() && !step.backward &&
           (step.part == Part::residual_stream || step.part == Part::add);
}

}  // namespace

DepthCurves depth_curves(const Run& run, StackKind stack) {
    const Rows rows(run, stack);
    DepthCurves curves;
    curves.stream.name = "resid";
    curves.cosines.name = "cosine";
    Ref entered = nullptr, left = nullptr;  // the stream before the block and after it
    for (const std::string& block : run.plan().blocks(stack)) {
        const std::vector<Ref> steps = steps_of_block(run, block);
        if (steps.empty()) break;
        const auto depth = static_cast<double>(curves.blocks);
        measure_stream(run, rows, steps, depth, curves);
        measure_sublayers(run, rows, steps, depth, curves);
        entered = steps.front();
        left = steps.back();
        curves.cosines.points.push_back(
            {depth + 0.5, mean_cosine(rows, run.value(entered->id), run.value(left->id)), entered->name});
        if (curves.blocks == 0) curves.entering = mean_length(rows, run.value(entered->id));
        curves.leaving = mean_length(rows, run.value(left->id));
        ++curves.blocks;
    }
    // Post-Norm normalises the last sum before it leaves.
    if (left != nullptr && curves.stream.points.back().step != left->name)
        curves.stream.points.push_back({static_cast<double>(curves.blocks), curves.leaving, left->name});
    return curves;
}

Both<std::string> titles_of(const Places& places) {
    return {tr(place_of_norms(places.left).title), tr(place_of_norms(places.right).title)};
}

std::string depth_sentence(const DepthCurves& left, const DepthCurves& right, const Both<std::string>& names) {
    if (left.blocks == 0 || right.blocks == 0) return {};
    const std::string text = tr_n("{first}: the stream {left} over {count} block. {second}: it {right}.",
                                  "{first}: the stream {left} over {count} blocks. {second}: it {right}.", left.blocks,
                                  {{"first", names.left},
                                   {"second", names.right},
                                   {"left", fold_text(left.growth())},
                                   {"right", fold_text(right.growth())}});
    if (left.ratios.empty() || right.ratios.empty()) return text;
    return tr(last_updates(text, names, last_ratio(left), last_ratio(right)));
}

std::vector<Chart> depth_charts(const Both<DepthCurves>& both, const Both<std::string>& names) {
    std::vector<Chart> charts;
    for (const Measure& measure : kMeasures) {
        Chart& chart = charts.emplace_back(Chart{measure.id,
                                                 tr(measure.title),
                                                 tr(measure.caption),
                                                 std::max(both.left.blocks, both.right.blocks),
                                                 measure.may_be_logarithmic,
                                                 {}});
        const auto add = [&](const std::string& run, std::span<const DepthCurve> curves, bool dashed) {
            for (std::size_t i = 0; i < curves.size(); ++i) chart.curves.push_back(charted(run, curves[i], i, dashed));
        };
        add(names.right, measure.curves(both.right), true);
        add(names.left, measure.curves(both.left), false);
    }
    return charts;
}

Exhibit depth_exhibit(const Scenario& own, const DepthCurves& left, const DepthCurves& right,
                      const Both<std::string>& names) {
    Exhibit exhibit{.title = tr("Norms by depth"),
                    .subtitle = tr("{first} and {second} on the same weights and input",
                                   {{"first", names.left}, {"second", names.right}})};
    exhibit.caption = caption_of(own, tr("the residual stream, its updates and its norms by block"), "");
    exhibit.charts = depth_charts({left, right}, names);
    return exhibit;
}

Chart parting_chart(const Both<Side>& runs, const DepthCurves& of_left, StackKind stack) {
    const Run &left = *runs.left.run, &right = *runs.right.run;
    const Rows rows(left, stack);
    Chart chart{"parting", tr("Where the runs part"), tr("length of A − B ÷ length of A"), of_left.blocks, true, {}};
    const auto add = [&](const DepthCurve& of) {
        DepthCurve apart{of.name, of.meaning, of.part, {}};
        for (const DepthPoint& point : of.points) {
            const Ref step = left.plan().find(point.step), twin = right.plan().find(point.step);
            if (twin == nullptr || step->axes != twin->axes) continue;
            if (of.part == Part::residual_stream && !is_sum(*step)) continue;  // what enters is what left before
            apart.points.push_back(
                {point.depth, mean_difference(rows, left.value(step->id), right.value(twin->id)), point.step});
        }
        if (!apart.points.empty()) chart.curves.push_back(charted("A − B", apart, chart.curves.size(), false));
    };
    for (const DepthCurve& update : of_left.updates) add(update);
    add(of_left.stream);
    return chart;
}

Value<ShownDepth> shown_depth(Derived& derived, const Both<Side>& runs, StackKind stack) {
    const Both<std::string> names = {tr(runs.left.name), tr(runs.right.name)};
    return derived.get<ShownDepth>({runs.left.run, runs.right.run}, std::tie(stack, names.left, names.right), [&] {
        ShownDepth made{{depth_curves(*runs.left.run, stack), depth_curves(*runs.right.run, stack)}, {}};
        made.charts = depth_charts(made.curves, names);
        made.charts.push_back(parting_chart(runs, made.curves.left, stack));
        constexpr std::array<const char*, 3> kFirst = {"stream", "ratio", "parting"};
        for (std::size_t i = 0; i < kFirst.size(); ++i) {
            const auto found = std::ranges::find(made.charts, kFirst[i], &Chart::name);
            std::rotate(made.charts.begin() + static_cast<std::ptrdiff_t>(i), found, found + 1);
        }
        return made;
    });
}

std::vector<StreamLength> stream_lengths(const Run& run, StackKind stack, Index batch, Index position) {
    std::vector<StreamLength> lengths;
    for (const Step& step : run.plan().steps()) {
        if (!is_stream(step, stack) || run.value(step.id).empty()) continue;
        const std::optional<double> length = length_at(run.value(step.id), batch, position);
        if (!length) continue;
        if (lengths.empty()) lengths.push_back({step.name, "", *length});
        if (step.part != Part::add) continue;
        // The last sum of a block is what it leaves.
        if (lengths.back().block == step.block)
            lengths.back() = {step.name, step.block, *length};
        else
            lengths.push_back({step.name, step.block, *length});
    }
    return lengths;
}

}  // namespace decoderscope::core::norms
