/** The brain's side of NATS: answers nodes, takes their reports from the stream, and notices which nodes have gone. */
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Database, Statement } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { linkSecrets } from '../../delivery/links/secrets.ts';
import { FailingSteps } from '../../delivery/queue/failing-steps.ts';
import type { RefusedMessage } from '../../delivery/reporting/sender-nodes.ts';
import type { HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import { relaysInUse, relaysRevision } from '../../delivery/transport/relays/in-use.ts';
import { connectNats } from '../connection.ts';
import { BEAT_MS, BRAIN, type NodeSettings } from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import { makeStreams, STREAM } from '../streams.ts';
import { untilChoicesApplied } from './catch-up.ts';
import { Contents } from './contents.ts';
import { FleetRecord } from './fleet-record.ts';
import { NodeHandoffs } from './node-handoffs.ts';
import { PageSender } from './page-sender.ts';
import { nodeInSubject, readBeat, readContentRequest, readReport } from './read-messages.ts';
import type { Place } from './silent-nodes.ts';

const RETRY_MS = 500;
/** The step by which `/readyz` knows that reports cannot be taken. */
const REPORTS = 'reports of sender nodes';
/** When a request for reports ends and is repeated. The server of a consumer that is lost is noticed after this time. */
const EXPIRES_MS = 5000;
/** How often it is looked for people who have left. */
const LEAVERS_MS = 100;
/** A look at the nodes that is this late means that this process was stopped, so that it could not hear them. */
const LATE_MS = 3 * BEAT_MS;

interface BrainDeps {
  client: Database;
  config: Config;
  log(fields: object, text: string): void;
  /** As `log`, for what somebody should look at. */
  warn(fields: object, text: string): void;
}

export class Brain {
  readonly #deps: BrainDeps;
  /** The part of names that is of the installation, which a restored backup shares. */
  readonly #installation: string;
  readonly #contents: Contents;
  readonly #sender: PageSender;
  readonly #ending = new AbortController();
  readonly #revision: () => string;
  readonly #failing: FailingSteps;
  /** Of what is answered. Reports are counted with the place up to which they are taken. */
  readonly #refusals: Refusals;
  #connection: NatsConnection | null = null;
  #isCutOff = false;
  #reports: ConsumerMessages | null = null;
  #timer: NodeJS.Timeout | null = null;
  #leavers: NodeJS.Timeout | null = null;
  #recording: NodeJS.Timeout | null = null;

  constructor(deps: BrainDeps) {
    this.#deps = deps;
    const secret = linkSecrets(deps.client).at(-1) ?? '';
    this.#installation = createHash('sha256').update(`nodes:${secret}`).digest('base64url').slice(0, 16);
    this.#revision = relaysRevision(deps.client);
    this.#failing = new FailingSteps(deps.client, 'nodes', () => performance.now());
    this.#refusals = new Refusals(deps.warn);
    this.#contents = new Contents(this.#newName(), () => linkSecrets(deps.client)[0] ?? '');
    this.#sender = new PageSender(this.#contents);
  }

  /** Makes what the worker gives claims to, and begins to listen to nodes. To be called once. */
  open(deps: HandoffsDeps): NodeHandoffs {
    const { client, warn } = this.#deps;
    // The environment may have changed since an earlier run.
    const settings = this.#newName();
    const handoffs = new NodeHandoffs({
      ...deps,
      client,
      newName: () => this.#newName(),
      now: () => new Date(),
      monotonic: () => performance.now(),
      contents: this.#contents,
      sender: this.#sender,
      warn,
      settings: (nodes) => `${settings} ${this.#revision()} ${nodes}`,
      onGone: (run) => record.remove(run),
    });
    const record = new FleetRecord({
      client,
      warn: this.#deps.warn,
      now: () => Date.now(),
      monotonic: () => performance.now(),
      left: (node) => handoffs.fleet.left(node),
    });
    this.#recording = setInterval(() => this.#record(record, handoffs), BEAT_MS);
    this.#recording.unref();
    this.#run(handoffs).catch((error: unknown) => {
      if (!this.#ending.signal.aborted) this.#deps.log({ err: String(error) }, 'sender nodes cannot be reached');
    });
    return handoffs;
  }

  /** Ends the connection. Nodes go on with what they have for as long as their lease lasts. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const timer of [this.#timer, this.#leavers, this.#recording]) if (timer !== null) clearInterval(timer);
    await this.#connection?.close();
    this.#writeRefusals();
  }

  async #run(handoffs: NodeHandoffs): Promise<void> {
    const { config, log } = this.#deps;
    const { signal } = this.#ending;
    const connection = await connectNats(config, { name: 'brain', signal, log });
    this.#connection = connection;
    void this.#begin(connection, handoffs);
    this.#sender.use(connection);
    this.#answer(connection, handoffs);
    handoffs.forgiveSilence();
    void this.#watch(connection, handoffs);
    this.#lookAtNodes(connection, handoffs);
    await this.#takeReports(connection, handoffs);
  }

  /** Lets recipients be claimed once it is known who has left. */
  async #begin(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const { client, log } = this.#deps;
    const { signal } = this.#ending;
    await untilChoicesApplied({ connection, client, signal, log }).then(
      () => handoffs.begin(),
      () => undefined,
    );
  }

  #answer(connection: NatsConnection, handoffs: NodeHandoffs): void {
    const { client, config } = this.#deps;
    const serve = (subject: string, kind: RefusedMessage, answer: (message: Msg) => object | Uint8Array | null) =>
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          // An error that is thrown here would end the reading of the connection.
          try {
            const answered = answer(message);
            if (answered === null) this.#refusals.add(kind, { subject: message.subject });
            else message.respond(answered instanceof Uint8Array ? answered : JSON.stringify(answered));
          } catch (fault) {
            this.#deps.warn({ subject: message.subject, err: String(fault) }, 'a node could not be answered');
          }
        },
      });
    serve(`${BRAIN.beat}.*`, 'sign_of_life', (message) => {
      const beat = readBeat(message.data, nodeInSubject(message.subject));
      return beat && handoffs.beat(beat);
    });
    serve(BRAIN.content, 'question', (message) => {
      const asked = readContentRequest(message.data);
      return asked && this.#contents.part(asked.name, asked.from);
    });
    serve(BRAIN.settings, 'question', () => {
      const nodes = handoffs.fleet.all.length;
      // The rate of a relay is for all nodes together.
      const relays = relaysInUse(client, config).map((relay) => ({ ...relay, rate: (relay.rate ?? 0) / nodes }));
      return { relays, connections: config.SMTP_CONNECTIONS } satisfies NodeSettings;
    });
  }

  /** While there was no connection, no node could be heard. */
  async #watch(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#isCutOff = true;
      if (type !== 'reconnect') continue;
      this.#isCutOff = false;
      handoffs.forgiveSilence();
      // The stream may be a new one, or have lost reports: it is looked at anew.
      this.#reports?.stop();
    }
  }

  #lookAtNodes(connection: NatsConnection, handoffs: NodeHandoffs): void {
    let lookedAt = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      if (now - lookedAt > LATE_MS || this.#isCutOff) handoffs.forgiveSilence();
      lookedAt = now;
      const silent = handoffs.silentRuns;
      if (silent.length > 0) void this.#giveUp(connection, handoffs, silent);
    }, BEAT_MS);
    this.#timer.unref();
    const leavers = new Leavers(this.#deps.client);
    this.#leavers = setInterval(() => this.#withdrawLeavers(leavers, handoffs), LEAVERS_MS);
    this.#leavers.unref();
  }

  #record(record: FleetRecord, handoffs: NodeHandoffs): void {
    this.#guarded('the nodes could not be written down; it will be tried again', () => {
      record.look(handoffs.fleet.all, this.#connection !== null && !this.#isCutOff);
      this.#failing.write();
    });
    this.#writeRefusals();
  }

  #writeRefusals(): void {
    const { client } = this.#deps;
    this.#guarded('how many messages of nodes were refused could not be written', () => this.#refusals.flush(client));
  }

  #withdrawLeavers(leavers: Leavers, handoffs: NodeHandoffs): void {
    this.#guarded('those who left could not be read; it will be tried again', () =>
      handoffs.withdrawAddresses(leavers.look()),
    );
  }

  /** Logs what `work` throws. */
  #guarded(failure: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#deps.log({ err: String(error) }, failure);
    }
  }

  /**
   * Gives silent nodes up. The answer of NATS comes after everything it had for us, so that nodes are not taken for silent because this
   * connection stood still. Where there is none, the next look tries again.
   */
  async #giveUp(connection: NatsConnection, handoffs: NodeHandoffs, silent: readonly string[]): Promise<void> {
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { created, state } = await manager.streams.info(STREAM.results);
      handoffs.giveUpSilent(silent, { stream: created, sequence: state.messages === 0 ? 0 : state.last_seq });
    } catch (error) {
      this.#deps.log({ err: String(error) }, 'the reports of a node that has gone cannot be read yet');
    }
  }

  /** Takes reports in their order, from the one after the last that is on disk, for as long as the connection lasts. */
  async #takeReports(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const { signal } = this.#ending;
    for (let said = ''; !signal.aborted; ) {
      try {
        await makeStreams(connection);
        await this.#takeFrom(connection, handoffs);
        said = '';
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#isCutOff) this.#failing.failed(REPORTS);
        if (said !== String(error)) this.#deps.warn({ err: String(error) }, 'the reports of nodes cannot be read now');
        said = String(error);
      }
      await setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #takeFrom(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const { created, state } = await manager.streams.info(STREAM.results);
    const { stream, sequence } = handoffs.position;
    const isSame = stream === created;
    if (stream !== '' && (!isSame || sequence > state.last_seq))
      this.#startOver(handoffs, { stream: created, sequence: isSame ? state.last_seq : 0 });
    else if (isSame && sequence + 1 < state.first_seq)
      this.#startOver(handoffs, { stream: created, sequence: state.first_seq - 1 });
    const from = handoffs.position;
    const consumer = await jetstream(connection).consumers.get(STREAM.results, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: (from.stream === created ? from.sequence : 0) + 1,
    });
    // Ends with an error where the stream or its consumer is gone, so that both are made again.
    const messages = await consumer.consume({
      max_messages: 500,
      expires: EXPIRES_MS,
      abort_on_missing_resource: true,
    });
    this.#reports = messages;
    this.#failing.worked(REPORTS);
    for await (const message of messages) {
      const place = { stream: created, sequence: message.seq };
      const { stream: known, sequence: last } = handoffs.position;
      // Reports are removed before they are read when somebody floods the stream.
      if (known === created && message.seq > last + 1)
        this.#startOver(handoffs, { ...place, sequence: message.seq - 1 });
      handoffs.take(readReport(message.data), place, nodeInSubject(message.subject));
    }
  }

  #startOver(handoffs: NodeHandoffs, place: Place): void {
    this.#deps.warn(
      {},
      'NATS has lost reports of nodes; what became of those recipients is not known, and they get it again',
    );
    handoffs.startOver(place);
  }

  /** A name for a run of the brain. */
  #newName(): string {
    return `${this.#installation}.${randomBytes(9).toString('base64url')}`;
  }
}

class Leavers {
  readonly #since: Statement<
    { unsubscribed: number; suppressed: number },
    { kind: number; id: number; address: number }
  >;
  readonly #last: { unsubscribed: number; suppressed: number };

  constructor(client: Database) {
    this.#since = client.prepare(`
      SELECT 0 AS kind, id, address_id AS address FROM unsubscribers WHERE id > @unsubscribed
      UNION ALL SELECT 1, id, address_id FROM suppressions WHERE id > @suppressed`);
    const newest = (table: string) => Number(client.prepare(`SELECT ifnull(max(id), 0) FROM ${table}`).pluck().get());
    this.#last = { unsubscribed: newest('unsubscribers'), suppressed: newest('suppressions') };
  }

  /** Their address ids. */
  look(): Set<number> {
    const found = this.#since.all(this.#last);
    for (const { kind, id } of found) {
      const which = kind === 0 ? 'unsubscribed' : 'suppressed';
      this.#last[which] = Math.max(this.#last[which], id);
    }
    return new Set(found.map(({ address }) => address));
  }
}
