// Files that are written in the background.
#include "app/core/figure/export.h"
#include "app/core/session/session.h"
#include "engine/load/bundled_models.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

using namespace decoderscope::testing;

namespace {

Heatmap small() {
    return {.title = "t",
            .row_axis = "query",
            .column_axis = "key",
            .rows = 1,
            .columns = 1,
            .row_labels = {"0"},
            .column_labels = {"0"},
            .values = {1.0F}};
}

// Heatmaps that each wait at a gate. In a build without threads nothing could open the gate meanwhile: there one is
// made per slice.
struct Gate {
    std::atomic<int> open = 0, made = 0;

    std::shared_ptr<const Exhibit> exhibit(int count) {
        Exhibit exhibit;
        for (int i = 0; i < count; ++i)
            exhibit.panels.push_back({"t", "head " + std::to_string(i), 1, 1, [this] {
                                          const int number = made++;
                                          while (kJobsOnThreads && open <= number) std::this_thread::yield();
                                          return small();
                                      }});
        return std::make_shared<const Exhibit>(std::move(exhibit));
    }
};

void until_made(Exporter& exporter, const Gate& gate, int count) {
    while (gate.made < count) {
        exporter.advance(JobRunner::Clock::now());
        std::this_thread::yield();
    }
}

Exporter::Order order(std::shared_ptr<const Exhibit> exhibit, std::string path, std::string each) {
    Exporter::Order made;
    made.exhibit = std::move(exhibit);
    made.path = std::move(path);
    made.each = std::move(each);
    return made;
}

Exporter::Result finished(Exporter& exporter) {
    for (;;) {
        exporter.wait(std::chrono::milliseconds(1000));
        if (const auto result = exporter.collect()) return *result;
    }
}

}  // namespace

TEST_CASE("an export says how far it is and what it wrote") {
    const TemporaryFolder folder;
    Gate gate;
    std::atomic<int> woken = 0;
    std::optional<Exporter> there(std::in_place, [&] { ++woken; });
    Exporter& exporter = *there;
    CHECK_FALSE(exporter.progress());
    exporter.start(order(gate.exhibit(20), folder.file("heads"), ".csv"));
    gate.open = 7;
    until_made(exporter, gate, 8);
    REQUIRE(exporter.progress());
    CHECK(exporter.progress()->done == 8);
    CHECK(exporter.progress()->total == 20);
    CHECK_FALSE(exporter.collect());
    gate.open = 20;
    const Exporter::Result result = finished(exporter);
    CHECK_FALSE(result.failed);
    CHECK(result.sentence.english() == "20 files written to " + folder.file("heads"));
    CHECK_FALSE(exporter.progress());
    CHECK(read_bytes(folder.file("heads/t.head19.csv")) == "query\\key,0\r\n0,1\r\n");
    CHECK(folder.entries() == 1);
    there.reset();  // the last wake may still have been in progress
    CHECK(woken >= 21);
}

TEST_CASE("an export that is stopped leaves nothing, and the next one is written") {
    const TemporaryFolder folder;
    Gate gate;
    Exporter exporter({});
    for (const std::string each : {".svg", ""}) {
        gate.made = 0;
        gate.open = 0;
        exporter.start(order(gate.exhibit(40), folder.file(each.empty() ? "heads.npz" : "heads"), each));
        gate.open = 3;
        if (!kJobsOnThreads && each.empty()) {  // one file is one slice
            exporter.stop();
            CHECK(finished(exporter).sentence.english().find("cancelled; nothing was written") != std::string::npos);
            CHECK(folder.entries() == 0);
            continue;
        }
        until_made(exporter, gate, 4);
        CHECK(folder.entries() == 1);  // the file being written, under a temporary name
        exporter.stop();
        gate.open = 40;
        const Exporter::Result result = finished(exporter);
        CHECK(result.failed);
        CHECK(result.sentence.english().find("cancelled; nothing was written") != std::string::npos);
        CHECK(gate.made < 40);
        CHECK(folder.entries() == 0);
    }
    gate.open = 1000;
    exporter.start(order(gate.exhibit(3), folder.file("heads.csv"), ""));
    CHECK_FALSE(finished(exporter).failed);
    CHECK(folder.entries() == 1);
}

TEST_CASE("a session exports what it is given, and says so when it is there") {
    const TemporaryFolder folder;
    Session session(make_bundled_model("causal-lm"));
    session.apply(command::Export{folder.file("step.json")});
    session.finish();
    REQUIRE(session.message());
    CHECK(session.message()->text.english() == "Written to " + folder.file("step.json"));
    CHECK(read_bytes(folder.file("step.json")).find("\"caption\": \"causal-lm · blocks.") != std::string::npos);
    CHECK_FALSE(session.exporting());
    CHECK_FALSE(session.can_undo());
}
