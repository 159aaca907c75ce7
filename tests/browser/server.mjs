// A static server, as any host has one: files of a folder, no special headers.
import {createReadStream} from 'node:fs';
import {stat} from 'node:fs/promises';
import {createServer} from 'node:http';
import {extname, join, normalize} from 'node:path';

const kinds = {'.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json', '.gz': 'application/gzip'};

export async function serve(folder) {
    const server = createServer(async (request, response) => {
        const path = normalize(decodeURIComponent(new URL(request.url, 'http://here').pathname));
        const file = join(folder, path.endsWith('/') ? path + 'index.html' : path);
        const there = await stat(file).catch(() => null);
        if (!there?.isFile()) {
            response.writeHead(404).end();
            return;
        }
        response.writeHead(200, {'Content-Type': kinds[extname(file)] ?? 'application/octet-stream', 'Content-Length': there.size});
        createReadStream(file).pipe(response);
    });
    await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
    return {url: `http://127.0.0.1:${server.address().port}/`, close: () => server.close()};
}
