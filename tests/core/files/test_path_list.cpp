// Paths as they are typed, completed and dropped.
#include "app/core/session/paths_to_open.h"
#include "tests/catch.h"
#include "tests/engine/temporary_folder.h"

#include <cstdlib>
#include <filesystem>

using namespace decoderscope::testing;

namespace {

std::vector<std::string> names_listed(const PathList& list) {
    std::vector<std::string> names;
    for (const PathList::Entry& entry : list.entries) names.push_back(entry.name);
    return names;
}

// plain/, model-a/ with a config.json, model-b/ with weights, weights.safetensors, old.pt, notes.txt, .hidden/
struct Folder {
    TemporaryFolder folder;
    Folder() {
        for (const char* name : {"plain", "model-a", "model-b", ".hidden"})
            std::filesystem::create_directory(folder.file(name));
        for (const char* name :
             {"model-a/config.json", "model-b/model.safetensors", "weights.safetensors", "old.pt", "notes.txt"})
            write_bytes(folder.file(name), "x");
    }
};

}  // namespace

TEST_CASE("possible completions of a path are listed, and their common part is filled in") {
    const Folder f;
    const PathList all = list_paths(f.folder.file(""));
    CHECK(names_listed(all) ==
          std::vector<std::string>{"model-a/", "model-b/", "old.pt", "plain/", "weights.safetensors"});
    CHECK(all.entries[0].kind == PathKind::model_folder);
    CHECK(all.entries[1].kind == PathKind::model_folder);
    CHECK(all.entries[2].kind == PathKind::pickled);
    CHECK(all.entries[3].kind == PathKind::folder);
    CHECK(all.entries[4].kind == PathKind::weights);
    CHECK(all.completed == f.folder.file(""));
    CHECK(list_paths(f.folder.file("m")).completed == f.folder.file("model-"));
    CHECK(list_paths(f.folder.file("p")).completed == f.folder.file("plain/"));
    CHECK(list_paths(f.folder.file("w")).completed == f.folder.file("weights.safetensors"));
    CHECK(names_listed(list_paths(f.folder.file("model-a"))) == std::vector<std::string>{"model-a/"});
    CHECK(names_listed(list_paths(f.folder.file(".h"))) == std::vector<std::string>{".hidden/"});
    CHECK(list_paths(f.folder.file("z")).entries.empty());
    CHECK(list_paths(f.folder.file("z")).completed == f.folder.file("z"));
    CHECK(list_paths("/nowhere/at/all/").error.english().find("/nowhere/at/all") != std::string::npos);
    static_cast<void>(list_paths(""));
    static_cast<void>(list_paths(std::string(100'000, '/') + "\xff"));
}

TEST_CASE("a path is taken as it was pasted") {
    CHECK(path_of("  /a b/c \n") == "/a b/c");
    CHECK(path_of("\"/a b\"") == "/a b");
    CHECK(path_of("'/a b'") == "/a b");
    CHECK(path_of("\"") == "\"");
    const char* home = std::getenv("HOME");
    if (home != nullptr) CHECK(path_of("~/x") == std::string(home) + "/x");
    CHECK(path_of("~x") == "~x");
}

TEST_CASE("of several dropped paths the first that is a model is opened") {
    const Folder f;
    const auto among = [&](const std::vector<std::string>& list) {
        std::vector<std::string> paths;
        for (const std::string& name : list) paths.push_back(f.folder.file(name));
        return model_among(paths).substr(f.folder.path().size() + 1);
    };
    CHECK(among({"notes.txt", "plain", "old.pt", "model-b", "weights.safetensors"}) == "model-b");
    CHECK(among({"notes.txt", "old.pt", "plain"}) == "old.pt");
    CHECK(among({"notes.txt", "plain"}) == "notes.txt");
    CHECK(model_among({}).empty());
    // A manifest or an index names the files that belong to it, in whatever order they come.
    CHECK(among({"t.rank0-of-2.safetensors", "t.manifest.json", "t.rank1-of-2.safetensors"}) == "t.manifest.json");
    CHECK(among({"shards/model-1-of-2.safetensors", "shards/model.safetensors.index.json"}) == "shards");
}
