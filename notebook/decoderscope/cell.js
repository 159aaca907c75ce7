// Shows the viewer in a cell's output, and hands it what the output holds. `window` is the notebook's own here; the
// viewer stands in a frame without an origin, and hears and says only messages (app/window/browser/page.js).
((id, height) => {
    const version = 1, mostFrames = 8;  // a browser allows about sixteen WebGL contexts in all its pages
    // A view of this output beside the notebook holds it a second time.
    const cell = document.currentScript?.parentNode?.querySelector(`#${id}`) ?? document.getElementById(id);
    if (!cell) return;
    const stage = cell.querySelector('.decoderscope-stage'), say = cell.querySelector('.decoderscope-say');
    const decoded = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
    const page = window.decoderscopePage ??= (() => {
        // A frame says the same again after the notebook took it out of the page and put it back.
        window.addEventListener('message', event => {
            if (event.data?.decoderscope !== version) return;
            [...document.querySelectorAll('.decoderscope iframe')].find(frame => frame.contentWindow === event.source)?.hear?.(event.data);
        });
        return {frames: [], viewer: null};
    })();

    // Unpacked once, however many cells show something. In a notebook that is opened again, it may stand in a later cell,
    // or in one that is only drawn once it is scrolled to.
    const viewer = () => page.viewer ??= (async () => {
        for (;;) {
            const packed = document.querySelector('script[data-decoderscope-viewer]');
            if (packed) return new Response(new Blob([decoded(packed.textContent)]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
            await new Promise(done => setTimeout(done, 200));
        }
    })().catch(error => { page.viewer = null; throw error; });

    // What to hand over: of several sessions one, with the files that all of them share.
    const names = [...cell.querySelectorAll('script[data-file]')].map(one => one.dataset.file);
    const sessions = names.filter(name => name.endsWith('.dscope'));
    const files = session => [...cell.querySelectorAll('script[data-file]')]
        .filter(({dataset}) => !sessions.includes(dataset.file) || dataset.file === session)
        .map(one => ({name: one.dataset.file, bytes: decoded(one.textContent).buffer}));
    const {link} = cell.dataset, models = JSON.parse(cell.dataset.models);
    const isOurs = model => models.some(name => model === name || model.endsWith(`/${name}`));

    let comm = null;  // to the kernel, where there is one
    const connect = send => {
        const manager = window.Jupyter?.notebook?.kernel?.comm_manager;
        if (!manager) return;
        comm ??= manager.new_comm('decoderscope', {view: id});
        comm.on_msg(message => send(message.content.data));
    };

    // A policy may forbid programs; the viewer's frame inherits it.
    const mayRun = () => {
        try {
            return Boolean(new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)));
        } catch {
            return false;
        }
    };

    // Whatever a notebook calls its themes: on a dark one its text is light. What its frame prefers, the viewer follows.
    const isDark = () => {
        const context = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d');
        context.fillStyle = getComputedStyle(stage).color;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
        return red + green + blue > 3 * 128;
    };
    const follow = () => {
        const frame = stage.querySelector('iframe');
        if (frame) frame.style.colorScheme = isDark() ? 'dark' : 'light';
    };
    stage.style.transition = 'color 1ms';  // which says that it changed
    stage.addEventListener('transitionend', follow);

    const still = [...stage.childNodes];
    const show = async () => {
        if (!mayRun()) {
            say.textContent = 'This page runs no WebAssembly, so this is a still picture. ds.open and ds.save show all of it.';
            return;
        }
        say.textContent = 'Loading …';
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts allow-downloads';
        frame.title = 'Decoderscope';
        // Over the still picture, unseen until it shows what it was handed, and nothing else: a frame out of sight draws
        // nothing before one scrolls to it.
        frame.style.cssText = `border: 0; width: 100%; height: ${height}px; display: block; top: 0; left: 0`;
        const hide = () => Object.assign(frame.style, {position: 'absolute', opacity: 0, pointerEvents: 'none'});
        const reveal = () => {
            Object.assign(frame.style, {position: 'static', opacity: 1, pointerEvents: 'auto'});
            say.textContent = '';
            for (const other of [...stage.childNodes]) if (other !== frame) other.remove();
        };
        let next = 0;  // of the sessions, where one can't be opened
        let isHidden;
        const send = (message, transfer = []) => frame.contentWindow?.postMessage({decoderscope: version, ...message}, '*', transfer);
        const open = () => {
            const bytes = files(sessions[next++]);
            send({open: bytes}, bytes.map(file => file.bytes));
        };
        frame.hear = ({ready, opened, refused, shows}) => {
            if (ready) {
                count();
                hide();
                isHidden = true;
                next = 0;
                connect(send);
                if (link) send({link});
                if (names.length) open();
            }
            if (typeof refused === 'string') say.textContent = refused;
            if (opened) cell.dataset.opened = opened.join(', ');
            if (shows) {
                if (isHidden && isOurs(shows.model)) {
                    isHidden = false;
                    reveal();
                } else if (isHidden && shows.said) {
                    if (next < sessions.length) open();
                    else say.textContent = shows.said;
                }
                cell.dataset.shows = JSON.stringify(shows);
                comm?.send({shows});
            }
        };
        hide();
        const count = () => {
            page.frames = page.frames.filter(one => one.frame !== frame && one.frame.isConnected);
            while (page.frames.length >= mostFrames) page.frames.shift().rest();
            page.frames.push({frame, rest});
        };
        const missing = setTimeout(() => {
            say.textContent = 'The viewer is in no output that this page has drawn: run this cell again.';
        }, 10000);
        try {
            frame.srcdoc = await viewer();
        } catch (error) {
            say.textContent = error.message;
            return;
        } finally {
            clearTimeout(missing);
        }
        say.textContent = 'Loading …';
        count();
        stage.style.position = 'relative';
        stage.style.minHeight = `${height}px`;
        stage.replaceChildren(...still, frame);
        follow();
    };
    // The still picture, and a button.
    const rest = () => {
        const button = document.createElement('button');
        button.textContent = 'Show again';
        button.addEventListener('click', show);
        stage.style.minHeight = '';
        stage.replaceChildren(button, ...still);
    };
    show();
})
