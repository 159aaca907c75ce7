// The desktop program on its first start, in a window on a screen of its own (display.mjs), with reduced motion.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {sleep, until} from './visitor.mjs';

const run = promisify(execFile);

export async function desktop(program, screen, {width = 1280, height = 800} = {}) {
    const home = await mkdtemp(join(tmpdir(), 'desktop-'));
    await mkdir(join(home, 'gtk-3.0'));
    await writeFile(join(home, 'gtk-3.0/settings.ini'), '[Settings]\ngtk-enable-animations=0\n');
    const env = {...process.env, DISPLAY: screen.name, WAYLAND_DISPLAY: '', LANG: 'C.UTF-8', LC_ALL: '', LANGUAGE: '', HOME: home,
                 XDG_CONFIG_HOME: home, XDG_DATA_HOME: home, XDG_STATE_HOME: home, LIBGL_ALWAYS_SOFTWARE: '1'};
    const running = spawn(program, [], {env, stdio: ['ignore', 'ignore', 'inherit']});
    const xdotool = async (...words) => (await run('xdotool', words.map(String), {env})).stdout.trim();
    const found = () => xdotool('search', '--onlyvisible', '--name', ' · Decoderscope$').catch(() => '');
    const window = await until("the desktop program's window", async () => {
        if (running.exitCode !== null) throw new Error(`${program} ended with status ${running.exitCode}`);
        return found();
    });
    // Without a window manager it stays where it is put; the pointer is outside of it.
    await xdotool('windowsize', window, width, height, 'windowmove', window, 0, 0, 'windowfocus', window, 'mousemove', width + 50, height + 50);
    return {
        press: async (key, ...held) => {
            await xdotool('key', [...held.map(name => name.toLowerCase()), key].join('+'));
            await sleep(250);
        },
        click: async (x, y) => {
            await xdotool('mousemove', x, y);
            await sleep(100);
            await xdotool('mousedown', 1);
            await sleep(100);
            await xdotool('mouseup', 1);
            await sleep(100);
            await xdotool('mousemove', width + 50, height + 50);
            await sleep(250);
        },
        picture: () => screen.picture(width, height),
        close: async () => {
            const ended = running.exitCode === null && running.signalCode === null && once(running, 'exit');
            running.kill();
            await ended;
            await rm(home, {recursive: true, force: true});
        },
    };
}
