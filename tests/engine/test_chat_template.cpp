// Chat templates beside Jinja itself (tests/reference/chat_templates.py), and where each byte comes from.
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/chat/template.h"
#include "tests/catch.h"
#include "tests/engine/messages.h"

#include <string>
#include <vector>

using namespace decoderscope;
using namespace decoderscope::chat;
using decoderscope::testing::error_of;

namespace {

const std::string kReference = std::string(DECODERSCOPE_TESTS_DIR) + "/reference/chat_templates.json";

Prompted prompted_of(const OrderedJson& one) {
    Prompted prompted;
    prompted.generation_prompt = one["add_generation_prompt"].get<bool>();
    prompted.special = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
    if (one.contains("more")) prompted.more = one["more"].dump();
    return prompted;
}

Text rendered(const std::string& source, const OrderedJson& messages, const Prompted& prompted = {}) {
    return ChatTemplate(source).render(messages, prompted).text;
}

const OrderedJson kTalk =
    OrderedJson::parse(R"([{"role": "user", "content": " Hi "}, {"role": "assistant", "content": "Yo"}])");

// The bytes that come from this message's own text, or from its turn.
std::string bytes_of(const Text& text, std::int32_t message, bool content) {
    std::string bytes;
    for (std::size_t i = 0; i < text.bytes().size(); ++i)
        if (text.origins()[i].message == message && text.origins()[i].content == content) bytes += text.bytes()[i];
    return bytes;
}

}  // namespace

TEST_CASE("a template writes what Jinja writes, and refuses what Jinja refuses") {
    const OrderedJson cases = OrderedJson::parse(read_text(kReference));
    REQUIRE(cases.size() > 70);
    for (const OrderedJson& one : cases) {
        const auto source = one["template"].get<std::string>();
        INFO(source);
        if (one["text"].is_null())
            CHECK(error_of([&] { (void)rendered(source, one["messages"], prompted_of(one)); }).find("line ") == 0);
        else
            CHECK(rendered(source, one["messages"], prompted_of(one)).bytes() == one["text"].get<std::string>());
    }
}

TEST_CASE("each byte knows whose it is, through filters, slices, macros and JSON") {
    const auto content_of = [&](const std::string& source, std::int32_t message) {
        return bytes_of(rendered(source, kTalk), message, true);
    };
    const std::string plain = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}\n{% endfor %}end";
    const Text text = rendered(plain, kTalk);
    CHECK(text.bytes() == "<user>Hi\n<assistant>Yo\nend");
    CHECK(bytes_of(text, 0, true) == "Hi");
    CHECK(bytes_of(text, 0, false) == "<user>\n");
    CHECK(bytes_of(text, 1, true) == "Yo");
    CHECK(bytes_of(text, -1, false) == "end");
    CHECK(content_of("{{ messages[1].content[:1] ~ messages[0]['content'].strip() }}", 0) == "Hi");
    CHECK(content_of("{% macro f(x) %}[{{ x|upper }}]{% endmacro %}{{ f(messages[1].content) }}", 1) == "YO");
    CHECK(content_of("{{ messages | tojson }}", 1) == "Yo");
    CHECK(content_of("{{ messages | map(attribute='content') | join('-') | replace('H', 'J') }}", 0) == " i ");
    CHECK(content_of("{% set x %}{{ messages[0].content }}{% endset %}{{ x.split('H')[1] }}", 0) == "i ");
}

TEST_CASE("a template may say itself what the model is to write") {
    const ChatTemplate marked(
        "{% for m in messages %}{{ m.role }}:{% generation %}{{ m.content }};{% endgeneration %}{% endfor %}");
    CHECK(marked.marks_generation());
    const Text text = marked.render(kTalk, {}).text;
    std::string bytes;
    for (std::size_t i = 0; i < text.bytes().size(); ++i)
        if (text.origins()[i].marked) bytes += text.bytes()[i];
    CHECK(bytes == " Hi ;Yo;");
    CHECK_FALSE(ChatTemplate("{{ messages }}").marks_generation());
}

TEST_CASE("the date is what is given, and that it was asked for is told") {
    const ChatTemplate dated("{{ strftime_now('%d %b %Y, %A, day %j') }}");
    const Rendered text = dated.render(kTalk, {.date = "2026-11-27"});
    CHECK(text.text.bytes() == "27 Nov 2026, Friday, day 331");
    CHECK(text.asked_for_date);
    CHECK_FALSE(ChatTemplate("x").render(kTalk, {}).asked_for_date);
    CHECK(error_of([&] { (void)dated.render(kTalk, {.date = "tomorrow"}); }) ==
          "line 1: strftime_now: “tomorrow” is no date, expected one such as 2026-11-27");
    CHECK(error_of([&] { (void)rendered("{{ strftime_now('%n%s') }}", kTalk); }) ==
          "line 1: strftime_now: %n is unknown here");
}

TEST_CASE("hostile templates get a sentence, and neither the machine's time nor its memory") {
    const auto many = [](const std::string& part, int count) {
        std::string all;
        for (int i = 0; i < count; ++i) all += part;
        return all;
    };
    const std::vector<std::string> hostile = {
        "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
        "{{ 'a' * 1000000000000 }}",
        "{{ ['a'] * 1000000000000 }}",
        "{% set x = 'aaaaaaaaaa' %}" + many("{% set x = x * 10 %}", 12) + "{{ x }}",
        "{% set x = 'aaaaaaaaaa' %}" + many("{% set x = x ~ x ~ x ~ x %}", 14) + "{{ x }}",
        "{% set x = ['a'] %}" + many("{% set x = x + x + x + x %}", 14) + "{{ x }}",
        "{% set x = 'ab' %}" + many("{% set x = x.replace('a', x) %}", 30) + "{{ x }}",
        "{% set x = 'ab' %}" + many("{% set x = x|replace('b', x ~ x) %}", 30) + "{{ x }}",
        "{% set x = 'a' %}" + many("{% set x %}{{ x }}{{ x }}{{ x }}{{ x }}{% endset %}", 15) + "{{ x }}",
        "{% set x = 'a,a' %}" + many("{% set x = x.split(',')|join(x) %}", 30) + "{{ x }}",
        "{% set x = [1] %}" + many("{% set x = [x, x] %}", 60) + "{{ x }}",
        "{% set x = [1] %}" + many("{% set x = [x, x] %}", 60) + "{{ x | tojson }}",
        "{% set x = [1] %}" + many("{% set x = {'a': x, 'b': x} %}", 60) + "{{ x == x }}",
        "{% set ns = namespace(x=1) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
        "{% set ns = namespace(x=1) %}{% set ns.x = [ns] %}",
        "{% set ns = namespace(x=1) %}{% set ns.x = ns %}",
        "{% set x = ',' %}" + many("{% set x = x ~ x %}", 22) + "{{ x.split(',')|length }}",
        "{% set x = ', ' %}" + many("{% set x = x ~ x %}", 22) + "{{ x.split()|length }}",
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% macro f(n) %}{{ g(n) }}{% endmacro %}{% macro g(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(0) }}",
        many("(", 100000),
        "{{ " + many("(", 100000) + "1" + many(")", 100000) + " }}",
        "{{ " + many("[", 5000) + many("]", 5000) + " }}",
        "{{ " + many("-", 5000) + "1 }}",
        "{{ " + many("not ", 5000) + "1 }}",
        many("{% if true %}", 5000) + many("{% endif %}", 5000),
        "{% if 1 %}" + many("{% elif 1 %}", 5000) + "{% endif %}",
        many("{% for x in [1] %}", 200) + many("{% endfor %}", 200),
        "{{ 9223372036854775807 + 1 }}",
        "{{ 99999999999999999999 }}",
        "{{ 3 ** 1000000000 }}",
        "{{ (-9223372036854775807 - 1) // -1 }}",
        "{{ 1 % 0 }}",
        "{{ range(9223372036854775807) }}",
        "{{ range(0, 10, 0) }}",
        "{{ 'abc'[::0] }}",
        "{{ 'x'|indent(100000) * 100000000 }}",
        "{{ ''.split('') }}",
        "{{ 'a'.replace('', 'b') }}",
        "{{ messages.pop() }}",
        "{{ messages[0].update({'role': 'x'}) }}",
        "{% set messages[0].role = 'x' %}",
        "{{ open('/etc/passwd').read() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{% import 'os' as os %}",
        "{% include '/etc/passwd' %}",
        "{% extends 'x' %}",
        "{{ strftime_now('%" + many("9", 1000) + "Y') }}",
        "{{ raise_exception(messages) }}",
        "{{ tools() }}",
        "{{ {1: 2} }}",
        "{{ 'a' | tojson(indent='x') }}",
        "{{ namespace | tojson }}",
        "{{ 'é' | upper }}",
        std::string("{{ \0 }}", 8),
        "{{ \"\\",
        "{%",
        "{{",
        "{% set",
        "{% for x in y if %}{% endfor %}",
    };
    REQUIRE(hostile.size() >= 50);
    for (const std::string& source : hostile) {
        INFO(source.substr(0, 80));
        if (source.front() == '(') {  // no tag at all: it is the text itself
            CHECK(rendered(source, kTalk).bytes() == source);
            continue;
        }
        const std::string said = error_of([&] { (void)rendered(source, kTalk); });
        CHECK(said.find("line ") == 0);
        CHECK(said.size() < 300);
    }
}

TEST_CASE("a template is UTF-8") {
    CHECK(error_of([&] { (void)rendered("{{ \xff }}", kTalk); }) == "the text is not UTF-8");
}
