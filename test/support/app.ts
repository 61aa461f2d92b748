/** Builds the application as production does, on a fresh database with two accounts, a fake clock, cheap passwords and the outbox. */

import assert from 'node:assert';
import { Resolver } from 'node:dns/promises';
import { mkdtempSync, rmSync } from 'node:fs';
import type { OutgoingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { Test } from 'tap';
import { type App, buildApp } from '../../src/app.ts';
import { importContacts } from '../../src/audience/import/import.ts';
import { previewImport } from '../../src/audience/import/preview.ts';
import { type Importer, ImportJobs } from '../../src/audience/import/uploads.ts';
import { readExport } from '../../src/audience/migrate/read-export.ts';
import { type Config, readConfig } from '../../src/config.ts';
import { addKeyPair, createAccount } from '../../src/database/accounts.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { WriteLock } from '../../src/database/write-lock.ts';
import { HitBuffer } from '../../src/delivery/feedback/opens-and-clicks.ts';
import { findPublicUrl } from '../../src/delivery/links/public-url.ts';
import { openTokens, type Tokens } from '../../src/delivery/links/tokens.ts';
import type { Courier } from '../../src/delivery/transport/courier.ts';
import { OutboxCourier } from '../../src/delivery/transport/outbox.ts';
import { SENTENCES } from '../../src/errors/sentences.ts';
import { logOptions } from '../../src/http/server-options.ts';
import type { Log } from '../../src/log.ts';
import type { Deps } from '../../src/operations/deps.ts';
import { Background } from '../../src/threads/background.ts';
import { nextWorkAt } from '../../src/threads/next-work.ts';
import type { Clock } from '../../src/time/clock.ts';
import { hashCheaply } from './cheap-passwords.ts';
import { seededCopy } from './seeded-copy.ts';

export interface FilePart {
  filename: string;
  content: string | Buffer;
  type?: string;
}

export interface CallOptions {
  query?: Record<string, unknown>;
  form?: Record<string, unknown> | [string, string][];
  multipart?: [string, string | FilePart][];
  json?: unknown;
  headers?: Record<string, string>;
}

export interface Answer {
  status: number;
  headers: OutgoingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads answers of any shape, and asserts what it reads
  body: any;
  text: string;
}

export interface Caller {
  headers: Record<string, string>;
  /** Calls an endpoint of the API by its path without the prefix. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
}

/** A clock that moves only when told. */
export class FakeClock implements Clock {
  #now = Date.UTC(2026, 0, 15, 9, 0, 0);
  #monotonic = 0;

  now(): Date {
    return new Date(this.#now);
  }

  monotonic(): number {
    return this.#monotonic;
  }

  advance(ms: number): void {
    this.#now += ms;
    this.#monotonic += ms;
  }

  /** Sets the wall clock alone, as an operator or NTP does. */
  jump(ms: number): void {
    this.#now += ms;
  }
}

export interface TestApp {
  one: Caller;
  two: Caller;
  anonymous: Caller;
  /** The raw connection, for looking at rows. */
  db: Db['$client'];
  drizzle: Db;
  clock: FakeClock;
  tokens: Tokens;
  fastify: App;
  path: string;
  /** Opens a page as a browser does: path outside the API. */
  page(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Answers what the application asks of Amazon SNS; without it, it may ask nothing. */
  answerForAmazon(answer: Deps['fetchFromAmazon']): void;
  /** Has the application ask this DNS server; without it, none answers. */
  askDns(server: string): void;
  /** Runs the background until nothing is due. */
  background(): Promise<void>;
  /** Lets time pass, and runs the background after the first hour, at the end, and at each hour between at which work is due. */
  pass(ms: number): Promise<void>;
  /** Runs one step of the background; gives whether there is more to do. */
  step(): Promise<boolean>;
  /**
   * Drops the background where it stands and starts another on the same file, with a connection of its own.
   * What is dropped after a restart can write no more, as after a kill. `changed`: settings that differ from then on.
   */
  restartBackground(courierOf?: (db: Db) => Courier, changed?: Partial<Config>): void;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const KEYS = { PUBLIC_KEY: '', SECRET_KEY: '' };
const PUBLIC_URL = 'http://mail.example.com';
/** A port of this machine at which nobody answers. */
const NO_DNS = '127.0.0.1:1';
/** A reason in its stored form, which no answer, page or file may show. Fields of forms have it as their value. */
const STORED_REASON = new RegExp(`(?<! value="):(?:${Object.keys(SENTENCES).join('|')})(?:[{"&<\\\\]|$)`, 'm');
/**
 * A whole number written as 1.0, which clients with fixed types refuse. SQLite writes a JavaScript number so that is
 * bound to a statement.
 */
const WHOLE_AS_DECIMAL = /"\w+":-?\d+\.0(?=[,}])/;
/** Searches as it was before any test, because some count the searches of the product by replacing it. */
const { exec } = RegExp.prototype;

/** Where an application writes its log, and the lines so far. */
export function keptLog(): { lines: Record<string, unknown>[]; logTo: Writable } {
  const lines: Record<string, unknown>[] = [];
  const logTo = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  return { lines, logTo };
}

/** Starts an application for this test; settings are as in the environment. Everything is cleaned up with the test. */
export async function startApp(
  t: Test,
  settings: Record<string, string> = {},
  courierOf?: (db: Db) => Courier,
  logTo?: Writable,
): Promise<TestApp> {
  hashCheaply(t);
  const folder = mkdtempSync(join(tmpdir(), 'sendlark-test-'));
  const path = join(folder, 'test.db');
  seededCopy(path);
  const db = connect(path);
  const clock = new FakeClock();
  const config = readConfig({ ...KEYS, DATABASE_PATH: path, PUBLIC_URL, ...settings });
  const tokens = openTokens(db.$client);
  const publicUrl = () => findPublicUrl(db.$client, config).url || 'http://127.0.0.1:3000';
  const log: Log = (fields, text, level = 'info') => logTo?.write(`${JSON.stringify({ ...fields, text, level })}\n`);
  const startBackground = (on: Db, courier: Courier, changed: Partial<Config> = {}) =>
    new Background({ db: on, config: { ...config, ...changed }, clock, tokens, publicUrl, courier, log });
  let backgroundDb = db;
  let started: Background | undefined;
  // Made when a test first needs it, because it compiles statements: 5 of the 90 ms of a start.
  const background = () => {
    started ??= startBackground(db, courierOf?.(db) ?? new OutboxCourier(db, clock));
    return started;
  };
  const onOwn = async <Result>(work: (own: Db) => Promise<Result>) => {
    const own = connect(path);
    return work(own).finally(() => own.$client.close());
  };
  const importer: Importer = {
    run: (job) => onOwn((own) => importContacts(own, job, clock)),
    preview: (job) => onOwn((own) => previewImport(own, job)),
    read: (job) => onOwn((own) => readExport(own, job)),
  };
  let dns = NO_DNS;
  let amazon: Deps['fetchFromAmazon'] = async (url) => assert.fail(`asked for ${url}`);
  const deps: Omit<Deps, 'backups'> = {
    db,
    fetchFromAmazon: (url) => amazon(url),
    lock: new WriteLock(db.$client),
    config,
    clock,
    tokens,
    hits: new HitBuffer(db.$client),
    publicUrl,
    wake: () => background().acknowledge(),
    wakeWebhooks: () => undefined,
    resolver: () => {
      const resolver = new Resolver({ timeout: 200, tries: 1 });
      resolver.setServers([dns]);
      return resolver;
    },
    restart: () => undefined,
    importer,
    imports: new ImportJobs(importer, (error, text) => log({ err: String(error) }, text, 'error')),
  };
  const fastify = await buildApp(deps, logTo && { ...logOptions(config), stream: logTo });
  t.teardown(async () => {
    await started?.close(1000);
    await fastify.close();
    backgroundDb.$client.close();
    db.$client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const caller = (name: string): Caller => {
    const { publicKey, secretKey } = addKeyPair(db, clock, createAccount(db, clock, name));
    return callerWith(fastify, '/api', { PublicKey: publicKey, SecretKey: secretKey });
  };
  return {
    one: caller('One'),
    two: caller('Two'),
    anonymous: callerWith(fastify, '/api', {}),
    page: callerWith(fastify, '', {}).call,
    db: db.$client,
    drizzle: db,
    clock,
    tokens,
    fastify,
    path,
    answerForAmazon(answer) {
      amazon = answer;
    },
    askDns(server) {
      dns = server;
    },
    background: () => background().untilIdle(),
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += HOUR) {
        clock.advance(Math.min(HOUR, ms - passed));
        const now = clock.now().getTime();
        // Once a day in any case, since a clock that jumps further counts as wrong.
        const isNeeded = passed % DAY === 0 || passed + HOUR >= ms || nextWorkAt(db.$client, now) <= now;
        if (isNeeded) await background().untilIdle();
      }
    },
    step: () => background().step(),
    restartBackground(courierOfNext, changed) {
      if (backgroundDb !== db) backgroundDb.$client.close();
      backgroundDb = connect(path);
      started = startBackground(
        backgroundDb,
        courierOfNext?.(backgroundDb) ?? new OutboxCourier(backgroundDb, clock),
        changed,
      );
    },
  };
}

/** Calls under a prefix as whoever has these headers. */
export function callerWith(fastify: FastifyInstance, prefix: string, headers: Record<string, string>): Caller {
  return {
    headers,
    async call(method, path, options = {}) {
      const { body, type } = encodeBody(options);
      const response = await fastify.inject({
        method: method as 'GET',
        url: prefix + path + encodeQuery(options.query),
        headers: { ...headers, ...(type && { 'content-type': type }), ...options.headers },
        ...(body !== undefined && { payload: body }),
      });
      const contentType = String(response.headers['content-type']);
      const isJson = contentType.includes('json');
      const { statusCode: status, payload: text } = response;
      // A backup holds reasons as they are stored.
      const shown = contentType.includes('sqlite') ? undefined : exec.call(STORED_REASON, text)?.[0];
      if (shown !== undefined) throw new Error(`${method} ${path} shows a reason in its stored form: ${shown}`);
      const decimal = isJson ? exec.call(WHOLE_AS_DECIMAL, text)?.[0] : undefined;
      if (decimal !== undefined) throw new Error(`${method} ${path} answers a whole number as a decimal: ${decimal}`);
      return { status, headers: response.headers, text, body: isJson && text !== '' ? JSON.parse(text) : undefined };
    },
  };
}

function encodeQuery(query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((item): [string, string] => [name, String(item)]),
  );
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs)}`;
}

function encodeBody({ form, multipart, json }: CallOptions): { body?: string | Buffer; type?: string } {
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  if (form !== undefined) {
    const pairs = Array.isArray(form) ? form : Object.entries(form).flatMap(formPairs);
    return { body: new URLSearchParams(pairs).toString(), type: 'application/x-www-form-urlencoded' };
  }
  return multipart === undefined ? {} : encodeMultipart(multipart);
}

/** Arrays as the interface sends them: indexed keys. */
function formPairs([name, value]: [string, unknown]): [string, string][] {
  if (Array.isArray(value)) return value.map((item, at) => [`${name}[${at}]`, String(item)]);
  return [[name, String(value)]];
}

function encodeMultipart(parts: [string, string | FilePart][]): { body: Buffer; type: string } {
  const boundary = '----sendlark-test';
  const chunks = parts.flatMap(([name, value]) => {
    const head = `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
    if (typeof value === 'string') return [Buffer.from(`${head}\r\n\r\n${value}\r\n`)];
    const type = value.type ?? 'text/csv';
    return [
      Buffer.from(`${head}; filename="${value.filename}"\r\nContent-Type: ${type}\r\n\r\n`),
      Buffer.from(value.content),
      Buffer.from('\r\n'),
    ];
  });
  return {
    body: Buffer.concat([...chunks, Buffer.from(`--${boundary}--\r\n`)]),
    type: `multipart/form-data; boundary=${boundary}`,
  };
}
