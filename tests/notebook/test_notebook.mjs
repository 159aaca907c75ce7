// Debian's Jupyter in Chromium: what is shown under a cell, and what comes back to the kernel.
import assert from 'node:assert/strict';
import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {after, before, test} from 'node:test';
import {pathToFileURL} from 'node:url';
import {cells as cellsOf, convert, drawn, isDark, jupyter, newFolder, viewersIn, writeNotebook} from './jupyter.mjs';
import {chromium, sleep, until} from './visitor.mjs';

let server, browser, page, url, folder;
const wrong = [];

const opened = async (name, height = 2400) => {
    const page = await browser.newPage();
    await page.setViewport({width: 1280, height});
    page.on('pageerror', error => wrong.push(String(error)));
    await page.goto(`${url}notebooks/${name}`);
    return page;
};

before(async () => {
    folder = await newFolder();
    await copyFile('example.ipynb', join(folder, 'example.ipynb'));
    server = await jupyter(folder);
    url = server.url;
    browser = await chromium();
});
after(async () => {
    await browser?.close();
    server?.kill();
});

const cells = () => cellsOf(page);
const ready = page => until('the kernel', () => page.evaluate(() => window.Jupyter?.notebook?.kernel?.is_connected() ?? false));
const runAll = page => page.evaluate(() => Jupyter.notebook.execute_all_cells());
const save = page => page.evaluate(() => Jupyter.notebook.save_notebook());
// Runs code in the notebook's kernel and returns what it prints.
const run = code => page.evaluate(code => new Promise(done => {
    let said = '';
    Jupyter.notebook.kernel.execute(code, {
        iopub: {output: message => { said += message.content.text ?? message.content.evalue ?? ''; }},
        shell: {reply: () => setTimeout(() => done(said.trim()), 200)},
    }, {silent: false});
}), code);

test('one line shows a model under its cell, and another where two differ', async () => {
    page = await opened('example.ipynb');
    await ready(page);
    await runAll(page);
    const both = () => cells().then(JSON.stringify);
    const [shown, compared] = await until('two cells to show something', async () => {
        const found = await cells();
        return found.length === 2 && found.every(({shows}) => shows?.model.endsWith('.safetensors')) && found;
    }, 60000).catch(async error => { throw new Error(`${error.message}; there is ${await both()}`); });
    assert.equal(shown.opened, 'recording.safetensors');
    assert.equal(shown.shows.step, 'layers.0.self_attn/softmax/out');
    assert.equal(shown.shows.said, null);
    assert.match(compared.shows.model, /reference\.safetensors$/);
    assert.deepEqual(wrong, []);
});

test('where it is goes to the kernel, and the kernel says where to go', async () => {
    await until('the selection to arrive', async () => (await run('print(view.selected is not None)')) === 'True');
    assert.equal(await run('view.go("layers.1.self_attn/softmax/out", cell=(2, 3, 1))'), '');
    await until('the cell to be selected', async () => {
        const [{shows}] = await cells();
        return shows.step === 'layers.1.self_attn/softmax/out' && JSON.stringify(shows.cell) === '[2,3,1]';
    });
    await until('the kernel to know', async () => (await run('print(view.selected)')) === "{'step': 'layers.1.self_attn/softmax/out', 'cell': [2, 3, 1]}");
    assert.equal(await run('view.go("no.such.step")'), '');
    await until('a sentence', async () => (await cells())[0].shows.said?.includes('no.such.step'));
});

test('messages of another window, or that ask for what is not there, change nothing', async () => {
    const answers = await page.evaluate(async () => {
        const frame = document.querySelector('.decoderscope iframe');
        const heard = [];
        window.addEventListener('message', event => { if (event.data?.refused) heard.push(event.data.refused); });
        const stranger = document.body.appendChild(document.createElement('iframe'));
        stranger.contentWindow.eval(`parent.document.querySelector('.decoderscope iframe').contentWindow.postMessage({decoderscope: 1, go: 'layers.0.linear1/out'}, '*')`);
        for (const message of [{decoderscope: 2, go: 'x'}, {decoderscope: 1, erase: true}, {decoderscope: 1, go: 1}, {decoderscope: 1, open: []},
            {decoderscope: 1, open: [{name: 'a', bytes: 'no bytes'}]}, {decoderscope: 1, link: 'https://example.org/'}, 'text', null])
            frame.contentWindow.postMessage(message, '*');
        await new Promise(done => setTimeout(done, 1500));
        stranger.remove();
        return heard;
    });
    assert.equal(answers.length, 6);
    assert.equal((await cells())[0].shows.step, 'layers.1.self_attn/softmax/out');
});

test('a recording that is cut short is refused in a sentence', async () => {
    await page.evaluate(() => {
        const bytes = new Uint8Array(200).fill(7).buffer;
        document.querySelector('.decoderscope iframe').contentWindow.postMessage({decoderscope: 1, open: [{name: 'cut.safetensors', bytes}]}, '*');
    });
    await until('a sentence', async () => /cut\.safetensors/.test((await cells())[0].shows.said ?? ''));
});

test('numbers that colour are handed over with the recording, and opened', async () => {
    const before = await page.evaluate(() => document.querySelectorAll('.decoderscope').length);
    await page.evaluate(() => {
        Jupyter.notebook.insert_cell_at_bottom('code').set_text(
            'ds.show(run, overlay={"layers.0.self_attn": (3.5, "slow"), "layers.1.linear1/out[0, 1, 2]": -1}, notes={"layers.1": "a note"});');
        Jupyter.notebook.execute_cells([Jupyter.notebook.ncells() - 1]);
    });
    const shown = await until('the cell to show it', async () => {
        const found = await cells();
        return found.length === before + 1 && found.at(-1).shows?.model.endsWith('.safetensors') && found.at(-1);
    }, 60000);
    assert.match(shown.opened, /notes\.dscope/);
    assert.equal(shown.shows.said, null);
    await page.evaluate(() => Jupyter.notebook.delete_cell(Jupyter.notebook.ncells() - 1));
});

test('a cell that is run again frees what it showed', async () => {
    for (let time = 0; time < 3; ++time) {
        const before = await page.evaluate(() => document.querySelector('.decoderscope').id);
        await page.evaluate(() => Jupyter.notebook.execute_cells([2]));
        await until('the cell to show it again', async () => {
            const ids = await page.evaluate(() => [...document.querySelectorAll('.decoderscope')].map(({id}) => id));
            return ids.length === 2 && ids[0] !== before && (await cells())[0].shows?.model.endsWith('.safetensors');
        }, 60000);
    }
    assert.equal(await page.evaluate(() => document.querySelectorAll('.decoderscope iframe').length), 2);
});

test('the viewer is stored once, within the limits, and a table stays where nothing runs', async () => {
    await save(page);
    const stored = await until('the notebook to be written', async () => {
        const text = await readFile(join(folder, 'example.ipynb'), 'utf8');
        return text.includes('data-decoderscope-viewer') && text;
    });
    assert.equal(stored.split('data-decoderscope-viewer=').length - 1, 1);
    assert.ok(stored.length < 10e6, `${stored.length} bytes`);
    assert.ok(stored.includes('<table>') && stored.includes('data:image/png;base64,'));
});

test('as HTML, by nbconvert, it shows the same without a kernel and without a network', async () => {
    for (const theme of ['light', 'dark']) {
        convert(join(folder, 'example.ipynb'), '--to', 'html', '--theme', theme);
        const reader = await browser.newPage();
        await reader.setViewport({width: 1280, height: 2400});
        await reader.setOfflineMode(true);
        await reader.goto(pathToFileURL(join(folder, 'example.html')).href);
        const both = await drawn(reader, 2);
        assert.match(both[0].shows.model, /recording\.safetensors$/);
        assert.match(both[1].shows.model, /reference\.safetensors$/);
        for (const cell of [0, 1]) assert.equal(await isDark(reader, reader, cell), theme === 'dark');
        await reader.close();
    }
});

test('opened again without running a cell, it shows what was stored', async () => {
    await page.evaluate(() => Jupyter.notebook.session.delete());
    const reader = await opened('example.ipynb');
    const [first] = await drawn(reader, 2);
    assert.match(first.shows.model, /recording\.safetensors$/);
    await reader.close();
});

test('the first cell edited and run again: the file has the viewer, once, and what is open stays as it is', async () => {
    const path = join(folder, 'edited.ipynb');
    await writeNotebook(path, 'ds.show(decoder, x, memory, height=400);', 'ds.show(decoder, x + 1, memory, height=400);');
    const editor = await opened('edited.ipynb');
    await ready(editor);
    await runAll(editor);
    await drawn(editor, 2);
    const [, second] = await editor.$$('.decoderscope iframe');
    await editor.evaluate(() => {
        Jupyter.notebook.get_cell(1).set_text('print("edited")\nds.show(decoder, x + 2, memory, height=400);');
        Jupyter.notebook.execute_cells([1]);
    });
    await sleep(1000);
    await drawn(editor, 2);
    assert.ok(await second.evaluate(frame => frame.isConnected));
    await save(editor);
    await until('the viewer in the file', async () => (await readFile(path, 'utf8')).includes('edited') && await viewersIn(path) === 1);
    // The cell that was run last is deleted, and the other run again.
    await editor.evaluate(() => {
        Jupyter.notebook.delete_cell(1);
        Jupyter.notebook.execute_cells([1]);
    });
    await sleep(1000);
    await drawn(editor, 1);
    await save(editor);
    await until('the viewer in the file again', async () => !(await readFile(path, 'utf8')).includes('edited') && await viewersIn(path) === 1);
    await editor.close();
});

test('a recording that is refused is a sentence under the cell, and no other model', async () => {
    await writeNotebook(join(folder, 'refused.ipynb'), 'run = ds.record(decoder, x, memory)\nopen("cut.safetensors", "wb").write(run.data[:5000])\nds.show("cut.safetensors");');
    const reader = await opened('refused.ipynb');
    await ready(reader);
    await runAll(reader);
    await until('a sentence', async () => (await cellsOf(reader))[0]?.says.includes('cut.safetensors'));
    await sleep(1000);
    assert.equal((await cellsOf(reader))[0].seen, false);
    await reader.close();
});

test('of twenty cells eight run at a time, and the others have their still picture and a button', async () => {
    await writeNotebook(join(folder, 'many.ipynb'), ...Array.from({length: 20}, (_, i) => `ds.show(decoder, x + ${i}, memory, height=200);`));
    const crowd = await opened('many.ipynb', 900);
    await ready(crowd);
    await runAll(crowd);
    const count = what => crowd.evaluate(what => document.querySelectorAll(what).length, what);
    await until('twenty cells', async () => await count('.decoderscope') === 20 && await count('.decoderscope iframe') === 8 && await count('.decoderscope button') === 12, 180000);
    assert.ok(await count('.decoderscope table') >= 12);
    assert.equal(await count('script[data-decoderscope-viewer]'), 1);
    // One comes back, and the oldest rests in its place.
    await crowd.evaluate(() => {
        const button = document.querySelector('.decoderscope button');
        button.closest('.decoderscope').scrollIntoView();
        button.click();
    });
    await until('it to show something', () => crowd.evaluate(() => document.querySelector('.decoderscope').dataset.shows), 120000);
    assert.equal(await count('.decoderscope iframe'), 8);
    assert.deepEqual(wrong, []);
    await crowd.close();
});
