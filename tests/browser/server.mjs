// A static server, as any host has one: files of a folder, no special headers; and of a file what lies beside it as .br, if
// `packed` and the browser takes that.
import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {createServer} from 'node:http';
import {extname, join, normalize} from 'node:path';

const usual = {'.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm'};

export async function serve(folder, {packed = true, kinds = {}} = {}) {
    const sizeOf = file => stat(file).then(there => there.isFile() ? there.size : undefined, () => undefined);
    const server = createServer(async (request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, 'http://here').pathname));
        const file = join(folder, path.endsWith('/') ? path + 'index.html' : path);
        const size = await sizeOf(file);
        if (size === undefined) {
            response.writeHead(404).end();
            return;
        }
        const type = {'Content-Type': kinds[extname(file)] ?? usual[extname(file)] ?? 'application/octet-stream'};
        const small = packed && request.headers['accept-encoding']?.includes('br') ? await sizeOf(`${file}.br`) : undefined;
        if (small === undefined) response.writeHead(200, {...type, 'Content-Length': size});
        else response.writeHead(200, {...type, 'Content-Length': small, 'Content-Encoding': 'br'});
        createReadStream(small === undefined ? file : `${file}.br`).pipe(response);
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    return {url: `http://127.0.0.1:${server.address().port}/`, close: () => { server.close(); server.closeAllConnections(); }};
}
