/** The content of the mailings that this node sends, requested once and kept in memory. */
import type { NatsConnection } from '@nats-io/transport-node';
import { createNodeTokens } from '../../delivery/links/tokens.ts';
import { dkimKey } from '../../delivery/mime/dkim.ts';
import { type ReadyMailing, readyMailing } from '../../delivery/queue/ready-mailing.ts';
import { CONTROLLER_SUBJECT, type NodeContent, PART } from '../protocol.ts';

const MAX_KEPT = 50;
const REQUEST_MS = 3000;
const ATTEMPTS = 3;

export class NodeContents {
  readonly #connection: NatsConnection;
  /** The requested mailings by name, oldest first. */
  readonly #mailings = new Map<string, Promise<ReadyMailing | null>>();

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /** Returns the named mailing, ready to render; null if the controller no longer has its content or does not reply. */
  get(name: string): Promise<ReadyMailing | null> {
    const known = this.#mailings.get(name);
    if (known !== undefined) return known;
    const mailing = this.#request(name).catch(() => null);
    this.#mailings.set(name, mailing);
    void mailing.then((result) => {
      if (result === null) this.#mailings.delete(name);
    });
    for (const oldest of this.#mailings.keys()) {
      if (this.#mailings.size <= MAX_KEPT) break;
      this.#mailings.delete(oldest);
    }
    return mailing;
  }

  /** Returns the named object, parsed from JSON; null if the controller no longer has the object. Throws if the controller does not reply. */
  async read<T>(name: string): Promise<T | null> {
    const parts: Uint8Array[] = [];
    for (let from = 0; ; ) {
      const answer = await this.#part(name, from);
      const [kind] = answer;
      if (kind === PART.unknown) return null;
      const part = answer.subarray(1);
      parts.push(part);
      from += part.length;
      if (kind === PART.last) break;
    }
    return JSON.parse(Buffer.concat(parts).toString());
  }

  async #request(name: string): Promise<ReadyMailing | null> {
    const content = await this.read<NodeContent>(name);
    if (content === null) return null;
    const { source, key, tokenSecret } = content;
    const signingKey = key && dkimKey(key.domain, key.selector, key.privateKey);
    return readyMailing(source, { tokens: createNodeTokens([tokenSecret]), findKey: () => signingKey });
  }

  async #part(name: string, from: number): Promise<Uint8Array> {
    const question = Buffer.from(JSON.stringify({ name, from }));
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#connection.request(CONTROLLER_SUBJECT.content, question, { timeout: REQUEST_MS })).data;
      } catch (error) {
        if (attempt === ATTEMPTS) throw error;
      }
    }
  }
}
