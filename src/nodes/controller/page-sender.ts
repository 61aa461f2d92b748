/**
 * Sends pages, each with some recipients of a mailing, and withdrawals to nodes. A page is sent repeatedly until its node has confirmed it
 * or lost its lease.
 */
import { setTimeout } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Claim } from '../../delivery/queue/candidates.ts';
import type { Batch } from '../../delivery/sending/claims.ts';
import {
  type Command,
  type CommandReply,
  commandSubject,
  type Page,
  type PageRow,
  type Withdrawal,
} from '../protocol.ts';
import type { Contents } from './contents.ts';

/** The maximum number of recipients on a page, and the maximum total length of their values. */
const PAGE_ROWS = 100;
const PAGE_CHARACTERS = 100_000;
/**
 * The size in bytes up to which a page is sent in one message. NATS allows messages of up to 1 MiB. The values of a single recipient can be
 * larger; the node then fetches the page in parts.
 */
const MAX_MESSAGE = 900 * 1024;
/** How long a node may take to confirm. */
const CONFIRM_MS = 2000;
const RETRY_MS = 200;

export class PageSender {
  readonly #contents: Contents;
  #connection: NatsConnection | null = null;

  constructor(contents: Contents) {
    this.#contents = contents;
  }

  /** Sets the connection over which pages are sent. */
  use(connection: NatsConnection): void {
    this.#connection = connection;
  }

  /**
   * Sends a page repeatedly until the node confirms it or `isOpen` returns false. A node takes each page only once. `run` is the run of the
   * node, and `head` the page without its recipients. `isOpen` returns false once the page is no longer assigned to the node.
   */
  send(
    run: string,
    controllerRun: string,
    head: Omit<Page, 'fields' | 'rows'>,
    { ready }: Batch,
    claims: readonly Claim[],
    isOpen: () => boolean,
  ): void {
    const fields = [...ready.fields];
    const rows = claims.map((claim): PageRow => {
      const row: PageRow = [claim.id, claim.address_id, claim.normalized_email];
      for (const field of fields) row.push(claim[field] ?? null);
      return row;
    });
    const { id, user_id, unsubscribe_group_id, owner_kind, relay_id } = head.mailing;
    const page = { ...head, mailing: { id, user_id, unsubscribe_group_id, owner_kind, relay_id }, fields, rows };
    void this.#deliver(run, { brain: controllerRun, page }, isOpen);
  }

  /**
   * Sends withdrawals to a node. `onDone` gets their numbers once the node has confirmed them. If the node does not confirm, the reply to its
   * next heartbeat contains the withdrawals.
   */
  withdraw(run: string, controllerRun: string, withdrawals: Withdrawal[], onDone: (numbers: number[]) => void): void {
    const numbers = withdrawals.map(({ number }) => number);
    void this.#request(run, encode({ brain: controllerRun, withdraw: withdrawals })).then((isTaken) => {
      if (isTaken) onDone(numbers);
    });
  }

  async #deliver(run: string, command: Command, isOpen: () => boolean): Promise<void> {
    const bytes = encode(command);
    if (bytes.length <= MAX_MESSAGE) return this.#repeat(run, bytes, isOpen);
    const contentName = this.#contents.storeTemporarily(Buffer.from(JSON.stringify(command.page)));
    try {
      await this.#repeat(run, encode({ brain: command.brain, pageIn: contentName }), isOpen);
    } finally {
      this.#contents.removeTemporary(contentName);
    }
  }

  async #repeat(run: string, bytes: Uint8Array, isOpen: () => boolean): Promise<void> {
    while (isOpen()) {
      if (await this.#request(run, bytes)) return;
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }

  /** Sends a command. Returns true if the node has confirmed it. */
  async #request(run: string, bytes: Uint8Array): Promise<boolean> {
    try {
      const reply = await this.#connection?.request(commandSubject(run), bytes, { timeout: CONFIRM_MS });
      return reply?.json<CommandReply>().isTaken === true;
    } catch {
      return false;
    }
  }
}

function encode(command: Command): Uint8Array {
  return Buffer.from(JSON.stringify(command));
}

/** Returns the claims of a batch, starting at index `from`, that fit on one page: at least one. */
export function pageOf({ claims, ready: { fields } }: Batch, from: number): Claim[] {
  let to = from;
  for (let characters = 0; to < claims.length && to - from < PAGE_ROWS; to++) {
    const claim = claims[to];
    for (const field of fields) characters += claim?.[field]?.length ?? 0;
    if (to > from && characters > PAGE_CHARACTERS) break;
  }
  return claims.slice(from, to);
}
