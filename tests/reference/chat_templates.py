"""What chat templates write, by Jinja itself: chat_templates.json.

Jinja is set up as Hugging Face's transformers does for apply_chat_template: sandboxed, trim_blocks, lstrip_blocks, loop
controls, a {% generation %} tag, tojson without escapes for HTML, raise_exception. A case is a template, messages and
what else it is given; what comes out is a text, or that it is refused.
Run: python3 tests/reference/chat_templates.py (needs Jinja 3.1)
"""

import json
from pathlib import Path

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

HERE = Path(__file__).parent
SPECIAL = {"bos_token": "<s>", "eos_token": "</s>"}


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_write"), [], [], body).set_lineno(line)

    def _write(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise TemplateError(message)

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    return made


TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "  Hi, 'you' \"there\"\n"},
    {"role": "assistant", "content": "Hello — ü!"},
    {"role": "user", "content": "2+2?"},
    {"role": "assistant", "content": "<think>hm</think>\n\n4"},
]
ALTERNATING = TALK[1:]
CALLS = [
    {"role": "user", "content": "Weather?"},
    {"role": "assistant", "content": "", "tool_calls": [{"id": "a1", "type": "function", "function": {
        "name": "weather", "arguments": {"city": "Köln", "days": 2, "exact": True, "note": None}}}]},
    {"role": "tool", "name": "weather", "content": "{\"t\": 20.5}"},
    {"role": "assistant", "content": "20 degrees"},
]
TOOLS = [{"type": "function", "function": {"name": "weather", "description": "Says \"it\"", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}, "days": {"enum": [1, 2]}}, "required": [], "x": {}}}}]

FAMILIES = [
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}",
    "{{ bos_token }}{% for m in messages %}\n    {% if m.role == 'user' %}\n        [INST] {{ m.content | trim }} [/INST]\n"
    "    {%- elif m.role == 'assistant' -%}\n {{ m.content }}{{ eos_token }}\n    {%+ else %}\n x\n  {% endif %}\n  \n"
    "{% endfor %}\n\n",
    """{%- if messages[0]['role'] == 'system' -%}
    {%- set system_message = messages[0]['content'] -%}
    {%- set rest = messages[1:] -%}
{%- else -%}
    {%- set rest = messages -%}
{%- endif -%}
{{- bos_token }}
{%- for message in rest -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{- raise_exception('roles must alternate') -}}
    {%- endif -%}
    {%- if message['role'] == 'user' -%}
        {%- if loop.first and system_message is defined -%}
            {{- '[INST] <<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'].strip() + ' [/INST]' -}}
        {%- else -%}
            {{- '[INST] ' ~ message['content'] ~ ' [/INST]' -}}
        {%- endif -%}
    {%- else -%}
        {% generation %}{{- ' ' + message['content'] + eos_token -}}{% endgeneration %}
    {%- endif -%}
{%- endfor -%}
""",
    """{%- macro say(message) -%}
<|start|>{{ message.role }}<|message|>
{%- if message.tool_calls is defined and message.tool_calls %}
{%- for call in message.tool_calls %}
{{ {"name": call.function.name, "arguments": call.function.arguments} | tojson }}
{%- endfor %}
{%- else %}
{{- message.content.split('</think>')[-1].lstrip('\\n') }}
{%- endif %}<|end|>
{%- endmacro -%}
{%- if tools %}{{ tools | tojson(indent=4) }}{{ '\\n\\n' }}{% endif %}
{%- set ns = namespace(last=-1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.last < 0 and message.role == "user" %}{% set ns.last = index %}{% endif %}
{%- endfor %}
{%- for message in messages %}{{ say(message) }}{{ '*' if loop.index0 == ns.last }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|start|>assistant' }}{% if enable_thinking is defined and not enable_thinking %}<t></t>{% endif %}{% endif %}
""",
]

PIECES = [
    "{% set ns = namespace(n=0, found=false) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{% if m.role == 'user' %}"
    "{% set ns.found = true %}{% endif %}{% endfor %}{{ ns.n }} {{ ns.found }}",
    "{{ none }} {{ 1.0 }} {{ 3/2 }} {{ 7//2 }} {{ -7//2 }} {{ -7%3 }} {{ 7.5%2 }} {{ 2**10 }} {{ 2**-1 }} {{ 1e20 }} {{ 1e-7 }}"
    " {{ 0.1+0.2 }} {{ 100.0 }} {{ 1e16 }} {{ 1000000*1000000 }} {{ 1_000 }}",
    "{{ [1, 'a', none, true, 1.5] }} {{ {'a': 'b\"c', 'd': \"e'f\", 'g': 'h\\n'} }} {{ messages[0] }}",
    "{%- macro show(m, n=2, tail='!') -%}<{{ m.role|upper }}:{{ m.content[:n] }}{{ tail }}>{%- endmacro -%}"
    "{% for m in messages %}{{ show(m) }}{{ show(m, 3) }}{{ show(m, tail='?') }}{% endfor %}",
    "{% for m in messages if m.role != 'system' %}{{ loop.index }}/{{ loop.length }} {{ loop.first }} {{ loop.last }} "
    "{{ loop.revindex }} {{ loop.revindex0 }} {{ loop.cycle('a', 'b') }}{% else %}none{% endfor %}{% for x in [] %}"
    "{% else %}empty{% endfor %}",
    "{{ messages | selectattr('role', 'equalto', 'user') | map(attribute='content') | map('trim') | join('|') }} "
    "{{ messages[-1].content.split('</think>')[-1].lstrip('\\n') }} {{ messages[::-1][0].role }} {{ 'abc'[::-1] }} "
    "{{ 'a,b,,c'.split(',') }} {{ ' a  b '.split() }} {{ 'abcdef'[1:-1:2] }} {{ [1,2,3][-2:] }} {{ [1,2,3][5:] }}",
    "{{ messages[1] | tojson }}\n{{ tools is none }} {{ {'b': 1, 'a': [1, {'z': 2, 'y': 3.5}]} | tojson(sort_keys=true) }} "
    "{{ [] | tojson(indent=2) }} {{ [1, {}] | tojson(indent=2) }} {{ 'a\\tb\\u0001\"' | tojson }}",
    "{# comment #}\n  {# another #}\nx\n{%- raw %} {{ not }} {% endraw -%}  y",
    "{% if messages[0].role == 'system' and messages|length > 1 or false %}yes{% endif %}{{ 'a' if not true else 'b' }}"
    "{{ 'c' if false }}{{ x is defined }}{{ x is not defined and 3 is odd }}{{ 4 is divisibleby 2 }}{{ 'a' in 'abc' }}"
    "{{ 'z' not in ['a'] }}{{ 'role' in messages[0] }}{{ messages[0].nothing is undefined }}{{ messages[0].nothing }}",
    "{% set x = 1 %}{% for i in range(3) %}{% set x = i %}{{ x }}{% endfor %}{{ x }}{% for k, v in {'a': 1, 'b': 2}.items() %}"
    "{{ k }}={{ v }};{% endfor %}{% for k, v in {'b': 1, 'a': 2} | dictsort %}{{ k }}={{ v }};{% endfor %}",
    "{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}",
    "{% set x %}  hello {{ messages[0].role }} {% endset %}[{{ x|trim }}]{% filter upper %}abc{% endfilter %}"
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{{ (1, 2)[1] }}",
    "{{ 'é'|length }}{{ 'naïve'[2] }}{{ 'a\\tb\\u00e9' }}{{ 'it''s' }}{{ 1 < 2 < 3 }}{{ 3 > 2 > 2 }}{{ 1 == 1.0 }}{{ true == 1 }}"
    "{{ '10'|int + 1 }}{{ 3.7|int }}{{ -3|abs }}{{ 2 - -1 }}{{ not false }}{{ [1, 2] + [3] }}{{ 'ab' * 3 }}{{ 1 ~ 2 }}",
    "{{ 'hello world'|title }} {{ 'hELLO'|capitalize }} {{ 'x\\ny'|indent(2) }} {{ 'x\\ny'|indent(2, true) }} {{ [3, 1, 2]|sort }} "
    "{{ [3, 1, 2]|sort(reverse=true)|first }} {{ [1, 1, 2]|unique|list }} {{ 'abc'|reverse }} {{ [1, 2, 3]|last }} "
    "{{ ''|default('d', true) }} {{ y|default('d') }} {{ [1, 2]|sum }} {{ [1, 5, 2]|max }} {{ [4, 2]|min }} "
    "{{ 'aXbX'|replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }} {{ 2.5|round }} {{ 2.567|round(2) }}",
    "{{ messages | map(attribute='role') | list }} {{ messages|selectattr('content')|list|length }} "
    "{{ messages|rejectattr('role', 'in', ['user', 'assistant'])|list|length }} {{ messages[0].keys()|list }} "
    "{{ messages[0].get('x', 'no') }} {{ messages[0].get('role') }} {{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'bc')) }} "
    "{{ 'abc'.find('c') }} {{ 'aaa'.count('a') }} {{ 'ABC'.lower() }} {{ 'a-b-c'.split('-', 1)[1] }} {{ ' x '.rstrip() }}| "
    "{{ 'xxaxx'.strip('x') }} {{ 'abc'.removeprefix('a') if false else 'bc' }} {{ '12'.isdigit() }}",
    "  {% if true %}\n  a\n  {% endif %}\n  {{ 'b' }}\n  {%- if true %}\n c {% endif %}  \n{% set y = 3 %}\nz {{ y }}\n",
    "a\r\nb\r\n{% if true %}\r\nc{% endif %}\r\n",
    "{{ [[1, 2], [3]]|map('first')|list }}{{ [1, 2, 3, 4]|select('even')|list }}{{ [1, 2]|map('string')|join }}"
    "{{ {'a': {'b': 5}}.a.b }}{{ [{'a': {'b': 5}}]|map(attribute='a.b')|list }}{{ [0, 1, '']|select|list }}",
    "{{ messages is iterable }}{{ messages[0] is mapping }}{{ 1 is number }}{{ true is number }}{{ 1 is integer }}"
    "{{ true is integer }}{{ 1.5 is float }}{{ none is none }}{{ 'a' is sequence }}{{ 3 is in [1, 2, 3] }}{{ 'A' is upper }}"
    "{{ 'a' is string }}{{ 2 is eq 2 }}{{ 1 is lt 2 }}",
    "{% for a in [1, 2] %}{% for b in [3, 4] %}{{ loop.index }}{{ a }}{{ b }} {% endfor %}{{ loop.index }}{% endfor %}{{ loop }}",
    "{%- for m in messages %}{% if loop.previtem is defined and loop.previtem.role == 'user' %}P{% endif %}"
    "{% if loop.nextitem is defined %}N{% endif %}{% endfor %}",
    "{% macro a(x) %}{{ b(x) }}{% endmacro %}{% macro b(x) %}<{{ x }}{{ g }}>{% endmacro %}{% set g = 5 %}{{ a(1) }}",
    "{% if true -%}   x   {%- endif %} {{- ' y ' -}}  z {%- if false %}{% elif true %}E{% else %}F{% endif %}",
    "{{ 1 if true else 2 if true else 3 }}{{ (1 if false else 2) + 3 }}{{ 'a' 'b' }}{{ [1, 2,][0] }}{{ {'a': 1,}['a'] }}"
    "{{ 'x' ~ none ~ true }}{{ 5 - 3 - 1 }}{{ 2 * 3 ** 2 }}{{ -2 ** 2 }}{{ not 1 == 2 }}",
    "{{ messages.0.role }}{{ messages[99] is defined }}{{ messages[99] }}{{ 'abc'[5] is defined }}",
    "{% if x %}{{ x|nofilter }}{% endif %}kept",
    "{{ raise_exception('no') }}", "{{ messages[0].nothing.more }}", "{{ 'a' + 1 }}", "{{ none + 'a' }}",
    "{{ messages.append(1) }}", "{{ x|nofilter }}", "{{ x is notest }}", "{% nosuch %}", "{% for x in messages %}", "{{ 'abc' }",
    "{% if %}x{% endif %}", "{{ ''.__class__.__mro__ }}", "{{ 1/0 }}", "{{ nothing() }}", "{{ 'open }}", "{# open",
    "{% raw %}x", "{{ 'a' < 1 }}", "{% for a, b in [[1]] %}{% endfor %}", "{{ messages[0]() }}", "{{ 'a'|trim(", "{% endif %}",
    "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "{{ range(1000000000)|list }}", "{% set messages.x = 1 %}",
    "{% for x in none %}{% endfor %}", "{% set x %}a", "{% break %}", "{{ [1, 2 }}", "{{ {'a' 1} }}", "{{ 'x'.join(none) }}",
]


def cases():
    made = []
    for template in FAMILIES:
        for messages in (TALK, ALTERNATING, CALLS):
            for prompt in (False, True):
                made.append({"template": template, "messages": messages, "add_generation_prompt": prompt})
    made.append({"template": FAMILIES[3], "messages": CALLS, "more": {"tools": TOOLS}, "add_generation_prompt": False})
    made.append({"template": FAMILIES[3], "messages": CALLS, "more": {"enable_thinking": False}, "add_generation_prompt": True})
    for template in PIECES:
        made.append({"template": template, "messages": TALK, "add_generation_prompt": False})
    return made


def main():
    known = environment()
    written = []
    for case in cases():
        given = {"tools": None, "documents": None, **case.get("more", {})}
        try:
            case["text"] = known.from_string(case["template"]).render(
                messages=case["messages"], add_generation_prompt=case["add_generation_prompt"], **SPECIAL, **given)
        except Exception:  # whatever Jinja or Python throws
            case["text"] = None
        written.append(case)
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in written)
    (HERE / "chat_templates.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
