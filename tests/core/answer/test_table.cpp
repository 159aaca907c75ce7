// Answers in rows: what files, terminals and pictures make of them.
#include "app/core/answer/table.h"
#include "engine/base/json.h"
#include "engine/base/translate.h"
#include "tests/catch.h"

#include <limits>
#include <sstream>

using namespace decoderscope::testing;

namespace {

Table planets() {
    Table table{.about = "planet",
                .title = Sentence::verbatim("planets"),
                .about_title = Sentence::verbatim("planet"),
                .columns = {{"kind"},
                            {"moons", Sentence::verbatim("moons"), Unit::count},
                            {"day_ms", Sentence::verbatim("day"), Unit::milliseconds}},
                .rows = {{.name = Sentence::verbatim("Venus"), .entries = {Sentence::verbatim("rock"), Entry(), 2.5}},
                         {.name = Sentence::verbatim("Mars, red"),
                          .entries = {Sentence::verbatim("rock"), std::uint64_t{2}, 0.25}},
                         {.name = Sentence::verbatim("Saturn"), .entries = {Entry(), std::uint64_t{14'600}, 2500.0}}},
                .notes = {Sentence::verbatim("Counted by hand.")},
                .facts = {{"seen", std::uint64_t{3}}}};
    table.total = {.name = Sentence::verbatim("total"), .entries = {Entry(), std::uint64_t{14'602}, 2502.75}};
    return table;
}

}  // namespace

TEST_CASE("a table's CSV has a line a row, quoted where it must be, and nothing where nothing is") {
    std::ostringstream csv;
    write_csv(csv, planets());
    CHECK(csv.str() ==
          "planet,kind,moons,day_ms\r\nVenus,rock,,2.5\r\n\"Mars, red\",rock,2,0.25\r\nSaturn,,14600,2500.0\r\n");
}

TEST_CASE("a table's JSON has its facts, its rows by the columns' names, and its total") {
    std::ostringstream json;
    write_json(json, planets());
    const Json read = parse_json(json.str(), message("an object"));
    CHECK(read["by"] == "planet");
    CHECK(read["seen"] == 3);
    REQUIRE(read["rows"].size() == 3);
    CHECK(read["rows"][0] == Json({{"name", "Venus"}, {"kind", "rock"}, {"moons", nullptr}, {"day_ms", 2.5}}));
    CHECK(read["total"] == Json({{"moons", 14'602}, {"day_ms", 2502.75}}));
}

TEST_CASE("a table in a terminal has the columns with titles, as people read them, and its notes") {
    std::ostringstream text;
    write_text(text, planets());
    CHECK(
        text.str() ==
        "planet      moons      day\nVenus              2.50 ms\nMars, red       2   250 µs\nSaturn     14.6 k   2.50 "
        "s\n"
        "total      14.6 k   2.50 s\nCounted by hand.\n");
}

TEST_CASE("a table is sorted by a column's numbers, the largest first, and what has none comes last") {
    Table table = planets();
    sort_by(table, table.titled("moons").value());
    CHECK(table.rows[0].name.english() == "Saturn");
    CHECK(table.rows[2].name.english() == "Venus");
    CHECK_FALSE(table.titled("kind"));  // only files have it
}

TEST_CASE("a table's picture has its numbers, with the texts that people read") {
    const Heatmap picture = picture_of(planets());
    CHECK(picture.rows == 3);
    CHECK(picture.column_labels == std::vector<std::string>{"moons", "day_ms"});
    CHECK(picture.at(2, 0) == 14'600.0F);
    CHECK(picture.texts[5] == "2.50 s");
}

TEST_CASE("amounts are written to three digits with their unit") {
    const auto count = [](std::uint64_t number) { return text_of(number, Unit::count); };
    const auto bytes = [](std::uint64_t number) { return text_of(number, Unit::bytes); };
    const auto time = [](double milliseconds) { return text_of(milliseconds, Unit::milliseconds); };
    CHECK(count(0) == "0");
    CHECK(count(640) == "640");
    CHECK(count(13'249) == "13.2 k");
    CHECK(count(1'250'000) == "1.25 M");
    CHECK(bytes(0) == "0");
    CHECK(bytes(96) == "96 B");
    CHECK(bytes(9'216) == "9.22 kB");
    CHECK(time(0.01324) == "13.2 µs");
    CHECK(time(1.25) == "1.25 ms");
    CHECK(time(2000.0) == "2.00 s");
    CHECK(text_of(0.5, Unit::number) == "0.500");
    CHECK(text_of(Entry(), Unit::number).empty());
}
