/**
 * The operation that checks a mail before it is sent: for itself, as one recipient gets it, and for all recipients
 * (additions to the contract).
 */
import { and, asc, eq, isNull } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { checkedTargets } from '../../audience/segments/segments.ts';
import { readMailRules } from '../../database/accounts.ts';
import { senders } from '../../database/schema/index.ts';
import {
  type CheckedAudience,
  checkRecipients,
  type MeasuredVersions,
  type RecipientFinding,
} from '../../delivery/checks/recipients-check.ts';
import { FINDINGS, type Severity } from '../../delivery/checks/severity.ts';
import { variantName } from '../../delivery/queue/variant-groups.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import { inCheckingTurn } from '../../http/account-share.ts';
import {
  identifier,
  integer,
  line,
  nullable,
  optionalReference,
  said,
  stringList,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { withTemplateCopied } from '../../templates/mail-content.ts';
import { asVariant } from '../launch.ts';
import { findingsOnlyIn, type ShownSource } from '../shown-mail.ts';
import { requireSingleSend, singleSendErrors } from '../single-sends.ts';
import { templateCode } from './drafts.ts';
import { type CheckedMailRecord, checkMail, foundVersion } from './shown-mails.ts';

const severity = Type.Unsafe<Severity>(
  Type.String({ description: 'error: wrong in every e-mail; warning: may keep recipients from reading it; note.' }),
);
const path = () =>
  nullable(Type.String(), 'The page of the dashboard where it is mended; null for an e-mail that is not stored.');
const targets = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...stringList({ description }), empty: [] }));

/** The fields of a finding in one mail. */
export const foundInMail = {
  code: Type.String({ description: 'What was found, such as `urls` or `size`.' }),
  severity,
  count: integer({ description: 'The number of such findings; of the size, bytes.' }),
  limit: integer({ description: 'The most there should be; 0 where there is no such limit.' }),
  names: Type.Array(Type.String(), { description: 'The names of the first findings, if they have names.' }),
  path: path(),
};

/** Returns what is not good in a checked mail. */
export function findingsIn({ findings }: Static<typeof CheckedMailRecord>) {
  return findings
    .filter(({ is_good }) => is_good === 0)
    .map(({ check: code, is_good: _, ...finding }) => ({ code, severity: FINDINGS[code].severity, ...finding }));
}

const ForRecipients = Type.Object({
  checked: integer({ description: 'The recipients whose e-mails were looked at, 100 000 at most.' }),
  has_more: { ...zeroOrOne(), description: '1: there are more recipients.' },
  findings: Type.Array(
    Type.Object({
      code: Type.Unsafe<RecipientFinding['code']>(
        Type.String({
          description:
            'value_empty: a merge tag without default and value; branch_unused: a branch of a condition that nobody gets; subject_longest: a subject that inboxes cut; mail_clipped: HTML over 102 kB, which Gmail clips; language_missing: a language without a version.',
        }),
      ),
      severity,
      name: Type.String({
        description: 'The merge tag, the condition, or the ISO 639-1 code of the language; empty for the whole e-mail.',
      }),
      count: integer({ description: 'The recipients concerned; of subject_longest, its characters.' }),
      contact_id: nullable(integer(), 'One of them.'),
      path: path(),
    }),
    { description: 'The findings in the e-mails of all recipients, at most 50 of each code.' },
  ),
  more_findings: integer({ description: 'How many further findings there are.' }),
});

const CheckInput = Type.Object({
  utr: Type.Optional(identifier('A stored single send to check, instead of the other parameters.')),
  subject: Type.Optional(line({ description: 'The subject.' })),
  preheader: Type.Optional(line({ description: 'The preview text.' })),
  template_id: optionalReference('A template, in place of code.'),
  ...templateCode,
  sender_id: optionalReference('The sender of the e-mail; the first sender if not given.'),
  unsubscribe_group_id: optionalReference('The unsubscribe group, whose addresses get nothing.'),
  recipient_id: targets(
    'Targets: contacts_<contact type id> or segments_<segment id>. Without any, only the e-mail itself is checked.',
  ),
  exclude_specific_recipient_id: targets('Targets whose recipients get nothing.'),
});

/** What was found in a mail, and in the mails of all its recipients. */
export const CheckedForAll = Type.Object(
  {
    contact_id: nullable(integer(), 'The recipient for whom the e-mail was checked.'),
    findings: Type.Array(Type.Object({ ...foundInMail, version: foundVersion() }), {
      description: 'The findings in the e-mail of that recipient, then those that only its variants or versions have.',
    }),
    recipients: nullable(ForRecipients, 'Null without targets, or where there is no mail.'),
    problem: nullable(said(), 'Why there is no mail.'),
  },
  { description: 'What was found.' },
);
export type CheckedForAll = Static<typeof CheckedForAll>;

export const checkAnyMail = operation({
  name: 'Check an e-mail before it is sent, also for all its recipients (addition)',
  description: 'Saves and sends nothing. Checks that pass are not in the answer.',
  role: 'editor',
  isReading: true,
  input: CheckInput,
  output: Type.Object({ check: CheckedForAll }),
  check: (
    context,
    { sender_id, unsubscribe_group_id, template_id, recipient_id, exclude_specific_recipient_id },
    errors,
  ) =>
    errors.addAll(
      singleSendErrors(context, context.accountId, {
        ...(sender_id && { sender_id }),
        ...(unsubscribe_group_id && { unsubscribe_group_id }),
        ...(template_id && { template_id }),
        ...(recipient_id && { recipient_id }),
        ...(exclude_specific_recipient_id && { exclude_specific_recipient_id }),
      }),
    ),
  run: async (context, input) => ({ check: await checkForAll(context, () => checkedSource(context, input)) }),
});

/** A mail to check, with its variants or versions. */
export interface CheckedSource {
  /** Returns the variant or version with this number; 0: the mail itself. */
  find(number: number): ShownSource;
  /** The names of the variants, or the languages of the versions, from number 1 on. */
  others: readonly string[];
  kind: 'variants' | 'languages';
  /** The audience that the mail would reach now; without targets only the mail itself is checked. */
  audience: CheckedAudience;
  /** Returns the page of the dashboard that changes the content or the variants; null for a mail that is not stored. */
  page(step: 'content' | CheckedSource['kind']): string | null;
}

/**
 * Checks a mail, its variants or versions, and the mails of all its recipients, one mail of the account after the other.
 * `find` reads the mail, so it is called only when it is the account's turn. Throws 422 and 429.
 */
export function checkForAll(context: Context, find: () => CheckedSource): Promise<CheckedForAll> {
  return inCheckingTurn(context.accountId, () => checkNow(context, find()), context.isGone);
}

async function checkNow(context: Context, source: CheckedSource): Promise<CheckedForAll> {
  const { db, accountId } = context;
  const sender = source.find(0).sender_id;
  const { checked, measured } = await checkMail(context, { find: () => source.find(0) });
  const versions = await checkVersions(context, source);
  const inMail = findingsIn(checked);
  const findings = [
    ...inMail.map((finding) => ({ ...finding, version: '' })),
    ...versions.flatMap(({ version, checked }) => findingsOnlyIn(version, findingsIn(checked), inMail)),
  ].map((finding) => ({ ...finding, path: pathOf(source, sender, finding.code, { version: finding.version }) }));
  const recipients =
    measured === null || source.audience.targets.length === 0
      ? null
      : await checkRecipients(
          db.$client,
          measured,
          listCustomFields(db, accountId),
          source.audience,
          measuredVersions(context, source, versions),
        );
  const shown = firstOfEach(recipients?.findings ?? []);
  return {
    contact_id: checked.contact_id,
    findings,
    problem: checked.problem ?? problemIn(source, versions),
    recipients: recipients && {
      ...recipients,
      has_more: recipients.has_more ? (1 as const) : (0 as const),
      more_findings: recipients.findings.length - shown.length,
      findings: shown.map((finding) => ({
        ...finding,
        severity: FINDINGS[finding.code].severity,
        path: pathOf(source, sender, finding.code, { contactId: finding.contact_id }),
      })),
    },
  };
}

/** The greatest number of findings of one code in an answer. */
const MAX_OF_CODE = 50;

/** Returns the first findings of each code. */
function firstOfEach(findings: readonly RecipientFinding[]): RecipientFinding[] {
  const byCode = Map.groupBy(findings, ({ code }) => code);
  return [...byCode.values()].flatMap((findings) => findings.slice(0, MAX_OF_CODE));
}

/** A variant of a mail, or its version in another language, as it was checked. */
interface CheckedVersion extends Awaited<ReturnType<typeof checkMail>> {
  /** The name of the variant, or the language. */
  version: string;
}

/** Checks the variants of a mail, or its versions in other languages. */
async function checkVersions(context: Context, { find, others }: CheckedSource): Promise<CheckedVersion[]> {
  const all: CheckedVersion[] = [];
  for (const [at, version] of others.entries())
    all.push({ version, ...(await checkMail(context, { find: () => find(at + 1) })) });
  return all;
}

/** The versions in other languages; null if there are none. One that has no mail counts as the mail itself. */
function measuredVersions(
  { db, accountId }: Context,
  { kind, others }: CheckedSource,
  versions: readonly CheckedVersion[],
): MeasuredVersions | null {
  if (kind !== 'languages' || others.length === 0) return null;
  const mails = versions.flatMap(({ version, measured }) => (measured === null ? [] : [[version, measured] as const]));
  return { language: readMailRules(db, accountId).mail_language, mails: new Map(mails) };
}

/** Returns why a variant or version has no mail, with its name; null if all of them have one. */
function problemIn({ kind }: CheckedSource, versions: readonly CheckedVersion[]): Said | null {
  for (const { version: name, checked } of versions) {
    const { problem } = checked;
    if (problem !== null)
      return sentence(kind === 'languages' ? 'language_problem' : 'ab_variant_problem', { name, problem });
  }
  return null;
}

/** The page of the dashboard where a finding is mended. */
function pathOf(
  { kind, page }: CheckedSource,
  sender: number,
  code: keyof typeof FINDINGS,
  { contactId = null, version = '' }: { contactId?: number | null; version?: string },
): string | null {
  const { place } = FINDINGS[code];
  if (place === 'sender') return sender === 0 ? null : `/settings/senders/${sender}`;
  if (place === 'contact') return contactId === null ? null : `/contacts/${contactId}`;
  return page(version === '' ? 'content' : kind);
}

/** The single send, or a mail made of the parameters, with its audience. Throws 404. */
function checkedSource(context: Context, input: Static<typeof CheckInput>): CheckedSource {
  const { db } = context;
  const source = sourceOf(context, input);
  const send = source.single_send;
  return {
    find: (number) => (send === null ? source : { ...asVariant(db, send, number), single_send: send, variant: number }),
    others:
      send?.ab_test?.variants.map((_, at) => variantName(at + 1)) ??
      send?.languages?.map(({ language }) => language) ??
      [],
    kind: send?.languages ? 'languages' : 'variants',
    audience: {
      targets: source.recipient_id,
      excluded: source.exclude_specific_recipient_id,
      groupId: source.unsubscribe_group_id,
    },
    page: (step) => send && `/campaigns/${send.utr}/edit/${step}`,
  };
}

/** The single send, or a mail made of the parameters, from the first sender if none is named. Throws 404. */
function sourceOf(
  { db, accountId }: Context,
  { utr, ...fields }: Static<typeof CheckInput>,
): ShownSource & { unsubscribe_group_id: number } {
  if (utr !== undefined) {
    const single_send = requireSingleSend(db, accountId, utr);
    return { ...asVariant(db, single_send, 0), single_send, variant: 0 };
  }
  const {
    template_id = 1,
    template_json,
    template_html,
  } = withTemplateCopied(db, accountId, {
    template_id: fields.template_id ?? 1,
    template_json: fields.template_json ?? '',
    template_html: fields.template_html ?? '',
  });
  const first = db
    .select({ id: senders.id })
    .from(senders)
    .where(and(eq(senders.user_id, accountId), isNull(senders.deleted_at)))
    .orderBy(asc(senders.id))
    .limit(1)
    .get();
  return {
    user_id: accountId,
    single_send: null,
    tracking: 1,
    template_id,
    template_json: template_json || null,
    template_html: template_html || null,
    subject: fields.subject ?? '',
    preheader: fields.preheader ?? '',
    sender_id: fields.sender_id ?? first?.id ?? 0,
    unsubscribe_group_id: fields.unsubscribe_group_id ?? 0,
    recipient_id: checkedTargets(fields.recipient_id ?? []),
    exclude_specific_recipient_id: checkedTargets(fields.exclude_specific_recipient_id ?? []),
  };
}
