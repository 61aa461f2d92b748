/** Proves to the brain that a change in JetStream is its own. Without a proof nobody is put back on a list but by what recipients choose. */
import { createHash } from 'node:crypto';
import type { Tokens } from '../delivery/links/tokens.ts';

/** The header of a message with the proof. */
export const PROOF_HEADER = 'Sendlark-Proof';
const PURPOSE = 'change of a list';

/** The proof for a message with this subject and text. */
export function proveChange(tokens: Tokens, subject: string, text: string): string {
  return tokens.sign(PURPOSE, digest(subject, text));
}

/** Whether it is the proof for this message. */
export function isProven(tokens: Tokens, subject: string, text: string, proof: string): boolean {
  return tokens.read(PURPOSE, proof) === digest(subject, text);
}

/** A subject contains no space. */
function digest(subject: string, text: string): string {
  return createHash('sha256').update(`${subject} ${text}`).digest('base64url');
}
