/**
 * The operation that checks a mail before it is sent: the mail as one recipient gets it, and the mails of all recipients (an addition
 * to the contract).
 */
import { and, asc, eq, isNull } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import { checkedTargets } from '../../audience/segments/segments.ts';
import { readMailRule } from '../../database/accounts.ts';
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
import { inCheckingTurn, inReviewTurn } from '../../http/account-share.ts';
import {
  identifier,
  integer,
  line,
  nullable,
  optionalReference,
  said,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { withTemplateCopied } from '../../templates/mail-content.ts';
import { findingsOnlyIn, type ShownSource } from '../shown-mail.ts';
import { singleSendErrors } from '../single-send-errors.ts';
import { requireSingleSend } from '../single-sends.ts';
import { asVariant } from '../variants.ts';
import { targets, templateCode } from './drafts.ts';
import { type CheckedMailRecord, checkMail, foundFields, foundVersion } from './shown-mails.ts';

const severity = Type.Unsafe<Severity>(
  Type.String({
    description:
      'error: every e-mail is wrong; warning: this may keep recipients from reading the e-mail; note: nothing needs to be changed.',
  }),
);
const path = () =>
  nullable(
    Type.String(),
    'The page of the dashboard on which the finding can be corrected; null for an e-mail that is not stored.',
  );

/** The fields of a finding in one mail. */
export const foundInMail = {
  code: Type.String({ description: 'The check with this finding, such as `urls` or `size`.' }),
  severity,
  ...foundFields,
  path: path(),
};

/** Returns the findings of the checks that a mail did not pass. */
export function findingsIn({ findings }: Static<typeof CheckedMailRecord>) {
  return findings
    .filter(({ is_good }) => is_good === 0)
    .map(({ check: code, is_good: _, ...finding }) => ({ code, severity: FINDINGS[code].severity, ...finding }));
}

/** The maximum number of findings with the same code in an answer. */
const MAX_OF_CODE = 50;

const ForRecipients = Type.Object({
  checked: integer({ description: 'The number of recipients whose e-mails were checked, at most 100 000.' }),
  has_more: { ...zeroOrOne(), description: '1: there are more recipients, whose e-mails were not checked.' },
  findings: Type.Array(
    Type.Object({
      code: Type.Unsafe<RecipientFinding['code']>(
        Type.String({
          description:
            'value_empty: a merge tag has neither a value nor a default; branch_unused: no recipient gets a branch of a condition; subject_longest: mail programs will cut the longest subject; mail_clipped: the HTML has more than 102 kB, so Gmail clips it; language_missing: the e-mail has no version in a language of recipients.',
        }),
      ),
      severity,
      name: Type.String({
        description:
          'The merge tag, the condition, or the ISO 639-1 code of the language; empty if the finding is about the whole e-mail.',
      }),
      count: integer({
        description: 'The number of these recipients; for subject_longest, the number of characters.',
      }),
      contact_id: nullable(integer(), 'The id of one of these recipients.'),
      path: path(),
    }),
    { description: `The findings in the e-mails of all recipients, at most ${MAX_OF_CODE} of each code.` },
  ),
  more_findings: integer({ description: 'The number of further findings that are left out.' }),
});

const CheckInput = Type.Object({
  utr: Type.Optional(identifier('A stored single send to check. Then all other parameters are ignored.')),
  subject: Type.Optional(line({ description: 'The subject.' })),
  preheader: Type.Optional(line({ description: 'The preview text.' })),
  template_id: optionalReference('The template of the e-mail, if the request has no code.'),
  ...templateCode,
  sender_id: optionalReference('The sender of the e-mail; the first sender by default.'),
  unsubscribe_group_id: optionalReference(
    'The topic (unsubscribe group). Addresses that unsubscribed from it get nothing.',
  ),
  recipient_id: targets(
    'Targets: contacts_<contact type id> or segments_<segment id>. If empty, only the e-mail itself is checked.',
  ),
  exclude_specific_recipient_id: targets('Targets whose recipients get nothing.'),
});

/** The findings in a mail, and in the mails of all its recipients. */
export const CheckedForAll = Type.Object(
  {
    contact_id: nullable(integer(), 'The recipient for whom the e-mail was checked.'),
    findings: Type.Array(Type.Object({ ...foundInMail, version: foundVersion() }), {
      description:
        'The findings in the e-mail of that recipient, then the findings that only variants or versions of the e-mail have.',
    }),
    recipients: nullable(
      ForRecipients,
      'The findings in the e-mails of all recipients; null if there are no targets, or the e-mail cannot be made.',
    ),
    problem: nullable(said(), 'Why the e-mail cannot be made; null if it can be made.'),
  },
  { description: 'The findings.' },
);
export type CheckedForAll = Static<typeof CheckedForAll>;

export const checkAnyMail = operation({
  name: 'Check an e-mail for one recipient and for all recipients before it is sent (addition)',
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

/** Used by the review before a campaign is sent. It does not wait for a check for all recipients, which may take long. */
export const checkSingleSend = operation({
  name: 'Check the e-mail of a single send with its variants or versions',
  role: 'editor',
  input: Type.Object({ utr: identifier('The single send.') }),
  output: Type.Object({ check: CheckedForAll }),
  async run(context, input) {
    const check = () => {
      const source = checkedSource(context, input);
      return checkNow(context, { ...source, audience: { ...source.audience, targets: [] } });
    };
    return { check: await inReviewTurn(context.accountId, check, context.isGone) };
  },
});

/** A mail to check, with its variants or versions. */
export interface CheckedSource {
  /** Returns the variant or version with this number; 0 means the mail itself. */
  find(number: number): ShownSource;
  /** The names of the variants, or the languages of the versions, from number 1 on. */
  others: readonly string[];
  /** What `others` are: variants of an A/B test, or versions in other languages. */
  kind: 'variants' | 'languages';
  /** The audience that the mail would reach now. If it has no targets, only the mail itself is checked. */
  audience: CheckedAudience;
  /** Returns the path of the page that changes the content, the variants or the versions; null for a mail that is not stored. */
  page(step: 'content' | CheckedSource['kind']): string | null;
}

/**
 * Checks a mail, its variants or versions, and the mails of all its recipients. An account checks one mail at a time. `find` reads
 * the mail, so it is called only when it is the account's turn. Throws 422 if the mail cannot be checked, and 429 if too many checks wait.
 */
export function checkForAll(context: Context, find: () => CheckedSource): Promise<CheckedForAll> {
  return inCheckingTurn(context.accountId, () => checkNow(context, find()), context.isGone);
}

/** Checks the mail at once, without waiting for the account's turn. */
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
  const shownFindings = firstOfEachCode(recipients?.findings ?? []);
  return {
    contact_id: checked.contact_id,
    findings,
    problem: checked.problem ?? problemIn(source, versions),
    recipients: recipients && {
      ...recipients,
      has_more: recipients.has_more ? (1 as const) : (0 as const),
      more_findings: recipients.findings.length - shownFindings.length,
      findings: shownFindings.map((finding) => ({
        ...finding,
        severity: FINDINGS[finding.code].severity,
        path: pathOf(source, sender, finding.code, { contactId: finding.contact_id }),
      })),
    },
  };
}

/** Returns the first findings of each code. */
function firstOfEachCode(findings: readonly RecipientFinding[]): RecipientFinding[] {
  const byCode = Map.groupBy(findings, ({ code }) => code);
  return [...byCode.values()].flatMap((findings) => findings.slice(0, MAX_OF_CODE));
}

/** A checked variant of a mail, or its checked version in another language. */
interface CheckedVersion extends Awaited<ReturnType<typeof checkMail>> {
  /** The name of the variant, or the language. */
  version: string;
}

/** Checks the variants of a mail, or its versions in other languages. */
async function checkVersions(context: Context, { find, others }: CheckedSource): Promise<CheckedVersion[]> {
  const checked: CheckedVersion[] = [];
  for (const [at, version] of others.entries())
    checked.push({ version, ...(await checkMail(context, { find: () => find(at + 1) })) });
  return checked;
}

/** Returns the measured versions in other languages; null if there are none. Leaves out versions whose mail cannot be made. */
function measuredVersions(
  { db, accountId }: Context,
  { kind, others }: CheckedSource,
  versions: readonly CheckedVersion[],
): MeasuredVersions | null {
  if (kind !== 'languages' || others.length === 0) return null;
  const mails = versions.flatMap(({ version, measured }) => (measured === null ? [] : [[version, measured] as const]));
  return { language: readMailRule(db, accountId, 'mail_language'), mails: new Map(mails) };
}

/** Returns why the mail of a variant or version cannot be made, with its name; null if all mails can be made. */
function problemIn({ kind }: CheckedSource, versions: readonly CheckedVersion[]): Said | null {
  for (const { version: name, checked } of versions) {
    const { problem } = checked;
    if (problem !== null)
      return sentence(kind === 'languages' ? 'language_problem' : 'ab_variant_problem', { name, problem });
  }
  return null;
}

/** Returns the path of the page on which a finding can be corrected; null if there is no such page. */
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

/** Returns the stored single send, or a mail made of the parameters, with its audience. Throws 404 if there is no such single send. */
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

/** Returns the stored single send, or a mail made of the parameters, as previews take it. Throws 404 if there is no such single send. */
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
  const firstSender = db
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
    sender_id: fields.sender_id ?? firstSender?.id ?? 0,
    unsubscribe_group_id: fields.unsubscribe_group_id ?? 0,
    recipient_id: checkedTargets(fields.recipient_id ?? []),
    exclude_specific_recipient_id: checkedTargets(fields.exclude_specific_recipient_id ?? []),
  };
}
