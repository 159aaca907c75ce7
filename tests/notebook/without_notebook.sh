#!/bin/sh
# The Python package's tests that need no notebook, most of them with PyTorch: tests/notebook/without_notebook.sh PROGRAM
program=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
. "$root/scripts/python_with_torch.sh"
cd "$root/tests/notebook" || exit 1
PATH=$(dirname "$program"):$PATH
PYTHONPATH=$root/notebook OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
export PATH PYTHONPATH OPENBLAS_NUM_THREADS PYTHONDONTWRITEBYTECODE
# Teachers need no PyTorch.
if command -v python3 >/dev/null; then
    ${python:-python3} -W error -m unittest test_grade test_scorm || exit 1
fi
if [ -z "$python" ]; then
    echo 'no python3 with torch here'
    exit 77
fi
if ! $python -c 'import jinja2' 2>/dev/null; then
    echo 'no jinja2 here (Debian: python3-jinja2)'
    exit 77
fi
if command -v mypy >/dev/null; then
    (cd "$root/notebook" && mypy --no-error-summary --cache-dir=/dev/null decoderscope) || exit 1
else
    echo 'no mypy here: the types are not checked'
fi
# The viewer is in the wheel, which tests/notebook/run.sh makes.
exec $python -W ignore -m unittest test_lines test_bisection test_testing test_training test_writing test_rows test_lens test_masks test_chat test_templates test_watch test_package.Recorded test_package.Gradients
