/** The relay of the shop that uses every feature: it notes what it takes, and defers or refuses the rest. */
import PostalMime from 'postal-mime';
import type { Handoff } from '../../src/delivery/transport/courier.ts';

/** A mail that the relay took. */
export interface Left {
  to: string;
  subject: string;
  html: string;
  text: string;
  /** Epoch milliseconds. */
  at: number;
}

const ACCEPTED = { kind: 'accepted', stage: 'body', code: 250, enhanced: '2.0.0', reply: '250 ok' } as const;
const LATER = { kind: 'deferred', stage: 'rcpt', code: 451, enhanced: '4.7.1', reply: '451 4.7.1 greylisted' } as const;
const TOO_FAST = {
  kind: 'deferred',
  stage: 'rcpt',
  code: 421,
  enhanced: '4.7.28',
  reply: '421 4.7.28 too fast',
} as const;
const UNKNOWN = {
  kind: 'refused',
  stage: 'rcpt',
  code: 550,
  enhanced: '5.1.1',
  reply: '550 5.1.1 no such user',
} as const;

/**
 * A relay that knows no address that begins with "gone", defers one mail in eight for a while, and asks for fewer mails to Outlook when the
 * series begins.
 */
export function relayOf(left: Left[], now: () => number) {
  const deferred = new Set<string>();
  let mails = 0;
  let asked = 0;
  return {
    room: () => 100,
    async send({ start, to }: Handoff) {
      const raw = start();
      if (raw === null) return 'withdrawn' as const;
      if (to.startsWith('gone')) return UNKNOWN;
      const { subject = '', html = '', text = '' } = await PostalMime.parse(Buffer.from(raw.bytes));
      const key = `${to} ${subject}`;
      if (subject === 'Series 1' && to.endsWith('@outlook.com') && asked++ < 3) return TOO_FAST;
      if (++mails % 8 === 0 && !deferred.has(key)) {
        deferred.add(key);
        return LATER;
      }
      left.push({ to, subject, html, text, at: now() });
      return ACCEPTED;
    },
    close: async () => undefined,
  };
}
