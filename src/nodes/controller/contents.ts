/**
 * The content of mailings that nodes request, under names that change with the content, and pages too large for a message. It is sent over
 * the connection and stored nowhere else.
 */
import { randomBytes } from 'node:crypto';
import type { DkimKey } from '../../delivery/mime/dkim.ts';
import type { ReadyMailing } from '../../delivery/queue/ready-mailing.ts';
import { CONTENT_PART, type NodeContent, PART } from '../protocol.ts';

/**
 * The number of contents kept. A node requests content right after it got a page; if the content is no longer kept, the node returns the
 * page.
 */
const MAX_KEPT = 100;
const NAME_BYTES = 18;

export class Contents {
  readonly #controllerRun: string;
  readonly #tokenSecret: () => string;
  readonly #names = new WeakMap<ReadyMailing, { key: DkimKey | null; name: string }>();
  readonly #kept = new Map<string, Buffer>();
  readonly #lent = new Map<string, Uint8Array>();

  constructor(brain: string, tokenSecret: () => string) {
    this.#controllerRun = brain;
    this.#tokenSecret = tokenSecret;
  }

  /** The name of a mailing's current content. */
  nameOf(ready: ReadyMailing): string {
    const { key, source } = ready;
    const known = this.#names.get(ready);
    if (known !== undefined && known.key === key && this.#kept.has(known.name)) return known.name;
    const name = this.#newName();
    const content: NodeContent = {
      source,
      key: key && { domain: key.domain, selector: key.selector, privateKey: key.privateKey },
      tokenSecret: this.#tokenSecret(),
    };
    this.#names.set(ready, { key, name });
    this.#kept.set(name, Buffer.from(JSON.stringify(content)));
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(oldest);
    }
    return name;
  }

  /** Keeps bytes under a new name until `removeTemporary`. */
  storeTemporarily(bytes: Uint8Array): string {
    const name = this.#newName();
    this.#lent.set(name, bytes);
    return name;
  }

  removeTemporary(name: string): void {
    this.#lent.delete(name);
  }

  /** The part of the named content that begins at a byte offset, preceded by a `PART` byte. */
  part(name: string, from: number): Uint8Array {
    const whole = this.#kept.get(name) ?? this.#lent.get(name);
    if (whole === undefined || !Number.isSafeInteger(from) || from < 0) return Uint8Array.of(PART.unknown);
    const part = whole.subarray(from, from + CONTENT_PART);
    return Buffer.concat([Uint8Array.of(from + part.length < whole.length ? PART.more : PART.last), part]);
  }

  #newName(): string {
    // Anyone who knows the name gets the content with its DKIM key, so the name must not be guessable by other nodes.
    return `${this.#controllerRun}.${randomBytes(NAME_BYTES).toString('base64url')}`;
  }
}
