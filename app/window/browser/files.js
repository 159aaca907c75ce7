// The files that the page brings. What the first picture needs is asked for at once, beside the program. In a page that is
// one file they stand in its text, as base64 of what gzip made of them.
Module.files = (() => {
    const addressOf = name => document.getElementById(name).getAttribute('href');
    const fetched = async address => {
        if (Module.alone) {
            const inside = document.querySelector(`script[data-address="${CSS.escape(address)}"]`);
            if (!inside) throw new Error(`${address}: not in this page`);
            const bytes = Uint8Array.from(atob(inside.textContent), character => character.charCodeAt(0));
            inside.remove();
            return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
        }
        const answer = await fetch(address);
        if (!answer.ok) throw new Error(`${address}: not there (${answer.status}); if a newer page is there now, load it again`);
        return answer;
    };

    // `progress` hears how many bytes have arrived.
    const bytes = async (address, progress) => {
        const answer = await fetched(address);
        let arrived = 0;
        const counted = progress ? new Response(answer.body.pipeThrough(new TransformStream({transform: (piece, stream) => {
            progress(arrived += piece.byteLength);
            stream.enqueue(piece);
        }}))) : answer;
        return new Uint8Array(await counted.arrayBuffer());
    };

    // Weights are sent with all first bytes of their numbers before all second ones: what is alike lies together. Their
    // signs, first of all bits, were put behind the others (scripts/site.py).
    const woven = (bytes, planes) => {
        if (!planes) return bytes;
        const result = new Uint8Array(bytes.length);
        for (let plane = 0, from = 0; plane < planes; ++plane)
            for (let to = plane; to < result.length; to += planes) result[to] = bytes[from++];
        const numbers = new Uint32Array(result.buffer, 0, result.length >> 2);
        for (let i = 0; i < numbers.length; ++i) numbers[i] = numbers[i] >>> 1 | numbers[i] << 31;
        return result;
    };
    const load = async ({name, planes}, progress) => woven(await bytes(name, progress), planes);

    // A browser compiles the program while it arrives, if the server says what it is.
    const program = fetched(addressOf('program')).then(async answer =>
        answer.headers.get('Content-Type') === 'application/wasm' ? WebAssembly.compileStreaming(answer)
                                                                  : WebAssembly.compile(await answer.arrayBuffer()));
    const list = bytes(addressOf('list')).then(bytes => JSON.parse(new TextDecoder().decode(bytes)));
    const first = list.then(({first}) => Promise.all(first.map(async entry => ({entry, bytes: await load(entry)}))));
    return {load, list, first, program};
})();
