/** A mail as its owner looks at it, and what the checks say of it, in answers (additions). */
import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { sendRecord } from '../http/list-response.ts';
import { flag, integer, nullable, zeroOrOne } from '../http/requests/schemas.ts';
import type { checkShownMail, showMail } from '../single-sends/shown-mail.ts';

/** A mail as one person sees it. */
export const ShownMailRecord = Type.Object({
  contact_id: nullable(integer()),
  subject: Type.String(),
  html: Type.String(),
  text: Type.String({ description: 'The beginning of the text part, of 100 000 characters at most.' }),
  text_length: integer({ description: 'The characters of the whole text part.' }),
  placeholders_without_value: Type.Array(Type.String()),
  problem: nullable(Type.String()),
});

/** Sends that mail; `problem` says why there is none. Its HTML was made JSON in another thread, because it may be large. */
export function sendShown(reply: FastifyReply, shown: Awaited<ReturnType<typeof showMail>>): FastifyReply {
  if ('problem' in shown) {
    const none = { subject: '', html: '', text: '', text_length: 0, placeholders_without_value: [] };
    return sendRecord(reply, 'mail', JSON.stringify({ contact_id: null, ...none, ...shown }));
  }
  const { contact_id, json, withoutValue: placeholders_without_value } = shown;
  const rest = JSON.stringify({ placeholders_without_value, problem: null });
  return sendRecord(reply, 'mail', `{"contact_id":${contact_id},${json.slice(1, -1)},${rest.slice(1)}`);
}

/** What a request for that mail may leave out. */
export const shownParts = {
  html: Type.Optional(
    Type.Unsafe<0 | 1>({ ...flag('0: without the HTML, which is empty then; 1 (default): with it.'), empty: 1 }),
  ),
};

/** Sends code of a mail as a text, which no browser shows as a page of ours. */
export function sendCode(reply: FastifyReply, code: string): FastifyReply {
  return reply
    .headers({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
    .type('text/plain; charset=utf-8')
    .send(code);
}

const CheckFinding = Type.Object({
  check: Type.String({ description: 'What was looked at, such as `urls` or `size`.' }),
  is_good: { ...zeroOrOne(), description: '1: nothing has to be done about it.' },
  count: integer({ description: 'How many there are of what was found; of the size, bytes.' }),
  limit: integer({ description: 'The most there should be; 0 where there is no such limit.' }),
  names: Type.Array(Type.String(), { description: 'The first of what was found, where it has names.' }),
});

/** What the checks say of a mail. */
export const CheckedMailRecord = Type.Object({
  contact_id: nullable(integer()),
  subject: Type.String(),
  text: Type.String({ description: 'The beginning of the text part, of 100 000 characters at most.' }),
  text_length: integer({ description: 'The characters of the whole text part.' }),
  findings: Type.Array(CheckFinding, { description: 'One for each check.' }),
  problem: nullable(Type.String()),
});

/** The same in an answer; `problem` says why there is none. */
export function checkedRecord(found: Awaited<ReturnType<typeof checkShownMail>>): Static<typeof CheckedMailRecord> {
  if ('problem' in found) return { contact_id: null, subject: '', text: '', text_length: 0, findings: [], ...found };
  const { own, shared, ...mail } = found;
  const findings = [...own, ...shared].map(({ check, isGood, values }) => ({
    check,
    is_good: isGood ? (1 as const) : (0 as const),
    count: values.count,
    limit: 'limit' in values ? values.limit : 0,
    names: 'names' in values ? [...values.names] : [],
  }));
  return { ...mail, findings, problem: null };
}
