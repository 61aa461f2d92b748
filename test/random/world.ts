/** The built service with an account, the relay and the model, kills, and what is compared after them. Run `npm run build` before. */

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import nodemailer from 'nodemailer';
import type { Test } from 'tap';
import { fetch } from 'undici';
import { freePort } from '../../fixtures/free-ports.ts';
import { randomOf } from '../../fixtures/random.ts';
import { connect } from '../../src/database/open.ts';
import { openTokens, type Tokens } from '../../src/delivery/links/tokens.ts';
import { sendlark } from '../support/command-line.ts';
import { SHOP_SENDER } from '../support/sender.ts';
import { Service } from '../support/service.ts';
import { wallClock } from '../support/wall-clock.ts';
import { type Answer, type Message, NOTHING } from './answer.ts';
import { compareErased, compareFile, compareLists } from './compare.ts';
import { Model } from './model.ts';
import { startRelay } from './relay.ts';

const CONNECTIONS = 5;
/** What may come twice for a kill: what every connection has in hand, and what was answered within the 50 ms before a result is on disk. */
const MAX_TWICE = CONNECTIONS + 50;
/** Longer than the service waits before it tries again to listen for returned mail on a port that was taken. */
const PATIENCE_MS = 30_000;
const HOUR = 3_600_000;

/** A single send that is not known to be over. */
export interface OpenSend {
  utr: string;
  subject: string;
}

export class World {
  readonly model = new Model();
  readonly random: () => number;
  /** Single sends that were paused. */
  readonly paused: OpenSend[] = [];
  readonly sends: OpenSend[] = [];
  readonly automations: { utr: string; subjects: string[]; isLive: boolean; target: 1 | 2; group: 1 | 2 }[] = [];
  /** The path of the form's page. */
  form = { id: 0, path: '' };
  kills = 0;
  readonly #service: Service;
  readonly #settings: Record<string, string>;
  readonly #bouncePort: number;
  /** How far the clock of the service is ahead. */
  #ahead = 0;
  #tokens: Tokens | null = null;

  private constructor(service: Service, settings: Record<string, string>, bouncePort: number, seed: number) {
    this.#service = service;
    this.#settings = settings;
    this.#bouncePort = bouncePort;
    this.random = randomOf(seed);
  }

  /** Starts the service with two contact types, a segment, two groups, a sender, two live automations and a form. */
  static async open(t: Test, seed: number): Promise<World> {
    const refused: string[] = [];
    const url = await startRelay(
      t,
      (mail) => world.model.take(mail),
      (to) => (world === undefined ? refused.push(to) : world.model.suppress(to)),
    );
    const bouncePort = await freePort();
    const settings: Record<string, string> = {
      ...{ SMTP_URL: url, SMTP_CONNECTIONS: String(CONNECTIONS), SENDER_VERIFICATION: 'optional', TRUST_PROXY: 'on' },
      ...{ BOUNCE_DOMAIN: 'returns.example.com', BOUNCE_LISTEN: `127.0.0.1:${bouncePort}` },
      ...{ SCHEDULE_GRACE_MINUTES: '100000', SHUTDOWN_SECONDS: '2', RECALL_SECONDS: '0' },
    };
    const world: World = new World(new Service(t, settings), settings, bouncePort, seed);
    await world.#service.start();
    for (const name of ['Readers', 'Customers']) await world.must('POST', '/contacts-type/add', { name });
    for (const group_name of ['News', 'Offers'])
      await world.must('POST', '/unsubscribes-groups/save', { group_name, description: 'd', is_display: 1 });
    await world.must('POST', '/segment/store', {
      ...{ segment_name: 'Vips', contact_type_id: 1, 'select_field[0]': 'first_name' },
      ...{ 'select_operator[0]': 'is', 'value[0]': 'Vip' },
    });
    await world.must('POST', '/sender/save', SHOP_SENDER);
    const { id, url: page } = (
      await world.must('POST', '/forms/create', { name: 'Footer', contact_type_id: 1, sender_id: 1 })
    ).message;
    world.form = { id, path: new URL(page).pathname };
    for (const number of [1, 2] as const) await world.#addAutomation(number);
    return world;
  }

  get file(): string {
    return join(this.#service.folder, 'test.db');
  }

  /** What the clock of the service shows, epoch milliseconds. */
  get now(): number {
    return Date.now() + this.#ahead;
  }

  get tokens(): Tokens {
    this.#tokens ??= this.read((client) => openTokens(client));
    return this.#tokens;
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.between(0, Math.max(0, from.length - 1))];
  }

  /** Asks the API, or a page where the path begins with a tilde. */
  async call(method: string, path: string, form: Record<string, unknown> = {}, headers = {}): Promise<Answer> {
    const isPage = path.startsWith('~');
    const url = `${this.#service.origin}${isPage ? path.slice(1) : `/api${path}`}`;
    const fields = new URLSearchParams(Object.entries(form).map(([name, value]) => [name, String(value)]));
    const query = method === 'POST' || String(fields) === '' ? '' : `?${fields}`;
    const ask = () =>
      fetch(url + query, {
        method,
        headers: { ...(!isPage && this.#service.keys), ...headers },
        redirect: 'manual',
        ...(method === 'POST' && { body: fields }),
      });
    let response = await ask();
    // On a busy machine the write lock can be taken for long: nothing was done, and the answer says to try again.
    for (const end = Date.now() + PATIENCE_MS; response.status === 503 && Date.now() < end; response = await ask()) {
      await response.text();
      await pause(100);
    }
    const text = await response.text();
    const { message }: { message: Partial<Message> } = isPage ? { message: {} } : JSON.parse(text);
    return {
      status: response.status,
      message: { ...NOTHING, ...message },
      text,
      location: response.headers.get('location') ?? '',
    };
  }

  /** The same, for what has to succeed. */
  async must(method: string, path: string, form: Record<string, unknown> = {}): Promise<Answer> {
    const answer = await this.call(method, path, form);
    if (answer.status !== 200)
      throw new Error(`${method} ${path} ${JSON.stringify(form)}: ${answer.text.slice(0, 300)}`);
    return answer;
  }

  async upload(type: number, csv: string): Promise<void> {
    await this.#service.upload(type, csv);
  }

  /** Hands a mail to the listener for returned mail; false where its address is refused. */
  async comesBack(to: string, raw: string, from = ''): Promise<boolean> {
    const transport = nodemailer.createTransport({ host: '127.0.0.1', port: this.#bouncePort, ignoreTLS: true });
    for (const end = Date.now() + PATIENCE_MS; ; ) {
      try {
        await transport.sendMail({ envelope: { from, to: [to] }, raw });
        return true;
      } catch (error) {
        const code = error instanceof Error && 'responseCode' in error ? error.responseCode : 0;
        if (code === 550) return false;
        // After a start the listener needs a moment.
        if (Date.now() > end) throw error;
        await pause(50);
      } finally {
        transport.close();
      }
    }
  }

  /** Kills the service and starts it again, its clock some hours later; with `doing` a call that is cut off. Compares what is on disk. */
  async kill(doing?: () => Promise<void>): Promise<void> {
    const cutOff = doing?.().catch(() => undefined);
    await pause(this.between(0, 25));
    await this.#service.end('SIGKILL');
    await cutOff;
    this.kills++;
    compareFile(this);
    await this.restart(this.between(0, 8) * HOUR);
    // What was cut off is asked for again: then it is done, whether it had been done or not.
    await doing?.();
  }

  async restart(later: number): Promise<void> {
    this.#ahead += later;
    Object.assign(this.#settings, wallClock(this.now, 1));
    await this.#service.start();
  }

  /** Stops the service, and starts it so much later. */
  async sleep(later: number): Promise<void> {
    await this.#service.end('SIGTERM');
    await this.restart(later);
  }

  /**
   * Lets everything leave that can, and compares all that the service knows with the model. `waiting`: the mails of
   * automations that people may still wait for.
   */
  async compare(waiting = /hours|days/): Promise<void> {
    if (this.model.problems.length > 0) return;
    for (const { utr, subject } of this.paused.splice(0)) {
      this.model.goOn(subject);
      await this.call('POST', `/single/send/resume?utr=${utr}`);
    }
    for (const automation of this.automations.filter(({ isLive }) => !isLive)) {
      await this.must('GET', '/automations/set-live', { utr: automation.utr });
      automation.isLive = true;
    }
    await this.#untilQuiet();
    const missing = () => this.model.missing((subject) => !waiting.test(subject));
    for (let tries = 0; tries < 100 && missing().length > 0; tries++) await pause(100);
    this.model.problems.push(...missing(), ...this.model.judge());
    await compareLists(this);
    compareErased(this);
    const { duplicates } = this.model;
    if (duplicates > this.kills * MAX_TWICE)
      this.model.problems.push(`${duplicates} duplicates after ${this.kills} kills`);
  }

  /** Ends the service and copies its file, to look at it. */
  async keep(path: string): Promise<void> {
    await this.#service.end('SIGTERM');
    cpSync(this.file, path);
  }

  /** Stops the service, and purges its file. */
  async purge(): Promise<void> {
    await this.#service.end('SIGTERM');
    const { code, err } = await sendlark({ DATABASE_PATH: this.file }, 'purge');
    if (code !== 0) throw new Error(`the purge failed: ${err}`);
  }

  read<T>(use: (client: ReturnType<typeof connect>['$client']) => T): T {
    const { $client: client } = connect(this.file);
    try {
      return use(client);
    } finally {
      client.close();
    }
  }

  async #addAutomation(number: 1 | 2): Promise<void> {
    const { utr } = (
      await this.must('POST', '/automations/create', {
        ...{ type: 'welcome', automation_for: `contacts_${number}`, automation_name: `Series ${number}` },
        unsubscribe_group_id: number,
      })
    ).message;
    const subjects = ['instantly', 'hours', 'days'].map((wait) => `Series ${number} ${wait}`);
    for (const subject of subjects)
      await this.must('POST', '/automations/schedule/create', {
        ...{ utr, sender_id: 1, subject, template_id: 1, preview_img: 'b.png', template_html: '<p>Hello</p>' },
        ...{ waiting_period: 1, waiting_type: subject.split(' ')[2] },
      });
    await this.must('GET', '/automations/set-live', { utr });
    this.automations.push({ utr, subjects, isLive: true, target: number, group: number });
    for (const subject of subjects) this.model.launch(subject, { group: number, targets: [number], excluded: [] });
  }

  async #untilQuiet(): Promise<void> {
    const sql = `SELECT (SELECT count(*) FROM deliveries WHERE state IN (0, 1)) + (SELECT count(*) FROM transactional_mails WHERE state IN (0, 1))
      + (SELECT count(*) FROM single_sends WHERE status = 2 OR (status = 1 AND schedule_type = 0)) + (SELECT count(*) FROM unfinished_writes)`;
    for (let calm = 0, end = Date.now() + PATIENCE_MS; calm < 3; await pause(200)) {
      calm = this.read((client) => client.prepare(sql).pluck().get()) === 0 ? calm + 1 : 0;
      if (Date.now() > end) {
        this.model.problems.push('it does not become quiet');
        return;
      }
    }
  }
}
