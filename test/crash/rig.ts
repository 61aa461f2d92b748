/** The crash test's parts: a mailing on a file, a counting relay, the sender that is killed, and the reckoning. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fetch } from 'undici';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { connect } from '../../src/database/open.ts';
import { readerOf } from '../support/database-reader.ts';
import { ledgerProblems } from '../support/ledger-problems.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { Service } from '../support/service.ts';

/** The places a sender can be killed at by name. */
export const STEPS = [
  'before the claim',
  'after the claim',
  'in the middle of DATA',
  'after the 250',
  'before the commit',
] as const;

const CONNECTIONS = 20;
/** Results are on disk within so many seconds of the relay's answer. */
const RECORD_SECONDS = 0.05;
const MESSAGE_BYTES = 4_000;
const PATIENCE_MS = 120_000;

interface Ends {
  teardown(end: () => Promise<void>): void;
}

/** What the relay and the ledger hold at the end of a send. */
export interface Reckoning {
  /** In words, what breaks the promise; empty: it was kept. */
  problems: string[];
  duplicates: number;
  /** The most duplicates the promise allows: (connections + rate × 0.05 s) for every kill. */
  bound: number;
}

/** One send of `people` mails at `rate` a second, with whatever happens to it on the way. */
export class Send {
  readonly #people: number;
  readonly #rate: number;
  readonly #service: Service;
  readonly #file: string;
  readonly #read: (sql: string) => Record<string, unknown>;
  readonly #ports: { smtp: number; control: number };
  #kills = 0;

  private constructor(t: Ends, people: number, rate: number, ports: { smtp: number; control: number }) {
    this.#people = people;
    this.#rate = rate;
    this.#ports = ports;
    this.#service = new Service(t, { SMTP_URL: this.#url, SMTP_CONNECTIONS: String(CONNECTIONS) });
    this.#file = join(this.#service.folder, 'test.db');
    this.#read = readerOf(t, this.#file);
  }

  static async prepare(t: Ends, people: number, rate: number): Promise<Send> {
    const args = ['scripts/bench/sink.ts', '--record', '--rate', String(rate)];
    const sink = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(async () => {
      sink.kill();
    });
    const [line]: string[] = await once(createInterface(sink.stdout), 'line');
    const send = new Send(t, people, rate, JSON.parse(line ?? ''));
    seededCopy(send.#file);
    const db = connect(send.#file);
    await launchMailing(db, people, sampleHtml(MESSAGE_BYTES, 3));
    db.$client.close();
    return send;
  }

  /** Runs the real program until it has sent something and `ms` more have passed, then kills it; false when the send was over by then. */
  async killAfter(ms: number): Promise<boolean> {
    const before = await this.#taken();
    await this.#service.start();
    await this.#until(async () => (await this.#taken()) > before || this.isOver());
    await pause(ms);
    await this.#service.end('SIGKILL');
    const isInside = !this.isOver();
    if (isInside) this.#kills++;
    return isInside;
  }

  /** Runs a sender that kills itself when it passes the step for the `times`th time. */
  async killAt(step: string, times: number): Promise<void> {
    const signal = await this.#victim(step, times);
    if (signal !== 'SIGKILL') throw new Error(`it did not die ${step}`);
    if (this.isOver()) throw new Error(`the send was over ${step}`);
    this.#kills++;
  }

  /** Runs the real program until every recipient is in a final state. */
  async finish(): Promise<Reckoning> {
    await this.#service.start();
    await this.#until(async () => this.isOver());
    await this.#service.end('SIGTERM');
    return this.#reckon();
  }

  /** Runs a sender that recovers nothing, until it finds nothing to do. */
  async finishWithoutRecovery(): Promise<Reckoning> {
    await this.#victim('without recovery', 1);
    return this.#reckon();
  }

  isOver(): boolean {
    return this.#read('SELECT finished_at IS NOT NULL AS over FROM mailings').over === 1;
  }

  get #url(): string {
    return `smtp://127.0.0.1:${this.#ports.smtp}`;
  }

  async #victim(step: string, times: number): Promise<string | null> {
    const args = ['test/crash/victim.ts', step, String(times), this.#file, this.#url];
    const child = spawn(process.execPath, ['--import=./scripts/run-sources.js', ...args], { stdio: 'inherit' });
    await once(child, 'exit');
    if (child.exitCode) throw new Error(`the victim failed (${child.exitCode})`);
    return child.signalCode;
  }

  async #taken(): Promise<number> {
    const totals = await (await fetch(`http://127.0.0.1:${this.#ports.control}/`)).text();
    const { messages }: { messages: number } = JSON.parse(totals);
    return messages;
  }

  async #reckon(): Promise<Reckoning> {
    const text = await (await fetch(`http://127.0.0.1:${this.#ports.control}/recipients`)).text();
    const taken = new Map<string, string[]>(Object.entries(JSON.parse(text)));
    const ids = [...taken.values()];
    const duplicates = ids.reduce((sum, own) => sum + own.length - 1, 0);
    const bound = this.#kills * Math.ceil(CONNECTIONS + this.#rate * RECORD_SECONDS);
    const missing = this.#people - taken.size;
    const renamed = ids.filter((own) => new Set(own).size > 1 || own.includes('')).length;
    const problems = [
      missing > 0 && `${missing} recipients got nothing`,
      renamed > 0 && `${renamed} recipients got the mail under two Message-IDs`,
      duplicates > bound && `${duplicates} duplicates, the bound is ${bound}`,
      ...ledgerProblems(this.#people, (sql) => this.#read(sql)),
    ].filter((problem) => problem !== false);
    return { problems, duplicates, bound };
  }

  async #until(reached: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(10)) if (await reached()) return;
    throw new Error('it does not get there');
  }
}
