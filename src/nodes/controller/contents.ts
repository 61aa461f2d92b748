/**
 * What nodes request in parts: the content of mailings, under names that change with the content, and pages that are too large for a message.
 * Contents are sent over the connection and stored nowhere else.
 */
import { randomBytes } from 'node:crypto';
import type { DkimKey } from '../../delivery/mime/dkim.ts';
import type { ReadyMailing } from '../../delivery/queue/ready-mailing.ts';
import { CONTENT_PART, type NodeContent, PART } from '../protocol.ts';

/**
 * How many contents are kept. A node requests content right after it got a page. If the content is no longer kept by then, the node returns
 * the page.
 */
const MAX_KEPT = 100;
const NAME_BYTES = 18;

export class Contents {
  readonly #controllerRun: string;
  readonly #tokenSecret: () => string;
  readonly #names = new WeakMap<ReadyMailing, { key: DkimKey | null; name: string }>();
  /** The contents of mailings by name, oldest first. */
  readonly #contents = new Map<string, Buffer>();
  /** The bytes that `storeTemporarily` keeps, by name. */
  readonly #temporary = new Map<string, Uint8Array>();

  constructor(controllerRun: string, tokenSecret: () => string) {
    this.#controllerRun = controllerRun;
    this.#tokenSecret = tokenSecret;
  }

  /** Returns the name of a mailing's current content, which is kept under this name. */
  nameOf(ready: ReadyMailing): string {
    const { key, source } = ready;
    const known = this.#names.get(ready);
    if (known !== undefined && known.key === key && this.#contents.has(known.name)) return known.name;
    const name = this.#newName();
    const content: NodeContent = {
      source,
      key: key && { domain: key.domain, selector: key.selector, privateKey: key.privateKey },
      tokenSecret: this.#tokenSecret(),
    };
    this.#names.set(ready, { key, name });
    this.#contents.set(name, Buffer.from(JSON.stringify(content)));
    for (const oldest of this.#contents.keys()) {
      if (this.#contents.size <= MAX_KEPT) break;
      this.#contents.delete(oldest);
    }
    return name;
  }

  /** Keeps bytes under a new name until `removeTemporary` is called with it. Returns the name. */
  storeTemporarily(bytes: Uint8Array): string {
    const name = this.#newName();
    this.#temporary.set(name, bytes);
    return name;
  }

  /** Removes bytes that `storeTemporarily` keeps. */
  removeTemporary(name: string): void {
    this.#temporary.delete(name);
  }

  /** Returns the part of a content that begins at a byte offset, preceded by a `PART` byte. */
  part(name: string, from: number): Uint8Array {
    const content = this.#contents.get(name) ?? this.#temporary.get(name);
    if (content === undefined || !Number.isSafeInteger(from) || from < 0) return Uint8Array.of(PART.unknown);
    const part = content.subarray(from, from + CONTENT_PART);
    return Buffer.concat([Uint8Array.of(from + part.length < content.length ? PART.more : PART.last), part]);
  }

  #newName(): string {
    // Anyone who knows the name gets the content with its DKIM key, so the name must not be guessable by other nodes.
    return `${this.#controllerRun}.${randomBytes(NAME_BYTES).toString('base64url')}`;
  }
}
