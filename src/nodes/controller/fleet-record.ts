/** Records in the database which nodes exist and why mail waits for a node. The thread that serves lists and screens reads these records. */

import type { Database, Statement } from 'better-sqlite3';
import type { NodeState } from '../../database/schema/index.ts';
import { mailWaitsReason, noteMailWaits } from '../../delivery/queue/holds.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import type { Log } from '../../log.ts';
import { DAY_MS } from '../../units.ts';
import { isUnderstood, NODE_LEASE_MS } from '../protocol.ts';
import type { FleetNode } from './fleet.ts';

/** How often nodes are written if no node comes, goes or changes its state. */
const WRITE_MS = 2000;
/** How long mail must have waited before the reason is reported, because there is no node for a short time at startup. */
const REPORTED_AFTER_MS = 3000;
/** How long a silent node stays in the list, unless a node with its name returns. */
const KEPT_MS = 7 * DAY_MS;

interface FleetRecordDeps {
  client: Database;
  /** Epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds. */
  monotonic(): number;
  /** Returns how many more recipients a node may be given today. */
  remainingToday(node: FleetNode): number;
  log: Log;
}

export class FleetRecord {
  readonly #deps: FleetRecordDeps;
  readonly #insert: Statement<Record<string, string | number>>;
  readonly #remove: Statement<[string]>;
  readonly #removeFormer: Statement<[string, string, number]>;
  /** The runs, states and refusals that were written last, as text. */
  #written = '';
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** The time since which no node can take mail, monotonic milliseconds; null: a node can. */
  #stuckSince: number | null = null;

  constructor(deps: FleetRecordDeps) {
    const { client, now } = deps;
    this.#deps = deps;
    this.#insert = client.prepare(`
      INSERT OR REPLACE INTO sender_nodes (run, name, version, state, refusal, rate, capacity, load, heard_at, lease_until)
      VALUES (@run, @name, @version, @state, @refusal, @rate, @capacity, @load, @heard_at, @lease_until)`);
    this.#remove = client.prepare('DELETE FROM sender_nodes WHERE run = ?');
    this.#removeFormer = client.prepare('DELETE FROM sender_nodes WHERE name = ? AND run <> ? AND heard_at <= ?');
    client.prepare('DELETE FROM sender_nodes WHERE heard_at < ?').run(now() - KEPT_MS);
  }

  /** Writes changes. If `isConnected` is false, NATS cannot be reached and the state of the nodes is unknown. */
  update(nodes: readonly FleetNode[], isConnected: boolean): void {
    // Nodes without a name have pages from before a restart of the controller, and have not sent a heartbeat since.
    const heardNodes = nodes.filter(({ name }) => name !== '');
    this.#note(this.#whyStuck(heardNodes, isConnected));
    if (isConnected) this.#write(heardNodes);
  }

  /** Removes a node that signed off. */
  remove(run: string): void {
    this.#remove.run(run);
  }

  #write(nodes: readonly FleetNode[]): void {
    const states = nodes.map((node) => `${node.run} ${this.#stateOf(node)} ${node.refusal}`).join('\n');
    const now = this.#deps.monotonic();
    if (states === this.#written && now - this.#writtenAt < WRITE_MS) return;
    this.#deps.client
      .transaction(() => {
        for (const node of nodes) this.#writeNode(node);
      })
      .immediate();
    this.#written = states;
    this.#writtenAt = now;
  }

  #writeNode(node: FleetNode): void {
    const { run, name, version, refusal, rate, capacity, load, heardAt, renewedAt } = node;
    const now = this.#deps.now();
    const sinceStart = now - this.#deps.monotonic();
    const state = this.#stateOf(node);
    this.#insert.run({
      run,
      name,
      version,
      state,
      refusal,
      rate,
      capacity,
      load,
      heard_at: Math.round(sinceStart + heardAt),
      lease_until: Number.isFinite(renewedAt) ? Math.round(sinceStart + renewedAt + NODE_LEASE_MS) : 0,
    });
    if (state !== 'silent') this.#removeFormer.run(name, run, now - NODE_LEASE_MS);
  }

  #stateOf(node: FleetNode): NodeState {
    const { heardAt, isEnding, isKnown, refusal } = node;
    if (this.#deps.monotonic() - heardAt >= NODE_LEASE_MS) return 'silent';
    if (isEnding) return 'draining';
    if (refusal !== '') return 'refused';
    return isKnown ? 'sending' : 'waiting';
  }

  /** Returns why no node can take mail; null if a node can, or soon will. */
  #whyStuck(nodes: readonly FleetNode[], isConnected: boolean): Sentence | null {
    if (!isConnected) return sentence('waits_nats');
    const active = nodes.filter((node) => !['silent', 'draining'].includes(this.#stateOf(node)));
    if (active.length === 0) return sentence('waits_no_node');
    const matching = active.filter(({ protocol }) => isUnderstood(protocol));
    if (matching.length === 0) return sentence('waits_release');
    const taking = matching.filter((node) => this.#stateOf(node) !== 'refused');
    if (taking.length === 0) return sentence('waits_refused');
    return taking.some((node) => this.#deps.remainingToday(node) > 0) ? null : sentence('waits_warm_up');
  }

  /** Stores and logs the reason, or that mail is sent again. Waits a moment before it reports a new reason. */
  #note(reason: Sentence | null): void {
    const { client, monotonic, log } = this.#deps;
    const now = monotonic();
    this.#stuckSince = reason === null ? null : (this.#stuckSince ?? now);
    const isReported =
      this.#stuckSince === null || now - this.#stuckSince >= REPORTED_AFTER_MS || mailWaitsReason(client) !== null;
    if (!isReported || !noteMailWaits(client, reason)) return;
    if (reason === null) log({}, 'mail leaves again');
    else log({ reason: String(reason) }, 'mail waits', 'warn');
  }
}
