#!/bin/sh
# Installs parts of a release that lie in /in and starts them, in a bare Debian (scripts/release.sh): try.sh PART...
#   sources    the archive holds what the clone does
#   package    installs with what it depends on, and draws the tour
#   portable   needs nothing but OpenGL, and draws the tour
#   page       shows a model in Chromium, from a server of files
#   wheel      installs with pip, and passes the package's tests
#   windows    under Wine: the zip's program, and the installer's, which it takes away again
set -eu
version=$(sed -n 's/^project(decoderscope VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
fail() {
    echo "$1" >&2
    exit 1
}

# What a person does first: tries PROGRAM
tries() {
    "$1" --version || fail "$1 doesn't start"
    "$1" models | grep -q '^reverse ' || fail "$1 lists no models"
    "$1" trace reverse --text abc --out /tmp/trace.safetensors || fail "$1 can't run a model"
    "$1" export reverse --tensor blocks.0.attn.pattern --all-heads --out /tmp/figure.pdf || fail "$1 can't draw a figure"
    rm -rf /tmp/tour
    "$1" --tour /tmp/tour >/dev/null || fail "$1 can't draw its window"
    [ "$(find /tmp/tour -name '*.png' -size +10k | wc -l)" -ge 5 ] || fail "$1 drew no tour"
}

# The same under Wine, without the window, which wants a driver that Wine hasn't: on_windows PROGRAM
on_windows() {
    wine "$1" --version || fail "$1 doesn't start"
    wine "$1" models | grep -q '^reverse ' || fail "$1 lists no models"
    wine "$1" trace reverse --text abc --out /tmp/windows.safetensors || fail "$1 can't run a model"
    wine "$1" export reverse --tensor blocks.0.attn.pattern --all-heads --out /tmp/windows.pdf || fail "$1 can't draw a figure"
}

apt-get update -qq
export DEBIAN_FRONTEND=noninteractive
for part in "$@"; do
    case $part in
    sources)
        mkdir -p /tmp/sources
        apt-get install -qq --yes --no-install-recommends xz-utils >/dev/null 2>&1
        tar -xf "/in/decoderscope-$version.tar.xz" -C /tmp/sources --strip-components=1
        diff -rq --exclude=.git --exclude=build . /tmp/sources || fail "the source archive is not the clone"
        ;;
    portable)
        apt-get install -qq --yes --no-install-recommends libgl1 libegl1 libopengl0 libgl1-mesa-dri xz-utils >/dev/null 2>&1
        mkdir -p /tmp/portable
        tar -xf "/in/decoderscope-$version-linux-x86_64.tar.xz" -C /tmp/portable --strip-components=1
        tries /tmp/portable/decoderscope
        ;;
    package)
        # With what is recommended: the driver, and fonts.
        apt-get install -qq --yes /in/decoderscope_*.deb >/dev/null 2>&1 || fail "the Debian package can't be installed"
        dpkg-query --show --showformat='${Depends}\n' decoderscope | grep -q libcairo2 || fail "the Debian package doesn't say what it needs"
        tries decoderscope
        ;;
    page)
        apt-get install -qq --yes --no-install-recommends chromium python3 xz-utils >/dev/null 2>&1
        mkdir -p /tmp/page
        tar -xf "/in/decoderscope-$version-page.tar.xz" -C /tmp/page --strip-components=1
        python3 -m http.server --directory /tmp/page 8000 >/dev/null 2>&1 &
        # The page's title names the model and the step that it shows.
        chromium --headless --no-sandbox --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader \
            --ignore-gpu-blocklist --virtual-time-budget=60000 --dump-dom http://localhost:8000/ >/tmp/page.html 2>/tmp/page.log
        kill $!
        grep -q '<title>.* · .* · Decoderscope</title>' /tmp/page.html || fail "the page shows no model: $(tail -n 3 /tmp/page.log)"
        ;;
    wheel)
        apt-get install -qq --yes --no-install-recommends python3-pip python3-torch python3-jinja2 >/dev/null 2>&1
        python3 -m pip install --quiet --break-system-packages --root-user-action=ignore --no-index /in/decoderscope-*.whl
        cp tests/notebook/test_package.py /tmp/
        (cd /tmp && python3 -m unittest --quiet test_package) || fail "the wheel's tests fail"
        ;;
    windows)
        apt-get install -qq --yes --no-install-recommends wine wine64 unzip xvfb xauth >/dev/null 2>&1
        export WINEPREFIX=/tmp/wine WINEDEBUG=-all WINEDLLOVERRIDES="mscoree,mshtml="
        wineboot -i >/tmp/said 2>&1 # into a file: Windows' services hold what it writes to as long as they run
        unzip -q "/in/decoderscope-$version-windows.zip" -d /tmp/windows
        on_windows /tmp/windows/Decoderscope/decoderscope.com
        wine "/in/decoderscope-$version-windows.exe" /S || fail "the installer ended with $?"
        installed=$(find $WINEPREFIX/drive_c -name decoderscope.com)
        [ -n "$installed" ] || fail "the installer installed nothing"
        on_windows "$installed"
        wine "$(dirname "$installed")/uninstall.exe" /S || fail "the uninstaller ended with $?"
        for _ in $(seq 20); do
            [ -e "$installed" ] || break
            sleep 1
        done
        [ ! -e "$installed" ] || fail "it was not uninstalled"
        wineserver -k
        ;;
    esac
    echo "$part: works"
done
