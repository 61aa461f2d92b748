/** Runs the built service as a process of its own, and a real SMTP server for it to send to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Database } from 'better-sqlite3';
import { SMTPServer } from 'smtp-server';
import type { Test } from 'tap';
import { FormData, fetch, type RequestInit } from 'undici';
import { addKeyPair, FIRST_ACCOUNT } from '../../src/database/accounts.ts';
import { connect } from '../../src/database/open.ts';
import type { Scope } from '../../src/database/schema/index.ts';
import { systemClock } from '../../src/time/clock.ts';
import { seededCopy } from './seeded-copy.ts';

const KEYS = { PUBLIC_KEY: 'pk_test_of_sendlark', SECRET_KEY: 'sk_test_of_sendlark' };

export interface Received {
  /** The return path. */
  from: string;
  to: string;
  raw: Buffer;
}

export interface Sink {
  url: string;
  mails: Received[];
  /** From now on only so many mails in all are answered; the others wait for their 250 until more are allowed. */
  allow(count: number): void;
}

/** An SMTP server that takes every mail, `delayMs` apart on each connection. */
export async function startSink(t: Test, delayMs = 0): Promise<Sink> {
  const mails: Received[] = [];
  const waiting: (() => void)[] = [];
  let answered = 0;
  let allowed = Number.POSITIVE_INFINITY;
  const answer = () => {
    for (; answered < allowed; answered++) {
      const next = waiting.shift();
      if (next === undefined) return;
      setTimeout(next, delayMs);
    }
  };
  const allow = (count: number) => {
    allowed = count;
    answer();
  };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope;
        const from = mailFrom === false ? '' : mailFrom.address;
        mails.push({ from, to: rcptTo[0]?.address ?? '', raw: Buffer.concat(chunks) });
        waiting.push(callback);
        answer();
      });
    },
  });
  server.on('error', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  t.teardown(() => {
    allow(Number.POSITIVE_INFINITY);
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`, mails, allow };
}

/** How the program is started, its environment holding nothing but the settings. */
export interface Program {
  command: readonly [file: string, ...words: string[]];
  cwd?: string;
  env: Record<string, string | undefined>;
}

/**
 * The build in dist. It has one arena of the C library, as under systemd and in Docker: otherwise each service and sender node would begin
 * by starting again with that setting, which takes a tenth of the CPU time of its start.
 */
export const BUILT: Program = {
  command: [process.execPath, 'dist/cli.js'],
  env: { PATH: process.env.PATH, MALLOC_ARENA_MAX: '1' },
};

/** The keys of the file that a first start without a terminal writes; null if there is none. */
function firstKeys(databasePath: string): typeof KEYS | null {
  const path = join(dirname(databasePath), 'first-sign-in.txt');
  if (!existsSync(path)) return null;
  const text = readFileSync(path, 'utf8');
  const key = (name: string) => new RegExp(`^${name}Key: (\\S+)$`, 'm').exec(text)?.[1] ?? '';
  return { PUBLIC_KEY: key('Public'), SECRET_KEY: key('Secret') };
}

/** A service on a database file of its own; `start` again after a kill goes on with the same file. */
export class Service {
  readonly folder = mkdtempSync(join(tmpdir(), 'sendlark-service-'));
  readonly #settings: Record<string, string>;
  readonly #program: Program;
  #keys = KEYS;
  #process: ChildProcess | null = null;
  origin = '';

  /** With an empty PUBLIC_KEY among the settings, its calls use the keys of the file that the first start writes. */
  constructor(
    t: { teardown(end: () => Promise<void>): void },
    settings: Record<string, string>,
    program: Program = BUILT,
  ) {
    this.#settings = settings;
    this.#program = program;
    t.teardown(async () => {
      await this.end('SIGTERM');
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  async start(): Promise<void> {
    const env = {
      ...this.#program.env,
      ...KEYS,
      PORT: '0',
      DATABASE_PATH: join(this.folder, 'test.db'),
      RECALL_SECONDS: '0',
      LOG_LEVEL: 'error',
      // With a relay, mail waits until it is said where its links lead.
      ...(this.#settings.SMTP_URL && { PUBLIC_URL: 'http://mail.example.com' }),
      ...this.#settings,
    };
    this.origin = '';
    if (this.#program === BUILT && !existsSync(env.DATABASE_PATH)) seededCopy(env.DATABASE_PATH);
    const { command, cwd } = this.#program;
    const [file, ...words] = command;
    const child = spawn(file, words, { env, cwd, stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout })) {
      this.origin = /serves (\S+)\/api/.exec(line)?.[1] ?? this.origin;
      if (this.origin === '') continue;
      if (env.PUBLIC_KEY === '') this.#keys = firstKeys(env.DATABASE_PATH) ?? this.#keys;
      child.stdout.resume();
      return;
    }
    throw new Error('the service did not start');
  }

  /** The number of its process; 0 while there is none. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  /** Ends the process; resolves when it is gone. Gives its exit code, null after a kill. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null;
    child.kill(signal);
    const [code]: (number | null)[] = await once(child, 'exit');
    return code ?? null;
  }

  /** The headers that identify the account. */
  get keys(): Record<'PublicKey' | 'SecretKey', string> {
    return { PublicKey: this.#keys.PUBLIC_KEY, SecretKey: this.#keys.SECRET_KEY };
  }

  /** The headers of a new pair of the first account that may do only this. */
  makeKeys(...scopes: Scope[]): Record<'PublicKey' | 'SecretKey', string> {
    const db = connect(join(this.folder, 'test.db'));
    const { publicKey, secretKey } = addKeyPair(db, systemClock, FIRST_ACCOUNT, { name: 'Test', scopes });
    db.$client.close();
    return { PublicKey: publicKey, SecretKey: secretKey };
  }

  async post(path: string, form: Record<string, string>): Promise<Record<string, unknown>> {
    return this.#call(path, { method: 'POST', body: new URLSearchParams(form) });
  }

  async postJson(path: string, body: unknown): Promise<Record<string, unknown>> {
    const headers = { 'content-type': 'application/json' };
    return this.#call(path, { method: 'POST', body: JSON.stringify(body), headers });
  }

  /** Changes the database while the service runs. */
  change(work: (client: Database) => void): void {
    const db = connect(join(this.folder, 'test.db'));
    work(db.$client);
    db.$client.close();
  }

  async get(path: string): Promise<Record<string, unknown>> {
    return this.#call(path, {});
  }

  async remove(path: string): Promise<Record<string, unknown>> {
    return this.#call(path, { method: 'DELETE' });
  }

  async upload(typeId: number, csv: string): Promise<Record<string, unknown>> {
    const form = new FormData();
    form.set('contact_type_id', String(typeId));
    form.set('file', new File([csv], 'contacts.csv'));
    return this.#call('/contacts/upload-csv', { method: 'POST', body: form });
  }

  async #call(
    path: string,
    init: Omit<RequestInit, 'headers'> & { headers?: Record<string, string> },
  ): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.origin}/api${path}`, { ...init, headers: { ...init?.headers, ...this.keys } });
    const answer = (await response.json()) as Record<string, unknown>;
    if (answer.status !== 'success') throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
