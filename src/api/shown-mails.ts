/** A mail as its owner looks at it, and what the checks say of it, in answers (additions). */
import Type, { type Static } from 'typebox';
import { integer, nullable, zeroOrOne } from '../http/requests/schemas.ts';
import type { checkShownMail, showMail } from '../single-sends/shown-mail.ts';

/** A mail as one person sees it. */
export const ShownMailRecord = Type.Object({
  contact_id: nullable(integer()),
  subject: Type.String(),
  html: Type.String(),
  text: Type.String(),
  placeholders_without_value: Type.Array(Type.String()),
  problem: nullable(Type.String()),
});

/** That mail in an answer; `problem` says why there is none. */
export function shownRecord(shown: Awaited<ReturnType<typeof showMail>>): Static<typeof ShownMailRecord> {
  const none = { contact_id: null, subject: '', html: '', text: '', placeholders_without_value: [] };
  return 'problem' in shown ? { ...none, ...shown } : { ...shown, problem: null };
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
  const { own, shared, textLength: text_length, ...mail } = found;
  const findings = [...own, ...shared].map(({ check, isGood, values }) => ({
    check,
    is_good: isGood ? (1 as const) : (0 as const),
    count: values.count,
    limit: 'limit' in values ? values.limit : 0,
    names: 'names' in values ? [...values.names] : [],
  }));
  return { ...mail, text_length, findings, problem: null };
}
