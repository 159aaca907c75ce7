#include "app/core/language/languages.h"
#include "engine/base/error.h"
#include "tests/catch.h"

#include <string>

using namespace decoderscope::testing;
using namespace decoderscope::core::language;

namespace {

const std::string kHeader =
    "msgid \"\"\nmsgstr \"\"\n\"Language: xx\\n\"\n\"X-Language-Name: Xhosk\\n\"\n"
    "\"Plural-Forms: nplurals=3; plural=n==1 ? 0 : n==2 ? 1 : 2;\\n\"\n\n";

Catalog catalog_of(const std::string& entries) { return parse_po(kHeader + entries).catalog; }

std::string complaint(const std::string& text) {
    try {
        static_cast<void>(parse_po(text));
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("translations are read with their escapes, over several lines, whatever comments stand between them") {
    const Catalog catalog = catalog_of(
        "# a translator's note\n#. a programmer's\n#: app/a.cpp\n#, no-c-format\nmsgid \"Save\"\nmsgstr \"Zave\"\n"
        "#~ msgid \"Gone\"\n#~ msgstr \"Bye\"\n"
        "msgid \"\"\n\"two \"\n\"parts\"\nmsgstr \"\"\n\"a \\\"b\\\"\\n\"\n\"c\\\\d\\te\"\n");
    CHECK(catalog.text(message("Save")) == std::string("Zave"));
    CHECK(catalog.text(message("two parts")) == std::string("a \"b\"\nc\\d\te"));
    CHECK(catalog.text(message("Gone")) == std::string("Gone"));
    CHECK(catalog.text(message("unknown")) == std::string("unknown"));
}

TEST_CASE("the same English in another context has its own translation") {
    const Catalog catalog =
        catalog_of("msgid \"open\"\nmsgstr \"A\"\n\nmsgctxt \"verb\"\nmsgid \"open\"\nmsgstr \"B\"\n");
    CHECK(catalog.text(message("open")) == std::string("A"));
    CHECK(catalog.text(message_c("verb", "open")) == std::string("B"));
}

TEST_CASE("a count chooses among the plural forms") {
    const Catalog catalog = catalog_of(
        "msgid \"{count} step\"\nmsgid_plural \"{count} steps\"\nmsgstr[0] \"one\"\nmsgstr[1] \"two\"\nmsgstr[2] "
        "\"many\"\n");
    const auto text = [&](std::int64_t count) {
        return std::string(catalog.text(message("{count} step"), message("{count} steps"), count));
    };
    CHECK(text(1) == "one");
    CHECK(text(2) == "two");
    CHECK(text(0) == "many");
    CHECK(text(17) == "many");
}

TEST_CASE("what is fuzzy or not translated stays English") {
    const Catalog catalog = catalog_of(
        "#, fuzzy\nmsgid \"Save\"\nmsgstr \"wrong\"\n\nmsgid \"Open\"\nmsgstr \"\"\n\nmsgid \"{count} a\"\n"
        "msgid_plural \"{count} b\"\nmsgstr[0] \"x\"\nmsgstr[1] \"\"\nmsgstr[2] \"z\"\n\nmsgid \"Next\"\nmsgstr "
        "\"N\"\n");
    CHECK(catalog.text(message("Save")) == std::string("Save"));
    CHECK(catalog.text(message("Open")) == std::string("Open"));
    CHECK(catalog.text(message("{count} a"), message("{count} b"), 1) == std::string("{count} a"));
    CHECK(catalog.text(message("Next")) == std::string("N"));
}

TEST_CASE("the header is read alone, too") {
    const PoHeader header = parse_po_header(kHeader + "nonsense");
    CHECK(header_line(header, "X-Language-Name") == "Xhosk");
    CHECK(header_line(header, "Language") == "xx");
    CHECK(header_line(header, "Nothing").empty());
}

TEST_CASE("a broken file is named by its line") {
    CHECK(complaint("") != "");
    CHECK(complaint("msgid \"a\"\nmsgstr \"b\"\n").find("header") != std::string::npos);
    CHECK(complaint("msgid \"\"\nmsgstr \"Language: x\\n\"\n").find("Plural-Forms") != std::string::npos);
    const auto said = [](const std::string& entries) { return complaint(kHeader + entries); };
    CHECK(said("msgid \"a\nmsgstr \"b\"\n").find("line 7: ") == 0);
    CHECK(said("msgid \"a\"\nmsgstr \"b\n").find("line 8: ") == 0);
    CHECK(said("msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"c\"\n").find("line 7: ") == 0);
    CHECK(said("msgid \"a\"\nmsgstr[0] \"b\"\n").find("line 8: ") == 0);
    CHECK(said("msgid \"a\"\nmsgid \"b\"\nmsgstr \"c\"\n").find("line 8: ") == 0);
    CHECK(said("msgid \"a\"\nmsgstr \"b\"\nmsgstr \"c\"\n").find("line 9: ") == 0);
    CHECK(said("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"c\"\n").find("line 9: ") == 0);
    CHECK(said("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\n").find("line 7: ") == 0);
    CHECK(said("msgid \"a \\q\"\nmsgstr \"b\"\n").find("line 7: ") == 0);
    CHECK(said("msgid \"a \"b\"\nmsgstr \"b\"\n").find("line 7: ") == 0);
    CHECK(said("message \"a\"\n").find("line 7: ") == 0);
    CHECK(said("\"lost\"\n").find("line 7: ") == 0);
    CHECK(said("msgid \"\xFF\"\nmsgstr \"b\"\n") == "not UTF-8");
}

TEST_CASE("a file that is cut anywhere, or damaged anywhere, is read or refused, and never more than that") {
    const std::string whole = kHeader +
                              "msgctxt \"v\"\nmsgid \"{count} a\"\nmsgid_plural \"{count} b\"\nmsgstr[0] \"x\"\n"
                              "msgstr[1] \"y\"\nmsgstr[2] \"\\\"z\"\n\n#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"\n";
    for (std::size_t size = 0; size < whole.size(); ++size) {
        static_cast<void>(complaint(whole.substr(0, size)));
        for (const char c : {'"', '\\', '\n', '[', '9', '\x80'}) {
            std::string damaged = whole;
            damaged[size] = c;
            static_cast<void>(complaint(damaged));
        }
    }
    SUCCEED();
}
