/** The parts of a fleet as processes: NATS, the built service, sender nodes and a counting relay; and the reckoning of a send. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { fetch } from 'undici';
import { launchMailing, sampleHtml } from '../../fixtures/mailing.ts';
import { type NatsCluster, startNats } from '../../fixtures/nats.ts';
import { connect } from '../../src/database/open.ts';
import { commandMailing, waitForAcknowledgement } from '../../src/delivery/queue/mailing-state.ts';
import { Service } from '../support/service.ts';

export const CONNECTIONS = 10;
const PATIENCE_MS = 180_000;

interface Ends {
  teardown(end: () => Promise<void>): void;
}

/** A sender node as a process of the built program. */
export class NodeProcess {
  readonly name: string;
  readonly #settings: Record<string, string>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'sendlark-node-'));
  /** What it logged. */
  readonly lines: string[] = [];
  #process: ChildProcess | null = null;

  constructor(t: Ends, name: string, settings: Record<string, string>) {
    this.name = name;
    this.#settings = { NODE_NAME: name, PORT: '0', ...settings };
    t.teardown(async () => {
      await this.end('SIGKILL');
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  start(): void {
    const env = { PATH: process.env.PATH, ...this.#settings };
    const cli = join(process.cwd(), 'dist/cli.js');
    const child = spawn(process.execPath, [cli, 'node'], {
      env,
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: child.stdout }).on('line', (line) => this.lines.push(line));
    this.#process = child;
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name);
  }

  /** Ends it; gives the exit code, null after a kill. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    child.kill(signal);
    const [code]: (number | null)[] = await once(child, 'exit');
    return code ?? null;
  }
}

/** A mailing to so many people, the service, and nodes that send it to a relay of so many mails a second. */
export class FleetSend {
  readonly nats: NatsCluster;
  readonly service: Service;
  readonly nodes: NodeProcess[];
  readonly #people: number;
  readonly #rate: number;
  readonly #control: number;

  private constructor(
    t: Ends,
    nats: NatsCluster,
    people: number,
    nodes: number,
    sink: { smtp: number; control: number; rate: number },
  ) {
    this.nats = nats;
    this.#people = people;
    this.#rate = sink.rate;
    this.#control = sink.control;
    this.service = new Service(t, {
      NATS_URL: nats.urls,
      SMTP_URL: `smtp://127.0.0.1:${sink.smtp}`,
      SMTP_CONNECTIONS: String(CONNECTIONS),
    });
    this.nodes = Array.from({ length: nodes }, (_, at) => new NodeProcess(t, `node-${at}`, { NATS_URL: nats.urls }));
  }

  /** Prepares everything and starts NATS and the relay, nothing else. */
  static async prepare(
    t: Ends,
    { people, rate, nodes, servers = 1 }: { people: number; rate: number; nodes: number; servers?: 1 | 3 },
  ): Promise<FleetSend> {
    const nats = await startNats(t, servers);
    const args = ['scripts/bench/sink.ts', '--record', '--rate', String(rate)];
    const sink = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(async () => void sink.kill());
    const [line]: string[] = await once(createInterface(sink.stdout), 'line');
    const send = new FleetSend(t, nats, people, nodes, { ...JSON.parse(line ?? ''), rate });
    const db = connect(send.#file);
    await launchMailing(db, people, sampleHtml(4000, 3));
    db.$client.close();
    return send;
  }

  async start(): Promise<void> {
    for (const node of this.nodes) node.start();
    await this.service.start();
  }

  /** How many messages the relay has answered or is answering. */
  async taken(): Promise<number> {
    const totals = await (await fetch(`http://127.0.0.1:${this.#control}/`)).text();
    const { messages }: { messages: number } = JSON.parse(totals);
    return messages;
  }

  /** Gives the mailing a command as the API does; resolves once the API would answer. */
  async command(given: 'pause' | 'resume'): Promise<void> {
    const client = new Database(this.#file);
    try {
      commandMailing(client, 1, given);
      await waitForAcknowledgement(client, 1);
    } finally {
      client.close();
    }
  }

  isOver(): boolean {
    return this.read('SELECT finished_at IS NOT NULL AS over FROM mailings').over === 1;
  }

  async until(reached: () => Promise<boolean> | boolean, ms = PATIENCE_MS): Promise<void> {
    for (const end = Date.now() + ms; Date.now() < end; await pause(20)) if (await reached()) return;
    throw new Error(`it does not get there: ${JSON.stringify(this.counts())}`);
  }

  /** The deliveries by state. */
  counts(): unknown {
    return this.read(
      'SELECT json_group_object(state, n) AS states FROM (SELECT state, count(*) AS n FROM deliveries GROUP BY state)',
    );
  }

  /** So many duplicates are allowed for each loss: what was in flight on so many nodes, and what was known and not published. */
  boundFor(nodes: number): number {
    return Math.ceil(nodes * CONNECTIONS * 2 + this.#rate * 0.1);
  }

  /** In words, what breaks the promise; and how many mails were sent twice. */
  async reckon(bound: number): Promise<{ problems: string[]; duplicates: number }> {
    const text = await (await fetch(`http://127.0.0.1:${this.#control}/recipients`)).text();
    const taken = new Map<string, string[]>(Object.entries(JSON.parse(text)));
    const ids = [...taken.values()];
    const duplicates = ids.reduce((sum, own) => sum + own.length - 1, 0);
    const renamed = ids.filter((own) => new Set(own).size > 1 || own.includes('')).length;
    const missing = this.#people - taken.size;
    const counters = this.read('SELECT triggered, delivered, bounces, failed, suppressed, cancelled FROM mailings');
    const rows = this.read(`
      SELECT sum(attempt > 0) AS triggered, sum(state = 2) AS delivered, sum(state = 3) AS bounces, sum(state = 4) AS failed,
        sum(state = 5) AS suppressed, sum(state = 6) AS cancelled FROM deliveries`);
    const problems = [
      missing > 0 && `${missing} recipients got nothing`,
      renamed > 0 && `${renamed} recipients got the mail under two Message-IDs`,
      duplicates > bound && `${duplicates} duplicates, the bound is ${bound}`,
      counters.delivered !== this.#people && `${counters.delivered} of ${this.#people} are counted as delivered`,
      JSON.stringify(counters) !== JSON.stringify(rows) &&
        `the counters ${JSON.stringify(counters)} are not the ledger's ${JSON.stringify(rows)}`,
    ].filter((problem) => problem !== false);
    return { problems, duplicates };
  }

  read(sql: string): Record<string, unknown> {
    const client = new Database(this.#file, { readonly: true });
    try {
      return client.prepare<[], Record<string, unknown>>(sql).get() ?? {};
    } finally {
      client.close();
    }
  }

  get #file(): string {
    return join(this.service.folder, 'test.db');
  }
}
