/** The parts of a fleet as processes: NATS, the built service, sender nodes and a counting relay. */
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
import { readerOf } from '../support/database-reader.ts';
import { seededCopy } from '../support/seeded-copy.ts';
import { BUILT, Service } from '../support/service.ts';
import { Link } from './link.ts';
import { type Loss, type Reckoning, reckon, type Taken } from './reckoning.ts';

const CONNECTIONS = 10;
const PATIENCE_MS = 300_000;

interface Ends {
  teardown(end: () => Promise<void>): void;
}

/** A sender node as a process of the built program. */
export class NodeProcess {
  readonly #name: string;
  readonly #settings: Record<string, string | undefined>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'sendlark-node-'));
  /** What it logged. */
  readonly lines: string[] = [];
  #process: ChildProcess | null = null;
  #starts = 0;

  constructor(t: Ends, name: string, settings: Record<string, string | undefined>) {
    this.#name = name;
    this.#settings = settings;
    t.teardown(async () => {
      await this.end('SIGKILL');
      rmSync(this.#folder, { recursive: true, force: true });
    });
  }

  /** The name under which NATS and the relay know the process that runs: another one after each start. */
  get name(): string {
    return `${this.#name}-${this.#starts}`;
  }

  start(): void {
    this.#starts++;
    const own = { NODE_NAME: this.name, SMTP_HELO: `${this.name}.test`, PORT: '0' };
    const env = { ...BUILT.env, ...own, ...this.#settings };
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

/** A relay that counts what it takes, in a process of its own. */
export interface CountingRelay {
  /** The port for mail. */
  port: number;
  ask<T>(what: string): Promise<T>;
  /** From now on it takes so many mails a second; 0: any. */
  pace(rate: number): Promise<void>;
}

/** Starts one that takes so many mails a second; 0: any. */
export async function startRelay(t: Ends, rate: number): Promise<CountingRelay> {
  const args = ['scripts/bench/sink.ts', '--record', '--rate', String(rate)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(async () => void child.kill());
  const [line]: string[] = await once(createInterface(child.stdout), 'line');
  const { smtp, control }: { smtp: number; control: number } = JSON.parse(line ?? '');
  return {
    port: smtp,
    async ask<T>(what: string): Promise<T> {
      const answer = await fetch(`http://127.0.0.1:${control}/${what}`);
      return JSON.parse(await answer.text());
    },
    async pace(newRate) {
      await fetch(`http://127.0.0.1:${control}/rate/${newRate}`, { method: 'POST' });
    },
  };
}

interface SendOptions {
  people: number;
  /** Mails a second that the relay takes; 0: any. */
  rate: number;
  nodes: number;
  servers?: 1 | 3;
  /** Settings of the service besides its own. */
  service?: Record<string, string>;
  /** The HTML of the e-mail. */
  html?: string;
  /** Changes the database before anything runs. */
  change?(client: Database.Database): void;
}

/** A mailing to so many people, the service, and nodes that send it to a relay of so many mails a second. */
export class FleetSend {
  readonly nats: NatsCluster;
  readonly service: Service;
  readonly nodes: NodeProcess[];
  /** The network of the service, and that of each node. */
  readonly links: { service: Link; nodes: Link[] };
  /** The nodes that were lost, for the reckoning. */
  readonly losses: Loss[] = [];
  /** When the controller was lost for good, for the reckoning. */
  controllerLostAt: number | null = null;
  readonly relay: CountingRelay;
  /** The first row of a query on the database of the service. */
  readonly read: (sql: string) => Record<string, unknown>;
  readonly #people: number;

  private constructor(
    t: Ends,
    nats: NatsCluster,
    links: FleetSend['links'],
    relay: FleetSend['relay'],
    { people, service }: SendOptions,
  ) {
    this.nats = nats;
    this.links = links;
    this.relay = relay;
    this.#people = people;
    this.service = new Service(t, {
      NATS_URL: links.service.urls,
      SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
      SMTP_CONNECTIONS: String(CONNECTIONS),
      ...service,
    });
    this.read = readerOf(t, this.file);
    this.nodes = links.nodes.map(({ urls }, at) => new NodeProcess(t, `node-${at}`, { NATS_URL: urls }));
  }

  /** Prepares everything and starts NATS and the relay, nothing else. */
  static async prepare(t: Ends, options: SendOptions): Promise<FleetSend> {
    const { people, rate, nodes, servers = 1 } = options;
    const nats = await startNats(t, servers);
    const relay = await startRelay(t, rate);
    const [service, ...others] = await Promise.all(Array.from({ length: nodes + 1 }, () => Link.to(t, nats.urls)));
    if (service === undefined) throw new Error('there is no network');
    const send = new FleetSend(t, nats, { service, nodes: others }, relay, options);
    seededCopy(send.file);
    const db = connect(send.file);
    await launchMailing(db, people, options.html ?? sampleHtml(4000, 3));
    options.change?.(db.$client);
    db.$client.close();
    return send;
  }

  async start(): Promise<void> {
    for (const node of this.nodes) node.start();
    await this.service.start();
  }

  /** How many messages the relay has answered or is answering. */
  async taken(): Promise<number> {
    const { messages } = await this.relay.ask<{ messages: number }>('');
    return messages;
  }

  /** Gives the mailing a command as the API does; resolves once the API would answer. */
  async command(given: 'pause' | 'resume'): Promise<void> {
    const client = new Database(this.file);
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

  async until(reached: () => Promise<boolean> | boolean): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await pause(50)) if (await reached()) return;
    throw new Error(`it does not get there: ${JSON.stringify(this.counts())}`);
  }

  /** The deliveries by state. */
  counts(): unknown {
    return this.read(
      'SELECT json_group_object(state, n) AS states FROM (SELECT state, count(*) AS n FROM deliveries GROUP BY state)',
    );
  }

  /** Compares the relay's count of every address with the ledger and with the reports. */
  async reckon(): Promise<Reckoning> {
    const taken = await this.relay.ask<Taken[]>('taken');
    const { losses, controllerLostAt, nats, read } = this;
    return reckon({ people: this.#people, taken, losses, controllerLostAt, nats, read });
  }

  /** The database of the service. */
  get file(): string {
    return join(this.service.folder, 'test.db');
  }
}
