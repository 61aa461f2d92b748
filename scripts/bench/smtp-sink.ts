/**
 * Postfix's smtp-sink in the place of the raw sink, with the same ports to ask and the same answers: so that the rate
 * includes what a real server needs to read SMTP. Debian's package `postfix` brings it.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createConnection, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const SMTP_SINK = '/usr/sbin/smtp-sink';
const BACKLOG = 128;
/** Of the times in /proc, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const probe = createServer();
const smtp = await listen(probe);
await new Promise((resolve) => probe.close(resolve));

const asRoot = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
const sink = spawn(SMTP_SINK, [...asRoot, '-c', `127.0.0.1:${smtp}`, String(BACKLOG)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
sink.on('error', ({ message }) => {
  console.error(`smtp-sink could not be started, which comes with Postfix: ${message}`);
  process.exit(1);
});
process.on('SIGTERM', () => {
  sink.kill();
  process.exit();
});

let messages = 0;
let base = 0;
sink.stdout.setEncoding('latin1').on('data', (text: string) => {
  messages = Number(/.*mesg=(\d+)/s.exec(text)?.[1] ?? messages);
});

/** User and system time of the sink: fields 14 and 15 of its line in /proc (proc(5)). */
function cpuSeconds(): number {
  const fields = readFileSync(`/proc/${sink.pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const control = createHttpServer((request, response) => {
  if (request.method === 'POST') base = messages;
  // smtp-sink counts messages, not bytes.
  response.end(JSON.stringify({ messages: messages - base, bytes: 0, cpuSeconds: cpuSeconds() }));
});

/** Resolves once the port takes connections. */
async function opened(port: number): Promise<void> {
  for (;;) {
    const socket = createConnection(port, '127.0.0.1');
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
    await pause(20);
  }
}

await opened(smtp);
console.log(JSON.stringify({ smtp, control: await listen(control) }));
