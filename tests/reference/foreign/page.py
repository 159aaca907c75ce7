"""The page of models, docs/models.md: a table of what run_program.py found."""

import json

HEAD = """# Models

Which models open, with which settings, and what is asked. This page is written by `tests/reference/foreign/run_program.py`: each
line is a small decoder with the names and shapes of the original's file, opened by the program, and its logits and
intermediate tensors are compared with those of PyTorch. [opening.md](opening.md) says how to open a file.

"Right" means that every tensor agrees to within 1e-5 of its largest magnitude. `--set` on the command line, or the
dialog of the window, takes the settings in the third column. The last column has the right values of settings that
tensors can't show: the program assumes them or asks.
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
    lines = [HEAD, "## Hugging Face's families\n", "By their `config.json`; nothing is asked.\n",
             "| family | `model_type` | result |", "| --- | --- | --- |", *rows(models, verdicts, True), "",
             "## Tutorials, books and libraries\n", "A `state_dict()` saved as safetensors, without a configuration.\n",
             "| decoder | result | asked | not in the tensors |", "| --- | --- | --- | --- |",
             *rows(models, verdicts, False)]
    return "\n".join(lines) + "\n"
