// The page's side of the window (app/window/browser/window.cpp): events, files, the clipboard, what is kept. It is put
// before Emscripten's own script, whose Module, FS and IDBFS it uses.
Module.page = (() => {
    const home = '/home/web_user';  // settings, autosaves: kept in IndexedDB
    const downloads = '/downloads';
    const canvas = () => document.getElementById('canvas');
    const field = () => document.getElementById('field');
    const cursors = ['default', 'text', 'move', 'ns-resize', 'ew-resize', 'nesw-resize', 'nwse-resize', 'pointer', 'not-allowed'];
    const call = (name, types, values) => Module.ccall(name, null, types, values);

    // ---- sizes: the canvas has as many pixels as the screen shows

    const ratio = () => window.devicePixelRatio || 1;
    const width = () => Math.round(canvas().clientWidth * ratio());
    const height = () => Math.round(canvas().clientHeight * ratio());
    // The browser's own text size: what a letter of 16 pixels is set to.
    const scale = () => ratio() * parseFloat(getComputedStyle(document.documentElement).fontSize) / 16;
    const place = event => {
        const box = canvas().getBoundingClientRect();
        return [(event.clientX - box.left) * ratio(), (event.clientY - box.top) * ratio()];
    };

    // Dear ImGui's backend asks for OpenGL's state in each frame, to leave it as it was. A browser answers only once all
    // drawing before is done. Nothing else uses this context: what was said once is said again, until it is lost.
    const prepareGl = context => {
        const answers = new Map();
        context.getParameter = name => {
            if (!answers.has(name)) {
                const answer = WebGL2RenderingContext.prototype.getParameter.call(context, name);
                answers.set(name, answer instanceof Object && !ArrayBuffer.isView(answer) ? null : answer);
            }
            return answers.get(name);
        };
        context.isEnabled = () => false;
        context.getError = () => 0;
    };

    // ---- keys and text

    const mods = event => (event.ctrlKey || event.metaKey ? 1 : 0) | (event.shiftKey ? 2 : 0) | (event.altKey ? 4 : 0);
    // What is left to the browser: its own page keys, and the clipboard, whose events come as copy, cut and paste.
    const browsers = event => {
        const ctrl = event.ctrlKey || event.metaKey;
        return event.key === 'F5' || event.key === 'F12' || (ctrl && ['r', 't', 'w', 'n', 'l'].includes(event.key.toLowerCase()));
    };
    const onKey = (event, down) => {
        if (event.isComposing || event.keyCode === 229 || browsers(event)) return;
        if (event.key === 'F6' && event.shiftKey) {
            event.preventDefault();
            if (down) Module.readable.flip();
            return;
        }
        if (Module.readable.holds(event.target)) return;  // the browser's own: Tab, Enter, the arrow keys of a table
        const ctrl = event.ctrlKey || event.metaKey;
        const pastes = ctrl && event.key.toLowerCase() === 'v';
        if (!pastes && !event.repeat)
            call('page_key', ['string', 'string', 'number', 'number'], [event.code, event.key, down ? 1 : 0, mods(event)]);
        const writes = event.key.length === 1 && !ctrl && !event.altKey;
        if (!writes && !pastes) event.preventDefault();
    };
    const takeText = () => {
        const text = field().value;
        field().value = '';
        if (text) call('page_text', ['string'], [text]);
    };

    // ---- the pointer, and fingers: a tap is a click, two fingers pan and zoom, a long press holds the button down

    const onPointer = (event, down) => {
        call('page_move', ['number', 'number'], place(event));
        call('page_button', ['number', 'number', 'number'], [[0, 2, 1][event.button] ?? -1, down ? 1 : 0, mods(event)]);
        if (down) field().focus({preventScroll: true});
    };
    const fingers = new Map(), began = new Map();  // where they are, and where they were when the last of them came
    let held = null;      // the timer of a long press
    let pressed = false;  // the finger holds the button down
    let spread = null;    // the distance and the middle of two fingers, and whether they pinch, once that shows
    const press = down => {
        if (pressed === down) return;
        pressed = down;
        call('page_button', ['number', 'number', 'number'], [0, down ? 1 : 0, 0]);
    };
    const between = () => {
        const [a, b] = [...fingers.values()];
        return {distance: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
                clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2};
    };
    // Two fingers that go the same way scroll; others pinch. Undefined until both have moved, or one of them far.
    const whetherTheyPinch = () => {
        const [a, b] = [...fingers].map(([id, at]) => [at.clientX - began.get(id).clientX, at.clientY - began.get(id).clientY]);
        const far = [Math.hypot(...a), Math.hypot(...b)];
        if (Math.min(...far) < 4) return Math.max(...far) < 24 ? undefined : true;
        return a[0] * b[0] + a[1] * b[1] < 0.5 * far[0] * far[1];
    };
    const onFinger = {
        down: event => {
            fingers.set(event.pointerId, event);
            for (const [id, at] of fingers) began.set(id, at);
            clearTimeout(held);
            if (fingers.size === 2) {
                press(false);
                spread = between();
                return;
            }
            call('page_move', ['number', 'number'], place(event));
            held = setTimeout(() => press(true), 450);
        },
        move: event => {
            const before = fingers.get(event.pointerId);
            if (!before) return;
            fingers.set(event.pointerId, event);
            if (fingers.size === 2) {
                const pinches = spread.pinches ?? whetherTheyPinch();
                if (pinches === undefined) return;
                const now = between(), right = now.clientX - spread.clientX, down = now.clientY - spread.clientY;
                call('page_move', ['number', 'number'], place(now));
                if (pinches) {  // a notch of the wheel zooms by 1.2, so that what is between the fingers stays between them
                    call('page_key', ['string', 'string', 'number', 'number'], ['ControlLeft', 'Control', 1, 1]);
                    call('page_wheel', ['number', 'number'], [0, Math.log(now.distance / Math.max(spread.distance, 1)) / Math.log(1.2)]);
                    call('page_key', ['string', 'string', 'number', 'number'], ['ControlLeft', 'Control', 0, 0]);
                } else {
                    const notch = 40;
                    call('page_wheel', ['number', 'number'], [right / notch, down / notch]);
                }
                spread = {...now, pinches};
                return;
            }
            if (!pressed && Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) > 3) {
                clearTimeout(held);
                press(true);  // a drag
            }
            call('page_move', ['number', 'number'], place(event));
        },
        up: event => {
            const alone = fingers.size === 1;
            fingers.delete(event.pointerId);
            clearTimeout(held);
            if (alone) {
                press(true);  // a tap
                press(false);
                field().focus({preventScroll: true});
            }
        },
    };

    // ---- files in and out

    const said = text => {
        document.getElementById('say').textContent = text;
    };
    const failed = error => {
        console.error(error);
        said(String(error));
    };
    const mostBytes = 1.5e9;  // of a drop: with what is computed from it, it must fit into 4 GB
    const take = async (file, folder) => {
        const path = `${folder}/${file.name.replaceAll(/[\/\n]/g, '_')}`;
        try {
            FS.writeFile(path, new Uint8Array(await file.arrayBuffer()), {canOwn: true});
        } catch (error) {
            throw new Error(`${file.name}: cannot be read: ${error.message ?? error}`);
        }
        return path;
    };
    // What is dropped together belongs together, as a recording's ranks do, and nothing of another drop does: a folder for
    // each. A file that is open stays as it is when another of its name arrives.
    let drops = 0;
    const takeAll = async files => {
        if (!files.length) return;
        const name = files.map(file => file.name).join(', ');
        const bytes = files.reduce((sum, file) => sum + file.size, 0);
        if (bytes > mostBytes) {
            said(`${name}: ${(bytes / 1e9).toFixed(1)} GB, expected at most ${mostBytes / 1e9} GB in a browser; the desktop program opens it`);
            return;
        }
        said(bytes > 1e8 ? `${name} …` : '');
        const folder = `/dropped-${++drops}`;
        FS.mkdirTree(folder);
        try {
            const paths = [];
            for (const file of files) paths.push(await take(file, folder));
            said('');
            call('page_drop', ['string'], [paths.join('\n')]);
        } catch (error) {
            said(error.message);
        }
    };
    // The browser's own dialog. What is chosen arrives as if it had been dropped.
    const pick = () => {
        const input = document.createElement('input');
        input.type = 'file';
        input.multiple = true;
        input.addEventListener('change', () => takeAll([...input.files]));
        input.click();
    };
    const download = path => {
        const send = (name, bytes) => {
            const link = document.createElement('a');
            link.href = URL.createObjectURL(new Blob([bytes]));
            link.download = name;
            link.click();
            setTimeout(() => URL.revokeObjectURL(link.href), 60000);
        };
        const {mode} = FS.stat(path);
        if (FS.isDir(mode))
            for (const name of FS.readdir(path).filter(name => !name.startsWith('.'))) download(`${path}/${name}`);
        else
            send(path.split('/').pop(), FS.readFile(path));
    };

    // ---- the files that the program brings (files.js)

    const put = (entry, bytes) => {
        FS.mkdirTree(entry.path.slice(0, entry.path.lastIndexOf('/')));
        FS.writeFile(entry.path, bytes);
    };
    const bring = async (entry, progress) => put(entry, await Module.files.load(entry, progress));
    const bringEach = async entries => {
        const waiting = [...entries];
        const bringNext = async () => {
            for (let entry; (entry = waiting.shift());) await bring(entry);
        };
        await Promise.all([bringNext(), bringNext(), bringNext(), bringNext()]);
    };
    // First the fonts: they have more characters than those of the first picture.
    let fontsCome = true;
    const awaitsFonts = () => fontsCome;
    const bringAll = async entries => {
        const isFont = ({path}) => path.startsWith('/usr/share/fonts/');
        await bringEach(entries.filter(isFont)).finally(() => {
            fontsCome = false;
            call('page_fonts', [], []);
        });
        await bringEach(entries.filter(entry => !isFont(entry)));
        call('page_surroundings', [], []);  // models and lessons are there
    };
    // A large font, by a part of its file's name. Returns its megabytes while it is on its way, 0 if there is none to come.
    const asked = new Map();
    const bringFont = file => {
        const entry = Module.page.onDemand?.find(({path}) => path.includes(file));
        if (!entry || asked.get(file) === 'there') return 0;
        if (!asked.has(file)) {
            const progress = arrived => said(`${Math.round(100 * arrived / entry.size)} %`);
            asked.set(file, bring(entry, progress).then(() => said(''), error => said(String(error))).finally(() => {
                asked.set(file, 'there');
                call('page_fonts', [], []);
            }));
        }
        return entry.size / 1e6;
    };

    // Settings, progress and unsaved work go to IndexedDB whenever they are written. All tabs of the site keep their files
    // there: each writes and removes what it has changed itself, and no other. The autosave of a tab has its number in its
    // name (process_number()), and while the tab lives it holds a lock of that name. Whoever gets another's lock
    // offers its autosave: that tab has ended, and no third one offers it. Without locks (a site that isn't https) all are read.
    const number = crypto.getRandomValues(new Uint32Array(1))[0] >>> 1;
    const locked = name => navigator.locks === undefined || new Promise(done => {
        navigator.locks.request(name, {ifAvailable: true}, lock => {
            done(lock !== null);
            return lock && new Promise(() => {});  // until the tab ends
        });
    });
    const lockOf = path => /(?<=\/)autosave-\d+/.exec(path)?.[0];
    const locks = new Map();
    const isOurs = path => {
        const name = lockOf(path);
        if (name && !locks.has(name)) locks.set(name, locked(`decoderscope ${name}`));
        return name === undefined || locks.get(name);
    };
    const keepFiles = async () => {
        await isOurs(`/autosave-${number}`);
        let known = {};  // the files as this tab read or wrote them last: their times
        const timesOf = entries => Object.fromEntries(Object.entries(entries).map(([path, {timestamp}]) => [path, timestamp.getTime()]));
        const reconcile = IDBFS.reconcile;
        IDBFS.reconcile = async (source, target, done) => {
            if (source.type === 'remote') {
                for (const path of Object.keys(source.entries)) if (!await isOurs(path)) delete source.entries[path];
            } else {
                for (const path of Object.keys(target.entries)) if (!(path in known) && !(path in source.entries)) delete target.entries[path];
                for (const [path, time] of Object.entries(timesOf(source.entries))) if (known[path] === time) target.entries[path] = source.entries[path];
            }
            const times = timesOf(source.entries);
            reconcile(source, target, error => {
                if (!error) known = times;
                done(error);
            });
        };
        FS.mount(IDBFS, {autoPersist: true}, home);
        await new Promise(done => FS.syncfs(true, done));
    };

    // What is on its way is written before the page is left.
    let keeping = false;  // leaving is told twice: the page is hidden, then it goes
    const keep = () => {
        call('page_hide', [], []);
        if (keeping) return;
        keeping = true;
        if (Module.alone) return;
        FS.syncfs(false, () => { keeping = false; });
    };

    // What the link needs of the files that come later: those of its models and of its lesson. What is wrong with a link
    // the program says.
    const mostLink = 8000;  // characters, as in app/core/files/link.h
    const ofModel = (entries, name) => entries.filter(({path}) => name && path.startsWith(`/usr/share/decoderscope/models/${name}/`));
    const neededByLink = async entries => {
        if (!Module.hasLink() || location.hash.length > mostLink) return [];
        try {
            const packed = location.hash.slice(location.hash.indexOf('=') + 1).replaceAll('-', '+').replaceAll('_', '/');
            const bytes = Uint8Array.from(atob(packed), character => character.charCodeAt(0));
            const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
            const {model, pins, lesson} = JSON.parse(await new Response(stream).text());
            const folders = [model, ...(pins ?? []).map(pin => pin.model)].map(one => `models/${one.bundled}/`).concat(`lessons/${lesson}/`);
            return entries.filter(({path}) => folders.some(folder => path.startsWith(`/usr/share/decoderscope/${folder}`)) && !FS.analyzePath(path).exists);
        } catch {
            return [];
        }
    };
    // Another link to this page: it is opened in place.
    const openLink = async () => {
        if (!Module.hasLink()) return;
        const {hash} = location;
        const needed = await neededByLink(Module.page.later ?? []);
        await Promise.all(needed.map(entry => bring(entry))).catch(error => said(String(error)));
        call('page_drop', ['string'], [hash]);
    };

    // "?lesson=my-lesson.md": a lesson on the page's own site, opened as if it had been dropped.
    const bringLesson = async address => {
        try {
            const answer = await fetch(address, {cache: 'no-store'});
            if (!answer.ok) throw new Error(`not there (${answer.status})`);
            await takeAll([new File([await answer.blob()], address.split(/[?#]/)[0].split('/').pop())]);
        } catch (error) {
            said(`${address}: ${error.message}`);
        }
    };

    // ---- the page around this one, which shows something here: a notebook's cell (notebook/decoderscope/cell.js)
    //
    // It sends {decoderscope: 1, open: [{name, bytes: ArrayBuffer}, …]}, {decoderscope: 1, link: '#s1=…'} or
    // {decoderscope: 1, go: 'blocks.0.attn.pattern'}, and hears {decoderscope: 1, ready: true}, {…, opened: names},
    // {…, refused: sentence}, and {…, shows: {model, step, cell, edits, said}} whenever that changes. No other window is
    // listened to, and nothing is allocated for what is too large.

    const version = 1;
    const answer = message => {
        if (Module.embedded && window.parent !== window) window.parent.postMessage({decoderscope: version, ...message}, '*');
    };
    const isFile = file => typeof file?.name === 'string' && file.name.length < 256 && file.bytes instanceof ArrayBuffer;
    const requests = {
        open: async files => {
            if (!Array.isArray(files) || files.length < 1 || files.length > 64 || !files.every(isFile))
                return answer({refused: 'open: expected one to 64 files, each a name and its bytes'});
            const names = files.map(file => file.name);
            const sum = files.reduce((sum, file) => sum + file.bytes.byteLength, 0);
            if (sum > mostBytes)
                return answer({refused: `${names.join(', ')}: ${(sum / 1e9).toFixed(1)} GB, expected at most ${mostBytes / 1e9} GB`});
            await takeAll(files.map(file => new File([file.bytes], file.name)));
            answer({opened: names});
        },
        link: link => {
            if (typeof link !== 'string' || link.length > mostLink || !/^#s\d+=/.test(link))
                return answer({refused: `link: expected #s1=… of at most ${mostLink} characters`});
            call('page_drop', ['string'], [link]);
        },
        go: place => {
            if (typeof place !== 'string' || place.length > 256) return answer({refused: 'go: expected a step or a cell by its name'});
            call('page_go_to', ['string'], [place]);
        },
    };
    const onMessage = event => {
        if (event.source !== window.parent || typeof event.data !== 'object' || event.data === null) return;
        const spoken = event.data.decoderscope;
        if (spoken === undefined) return;  // another program's
        const asked = Object.keys(event.data).filter(name => name !== 'decoderscope');
        if (spoken !== version) answer({refused: `messages of version ${version} are understood, not ${String(spoken).slice(0, 20)}`});
        else if (asked.length !== 1 || !Object.hasOwn(requests, asked[0])) answer({refused: `expected one of ${Object.keys(requests).join(', ')}`});
        else requests[asked[0]](event.data[asked[0]]);
    };

    // ---- the beginning and the end

    const listen = () => {
        const on = (target, name, act, options) => target.addEventListener(name, act, options);
        const text = field();
        on(document, 'keydown', event => onKey(event, true));
        on(document, 'keyup', event => onKey(event, false));
        on(text, 'input', event => { if (!event.isComposing) takeText(); });
        on(text, 'compositionend', takeText);
        on(document, 'paste', event => {
            if (Module.readable.holds(event.target)) return;
            const files = [...event.clipboardData.files];
            event.preventDefault();
            if (files.length) takeAll(files);
            else call('page_paste', ['string'], [event.clipboardData.getData('text/plain')]);
        });
        on(document.getElementById('say'), 'click', () => said(''));
        const surface = canvas();
        on(surface, 'webglcontextlost', event => event.preventDefault());  // or it never comes back
        on(surface, 'webglcontextrestored', () => call('page_gl_restored', [], []));
        const byKind = (mouse, finger) => event => {
            event.preventDefault();
            event.pointerType === 'touch' ? finger(event) : mouse(event);
        };
        on(surface, 'pointerdown', byKind(event => onPointer(event, true), onFinger.down));
        on(window, 'pointerup', byKind(event => onPointer(event, false), onFinger.up));
        on(window, 'pointercancel', byKind(event => onPointer(event, false), onFinger.up));
        on(window, 'pointermove', byKind(event => call('page_move', ['number', 'number'], place(event)), onFinger.move));
        on(surface, 'pointerleave', event => { if (event.pointerType === 'mouse') call('page_leave', [], []); });
        on(surface, 'contextmenu', event => event.preventDefault());
        on(surface, 'wheel', event => {
            event.preventDefault();
            const notch = event.deltaMode === 0 ? 100 : 3;
            call('page_wheel', ['number', 'number'], [-event.deltaX / notch, -event.deltaY / notch]);
        }, {passive: false});
        on(window, 'dragover', event => event.preventDefault());
        on(window, 'drop', event => {
            event.preventDefault();
            takeAll([...event.dataTransfer.files]);
        });
        on(window, 'hashchange', openLink);
        if (Module.embedded) on(window, 'message', onMessage);
        new ResizeObserver(() => call('page_damage', [], [])).observe(surface);
        on(document, 'visibilitychange', () => {
            if (document.hidden) keep();
            else call('page_damage', [], []);
        });
        on(window, 'pagehide', keep);
        for (const preference of ['(prefers-color-scheme: dark)', '(prefers-reduced-motion: reduce)'])
            on(matchMedia(preference), 'change', () => call('page_surroundings', [], []));
        if (!Module.embedded) text.focus();  // another page keeps its keys until the stage is clicked
    };

    return {
        width, height, scale, prepareGl, download, pick,
        showCursor: cursor => { canvas().style.cursor = cursor < 0 ? 'none' : cursors[cursor] ?? 'default'; },
        showTitle: title => { document.title = title; },
        copyText: text => { navigator.clipboard?.writeText(text).catch(() => {}); },
        fullScreen: wanted => {
            if (wanted === Boolean(document.fullscreenElement)) return;
            (wanted ? document.documentElement.requestFullscreen() : document.exitFullscreen()).catch(() => {});
        },
        // An input method shows its candidates beside the field, and a touch keyboard opens for it.
        placeCaret: typing => { field().inputMode = typing ? 'text' : 'none'; },
        report: shows => answer({shows}),
        answer, said, failed, put, bring, bringAll, bringLesson, bringFont, awaitsFonts, neededByLink, ofModel, listen, number, keepFiles, home, downloads,
    };
})();

// What is kept from visit to visit, then the first files, are there before main() runs.
Module.preRun = [() => {
    const {page} = Module;
    FS.mkdirTree(page.home);
    // Where the program writes for the person. What is finished there, the browser downloads.
    FS.mkdirTree(page.downloads);
    FS.chdir(page.downloads);
    const rename = FS.rename;
    FS.rename = (from, to) => {
        rename(from, to);
        const path = FS.lookupPath(to).path;
        if (path.startsWith(`${page.downloads}/`)) page.download(path);
    };
    Module.number = page.number;
    if (!Module.alone) {
        addRunDependency('what was kept');
        page.keepFiles().catch(page.failed).finally(() => removeRunDependency('what was kept'));
    }
    addRunDependency('the first files');
    (async () => {
        for (const {entry, bytes} of await Module.files.first) page.put(entry, bytes);
        const {later, onDemand} = await Module.files.list;
        const needed = [...await page.neededByLink(later), ...page.ofModel(later, Module.model)];
        await Promise.all(needed.map(entry => page.bring(entry)));
        Object.assign(page, {later, onDemand});
        removeRunDependency('the first files');
    })().catch(page.failed);
}];
Module.postRun = [() => {
    Module.page.listen();
    Module.page.answer({ready: true});
    // All else once the first picture is there, while the person reads.
    // Only then is there every model that a lesson may open.
    const all = () => Module.page.bringAll(Module.page.later).then(() => Module.lesson && Module.page.bringLesson(Module.lesson));
    // The worker keeps all files, so that the next visit works without a network (offline.js).
    const worker = Module.alone ? undefined : navigator.serviceWorker;
    const rest = () => requestIdleCallback(() => {
        all().catch(Module.page.failed);
        worker?.register('offline.js').catch(() => {});
    }, {timeout: 2000});
    setTimeout(rest, 500);
}];
// The program's own sentence before it ended; a page has no other place for it.
Module.printErr = text => {
    console.error(text);
    Module.page.said(text);
};
Module.instantiateWasm = (imports, done) => {
    (async () => {
        const module = await Module.files.program;
        done(await WebAssembly.instantiate(module, imports), module);
    })().catch(Module.page.failed);
    return {};
};
