// Shows the viewer in a cell's output, and hands it what the output holds. `window` is the notebook's own here; the
// viewer stands in a frame without an origin, and hears and says only messages (app/window/browser/page.js).
((id, height) => {
    const version = 1, mostFrames = 8;  // a browser allows about sixteen WebGL contexts in all its pages
    const cell = document.getElementById(id);
    if (!cell) return;
    const stage = cell.querySelector('.decoderscope-stage'), say = cell.querySelector('.decoderscope-say');
    const decoded = text => Uint8Array.from(atob(text), character => character.charCodeAt(0));
    const shown = window.decoderscopeShown ??= {frames: [], viewer: null};

    // Unpacked once, however many cells show something.
    const viewer = () => shown.viewer ??= (async () => {
        // In a notebook that is opened again, it may stand in a later cell.
        const find = () => document.querySelector('script[data-decoderscope-viewer]');
        for (let time = 0; !find() && time < 50; ++time) await new Promise(done => setTimeout(done, 200));
        const packed = find();
        if (!packed) throw new Error('The viewer is not in this notebook: run this cell again.');
        return new Response(new Blob([decoded(packed.textContent)]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
    })().catch(error => { shown.viewer = null; throw error; });

    // What to hand over: of several sessions one, with the files that all of them share.
    const names = [...cell.querySelectorAll('script[data-file]')].map(one => one.dataset.file);
    const sessions = names.filter(name => name.endsWith('.dscope'));
    const files = session => [...cell.querySelectorAll('script[data-file]')]
        .filter(({dataset}) => !sessions.includes(dataset.file) || dataset.file === session)
        .map(one => ({name: one.dataset.file, bytes: decoded(one.textContent).buffer}));
    const link = cell.dataset.link;

    let comm = null;  // to the kernel, where there is one
    const connect = send => {
        const manager = window.Jupyter?.notebook?.kernel?.comm_manager;
        if (!manager) return;
        comm = manager.new_comm('decoderscope', {view: id});
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

    const still = [...stage.childNodes];
    const close = frame => {
        shown.frames = shown.frames.filter(one => one.frame !== frame);
        frame.remove();
    };
    const show = async () => {
        if (!mayRun()) {
            say.textContent = 'This page runs no WebAssembly, so this is a still picture. ds.open and ds.save show all of it.';
            return;
        }
        say.textContent = 'Loading …';
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts allow-downloads';
        frame.title = 'Decoderscope';
        // Over the still picture, unseen until it shows something: a frame out of sight draws nothing before one scrolls
        // to it.
        frame.style.cssText = `border: 0; width: 100%; height: ${height}px; display: block; position: absolute; top: 0; left: 0; opacity: 0`;
        const reveal = () => {
            frame.style.position = 'static';
            frame.style.opacity = 1;
            for (const other of [...stage.childNodes]) if (other !== frame) other.remove();
        };
        let next = 0;        // of the sessions, where one can't be opened
        let handed = false;  // what it shows is what it was handed
        const send = (message, transfer = []) => frame.contentWindow?.postMessage({decoderscope: version, ...message}, '*', transfer);
        const open = () => {
            const bytes = files(sessions[next++]);
            send({open: bytes}, bytes.map(file => file.bytes));
        };
        const sameModel = model => names.some(name => model.endsWith(`/${name}`));
        const onMessage = event => {
            if (!frame.isConnected) return window.removeEventListener('message', onMessage);  // cleared, or run again
            if (event.source !== frame.contentWindow || event.data?.decoderscope !== version) return;
            const {ready, opened, refused, shows} = event.data;
            if (ready) {
                say.textContent = '';
                connect(send);
                if (link) send({link});
                handed = link !== '';
                if (names.length) open();
            }
            if (typeof refused === 'string') say.textContent = refused;
            if (opened) {
                cell.dataset.opened = opened.join(', ');
                handed = true;
            }
            if (shows?.said && next < sessions.length && !sameModel(shows.model)) open();
            if (shows) {
                if (handed) reveal();
                cell.dataset.shows = JSON.stringify(shows);
                comm?.send({shows});
            }
        };
        window.addEventListener('message', onMessage);
        try {
            frame.srcdoc = await viewer();
        } catch (error) {
            say.textContent = error.message;
            return;
        }
        shown.frames = shown.frames.filter(one => one.frame.isConnected);
        while (shown.frames.length >= mostFrames) shown.frames[0].rest();
        shown.frames.push({frame, rest: () => { close(frame); rest(); }});
        stage.style.position = 'relative';
        stage.style.minHeight = `${height}px`;
        stage.replaceChildren(...still, frame);
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
