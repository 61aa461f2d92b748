/**
 * Proves to the controller that it published a change in JetStream itself. Without such a proof, only a recipient's own choice can put an
 * address back on a list.
 */
import { createHash } from 'node:crypto';
import type { Tokens } from '../delivery/links/tokens.ts';

/** The message header that contains the proof. */
export const PROOF_HEADER = 'Sendlark-Proof';
const PURPOSE = 'change of a list';

/** Returns the proof for a message with this subject and text. */
export function proveChange(tokens: Tokens, subject: string, text: string): string {
  return tokens.sign(PURPOSE, digest(subject, text));
}

/** Returns true if `proof` is the proof for this message. */
export function isProven(tokens: Tokens, subject: string, text: string, proof: string): boolean {
  return tokens.read(PURPOSE, proof) === digest(subject, text);
}

/** Returns a hash of subject and text. A space between them keeps them apart, because subjects contain no space. */
function digest(subject: string, text: string): string {
  return createHash('sha256').update(`${subject} ${text}`).digest('base64url');
}
