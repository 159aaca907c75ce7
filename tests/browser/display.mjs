// A screen for programs that need one: an X server without a monitor.
import {spawn} from 'node:child_process';
import {once} from 'node:events';

export async function display({width = 1280, height = 800} = {}) {
    // The server writes its number where it is told to: here, into a pipe.
    const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp', '-noreset'],
                         {stdio: ['ignore', 'ignore', 'ignore', 'pipe']});
    const number = await Promise.race([
        once(server.stdio[3], 'data').then(([text]) => String(text).trim()),
        once(server, 'error').then(([error]) => { throw new Error(`Xvfb: ${error.message}`); }),
        once(server, 'exit').then(([status]) => { throw new Error(`Xvfb ended with status ${status}`); }),
    ]);
    return {
        name: `:${number}`,
        close: async () => {
            const ended = server.exitCode === null && server.signalCode === null && once(server, 'exit');
            server.kill();
            await ended;
        },
    };
}
