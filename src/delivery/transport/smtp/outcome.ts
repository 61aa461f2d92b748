/** The outcome of one SMTP transaction, in the ledger's terms. */
import type { Reply } from './reply-reader.ts';

/** The command to which an outcome belongs. `body` means that the end of data was sent, so the relay may have the message. */
export type Stage = 'connect' | 'tls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'body';

/**
 * accepted: the relay took responsibility for the message (RFC 5321 6.1). deferred: try this recipient again later. refused: this recipient
 * failed permanently. held: the relay rejects all our mail, so no recipient bounces.
 */
type Kind = 'accepted' | 'deferred' | 'refused' | 'held';

const MAX_CHARACTERS = 1_000;

export type Outcome = {
  kind: Kind;
  stage: Stage;
  /** The reply code; 0 if there is no reply, because the connection was lost, a timeout passed, or our side decided. */
  code: number;
  /** The enhanced status code (RFC 3463), such as 5.1.1; null if there is none or it contradicts the reply code. */
  enhanced: string | null;
  /** The relay's reply, or a description of the error: one printable line of at most 1 000 characters. */
  reply: string;
};

/** Returns the outcome for a reply at a stage (RFC 5321 4.2.1, 4.3.2). A code that is not defined there counts as deferred. */
export function replyOutcome(stage: Stage, reply: Reply): Outcome {
  const enhanced = enhancedCode(reply);
  return { kind: kindOf(stage, reply.code), stage, code: reply.code, enhanced, reply: readable(reply, enhanced) };
}

/** Returns an outcome without a reply. `why` describes the reason. */
export function withoutReply(kind: Kind, stage: Stage, why: string): Outcome {
  return { kind, stage, code: 0, enhanced: null, reply: oneLine(why) };
}

function kindOf(stage: Stage, code: number): Kind {
  if (code >= 500) return stage === 'rcpt' || stage === 'data' || stage === 'body' ? 'refused' : 'held';
  return stage === 'body' && code < 300 ? 'accepted' : 'deferred';
}

/** Returns the enhanced code, which follows the reply code and must have the same first digit (RFC 2034 4); null if there is none. */
function enhancedCode(reply: Reply): string | null {
  const code = /^([245])\.\d{1,3}\.\d{1,3}(?=[ \n]|$)/.exec(reply.text);
  return code !== null && Number(code[1]) === Math.floor(reply.code / 100) ? code[0] : null;
}

/** Returns the reply with the enhanced code only once. In a multi-line reply, every line repeats the code. */
function readable(reply: Reply, enhanced: string | null): string {
  const text = enhanced === null ? reply.text : reply.text.replaceAll(`\n${enhanced} `, '\n');
  return oneLine(`${reply.code} ${text}`);
}

/**
 * Converts text to one printable line. The reply reader returns one character per byte, so text that is not ASCII is decoded as UTF-8 here.
 */
function oneLine(text: string): string {
  const start = text.length > MAX_CHARACTERS ? text.slice(0, 4 * MAX_CHARACTERS) : text;
  if (/^[ -~]*$/.test(start)) return start.slice(0, MAX_CHARACTERS);
  const decoded = /^[\0-\x7f]*$/.test(start) ? start : Buffer.from(start, 'latin1').toString('utf8');
  return decoded
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_CHARACTERS);
}
