/** What became of one hand-off, in terms the ledger acts on. */
import type { Reply } from './reply.ts';

/** How far the conversation had come. `body`: the dot that ends the message had left, so the relay may have the message. */
export type Stage = 'connect' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';

/**
 * accepted: the relay took responsibility (RFC 5321 6.1). deferred: try this recipient again later. refused: this
 * recipient, for good. held: the relay will not work for us as things are, whoever the recipient; nobody bounces.
 */
type Kind = 'accepted' | 'deferred' | 'refused' | 'held';

const MOST_CHARACTERS = 1_000;

export type Outcome = {
  kind: Kind;
  stage: Stage;
  /** The reply code; 0 where the relay said nothing (lost, timed out, decided on our side). */
  code: number;
  /** The enhanced status code (RFC 3463), such as 5.1.1, where the relay gave one that agrees with the code. */
  enhanced: string | null;
  /** What the relay said, or what went wrong; one printable line of at most 1 000 characters. */
  reply: string;
};

/** The outcome a reply means at a stage (RFC 5321 4.2.1, 4.3.2). A code that has no business there counts as deferred. */
export function outcomeOf(stage: Stage, reply: Reply): Outcome {
  const enhanced = enhancedCode(reply);
  return { kind: kindOf(stage, reply.code), stage, code: reply.code, enhanced, reply: readable(reply, enhanced) };
}

/** An outcome without a reply: `why` says what happened. */
export function withoutReply(kind: Kind, stage: Stage, why: string): Outcome {
  return { kind, stage, code: 0, enhanced: null, reply: oneLine(why) };
}

function kindOf(stage: Stage, code: number): Kind {
  if (code >= 500) return stage === 'rcpt' || stage === 'data' || stage === 'body' ? 'refused' : 'held';
  return stage === 'body' && code < 300 ? 'accepted' : 'deferred';
}

/** RFC 2034 4: the code follows the reply code, and its class must agree with it. */
function enhancedCode(reply: Reply): string | null {
  const found = /^([245])\.\d{1,3}\.\d{1,3}(?=[ \n]|$)/.exec(reply.text);
  return found !== null && Number(found[1]) === Math.floor(reply.code / 100) ? found[0] : null;
}

/** Every line of a long reply repeats the enhanced code; people need it once. */
function readable(reply: Reply, enhanced: string | null): string {
  const text = enhanced === null ? reply.text : reply.text.replaceAll(`\n${enhanced} `, '\n');
  return oneLine(`${reply.code} ${text}`);
}

/** Replies are ASCII unless the relay errs towards UTF-8; the reader hands them over byte by byte (latin1). */
function oneLine(text: string): string {
  const start = text.length > MOST_CHARACTERS ? text.slice(0, 4 * MOST_CHARACTERS) : text;
  if (/^[ -~]*$/.test(start)) return start.slice(0, MOST_CHARACTERS);
  const decoded = /^[\0-\x7f]*$/.test(start) ? start : Buffer.from(start, 'latin1').toString('utf8');
  return decoded
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MOST_CHARACTERS);
}
