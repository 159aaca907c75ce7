// A screen for programs that need one: an X server without a monitor, whose picture can be read.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdtemp, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

// At 96 dots to the inch this size is a whole number of millimetres, in which an X server tells it: a scale of exactly 1.
export async function display({width = 1440, height = 960} = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'display-'));
    // The server writes its number where it is told to: here, into a pipe. Its memory is a file.
    const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-dpi', '96', '-fbdir', folder, '-noreset'],
                         {stdio: ['ignore', 'ignore', 'ignore', 'pipe']});
    const number = await Promise.race([
        once(server.stdio[3], 'data').then(([text]) => String(text).trim()),
        once(server, 'error').then(([error]) => { throw new Error(`Xvfb: ${error.message}`); }),
        once(server, 'exit').then(([status]) => { throw new Error(`Xvfb ended with status ${status}`); }),
    ]);
    return {
        name: `:${number}`,
        // The left upper part of the screen, as visitor.mjs's picture() has a page.
        picture: async (width, height) => ({width, height, data: pixels(await readFile(join(folder, 'Xvfb_screen0')), width, height)}),
        close: async () => {
            const ended = server.exitCode === null && server.signalCode === null && once(server, 'exit');
            server.kill();
            await ended;
            await rm(folder, {recursive: true, force: true});
        },
    };
}

// The file is an X window dump (/usr/include/X11/XWDFile.h): a header of 4-byte numbers, colours of 12 bytes, rows of pixels.
function pixels(file, width, height) {
    const header = number => file.readUInt32BE(4 * number);
    const colors = header(0) + 12 * header(19), row = header(12);
    const out = Buffer.alloc(4 * width * height, 255);
    for (let y = 0, to = 0; y < height; ++y)
        for (let x = 0, from = colors + y * row; x < width; ++x, from += 4, to += 4) {
            out[to] = file[from + 2];
            out[to + 1] = file[from + 1];
            out[to + 2] = file[from];
        }
    return out;
}
