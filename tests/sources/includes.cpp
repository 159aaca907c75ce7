#include "tests/sources/includes.h"

#include "tests/sources/cpp_tokens.h"
#include "tests/sources/library_headers.h"
#include "tests/sources/names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

namespace decoderscope::testing {

namespace {

struct File {
    std::vector<std::string> includes;
    Names names;
};
using Files = std::map<std::string, File>;
using Offers = std::map<std::string, std::set<std::string>>;  // the files by what they offer

// A file and all that it includes: paths of the project's own, and of other headers as in "<vector>".
void collect(const Files& files, const std::string& path, std::set<std::string>& reached) {
    if (!reached.insert(path).second || !files.contains(path)) return;
    for (const std::string& include : files.at(path).includes)
        collect(files, include.front() == '<' ? include : include.substr(1, include.size() - 2), reached);
}

// The files that a file could have a name from: headers, and the sources of its folder, which are compiled together.
std::set<std::string> offered_to(const std::string& path, const std::string& name, const Offers& offers) {
    std::set<std::string> files;
    const auto found = offers.find(name);
    if (found == offers.end()) return files;
    const auto folder = [](const std::string& of) { return of.substr(0, of.rfind('/')); };
    std::ranges::copy_if(found->second, std::inserter(files, files.end()),
                         [&](const std::string& file) { return file.ends_with(".h") || folder(file) == folder(path); });
    return files;
}

// What one file uses that nothing it reaches declares.
std::vector<std::string> missing_in(const std::string& path, const Files& files, const Offers& offers) {
    std::set<std::string> reached;
    collect(files, path, reached);
    const auto is_declared = [&](const std::string& name) {
        return std::ranges::any_of(reached, [&](const std::string& header) {
            const auto found = files.find(header);
            return found != files.end() && found->second.names.declared.contains(name);
        });
    };
    std::vector<std::string> missing;
    const auto lacks = [&](const std::string& name, const std::set<std::string>& headers) {
        const auto has = [&](const std::string& header) { return header == "*" || reached.contains(header); };
        if (headers.empty())
            missing.push_back(path + ": uses " + name +
                              ", which tests/sources/library_headers.cpp lists for no header");
        else if (std::ranges::none_of(headers, has))
            missing.push_back(path + ": uses " + name + ", but neither it nor what it includes has " +
                              *headers.begin());
    };
    const Names& names = files.at(path).names;
    for (const std::string& name : names.standard) lacks("std::" + name, standard_headers_of(name));
    for (const std::string& name : names.used) {
        if (is_declared(name)) continue;
        if (const auto headers = library_headers_of(name); !headers.empty())
            lacks(name, headers);
        else if (const auto offered = offered_to(path, name, offers); !offered.empty())
            lacks(name, offered);
    }
    return missing;
}

}  // namespace

std::vector<std::string> missing_includes(const Texts& texts) {
    Files files;
    Offers offers;
    for (const auto& [path, text] : texts) {
        const Source source = read_tokens(text);
        const File& file = files[path] = {source.includes, names_in(source.tokens)};
        for (const std::string& name : file.names.offered) offers[name].insert(path);
    }
    std::vector<std::string> missing;
    for (const auto& [path, file] : files)
        std::ranges::move(missing_in(path, files, offers), std::back_inserter(missing));
    return missing;
}

}  // namespace decoderscope::testing
