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

    const files = () => [...cell.querySelectorAll('script[data-file]')].map(one => ({name: one.dataset.file, bytes: decoded(one.textContent).buffer}));
    const link = cell.dataset.link;

    let comm = null;  // to the kernel, where there is one
    const connect = send => {
        const manager = window.Jupyter?.notebook?.kernel?.comm_manager;
        if (!manager) return;
        comm = manager.new_comm('decoderscope', {view: id});
        comm.on_msg(message => send(message.content.data));
    };

    const close = frame => {
        shown.frames = shown.frames.filter(one => one.frame !== frame);
        frame.remove();
    };
    const show = async () => {
        say.textContent = 'Loading …';
        const frame = document.createElement('iframe');
        frame.sandbox = 'allow-scripts allow-downloads';
        frame.title = 'Decoderscope';
        frame.style.cssText = `border: 0; width: 100%; height: ${height}px; display: block`;
        const send = (message, transfer = []) => frame.contentWindow?.postMessage({decoderscope: version, ...message}, '*', transfer);
        const onMessage = event => {
            if (!frame.isConnected) return window.removeEventListener('message', onMessage);  // cleared, or run again
            if (event.source !== frame.contentWindow || event.data?.decoderscope !== version) return;
            const {ready, opened, refused, shows} = event.data;
            if (ready) {
                say.textContent = '';
                connect(send);
                if (link) send({link});
                const bytes = files();
                if (bytes.length) send({open: bytes}, bytes.map(file => file.bytes));
            }
            if (typeof refused === 'string') say.textContent = refused;
            if (opened) cell.dataset.opened = opened.join(', ');
            if (shows) {
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
        stage.replaceChildren(frame);
    };
    // The still picture, and a button.
    const still = [...stage.childNodes];
    const rest = () => {
        const button = document.createElement('button');
        button.textContent = 'Show again';
        button.addEventListener('click', show);
        stage.replaceChildren(button, ...still);
    };
    show();
})
