#include "app/core/tabs/step/tiles.h"

#include "app/core/figure/heatmap_image.h"
#include "app/core/jobs/resumable.h"
#include "app/core/run/step_picture.h"
#include "engine/base/translate.h"
#include "engine/tensor/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace decoderscope::core::step {

namespace {

// Pictures of more cells come by tiles: of numbers that are computed when they are read, and of others.
constexpr Index kMostComputed = Index{1} << 22, kMostCells = Index{1} << 24;
// Blocks each way, and how many of their rows are read first.
constexpr Index kBlocks = 1024, kFirstRows = 256;

// What is read: cells and blocks, and whether all rows of them or the first of each.
struct Wanted {
    Tile tile;
    bool all_rows = true;
    bool operator==(const Wanted&) const = default;
};

struct ReadTile {
    Heatmap heatmap;  // a cell for each block: numbers, and what hides them
    std::vector<std::uint8_t> changed;
    Range range;  // of what was read: of all heads, if it was all rows
};
// They are computed beside each other: what is in sight doesn't wait for the whole picture.
struct FirstRows : ReadTile {};
struct ZoomedRows : ReadTile {};
struct AllRows : ReadTile {
    static constexpr bool kGoesOn = true;
};

// The rows of a picture, one after the other. Those of a tensor that comes by rows are computed some at a time.
class RowsOfPicture {
public:
    // Of a tensor that comes by rows, all heads are made, so that the range of all is known, or the shown one alone.
    RowsOfPicture(const Run& run, const Step& step, const Slice& slice, bool all_heads)
        : slice_(slice),
          tensor_(run.value(step.id)),
          lazy_(tensor_.lazy<LazyRows>()),
          sink_(sink_beside(run, step) != nullptr ? run.value(sink_beside(run, step)->id) : Tensor()),
          width_(step.axes.back().size),
          row_(static_cast<std::size_t>(columns())) {
        if (step.masked_by) mask_.emplace(run.value(*step.masked_by));
        if (!all_heads && computes() && !slice.joins_heads && head_axis(step.axes) == kHead)
            made_of_.head = Head{slice.fixed[kHead], step.axes[kHead].size};
    }

    [[nodiscard]] Index columns() const { return slice_.columns() + (sink_.empty() ? 0 : 1); }
    [[nodiscard]] bool computes() const { return tensor_.by_rows() != nullptr; }
    [[nodiscard]] Index at_once() const { return computes() ? tensor_.by_rows()->at_once : 256; }

    // Makes some rows ready, each `apart` from the next.
    void bring(Index first, Index count, Index apart) {
        made_of_.first = first;
        made_of_.count = count;
        made_of_.apart = apart;
        if (computes()) made_ = some_rows(tensor_, made_of_);
    }
    // Gives them to `all`, with those of other heads that were made.
    void add_to(Strongest& all) {
        for (Index at = 0; at < made_.size(); at += width_) {
            Cell cell = made_.cell(at);
            Index& row = cell[cell.size() - 2];
            row = made_of_.first + row * made_of_.apart;
            if (made_of_.head) cell[kHead] = made_of_.head->number;
            all.add(0, made_.values().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(width_)),
                    kept(cell));
        }
    }

    // Gives `take` the parts of a row: the picture's column that each begins at, its numbers, and which are kept.
    template <class Take>
    void parts(Index row, const Take& take) {
        for (Index column = 0; column < slice_.columns(); column += width_) {
            const Cell cell = slice_.cell(row, column);
            take(column, numbers(cell), kept(cell));
        }
        if (sink_.empty()) return;
        const float weight = sink_.at(Cell{slice_.fixed[0], slice_.fixed[1], row, 0});
        take(slice_.columns(), std::span(&weight, 1), std::span<const float>());
    }

private:
    [[nodiscard]] std::span<const float> kept(const Cell& cell) {
        return mask_ ? mask_->row(cell[0], cell[1], cell[2]) : std::span<const float>();
    }
    [[nodiscard]] std::span<const float> numbers(Cell cell) {
        if (computes() && lazy_ == nullptr) {
            Index& row = cell[cell.size() - 2];
            row = (row - made_of_.first) / made_of_.apart;
            if (made_of_.head) cell[kHead] = 0;
            return made_.row(cell);
        }
        const std::span<float> room = std::span(row_).first(static_cast<std::size_t>(width_));
        if (lazy_ != nullptr)
            lazy_->rows(tensor_.offset(cell) / width_, tensor_.offset(cell) / width_ + 1, room);
        else
            tensor_.copy(tensor_.offset(cell), room);  // from a file, or from the form that products read
        return room;
    }

    static constexpr std::size_t kHead = 1;

    Slice slice_;
    Tensor tensor_;
    const LazyRows* lazy_;
    Tensor sink_;
    Index width_;
    std::vector<float> row_;
    std::optional<MaskRows> mask_;
    Tensor made_;
    SomeRows made_of_;
};

// What hides cells.
class Hiding {
public:
    Hiding(const Run& run, const Step& step, const Slice& slice) : slice_(slice) {
        if (!step.masked_by) return;
        mask_ = &run.plan()[*step.masked_by];
        operands_ = run.operands_of(mask_->id);
    }
    [[nodiscard]] bool any() const { return mask_ != nullptr; }
    [[nodiscard]] std::uint8_t causes(Index row, Index column) const {
        return hiding(*mask_, operands_, slice_.cell(row, column));
    }

private:
    Slice slice_;
    Ref mask_ = nullptr;
    Operands operands_;
};

// The range of numbers by column, the strongest of each; nothing if one isn't finite, behind which others hide.
std::optional<Range> range_of_strongest(const Strongest& strongest, Index columns, Scale scale) {
    std::vector<float> numbers;
    for (Index column = 0; column < columns; ++column) {
        const std::optional<float> number = strongest.among(column, column + 1);
        if (number && !std::isfinite(*number)) return std::nullopt;
        if (number) numbers.push_back(*number);
    }
    return range_of(numbers, scale);
}

Resumable<ReadTile> read_tile(std::shared_ptr<const Run> run, StepId id, Slice slice, Wanted wanted) {
    const Step& step = run->plan()[id];
    const Tile& tile = wanted.tile;
    const bool whole =
        wanted.all_rows && tile.cells == CellRect{0, 0, slice.rows(), picture_columns(*run, step, slice)};
    RowsOfPicture rows(*run, step, slice, whole);
    const Hiding masks(*run, step, slice);
    ReadTile made;
    Heatmap& heatmap = made.heatmap;
    heatmap.scale = scale_of(*run, step);
    heatmap.rows = tile.rows();
    heatmap.columns = tile.columns();
    heatmap.has_sink = rows.columns() > slice.columns();
    heatmap.values.reserve(static_cast<std::size_t>(heatmap.rows * heatmap.columns));
    Strongest all(rows.columns()), block(rows.columns());
    const auto end_block = [&](Index first_row) {
        for (Index column = tile.cells.column; column < tile.cells.column + tile.cells.columns;
             column += tile.columns_each) {
            const Index end = std::min(column + tile.columns_each, tile.cells.column + tile.cells.columns);
            const std::optional<float> strongest = block.among(column, end);
            heatmap.values.push_back(strongest.value_or(0.0F));
            if (masks.any() || heatmap.has_sink)
                heatmap.hidden.push_back(column >= slice.columns() ? hidden_by::no_key
                                         : strongest               ? hidden_by::nothing
                                                                   : masks.causes(first_row, column));
        }
        block.forget();
    };
    // Of a cell, the number as it is.
    const auto put_cells = [&](Index column, std::span<const float> numbers) {
        if (!tile.is_exact()) return;
        const Index end = std::ssize(heatmap.values), first = end - heatmap.columns + column - tile.cells.column;
        for (Index i = 0; i < std::ssize(numbers); ++i)
            if (const Index at = first + i; at >= end - heatmap.columns && at < end)
                heatmap.values[static_cast<std::size_t>(at)] = numbers[static_cast<std::size_t>(i)];
    };
    const Index end = tile.cells.row + tile.cells.rows;
    const Index apart = wanted.all_rows ? 1 : tile.rows_each;
    const Index at_once =
        wanted.all_rows ? std::max(rows.at_once() / tile.rows_each, Index{1}) * tile.rows_each : rows.at_once() * apart;
    for (Index first = tile.cells.row; first < end; first += at_once) {
        co_yield kPause;
        const Index after = std::min(first + at_once, end);
        rows.bring(first, (after - first + apart - 1) / apart, apart);
        rows.add_to(all);
        for (Index row = first; row < after; row += apart) {
            rows.parts(row, [&](Index column, std::span<const float> numbers, std::span<const float> kept) {
                block.add(column, numbers, kept);
                if (!rows.computes()) all.add(column, numbers, kept);
            });
            const bool ends = !wanted.all_rows || (row + 1 - tile.cells.row) % tile.rows_each == 0 || row + 1 == end;
            if (ends) end_block(row - (wanted.all_rows ? (row - tile.cells.row) % tile.rows_each : 0));
            rows.parts(row, [&](Index column, std::span<const float> numbers, std::span<const float>) {
                put_cells(column, numbers);
            });
        }
    }
    const std::optional<Range> found = range_of_strongest(all, rows.columns(), heatmap.scale);
    made.range =
        found && (rows.computes() || !whole) ? with_sinks_range(*found, *run, step) : picture_range(*run, step);
    co_return made;
}

// As above, with the cells that differ from another run's, if there is one and the blocks are cells.
template <class Read>
Resumable<Read> read_tile_beside(std::shared_ptr<const Run> run, std::shared_ptr<const Run> other, StepId id,
                                 Slice slice, Wanted wanted) {
    ReadTile read = co_await read_tile(run, id, slice, wanted);
    Read made;
    static_cast<ReadTile&>(made) = std::move(read);
    const Ref before = other != nullptr && wanted.tile.is_exact() ? other->plan().find(run->plan()[id].name) : nullptr;
    if (before == nullptr || before->axes != run->plan()[id].axes || other->value(before->id).empty()) co_return made;
    const ReadTile then = co_await read_tile(other, before->id, slice, wanted);
    for (std::size_t i = 0; i < made.heatmap.values.size(); ++i)
        made.changed.push_back(std::bit_cast<std::uint32_t>(made.heatmap.values[i]) !=
                               std::bit_cast<std::uint32_t>(then.heatmap.values[i]));
    co_return made;
}

Index power_above(Index cells, Index most) {
    return static_cast<Index>(std::bit_ceil(static_cast<std::uint64_t>((cells + most - 1) / most)));
}

// Its first rows alone, in fewer blocks.
Wanted first_rows_of(Tile tile) {
    tile.rows_each = std::max(tile.rows_each, power_above(tile.cells.rows, kFirstRows));
    return {tile, false};
}

}  // namespace

bool comes_by_tiles(const Run& run, const Step& step, const Slice& slice) {
    const Tensor& values = run.value(step.id);
    if (step.axes.size() < 2 || step.operation.traits().recorded_elsewhere) return false;
    const ByRows* by_rows = values.by_rows();
    const bool rows_stand_alone = by_rows != nullptr && row_axis(by_rows->axes) == step.axes.size() - 2;
    return slice.rows() * slice.columns() > (rows_stand_alone ? kMostComputed : kMostCells) &&
           (by_rows == nullptr || rows_stand_alone);
}

Tile tile_around(const CellRect& seen, Index rows, Index columns) {
    Tile tile{{}, power_above(seen.rows, kBlocks), power_above(seen.columns, kBlocks)};
    // It begins and ends at steps of an eighth of its size or so.
    const auto along = [](Index first, Index count, Index all, Index each, Index& begin, Index& size) {
        const Index step = each * kBlocks / 8;
        begin = first / step * step;
        size = std::min(all, (first + count + step - 1) / step * step) - begin;
    };
    along(seen.row, seen.rows, rows, tile.rows_each, tile.cells.row, tile.cells.rows);
    along(seen.column, seen.columns, columns, tile.columns_each, tile.cells.column, tile.cells.columns);
    return tile;
}

Value<ShownTile> shown_tile(Derived& derived, const Snapshot& shown, const Step& step, Place place,
                            const CellRect& seen) {
    const std::shared_ptr<const Run>& run = &shown.run_of(step) == shown.early.get() ? shown.early : shown.run;
    const Origins origins = {run, shown.unedited};
    const Slice slice = slice_of(step, place, shown.scenario.query_heads());
    const Index rows = slice.rows(), columns = picture_columns(*run, step, slice);
    const auto ask = [&]<class Read>(std::type_identity<Read>, const Wanted& wanted) {
        return derived.later<Read>(origins, std::tie(step.id, place, wanted), [&] {
            return read_tile_beside<Read>(run, run == shown.unedited ? nullptr : shown.unedited, step.id, slice,
                                          wanted);
        });
    };
    const Tile whole = tile_around({0, 0, rows, columns}, rows, columns), tile = tile_around(seen, rows, columns);
    struct Best {
        Wanted wanted;
        Value<FirstRows> first;
        Value<ZoomedRows> zoomed;
        Value<AllRows> all;
        [[nodiscard]] bool is_final() const { return zoomed || all; }
        [[nodiscard]] const ReadTile* read() const {
            return all ? &*all : zoomed ? static_cast<const ReadTile*>(&*zoomed) : first ? &*first : nullptr;
        }
    };
    // The better one is begun when there is something to show.
    const auto best = [&](const Tile& of, bool with_all_rows) {
        Best found{.wanted = first_rows_of(of)};
        const bool has_first = found.wanted.tile.rows_each > 1;
        if (has_first) found.first = ask(std::type_identity<FirstRows>(), found.wanted);
        if ((has_first && !found.first) || !with_all_rows) return found;
        if (of == whole)
            found.all = ask(std::type_identity<AllRows>(), {of, true});
        else
            found.zoomed = ask(std::type_identity<ZoomedRows>(), {of, true});
        if (found.is_final()) found.wanted = {of, true};
        return found;
    };
    Best in_sight = best(tile, true);
    const Best of_all = tile == whole ? in_sight : best(whole, in_sight.is_final());
    if (in_sight.read() == nullptr) in_sight = of_all;
    if (in_sight.read() == nullptr) return {};
    const bool ranged = of_all.is_final();
    const Range range = (of_all.read() != nullptr ? of_all.read() : in_sight.read())->range;
    const Wanted& wanted = in_sight.wanted;
    return derived.get<ShownTile>(origins, std::tuple(step.id, place, wanted, range.low, range.high, ranged), [&] {
        ShownTile made{wanted.tile, in_sight.read()->heatmap, in_sight.read()->changed, wanted.all_rows, {}};
        made.heatmap.range = range;
        if (!wanted.all_rows)
            made.note = message("1 of {rows} rows, all are being read", {{"rows", wanted.tile.rows_each}});
        else if (!wanted.tile.is_exact())
            made.note = message("strongest of {rows} × {columns} cells",
                                {{"rows", wanted.tile.rows_each}, {"columns", wanted.tile.columns_each}});
        else if (!ranged)
            made.note = message("colours of the rows read so far");
        return made;
    });
}

Resumable<Heatmap> first_rows(std::shared_ptr<const Run> run, StepId id, Slice slice) {
    const Index rows = slice.rows(), columns = picture_columns(*run, run->plan()[id], slice);
    ReadTile read =
        co_await read_tile(run, id, slice, first_rows_of(tile_around({0, 0, rows, columns}, rows, columns)));
    read.heatmap.range = read.range;
    co_return std::move(read.heatmap);
}

Sentence note_of_small_picture(const Run& run, const Step& step, const Slice& slice) {
    if (run.value(step.id).empty() || !comes_by_tiles(run, step, slice)) return {};
    return message("the small picture shows 1 of {rows} rows", {{"rows", power_above(slice.rows(), kFirstRows)}});
}

void read_rows(const Run& run, const Step& step, const Slice& slice, Index first, Index count,
               const std::function<void(std::span<const float>)>& take) {
    RowsOfPicture rows(run, step, slice, false);
    rows.bring(first, count, 1);
    std::vector<float> numbers(static_cast<std::size_t>(rows.columns()));
    for (Index row = first; row < first + count; ++row) {
        rows.parts(row, [&](Index column, std::span<const float> part, std::span<const float>) {
            std::ranges::copy(part, numbers.begin() + column);
        });
        take(numbers);
    }
}

Value<ShownRow> shown_row(Derived& derived, const Snapshot& shown, const Step& step, Place place, Index row) {
    return derived.get<ShownRow>({shown.run, shown.unedited, shown.early}, std::tie(step.id, place, row), [&] {
        ShownRow made;
        read_rows(shown.run_of(step), step, slice_of(step, place, shown.scenario.query_heads()), row, 1,
                  [&](std::span<const float> numbers) { made.numbers.assign(numbers.begin(), numbers.end()); });
        return made;
    });
}

bool ShownTile::changed_at(Index row, Index column) const {
    row -= tile.cells.row;
    column -= tile.cells.column;
    if (changed.empty() || row < 0 || column < 0 || row >= heatmap.rows || column >= heatmap.columns) return false;
    return changed[static_cast<std::size_t>(row * heatmap.columns + column)] != 0;
}

float one_number(const Tensor& tensor, const Cell& cell) {
    const auto* lazy = tensor.lazy<LazyRows>();
    if (lazy == nullptr && tensor.by_rows() != nullptr && row_axis(tensor.by_rows()->axes) == cell.size() - 2) {
        Cell in_row = cell;
        SomeRows row = {std::exchange(in_row[cell.size() - 2], 0), 1};
        if (const auto head = head_axis(tensor.axes()))
            row.head = Head{std::exchange(in_row[*head], 0), tensor.dim(*head)};
        return some_rows(tensor, row).at(in_row);
    }
    if (lazy == nullptr) return tensor.at(cell);
    std::vector<float> row(static_cast<std::size_t>(tensor.axes().back().size));
    const Index number = tensor.offset(cell) / std::ssize(row);
    lazy->rows(number, number + 1, row);
    return row[static_cast<std::size_t>(cell.back())];
}

Value<ShownHeatmap> shown_card(Derived& derived, const Snapshot& shown, const Step& step, Place place) {
    const Run& run = shown.run_of(step);
    const Slice slice = slice_of(step, place, shown.scenario.query_heads());
    if (!comes_by_tiles(run, step, slice)) return shown_heatmap(derived, shown, step, place);
    constexpr bool by_tiles = true;  // another key than that of the whole picture
    return derived.get<ShownHeatmap>({shown.run, shown.unedited, shown.early}, std::tie(step.id, place, by_tiles), [&] {
        Heatmap heatmap = empty_heatmap_of(shown.scenario, run, step, place);
        heatmap.has_sink = picture_columns(run, step, slice) > slice.columns();
        if (heatmap.has_sink) heatmap.column_labels.push_back(tr("sink"));
        heatmap.columns = picture_columns(run, step, slice);
        return ShownHeatmap{std::move(heatmap), {}};
    });
}

namespace {

// So many cells are read within a frame.
constexpr Index kAtOnce = 1 << 18;

// What is needed of a heatmap to paint it.
Heatmap bare_heatmap(const Run& run, const Step& step, const Tensor& values, const Slice& slice, Range range) {
    Heatmap heatmap{.rows = slice.rows(), .columns = slice.columns(), .range = range};
    heatmap.scale = scale_of(run, step);
    heatmap.values = values_in(values, slice);
    return heatmap;
}

Resumable<Pixels> paint(std::shared_ptr<const Run> run, StepId id, PixelsWanted wanted, Index query_heads) {
    const Step& step = run->plan()[id];
    if (run->value(id).size() > kAtOnce) co_yield kPause;
    // To read all of what isn't kept would take longer than to look at it.
    const bool by_tiles = comes_by_tiles(*run, step, slice_of(step, wanted.place, query_heads));
    const Tensor values = by_tiles ? Tensor() : run->value(id).for_one_use();
    const Range range = wanted.range ? *wanted.range : by_tiles ? Range{} : picture_range(*run, step);
    const Index width = wanted.each.width, height = wanted.each.height;
    Pixels made{.colors = {}, .width = width * wanted.across, .height = height * wanted.down()};
    made.colors.resize(static_cast<std::size_t>(made.width * made.height), Rgba{0, 0, 0, 0});
    const bool alike = hidden_alike(run->plan(), step);
    std::vector<std::uint8_t> hidden;
    for (Index head = 0; head < wanted.heads; ++head) {
        Place place = wanted.place;
        if (wanted.heads > 1) place.head = head * query_heads / wanted.heads;
        const Slice slice = slice_of(step, place, query_heads);
        Heatmap heatmap;
        if (by_tiles) {
            heatmap = co_await first_rows(run, id, slice);
            if (wanted.range) heatmap.range = range;
        } else {
            heatmap = bare_heatmap(*run, step, values, slice, range);
            if (head == 0 || !alike) hidden = hidden_cells(*run, step, slice);
            heatmap.hidden = hidden;
            put_sink_beside(heatmap, *run, step, slice);
        }
        const ColorMap map = heatmap.scale == Scale::sequential ? wanted.sequential : default_map(heatmap.scale);
        const std::vector<Rgba> colors =
            reduced_colors(heatmap, {0, 0, heatmap.rows, heatmap.columns}, height, width, map, wanted.dark);
        const Index first = (head / wanted.across * height) * made.width + head % wanted.across * width;
        for (Index row = 0; row < height; ++row)
            std::copy_n(colors.begin() + row * width, width, made.colors.begin() + first + row * made.width);
        if (heatmap.rows * heatmap.columns > kAtOnce) co_yield kPause;
    }
    co_return made;
}

Resumable<ShownHeatmap> read_numbers(Snapshot shown, StepId id, Place place) {
    if (shown.run->value(id).size() > kAtOnce) co_yield kPause;
    Derived own;  // the window's may be asked by its thread alone
    co_return *shown_heatmap(own, shown, shown.run->plan()[id], place);
}

}  // namespace

Value<Pixels> shown_pixels(Derived& derived, const Snapshot& shown, const Step& step, const PixelsWanted& wanted) {
    const std::shared_ptr<const Run>& run = &shown.run_of(step) == shown.early.get() ? shown.early : shown.run;
    const StepId id = step.id;
    const PictureSize each = wanted.each;
    const Range range = wanted.range.value_or(Range{0.0F, 0.0F});
    return derived.later<Pixels>({run},
                                 std::tuple(id, each.width, each.height, wanted.heads, wanted.across, wanted.place,
                                            wanted.sequential, wanted.dark, range.low, range.high),
                                 [&] { return paint(run, id, wanted, shown.scenario.query_heads()); });
}

Value<ShownHeatmap> shown_numbers(Derived& derived, const Snapshot& shown, const Step& step, Place place) {
    const Run& run = shown.run_of(step);
    if (comes_by_tiles(run, step, slice_of(step, place, shown.scenario.query_heads()))) return {};
    return derived.later<ShownHeatmap>({shown.run, shown.unedited, shown.early}, std::tie(step.id, place), [&] {
        Snapshot runs;
        runs.scenario = shown.scenario;
        runs.run = shown.run;
        runs.unedited = shown.unedited;
        runs.early = shown.early;
        return read_numbers(std::move(runs), step.id, place);
    });
}

Origins painted_from(const Run& run, const Step& step) {
    const Ref sink = sink_beside(run, step);
    return {run.value(step.id).identity(),
            step.masked_by ? run.value(*step.masked_by).identity() : std::shared_ptr<const void>(),
            sink != nullptr ? run.value(sink->id).identity() : std::shared_ptr<const void>()};
}

}  // namespace decoderscope::core::step
