/**
 * Runs Postfix's smtp-sink in the place of the raw sink of sink.ts, so that the measured rate includes the CPU time that a real server needs
 * to read SMTP. Like sink.ts, it prints its ports and answers with totals on its control port. Debian's package `postfix` has smtp-sink.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createConnection, createServer, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const SMTP_SINK = '/usr/sbin/smtp-sink';
/** How many connections may wait to be accepted. */
const BACKLOG = 128;
/** The unit of CPU times in /proc, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Listens on a free port of loopback. Returns the port. */
function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

const probe = createServer();
const smtp = await listen(probe);
await new Promise((resolve) => probe.close(resolve));

// smtp-sink refuses to run as root.
const userOptions = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
const sink = spawn(SMTP_SINK, [...userOptions, '-c', `127.0.0.1:${smtp}`, String(BACKLOG)], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
sink.on('error', ({ message }) => {
  console.error(`smtp-sink, a part of Postfix, could not be started: ${message}`);
  process.exit(1);
});
process.on('SIGTERM', () => {
  sink.kill();
  process.exit();
});

let messages = 0;
let messagesAtReset = 0;
sink.stdout.setEncoding('latin1').on('data', (text: string) => {
  messages = Number(/.*mesg=(\d+)/s.exec(text)?.[1] ?? messages);
});

/** The user and system time of smtp-sink: fields 14 and 15 of its line in /proc (proc(5)). */
function cpuSeconds(): number {
  const fields = readFileSync(`/proc/${sink.pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

const control = createHttpServer((request, response) => {
  if (request.method === 'POST') messagesAtReset = messages;
  // smtp-sink does not count bytes.
  response.end(JSON.stringify({ messages: messages - messagesAtReset, bytes: 0, cpuSeconds: cpuSeconds() }));
});

/** Resolves once the port accepts connections. */
async function untilOpen(port: number): Promise<void> {
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

await untilOpen(smtp);
console.log(JSON.stringify({ smtp, control: await listen(control) }));
