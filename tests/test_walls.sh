#!/bin/sh
# Fails where a room includes what it must not know: test_walls.sh ROOT
cd "$1" || exit 1
broken=0

# The includes of a folder's files that match a pattern break a wall: wall FOLDER PATTERN WHAT-THE-WALL-IS
wall() {
    found=$(grep -rnE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1" --include='*.h' --include='*.cpp')
    [ -z "$found" ] && return
    printf '%s:\n%s\n' "$3" "$found"
    broken=1
}

imgui='imgui|backends/'
screen='GLFW/|GL/|GLES|EGL/|X11/'

wall engine "app/|cairo|CLI/|$imgui|$screen" 'the engine knows numbers, and nothing of the program around it'
wall app/core "app/(views|window|cli)|CLI/|$imgui|$screen" 'app/core has no pixels'
wall app/cli 'app/(views|window)/' 'the commands need no window'
wall app 'engine/ops/' 'the program asks a step or an operation what it is (engine/graph/plan.h, traits.h), and knows none by its type'
wall engine/ops 'engine/(model|decoder)/' 'an operation knows neither models nor architectures'
for below in checks derived figure files generate jobs language run session text train; do
    wall "app/core/$below" 'app/core/(tabs|compare|lessons|report|sheet|ask|book|glossary)/' 'tabs, lessons and the report stand above the session'
done
wall app/views/widgets 'app/core/(tabs|session|lessons)/' 'a widget knows no tab'
wall app/views "app/(window|cli)|CLI/|cairo|backends/|$screen|engine/(ops|decoder)/" \
    'app/views draw; they neither compute nor know the window'

# Folders are layers: none reads, through others, one that reads it. Draws them.
sh tests/folder_graph.sh . || broken=1

# What a step is, the step says; a name that ends or begins in some way tells nothing that could be relied on.
guesses=$(grep -rnE '(name|attention|block|title|tensor)\.(ends_with|starts_with)\(|\.find\("\.|\.as<|(part|title) == "' app \
    --include='*.h' --include='*.cpp' | grep -vE '^app/core/(files/|session/paths_to_open)')
if [ -n "$guesses" ]; then
    printf 'a step says what it is (engine/graph/plan.h), nothing guesses it from a name:\n%s\n' "$guesses"
    broken=1
fi
# Nor is a step's name put together or taken apart: Plan::step_of, twin_in and gradient_by find steps. Tables that translate
# names (transformer_lens.cpp, the glossary) list them; what a person typed is read by name (app/cli/, files/).
step_names='q|k|v|z|attn|cross_attn|attn_out|attn_scores|masked_scores|mask|pattern|result|scale|normalized|mlp|mlp_out|resid_pre|resid_mid|resid_post|dropped|drop'
composed=$(grep -rnE "\+ \"\.($step_names)[\".]|\"\.($step_names)\"|\"grad\.|\"(encoder\.)?blocks\.\" ?\+|\"\.through|rfind\(\"\." app \
    --include='*.h' --include='*.cpp' | grep -vE '^app/(cli/|core/files/|core/compare/transformer_lens|core/glossary/|desktop/tour)|^[^:]*:[0-9]*: *//|; +// ')
if [ -n "$composed" ]; then
    printf "a plan finds steps by what they are (engine/graph/plan.h), nothing composes or parses their names:\n%s\n" "$composed"
    broken=1
fi
# An operand is known by its role (Step::operand), not by its number; an explanation's factor says which one it is.
counted=$(grep -rnE '(step|head|norm|sum|result|filled|update|scale|whole|part|pattern)[a-z_]*(\.|->)operands(\[[0-9]|\.(at\([0-9]|front|back)\b)' app \
    --include='*.h' --include='*.cpp')
if [ -n "$counted" ]; then
    printf "an operand is found by its role (Step::operand), not by its number:\n%s\n" "$counted"
    broken=1
fi
# What is asked for may be another model than the one that is shown, until that is computed.
ahead=$(grep -rnE 'session\.scenario\(\)' app/views/frame app/views/inspector app/views/strip app/views/tabs)
if [ -n "$ahead" ]; then
    printf 'what draws a run reads the scenario that fits it (Session::fitting_scenario):\n%s\n' "$ahead"
    broken=1
fi
others=$(grep -rlE "#[[:space:]]*include[[:space:]]*<($screen)" app --include='*.h' --include='*.cpp' | grep -v '^app/window/')
if [ -n "$others" ]; then
    printf 'only app/window/ knows GLFW, EGL and OpenGL:\n%s\n' "$others"
    broken=1
fi
pages=$(grep -rlE '#[[:space:]]*include[[:space:]]*<emscripten' engine app --include='*.h' --include='*.cpp' |
    grep -vE '^app/(window/browser/|browser/|core/figure/canvas/)|^engine/platform/browser/|_browser\.cpp$')
if [ -n "$pages" ]; then
    printf 'only the folders of the browser, and files x_browser.cpp, know a page:\n%s\n' "$pages"
    broken=1
fi
products=$(grep -rlE "#[[:space:]]*include[[:space:]]*<(dnnl|libxsmm|omp)" engine app | grep -v '^engine/products/')
if [ -n "$products" ]; then
    printf 'only engine/products/ knows oneDNN and libxsmm:\n%s\n' "$products"
    broken=1
fi
# One way to wait: what takes longer than a frame is a job, and one way to make a thread, after which work goes on where
# the system makes none. app/window/ and the clipboard's helper are the desktop's.
threads=$(grep -rlE "#[[:space:]]*include[[:space:]]*<(thread|future|condition_variable|semaphore|latch|barrier)>" engine app |
    grep -vE '^(engine/base/(thread\.h|parallel_on_threads\.cpp)|app/core/jobs/job_runner\.cpp|app/platform_desktop\.cpp|app/window/.*)$')
if [ -n "$threads" ]; then
    printf 'threads are only in engine/base/thread.h, engine/base/parallel_on_threads.cpp and app/core/jobs/job_runner.cpp:\n%s\n' "$threads"
    broken=1
fi
# What an operating system offers is behind engine/platform/ and app/platform.h, or in a pair of files, one for Windows.
systems=$(grep -rlE '#[[:space:]]*include[[:space:]]*<(unistd\.h|sys/|fcntl\.h|signal\.h|spawn\.h|dlfcn\.h|fontconfig/|windows\.h|io\.h|shellapi\.h)' \
    engine app | grep -vE '^(engine/platform/|engine/files/mapped_file|app/platform_|app/window/desktop/|app/core/figure/cairo/figure_fonts)')
if [ -n "$systems" ]; then
    printf 'only engine/platform/ and the pairs of files beside it know an operating system:\n%s\n' "$systems"
    broken=1
fi
# What is written goes to a temporary, is flushed and renamed, or a crash could take both the old and the new. But a log is
# written as things happen.
writers=$(grep -rnE 'ofstream|fopen|O_WRONLY|O_RDWR' engine app --include='*.h' --include='*.cpp' |
    grep -vE '^engine/platform/(posix|windows)/files\.cpp:|^app/core/session/log\.|"/dev/null"')
if [ -n "$writers" ]; then
    printf 'files are written by engine/base/file.h, through engine/platform/files.h:\n%s\n' "$writers"
    broken=1
fi
# ctest runs an executable file by file (tests/CMakeLists.txt): test cases elsewhere would never run. Benchmarks are run
# manually.
strays=$(grep -rlE '^[[:space:]]*(TEST_CASE|SCENARIO|TEMPLATE_TEST_CASE|METHOD_AS_TEST_CASE)' tests --include='*.cpp' --include='*.h' |
    grep -vE '/(test|bench)_[^/]*\.cpp$')
if [ -n "$strays" ]; then
    printf 'test cases are in files named test_*.cpp:\n%s\n' "$strays"
    broken=1
fi
# Debian 12 has Catch2 2, and Debian 13 has Catch2 3: what only one of them has compiles on one of them.
one_form=$(grep -rnE 'Catch::[A-Za-z]+' tests --include='*.cpp' --include='*.h' | grep -v '^tests/catch\.h:' |
    grep -vE 'Catch::(Matchers::ContainsSubstring|StringMaker)')
if [ -n "$one_form" ]; then
    printf 'only ContainsSubstring and StringMaker are in both forms of Catch2 (tests/catch.h):\n%s\n' "$one_form"
    broken=1
fi
exit $broken
