// The files that the page brings. Each is packed, and unpacked while it arrives (app/browser/main_unpack.cpp). What the first
// picture needs is asked for at once, beside the program. In a page that is one file they stand in its text, as base64.
Module.files = (() => {
    const fetched = async address => {
        if (Module.alone) {
            const inside = document.querySelector(`script[data-address="${CSS.escape(address)}"]`);
            if (!inside) throw new Error(`${address}: not in this page`);
            const bytes = Uint8Array.from(atob(inside.textContent), character => character.charCodeAt(0));
            inside.remove();
            return new Response(bytes);
        }
        const answer = await fetch(address);
        if (!answer.ok) throw new Error(`${address}: not there (${answer.status})`);
        return answer;
    };

    // The unpacker itself is packed as a browser unpacks.
    const inflated = answer => new Response(answer.body.pipeThrough(new DecompressionStream('deflate')));
    const unpacker = fetched('unpack.zlib').then(async answer => WebAssembly.compile(await inflated(answer).arrayBuffer()));
    const imports = {env: {emscripten_notify_memory_growth: () => {}}};
    const free = [];  // unpackers that have done their work: each has memory of its own, which a browser has not often
    // A stream that unpacks what runs through it.
    const unpacking = async address => {
        const exports = free.pop() ?? (await WebAssembly.instantiate(await unpacker, imports)).exports;
        exports._initialize?.();
        const one = exports.make();
        const most = exports.packed_size(one);
        const view = (start, count) => new Uint8Array(exports.memory.buffer, start, count);  // moves when the memory grows
        return new TransformStream({
            transform: (piece, stream) => {
                for (let start = 0; start < piece.length; start += most) {
                    const part = piece.subarray(start, start + most);
                    view(exports.packed(one), part.length).set(part);
                    exports.take(one, part.length);
                    for (let count; (count = exports.unpack(one)) !== 0;) {
                        if (count < 0) throw new Error(`${address}: not what was packed`);
                        stream.enqueue(view(exports.unpacked(one), count).slice());
                    }
                }
            },
            flush: () => {
                if (!exports.ended(one)) throw new Error(`${address}: cut off`);
                exports.drop(one);
                free.push(exports);
            },
        });
    };
    // The stream of a packed file. `progress` hears how many bytes have arrived.
    const stream = async (address, progress) => {
        const answer = await fetched(address);
        let arrived = 0;
        const counter = new TransformStream({transform: (piece, stream) => {
            progress?.(arrived += piece.byteLength);
            stream.enqueue(piece);
        }});
        return answer.body.pipeThrough(counter).pipeThrough(await unpacking(address));
    };
    const bytes = async (address, progress) => new Uint8Array(await new Response(await stream(address, progress)).arrayBuffer());

    // Weights are packed with all first bytes of their numbers before all second ones: what is alike lies together. Their
    // signs, first of all bits, were put behind the others.
    const woven = (bytes, planes) => {
        if (!planes) return bytes;
        const result = new Uint8Array(bytes.length);
        for (let plane = 0, from = 0; plane < planes; ++plane)
            for (let to = plane; to < result.length; to += planes) result[to] = bytes[from++];
        const numbers = new Uint32Array(result.buffer, 0, result.length >> 2);
        for (let i = 0; i < numbers.length; ++i) numbers[i] = numbers[i] >>> 1 | numbers[i] << 31;
        return result;
    };
    const load = async ({name, planes}, progress) => woven(await bytes(`files/${name}.xz`, progress), planes);

    const list = bytes('files/list.json.xz').then(bytes => JSON.parse(new TextDecoder().decode(bytes)));
    const first = list.then(({first}) => Promise.all(first.map(async entry => ({entry, bytes: await load(entry)}))));
    const wasm = async address => new Response(await stream(address), {headers: {'Content-Type': 'application/wasm'}});
    const program = wasm('decoderscope_page.wasm.xz');
    const secondPart = () => wasm('decoderscope_second.wasm.xz');

    // Last the program's own script, with page.js before it: a quarter of its size. A page that is one file may have no
    // scripts but those in its text.
    const start = async () => {
        const text = await bytes('decoderscope_page.js.xz');
        const script = document.createElement('script');
        if (Module.alone) script.textContent = new TextDecoder().decode(text);
        else script.src = URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
        document.body.append(script);
    };
    start().catch(error => { document.getElementById('say').textContent = String(error); });
    return {load, list, first, program, secondPart};
})();
