/** The controller's side of NATS: replies to nodes, reads their reports from the stream, and detects lost nodes. */

import { createHash, randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { type ConsumerMessages, DeliverPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Database, Statement } from 'better-sqlite3';
import type { Config } from '../../config.ts';
import { linkSecrets } from '../../delivery/links/secrets.ts';
import { FailingSteps } from '../../delivery/queue/failing-steps.ts';
import type { RefusedMessage } from '../../delivery/reporting/refused-messages.ts';
import type { HandoffsDeps } from '../../delivery/sending/handoffs.ts';
import { relaysInUse, relaysRevision } from '../../delivery/transport/relays/in-use.ts';
import type { Log } from '../../log.ts';
import { connectNats } from '../connection.ts';
import { BEAT_MS, CONTROLLER_SUBJECT, type NodeSettings } from '../protocol.ts';
import { Refusals } from '../refusals.ts';
import { hasStream, STREAM } from '../streams.ts';
import { untilChoicesApplied } from './catch-up.ts';
import { Contents } from './contents.ts';
import { FleetRecord } from './fleet-record.ts';
import { NodeHandoffs } from './node-handoffs.ts';
import { PageSender } from './page-sender.ts';
import { nodeInSubject, readBeat, readContentRequest, readReport } from './read-messages.ts';
import type { StreamPosition } from './silent-nodes.ts';

const RETRY_MS = 500;
/** The name by which `/readyz` reports that reports of nodes cannot be read. */
const REPORTS = 'reports of sender nodes';
/** How long a request for reports lasts before it is repeated. The loss of a consumer's server is noticed within this time. */
const EXPIRES_MS = 5000;
/** How often the controller looks for contacts who have unsubscribed or were suppressed. */
const CONTACT_CHECK_MS = 100;
/** If a check of the nodes is this late, this process was stopped and could not receive heartbeats. */
const LATE_MS = 3 * BEAT_MS;

interface ControllerDeps {
  client: Database;
  config: Config;
  log: Log;
}

export class Controller {
  readonly #deps: ControllerDeps;
  /** The part of names that identifies the installation. A restored backup has the same part. */
  readonly #installation: string;
  readonly #contents: Contents;
  readonly #sender: PageSender;
  readonly #ending = new AbortController();
  readonly #revision: () => string;
  readonly #failing: FailingSteps;
  /** Rejected requests. Rejected reports are counted together with the stream position up to which reports are recorded. */
  readonly #refusals: Refusals;
  #connection: NatsConnection | null = null;
  /** True while the connection is lost. */
  #isCutOff = false;
  #reports: ConsumerMessages | null = null;
  #timer: NodeJS.Timeout | null = null;
  #contactTimer: NodeJS.Timeout | null = null;
  #recording: NodeJS.Timeout | null = null;

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
    const secret = linkSecrets(deps.client).at(-1) ?? '';
    this.#installation = createHash('sha256').update(`nodes:${secret}`).digest('base64url').slice(0, 16);
    this.#revision = relaysRevision(deps.client);
    this.#failing = new FailingSteps(deps.client, 'nodes', () => performance.now(), deps.log);
    this.#refusals = new Refusals(deps.log);
    this.#contents = new Contents(this.#newName(), () => linkSecrets(deps.client)[0] ?? '');
    this.#sender = new PageSender(this.#contents);
  }

  /** Creates the hand-offs through which the worker gives claims to nodes, and starts to listen to nodes. Call it once. */
  open(deps: HandoffsDeps): NodeHandoffs {
    const { client } = this.#deps;
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
      settings: (nodes) => `${settings} ${this.#revision()} ${nodes}`,
      onGone: (run) => record.remove(run),
    });
    const record = new FleetRecord({
      client,
      log: this.#deps.log,
      now: () => Date.now(),
      monotonic: () => performance.now(),
      remainingToday: (node) => handoffs.fleet.remainingToday(node),
    });
    this.#recording = setInterval(() => this.#record(record, handoffs), BEAT_MS);
    this.#recording.unref();
    this.#run(handoffs).catch((error: unknown) => {
      if (!this.#ending.signal.aborted)
        this.#deps.log({ err: String(error) }, 'sender nodes cannot be reached', 'error');
    });
    return handoffs;
  }

  /** Ends the connection. Nodes continue with their pages until their lease ends. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const timer of [this.#timer, this.#contactTimer, this.#recording]) if (timer !== null) clearInterval(timer);
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
    handoffs.resetSilence();
    void this.#watch(connection, handoffs);
    this.#checkNodes(connection, handoffs);
    await this.#takeReports(connection, handoffs);
  }

  /** Allows claims once all unsubscribes are known. */
  async #begin(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const { client, log } = this.#deps;
    const { signal } = this.#ending;
    await untilChoicesApplied({ connection, client, signal, log }).then(
      () => handoffs.begin(),
      () => undefined,
    );
  }

  /** Answers heartbeats and requests of nodes. */
  #answer(connection: NatsConnection, handoffs: NodeHandoffs): void {
    const { client, config } = this.#deps;
    const serve = (subject: string, kind: RefusedMessage, answer: (message: Msg) => object | Uint8Array | null) =>
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          // An error thrown here would stop reading from the connection.
          try {
            const reply = answer(message);
            if (reply === null) this.#refusals.add(kind, { subject: message.subject });
            else message.respond(reply instanceof Uint8Array ? reply : JSON.stringify(reply));
          } catch (fault) {
            this.#deps.log(
              { subject: message.subject, err: String(fault) },
              'a message of a node could not be answered',
              'warn',
            );
          }
        },
      });
    serve(`${CONTROLLER_SUBJECT.beat}.*`, 'sign_of_life', (message) => {
      const beat = readBeat(message.data, nodeInSubject(message.subject));
      return beat && handoffs.beat(beat);
    });
    serve(CONTROLLER_SUBJECT.content, 'question', (message) => {
      const request = readContentRequest(message.data);
      return request && this.#contents.part(request.name, request.from);
    });
    serve(CONTROLLER_SUBJECT.settings, 'question', () => {
      const nodes = handoffs.fleet.all.length;
      // The rate of an SMTP relay is divided among all nodes.
      const relays = relaysInUse(client, config).map((relay) => ({ ...relay, rate: (relay.rate ?? 0) / nodes }));
      return { relays, connections: config.SMTP_CONNECTIONS } satisfies NodeSettings;
    });
  }

  /** Restarts the silence timer of the nodes after a reconnection, because nodes could not be heard without a connection. */
  async #watch(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect') this.#isCutOff = true;
      if (type !== 'reconnect') continue;
      this.#isCutOff = false;
      handoffs.resetSilence();
      // The stream may be a new one or have lost reports, so reading starts again with a look at its state.
      this.#reports?.stop();
    }
  }

  /** Starts the timers that find silent nodes, and contacts who must not get mail any more. */
  #checkNodes(connection: NatsConnection, handoffs: NodeHandoffs): void {
    let checkedAt = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      if (now - checkedAt > LATE_MS || this.#isCutOff) handoffs.resetSilence();
      checkedAt = now;
      const silent = handoffs.silentRuns;
      if (silent.length > 0) void this.#giveUp(connection, handoffs, silent);
    }, BEAT_MS);
    this.#timer.unref();
    const contactWatch = new ContactWatch(this.#deps.client);
    this.#contactTimer = setInterval(() => this.#withdrawExcluded(contactWatch, handoffs), CONTACT_CHECK_MS);
    this.#contactTimer.unref();
  }

  #record(record: FleetRecord, handoffs: NodeHandoffs): void {
    this.#attempt('the state of the nodes could not be recorded; trying again', () => {
      record.update(handoffs.fleet.all, this.#connection !== null && !this.#isCutOff);
      this.#failing.write();
    });
    this.#writeRefusals();
  }

  #writeRefusals(): void {
    const { client } = this.#deps;
    this.#attempt('the number of refused messages of nodes could not be recorded', () => this.#refusals.flush(client));
  }

  #withdrawExcluded(contactWatch: ContactWatch, handoffs: NodeHandoffs): void {
    this.#attempt('unsubscribed and suppressed contacts could not be read; trying again', () =>
      handoffs.withdrawAddresses(contactWatch.findNew()),
    );
  }

  /** Runs `work` and logs its errors. */
  #attempt(failure: string, work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#deps.log({ err: String(error) }, failure, 'warn');
    }
  }

  /**
   * Gives up silent nodes. First waits for a reply of NATS. The reply arrives after everything else that NATS had for the controller, so
   * nodes do not seem silent only because this connection stalled. Without a reply, the next check tries again.
   */
  async #giveUp(connection: NatsConnection, handoffs: NodeHandoffs, silent: readonly string[]): Promise<void> {
    try {
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const { created, state } = await manager.streams.info(STREAM.results);
      handoffs.giveUpSilent(silent, { stream: created, sequence: state.messages === 0 ? 0 : state.last_seq });
    } catch (error) {
      this.#deps.log({ err: String(error) }, 'the last reports of a silent node cannot be read yet', 'warn');
    }
  }

  /**
   * Reads reports in order, beginning after the last report that is on disk, for as long as the connection lasts. Waits while there is no
   * stream, because the feedback thread creates the streams.
   */
  async #takeReports(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const { signal } = this.#ending;
    for (let lastLogged = ''; !signal.aborted; ) {
      try {
        if (await hasStream(connection, STREAM.results)) {
          await this.#takeFrom(connection, handoffs);
          lastLogged = '';
        } else if (!this.#isCutOff) this.#failing.failed(REPORTS);
      } catch (error) {
        if (signal.aborted) return;
        if (!this.#isCutOff) this.#failing.failed(REPORTS);
        if (lastLogged !== String(error))
          this.#deps.log({ err: String(error) }, 'the reports of nodes cannot be read now', 'warn');
        lastLogged = String(error);
      }
      await setTimeout(RETRY_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Reads reports until the consumer ends. If the stream has lost reports since the last run, continues after the gap. */
  async #takeFrom(connection: NatsConnection, handoffs: NodeHandoffs): Promise<void> {
    const manager = await jetstreamManager(connection, { checkAPI: false });
    const { created, state } = await manager.streams.info(STREAM.results);
    const { stream, sequence } = handoffs.position;
    const isSameStream = stream === created;
    if (stream !== '' && (!isSameStream || sequence > state.last_seq))
      this.#startOver(handoffs, { stream: created, sequence: isSameStream ? state.last_seq : 0 });
    else if (isSameStream && sequence + 1 < state.first_seq)
      this.#startOver(handoffs, { stream: created, sequence: state.first_seq - 1 });
    const from = handoffs.position;
    const consumer = await jetstream(connection).consumers.get(STREAM.results, {
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: (from.stream === created ? from.sequence : 0) + 1,
    });
    // Reading ends with an error if the stream or its consumer no longer exists, so that reading starts again.
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
      // Reports are deleted before they are read if the stream is flooded.
      if (known === created && message.seq > last + 1)
        this.#startOver(handoffs, { ...place, sequence: message.seq - 1 });
      handoffs.take(readReport(message.data), place, nodeInSubject(message.subject));
    }
  }

  /** Continues at another position of the stream, because reports were lost. */
  #startOver(handoffs: NodeHandoffs, place: StreamPosition): void {
    this.#deps.log(
      {},
      'NATS has lost reports of nodes; recipients whose results are therefore unknown get the mail again',
      'warn',
    );
    handoffs.continueFrom(place);
  }

  /** A name for a run of the controller. */
  #newName(): string {
    return `${this.#installation}.${randomBytes(9).toString('base64url')}`;
  }
}

/** Finds the contacts who have unsubscribed or were suppressed since the last look. */
class ContactWatch {
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

  /** Returns the address ids of unsubscribes and suppressions that are new since the last call. */
  findNew(): Set<number> {
    const rows = this.#since.all(this.#last);
    for (const { kind, id } of rows) {
      const kindName = kind === 0 ? 'unsubscribed' : 'suppressed';
      this.#last[kindName] = Math.max(this.#last[kindName], id);
    }
    return new Set(rows.map(({ address }) => address));
  }
}
