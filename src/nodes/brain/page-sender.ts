/** Brings pages and withdrawals to nodes. A page is sent until its node has confirmed it or has lost its lease. */
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

/** How long a node may take to confirm. */
const CONFIRM_MS = 2000;
const RETRY_MS = 200;

export class PageSender {
  #connection: NatsConnection | null = null;

  /** To be called once there is a connection. */
  use(connection: NatsConnection): void {
    this.#connection = connection;
  }

  /** Sends a page, again and again while `isOpen` and nobody has confirmed it: a node takes a page only once. */
  send(
    run: string,
    brain: string,
    head: Omit<Page, 'fields' | 'rows'>,
    { ready }: Batch,
    claims: readonly Claim[],
    isOpen: () => boolean,
  ): void {
    const fields = [...ready.fields];
    const rows = claims.map((claim): PageRow => {
      const values = ready.fields.map((field) => claim[field] ?? null);
      return [claim.id, claim.address_id, claim.normalized_email, ...values];
    });
    const { id, user_id, unsubscribe_group_id, owner_kind, relay_id } = head.mailing;
    const mailing = { id, user_id, unsubscribe_group_id, owner_kind, relay_id };
    void this.#repeat(run, { brain, page: { ...head, mailing, fields, rows } }, isOpen);
  }

  /** Tells a node what it must not begin any more; `onDone` gets the numbers once it has confirmed. If it does not, its next sign of life gets them. */
  withdraw(run: string, brain: string, withdrawals: Withdrawal[], onDone: (numbers: number[]) => void): void {
    const numbers = withdrawals.map(({ number }) => number);
    void this.#ask(run, encoded({ brain, withdraw: withdrawals })).then((isTaken) => {
      if (isTaken) onDone(numbers);
    });
  }

  async #repeat(run: string, command: Command, isOpen: () => boolean): Promise<void> {
    const bytes = encoded(command);
    while (isOpen()) {
      if (await this.#ask(run, bytes)) return;
      await setTimeout(RETRY_MS, undefined, { ref: false });
    }
  }

  async #ask(run: string, bytes: Uint8Array): Promise<boolean> {
    try {
      const reply = await this.#connection?.request(commandSubject(run), bytes, { timeout: CONFIRM_MS });
      return reply?.json<CommandReply>().isTaken === true;
    } catch {
      return false;
    }
  }
}

function encoded(command: Command): Uint8Array {
  return Buffer.from(JSON.stringify(command));
}
