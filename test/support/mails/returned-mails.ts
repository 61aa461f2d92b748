/** The corpus of returned mails, and the return paths that they come back to. */
import { readdirSync, readFileSync } from 'node:fs';
import { type DeliveryLookup, returnPath } from '../../../src/delivery/links/return-paths.ts';

/** What the return paths of the corpus are signed with, and their domain. */
export const SECRET = 'corpus secret';
export const DOMAIN = 'bounces.letters.example';

const EMAIL = 'anna@example.org';

/** A database in which every delivery goes to this address, and deliveries up to 1000 are from earlier releases. */
export const KNOWN: DeliveryLookup = { findEmail: () => EMAIL, unsignedUpTo: 1000 };

/** The return path of a delivery. */
export const pathOf = (id: number, base?: string) => returnPath(SECRET, { id, email: EMAIL }, DOMAIN, base);

const CORPUS = new URL('../../delivery/feedback/corpus/', import.meta.url);

/** Every mail of the corpus with the name of its file. */
export const mails = readdirSync(CORPUS)
  .filter((file) => file.endsWith('.eml'))
  .map((file) => ({ name: file.slice(0, -'.eml'.length), raw: readFileSync(new URL(file, CORPUS)) }));

/** A mail with the line ends of SMTP. */
export function withCrlf(raw: Buffer): Buffer {
  return Buffer.from(raw.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}

/** The address in the To field of a mail. */
export function toOf(raw: Buffer): string {
  return /^To: (.*)$/m.exec(raw.toString('latin1'))?.[1] ?? '';
}
