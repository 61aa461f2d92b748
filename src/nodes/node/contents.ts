/** The content of the mailings that this node sends, requested once and kept in memory. */
import type { NatsConnection } from '@nats-io/transport-node';
import { createNodeTokens } from '../../delivery/links/tokens.ts';
import { dkimKey } from '../../delivery/mime/dkim.ts';
import { type ReadyMailing, readyMailing } from '../../delivery/queue/ready-mailing.ts';
import { CONTROLLER_SUBJECT, type NodeContent, PART } from '../protocol.ts';

const MAX_KEPT = 50;
const ASK_MS = 3000;
const ATTEMPTS = 3;

export class NodeContents {
  readonly #connection: NatsConnection;
  readonly #kept = new Map<string, Promise<ReadyMailing | null>>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** The named mailing, ready to render; null if the controller no longer has it or does not reply. */
  get(name: string): Promise<ReadyMailing | null> {
    const kept = this.#kept.get(name);
    if (kept !== undefined) return kept;
    const asked = this.#ask(name).catch(() => null);
    this.#kept.set(name, asked);
    void asked.then((content) => {
      if (content === null) this.#kept.delete(name);
    });
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return asked;
  }

  /** The named object, parsed from JSON; null if the controller no longer has it. Throws if the controller does not reply. */
  async read<T>(name: string): Promise<T | null> {
    const parts: Uint8Array[] = [];
    for (let from = 0; ; ) {
      const answer = await this.#part(name, from);
      const [what] = answer;
      if (what === PART.unknown) return null;
      const part = answer.subarray(1);
      parts.push(part);
      from += part.length;
      if (what === PART.last) break;
    }
    return JSON.parse(Buffer.concat(parts).toString());
  }

  async #ask(name: string): Promise<ReadyMailing | null> {
    const content = await this.read<NodeContent>(name);
    if (content === null) return null;
    const { source, key, tokenSecret } = content;
    const signs = key && dkimKey(key.domain, key.selector, key.privateKey);
    return readyMailing(source, { tokens: createNodeTokens([tokenSecret]), findKey: () => signs });
  }

  async #part(name: string, from: number): Promise<Uint8Array> {
    const question = Buffer.from(JSON.stringify({ name, from }));
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#connection.request(CONTROLLER_SUBJECT.content, question, { timeout: ASK_MS })).data;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }
}
