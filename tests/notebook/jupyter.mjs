// What the tests of notebooks share: Debian's Jupyter as a server, notebooks, and what the cells of a page show.
import {execFileSync, spawn} from 'node:child_process';
import {mkdtemp, readFile, writeFile} from 'node:fs/promises';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {brightness, color, until} from './visitor.mjs';

export const freePort = () => new Promise(done => {
    const server = createServer().listen(0, '127.0.0.1', () => {
        const {port} = server.address();
        server.close(() => done(port));
    });
});

export const newFolder = () => mkdtemp(join(tmpdir(), 'notebook-'));

// A server with kernels; `settings` are its arguments.
export async function jupyter(folder, ...settings) {
    const port = await freePort();
    const server = spawn(process.env.PYTHON, ['-m', 'notebook', '--no-browser', '--allow-root', `--port=${port}`, '--NotebookApp.token=', `--notebook-dir=${folder}`, ...settings]);
    let said = '';
    server.stderr.on('data', text => { said += text; });
    const url = await until('Jupyter to start', () => /http:\/\/(localhost|127\.0\.0\.1):\d+\//.exec(said)?.[0]);
    return {url, kill: () => server.kill()};
}

// A notebook of the example's first lines, which make `decoder`, `x` and `memory`, and these cells.
export async function writeNotebook(path, ...sources) {
    const example = JSON.parse(await readFile('example.ipynb', 'utf8'));
    const cells = sources.map((source, number) => ({...example.cells[2], id: `cell-${number}`, source: [source]}));
    await writeFile(path, JSON.stringify({...example, cells: [example.cells[1], ...cells]}));
}

// nbconvert, with what it is told.
export const convert = (path, ...wanted) => execFileSync(process.env.PYTHON, ['-m', 'nbconvert', ...wanted, path], {stdio: 'pipe'});

// How often the viewer is in a notebook's file.
export const viewersIn = async path => (await readFile(path, 'utf8')).split('data-decoderscope-viewer=').length - 1;

// Of a page or a frame of it: each output's report, its sentence, and whether the viewer is what a person sees.
export const cells = page => page.evaluate(() => [...document.querySelectorAll('.decoderscope')].map(cell => {
    const stage = cell.querySelector('.decoderscope-stage');
    return {
        opened: cell.dataset.opened, shows: cell.dataset.shows && JSON.parse(cell.dataset.shows),
        says: cell.querySelector('.decoderscope-say').textContent,
        seen: stage.childNodes.length === 1 && stage.querySelector('iframe')?.style.opacity === '1',
    };
}));
export const drawn = (page, count) => until(`${count} viewers to be seen`, async () => {
    const all = await cells(page);
    return all.length === count && all.every(({seen}) => seen) && all;
}, 120000).catch(async error => { throw new Error(`${error.message}; there is ${JSON.stringify(await cells(page))}`); });

// Whether a viewer is drawn on a dark ground: `frame` holds its cell, `page` is what a person sees.
export async function isDark(page, frame = page, cell = 0) {
    const stage = (await frame.$$('.decoderscope-stage'))[cell];
    await stage.evaluate(one => one.scrollIntoView());
    const {x, y, width} = await stage.boundingBox();
    return brightness(await color(page, x + width / 2, y + 3)) < 128;
}
export const untilDark = (wanted, ...where) =>
    until(`the viewer to be ${wanted ? 'dark' : 'light'}`, async () => await isDark(...where) === wanted, 20000);
