"""Chat templates beside plain Jinja (tests/reference/chat_templates.py), and where each character comes from."""

import json
import pathlib
import time
import unittest
from unittest import mock

from decoderscope import Problem, templates
from decoderscope.templates import ChatTemplate

REFERENCE = pathlib.Path(__file__).parent.parent / "reference" / "chat_templates.json"
TALK = [{"role": "user", "content": " Hi "}, {"role": "assistant", "content": "Yo"}]


def rendered(source, messages=TALK, date=None, **given):
    given = {"tools": None, "documents": None, "add_generation_prompt": False, **given}
    return ChatTemplate(source, date).render(messages, **given)


def said(source):
    try:
        return f"(no problem) {rendered(source).text[:100]}"
    except Problem as problem:
        return str(problem)


def characters(made, message, content, generated=None):
    return "".join(made.text[run.begin:run.end] for run in made.runs if run.origin.message == message
                   and run.origin.content == content and generated in (None, run.origin.generated))


class Templates(unittest.TestCase):
    def test_a_template_writes_what_jinja_writes_and_refuses_what_jinja_refuses(self):
        cases = json.loads(REFERENCE.read_text())
        self.assertGreater(len(cases), 70)
        lost = []  # texts in which the messages had to be looked for
        find_again = templates._found_again
        for case in cases:
            given = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": case["add_generation_prompt"],
                     **case.get("more", {})}
            with self.subTest(case["template"]):
                if case["text"] is None:
                    with self.assertRaisesRegex(Problem, "^line "):
                        rendered(case["template"], case["messages"], **given)
                    continue
                with mock.patch.object(templates, "_found_again", lambda text, by: lost.append(by) or find_again(text, by)):
                    made = rendered(case["template"], case["messages"], **given)
                self.assertEqual(made.text, case["text"])
                self.assertEqual(sum(run.end - run.begin for run in made.runs), len(made.text))
                self.assertFalse(any(isinstance(by, list) for by in lost), "the marks changed the text")

    def test_each_character_knows_whose_it_is_through_filters_slices_macros_and_json(self):
        text = rendered("{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}\n{% endfor %}end")
        self.assertEqual(text.text, "<user>Hi\n<assistant>Yo\nend")
        self.assertEqual(characters(text, 0, True), "Hi")
        self.assertEqual(characters(text, 0, False), "<user>\n")
        self.assertEqual(characters(text, 1, True), "Yo")
        self.assertEqual(characters(text, -1, False), "end")
        for source, message, content in [
                ("{{ messages[1].content[:1] ~ messages[0]['content'].strip() }}", 0, "Hi"),
                ("{% macro f(x) %}[{{ x|upper }}]{% endmacro %}{{ f(messages[1].content) }}", 1, "YO"),
                ("{{ messages | tojson }}", 1, "Yo"),
                ("{{ messages | tojson(ensure_ascii=true, indent=2, sort_keys=true) }}", 0, " Hi "),
                ("{{ messages }}", 1, "Yo"),
                ("{{ messages | map(attribute='content') | join('-') | replace('H', 'J') }}", 0, " i "),
                ("{% set x %}{{ messages[0].content }}{% endset %}{{ x.split('H')[1] }}", 0, "i "),
                ("{{ '<' + messages[1].content + '>' }}", 1, "Yo"),
                ("{{ '-'.join([messages[1].content, 'x']) }}", 1, "Yo"),
                ("{{ '%s!' | format(messages[1].content) }}", 1, "Yo"),
                ("{{ '%s!' % messages[1].content }}", 1, "Yo"),
                ("{{ '{}, {}'.format(messages[1].content, 1) }}", 1, "Yo"),
                ("{{ messages[1].content | indent(2, true) | safe }}", 1, "Yo"),
                ("{{ messages[1].content | center(9) }}", 1, "Yo"),
                ("{{ messages[1].content.rpartition('o')[0] ~ messages[1].content.partition('Y')[2] }}", 1, "Yo"),
                ("{{ 'aXb'.replace('X', messages[1].content) }}", 1, "Yo"),
                ("{% for c in messages[1].content %}{{ c }}.{% endfor %}", 1, "Yo"),
                ("{{ messages[1].content | list | reverse | join }}", 1, "oY"),
                ("{{ messages[0].content.rsplit(' ', 1)[0].removeprefix(' ') * 2 }}", 0, "HiHi"),
                ("{{ (messages[1].content ~ '\\n').splitlines()[0] | title }}", 1, "Yo")]:
            with self.subTest(source):
                self.assertEqual(characters(rendered(source), message, True), content)

    def test_letters_keep_their_origin_where_a_case_makes_more_of_them(self):
        made = rendered("{{ 'x' ~ messages[0].content | upper ~ 'y' }}", [{"role": "user", "content": "Straße é"}])
        self.assertEqual(made.text, "xSTRASSE Éy")
        self.assertEqual(characters(made, 0, True), "STRASSE É")

    def test_a_loop_over_messages_says_whose_turn_it_is(self):
        made = rendered("a{% for m in messages %}b{% for x in [1, 2] %}c{% endfor %}{% if loop.first %}{% continue %}"
                        "{% endif %}d{% break %}{% endfor %}e{% for k, v in messages[0].items() %}f{% endfor %}")
        self.assertEqual(made.text, "abccbccdeff")
        self.assertEqual([characters(made, number, False) for number in (-1, 0, 1)], ["aeff", "bcc", "bccd"])

    def test_a_template_may_say_itself_what_the_model_is_to_write(self):
        marked = ChatTemplate("{% for m in messages %}{{ m.role }}:{% generation %}{{ m.content }};{% endgeneration %}{% endfor %}")
        self.assertTrue(marked.marks_generation)
        made = marked.render(TALK)
        self.assertEqual("".join(made.text[run.begin:run.end] for run in made.runs if run.origin.generated), " Hi ;Yo;")
        self.assertFalse(ChatTemplate("{{ messages }}").marks_generation)

    def test_the_date_is_what_is_given_and_that_it_was_asked_for_is_told(self):
        source = "{{ strftime_now('%d %b %Y, %A, day %j') }}"
        made = rendered(source, date="2026-11-27")
        self.assertEqual(made.text, "27 Nov 2026, Friday, day 331")
        self.assertEqual(made.date, "2026-11-27")
        self.assertIsNone(rendered("x").date)
        self.assertEqual(rendered("{{ strftime_now('%Y') }}").text, time.strftime("%Y"))
        with self.assertRaisesRegex(Problem, "^date: tomorrow: expected one such as 2026-11-27"):
            rendered(source, date="tomorrow")

    @mock.patch.object(templates, "_SECONDS", 0.5)
    def test_hostile_templates_get_a_sentence_and_neither_the_machines_time_nor_its_memory(self):
        hostile = [
            "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
            "{{ 'a' * 1000000000000 }}",
            "{{ ['a'] * 1000000000000 }}",
            "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x * 10 %}" * 12 + "{{ x }}",
            "{% set x = 'aaaaaaaaaa' %}" + "{% set x = x ~ x ~ x ~ x %}" * 14 + "{{ x }}",
            "{% set x = ['a'] %}" + "{% set x = x + x + x + x %}" * 14 + "{{ x }}",
            "{% set x = 'ab' %}" + "{% set x = x.replace('a', x) %}" * 30 + "{{ x }}",
            "{% set x = 'ab' %}" + "{% set x = x|replace('b', x ~ x) %}" * 30 + "{{ x }}",
            "{% set x = 'a' %}" + "{% set x %}{{ x }}{{ x }}{{ x }}{{ x }}{% endset %}" * 15 + "{{ x }}",
            "{% set x = 'a,a' %}" + "{% set x = x.split(',')|join(x) %}" * 30 + "{{ x }}",
            "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x }}",
            "{% set x = [1] %}" + "{% set x = [x, x] %}" * 60 + "{{ x | tojson }}",
            "{% set x = [1] %}" + "{% set x = {'a': x, 'b': x} %}" * 60 + "{{ x == x }}",
            "{% set ns = namespace(x=1) %}{% for i in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}",
            "{% set x = ',' %}" + "{% set x = x ~ x %}" * 22 + "{{ x.split(',')|length }}",
            "{% set x = ', ' %}" + "{% set x = x ~ x %}" * 22 + "{{ x.split()|length }}",
            "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
            "{% macro f(n) %}{{ g(n) }}{% endmacro %}{% macro g(n) %}{{ f(n) }}{{ f(n) }}{% endmacro %}{{ f(0) }}",
            "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
            "{{ " + "[" * 5000 + "]" * 5000 + " }}",
            "{{ " + "-" * 5000 + "1 }}",
            "{{ " + "not " * 5000 + "1 }}",
            "{% if true %}" * 5000 + "{% endif %}" * 5000,
            "{% for x in [1] %}" * 200 + "{% endfor %}" * 200,
            "{{ 1" + " + 1" * 3000 + " }}",
            "{{ 1" + " ** 1" * 3000 + " }}",
            "{{ 1" + " or 1" * 3000 + " }}",
            "{{ 1" + " and 1" * 3000 + " }}",
            "{{ x" + ".x" * 3000 + " }}",
            "{{ x" + "[0]" * 3000 + " }}",
            "{{ x" + "[:1]" * 3000 + " }}",
            "{{ x" + "()" * 3000 + " }}",
            "{{ x" + "|upper" * 3000 + " }}",
            "{{ 1" + " is defined" * 3000 + " }}",
            "{{ 1" + " is not defined" * 3000 + " }}",
            "{{ 1" + " if 1" * 3000 + " }}",
            "{% if 0 %}{{ x" + ".x" * 3000 + " }}{% endif %}",
            "{{ 3 ** 1000000000 }}",
            "{{ 1 % 0 }}",
            "{{ range(9223372036854775807) }}",
            "{{ range(0, 10, 0) }}",
            "{{ 'abc'[::0] }}",
            "{{ 'x'|indent(100000) * 100000000 }}",
            "{{ 'x'|center(1000000000) }}",
            "{{ 'x'.ljust(1000000000) }}",
            "{{ '%1000000000d' % 1 }}",
            "{{ '{:>1000000000}'.format(1) }}",
            "{{ lipsum(1000000) }}",
            "{{ ''.split('') }}",
            "{{ messages.remove(messages[0]) }}",
            "{{ messages[0].update({'role': 'x'}) }}",
            "{% set messages[0].role = 'x' %}",
            "{{ open('/etc/passwd').read() }}",
            "{{ self.__init__.__globals__ }}",
            "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
            "{{ messages[0].content.strip.__func__.__globals__ }}",
            "{{ messages[0].content.split.__globals__.os }}",
            "{{ ''.__class__.__mro__[1].__subclasses__() }}",
            "{% import 'os' as os %}",
            "{% include '/etc/passwd' %}",
            "{% extends 'x' %}",
            "{{ raise_exception(messages) }}",
            "{{ tools() }}",
            "{{ namespace | tojson }}",
            "{{ \"\\",
            "{%",
            "{{",
            "{% set",
            "{% for x in y if %}{% endfor %}",
        ]
        self.assertGreaterEqual(len(hostile), 50)
        for source in hostile:
            began = time.process_time()
            with self.subTest(source[:80]):
                self.assertRegex(said(source), "^line ")
                self.assertLess(len(said(source)), 300)
                self.assertLess(time.process_time() - began, 10)
        self.assertEqual(rendered("(" * 3000).text, "(" * 3000)  # no tag at all: it is the text itself


if __name__ == "__main__":
    unittest.main()
