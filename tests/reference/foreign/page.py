"""The page of models, models.md: a table of what run_program.py found."""

import json

HEAD = """# Models

This page lists models that open, with the settings that they need. `run_program.py` writes it: each is a small decoder with the names and shapes of the original's file, whose logits and intermediate tensors are compared with PyTorch's.
"Right" means that every tensor agrees to within 1e-5 of its largest magnitude.
"""

FAMILIES = """## Hugging Face's families

All families of [opening.md](../../../docs/opening.md#hugging-faces-families) open by their `config.json`, without questions, and are right: {count} models.
"""

OTHERS = """## Tutorials, books and libraries

Each is a `state_dict()` saved as safetensors, without a configuration. Give the settings in the third column with `--set` on the command
line, or in the window's dialog. The last column has the right values of settings that the tensors can't show: the program assumes them or
asks. "With its assumed settings" means that they must be given, too.
"""


def setting(key, answer):
    return f"`{key}={answer if isinstance(answer, str) else json.dumps(answer)}`"


def settings(answers):
    return ", ".join(setting(key, entry["answer"]) for key, entry in answers.items()) or "—"


def result(said):
    last = said[-1]
    how = "" if last["how"] == "as it is" else ", " + last["how"]
    if last["result"] == "refused":
        return "refused: " + last["sentence"].replace("|", "\\|")
    if last["result"] == "right":
        return "right" + how
    return f"**wrong**{how}: logits off by {last['logits']:.0e} of their scale"


def rows(models, verdicts, has_config):
    found = []
    for folder in models:
        if (folder / "config.json").exists() != has_config:
            continue
        about = json.loads((folder / "about.json").read_text())
        source = about["source"]
        title = f"{about['title']} ({source['repository']})" if not has_config else about["title"]
        if has_config:
            kind = json.loads((folder / "config.json").read_text())["model_type"]
            found.append(f"| {title} | `{kind}` | {result(verdicts[folder.name])} |")
        else:
            found.append(f"| {title} | {result(verdicts[folder.name])} | {settings(about.get('asks', {}))} | "
                         f"{settings(about.get('assumes', {}))} |")
    return found


def page(models, verdicts):
    families = rows(models, verdicts, True)
    wrong = [row for row in families if not row.endswith("| right |")]
    table = ["| family | `model_type` | result |", "| --- | --- | --- |", *wrong, ""] if wrong else []
    lines = [HEAD, FAMILIES.format(count=len(families) - len(wrong)), *table, OTHERS,
             "| decoder | result | asked | not in the tensors |", "| --- | --- | --- | --- |", *rows(models, verdicts, False)]
    return "\n".join(lines) + "\n"
