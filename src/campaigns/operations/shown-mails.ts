/**
 * Operations for the preview, the checks and the tests of the mail of a single send (additions to the contract), and the parts of
 * them that mails of automations share.
 */
import Type, { type Static } from 'typebox';
import { type Address, parseAddress } from '../../audience/contacts/addresses.ts';
import type { RecordedFinding } from '../../database/schema/index.ts';
import type { MeasuredMail } from '../../delivery/checks/measured-mail.ts';
import type { FoundCheck } from '../../delivery/checks/severity.ts';
import { sketch } from '../../delivery/compiling/show.ts';
import { inShowingTurn, withinShare } from '../../http/account-share.ts';
import { AddressList, checkTestAddresses, readAddressList } from '../../http/requests/address-list.ts';
import {
  email as emailSchema,
  flag,
  identifier,
  integer,
  isoTimestampSchema,
  nullable,
  said,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { type Context, operation, recordOperation } from '../../operations/operation.ts';
import { designToken } from '../../templates/designs/designs.ts';
import { findTemplateCodes } from '../../templates/mail-content.ts';
import { listAttachments } from '../attachments.ts';
import { CompiledDrafts } from '../compiled-drafts.ts';
import { checkShownMail, type ShowDeps, type ShownSource, showMail, showMailHtml } from '../shown-mail.ts';
import { requireSingleSend } from '../single-sends.ts';
import { findLastTest, queueTestMail, requireOwnAddresses, testMailMessage } from '../test-mail.ts';
import { asVariant } from '../variants.ts';
import { variantNumber } from './drafts.ts';

/** A mail as one contact gets it. */
export const MailForContact = Type.Object({
  contact_id: nullable(integer()),
  subject: Type.String(),
  html: Type.String(),
  text: Type.String({ description: 'The beginning of the text part, of 100 000 characters at most.' }),
  text_length: integer({ description: 'The number of characters of the whole text part.' }),
});

/** The preview of a mail for one recipient. */
export const ShownMailRecord = Type.Object({
  ...MailForContact.properties,
  placeholders_without_value: Type.Array(Type.String()),
  problem: nullable(said()),
});

export type ShownMail = Static<typeof ShownMailRecord>;

/** The optional parameter with which a request leaves parts of the preview out. */
export const shownParts = {
  html: Type.Optional(
    Type.Unsafe<0 | 1>({
      ...flag('0: the HTML is left out (empty); 1 (default): the preview has the HTML.'),
      empty: 1,
    }),
  ),
};

/** Returns the schema of the variant or version with a finding. */
export const foundVersion = () =>
  Type.String({
    description:
      'The variant of the A/B test (such as B) or the version (an ISO 639-1 code) that has the finding, if the e-mail itself does not have it; empty if the e-mail itself has the finding.',
  });

/** The fields that all records of a finding have in common. */
export const foundFields = {
  count: integer({ description: 'The number of such findings; for `size`, the number of bytes.' }),
  limit: integer({ description: 'The number that should not be exceeded; 0 if there is no such limit.' }),
  names: Type.Array(Type.String(), { description: 'The names of the first findings, if they have names.' }),
};

/** Returns the schema of the findings that were recorded when a mail was checked. */
export const recordedFindings = (description: string) =>
  nullable(
    Type.Array(
      Type.Object({
        code: Type.String({ description: 'The check with this finding, such as `urls` or `size`.' }),
        severity: Type.String({ description: 'error, warning or note.' }),
        ...foundFields,
        version: foundVersion(),
      }),
    ),
    description,
  );

/** Returns recorded findings in the form of the API. */
export const shownFindings = (findings: readonly RecordedFinding[] | null) =>
  findings?.map((finding) => ({ version: '', ...finding })) ?? null;

const CheckFinding = Type.Object({
  check: Type.Unsafe<FoundCheck>(Type.String({ description: 'The check, such as `urls` or `size`.' })),
  is_good: { ...zeroOrOne(), description: '1: the e-mail passes the check.' },
  ...foundFields,
});

/** The findings of the checks on a mail. */
export const CheckedMailRecord = Type.Object({
  ...Type.Omit(MailForContact, ['html']).properties,
  findings: Type.Array(CheckFinding, { description: 'The findings, one for each check.' }),
  problem: nullable(said()),
});

/** The mail to preview, and the address of the recipient; if the address is absent, any recipient. */
interface MailSelection {
  /** Reads the mail with its code. It is called only when it is the account's turn, because the code can be large. Throws 404. */
  find(): ShownSource;
  email?: string | undefined;
}

/**
 * Returns the preview as JSON text, which another thread makes because it may be large. Its `problem` says why there is no preview.
 * Throws 422 if no recipient has the address, and 429 if too many previews wait.
 */
export async function shownMailJson(context: Context, selection: MailSelection, hasHtml: boolean): Promise<string> {
  const shown = await inShowingTurn(
    context.accountId,
    () => showMail(...showArguments(context, selection), hasHtml),
    context.isGone,
  );
  if ('problem' in shown) {
    const none = { subject: '', html: '', text: '', text_length: 0, placeholders_without_value: [] };
    return JSON.stringify({ contact_id: null, ...none, ...shown });
  }
  const { contact_id, json, withoutValue: placeholders_without_value } = shown;
  const lastFields = JSON.stringify({ placeholders_without_value, problem: null });
  return `{"contact_id":${contact_id},${json.slice(1, -1)},${lastFields.slice(1)}`;
}

/** Returns the HTML of the mail; empty if there is no preview. Throws as `shownMailJson` does. */
export function shownMailHtml(context: Context, selection: MailSelection): Promise<string> {
  return inShowingTurn(context.accountId, () => showMailHtml(...showArguments(context, selection)), context.isGone);
}

/** Returns the findings of the checks. Their `problem` says why there is no preview. Throws as `shownMailJson` does. */
export async function checkedMail(
  context: Context,
  selection: MailSelection,
): Promise<Static<typeof CheckedMailRecord>> {
  return (await checkMail(context, selection)).checked;
}

/**
 * Returns the findings of the checks and, for the check of all recipients, the measured mail, which is null if there is no preview. Throws
 * as `shownMailJson` does.
 */
export async function checkMail(
  context: Context,
  selection: MailSelection,
): Promise<{ checked: Static<typeof CheckedMailRecord>; measured: MeasuredMail | null }> {
  // The account's share (`withinShare`) already covers the compiling of a draft.
  const check = () => checkShownMail(...showArguments(context, selection, (work) => work()));
  const checked = await withinShare(context.accountId, check);
  if ('problem' in checked) {
    const none = { contact_id: null, subject: '', text: '', text_length: 0, findings: [] };
    return { checked: { ...none, ...checked }, measured: null };
  }
  const { own, shared, further, measured, ...mail } = checked;
  const findings = [...own, ...shared, ...further].map(({ check, isGood, values }) => ({
    check,
    is_good: isGood ? (1 as const) : (0 as const),
    count: values.count,
    limit: 'limit' in values ? values.limit : 0,
    names: 'names' in values ? [...values.names] : [],
  }));
  return { checked: { ...mail, findings, problem: null }, measured };
}

/** The compiled drafts, by database. */
const draftsOf = new WeakMap<Context['db'], CompiledDrafts>();

/** Returns the arguments of `showMail` and of the functions like it. */
function showArguments(
  context: Context,
  { find, email }: MailSelection,
  compile: ShowDeps['compile'] = (work) => withinShare(context.accountId, work),
) {
  const drafts = draftsOf.get(context.db) ?? new CompiledDrafts();
  draftsOf.set(context.db, drafts);
  return [{ ...context, drafts, compile }, find(), email === undefined ? null : parseAddress(email)] as const;
}

const PreviewChoice = Type.Object({
  utr: identifier('The single send.'),
  email: Type.Optional(emailSchema()),
  variant: variantNumber(
    'The number of the variant of the A/B test, or of the version in another language; 0 or absent: the e-mail itself.',
  ),
});

/** Returns the mail that a request selects. */
function selectionOf(
  { db, accountId }: Context,
  { utr, email, variant = 0 }: Static<typeof PreviewChoice>,
): MailSelection {
  const find = () => {
    const single_send = requireSingleSend(db, accountId, utr);
    return { ...asVariant(db, single_send, variant), single_send, variant };
  };
  return { find, email };
}

export const showSingleSendMail = recordOperation({
  name: 'Read the e-mail of a single send as one of its recipients sees it (addition)',
  description: 'In the HTML each tracked link has its number in the report as data-link. No open or click is counted.',
  role: 'viewer',
  input: Type.Object({ ...PreviewChoice.properties, ...shownParts }),
  as: 'mail',
  record: ShownMailRecord,
  json: (context, { html, ...choice }) => shownMailJson(context, selectionOf(context, choice), html !== 0),
});

export const showSingleSendHtml = operation({
  name: 'Read the HTML of the e-mail of a single send as one of its recipients sees it (addition)',
  description: 'The same html as in `/single-send/mail`; empty if the e-mail cannot be shown.',
  role: 'viewer',
  input: PreviewChoice,
  run: (context, choice) => shownMailHtml(context, selectionOf(context, choice)),
});

export const checkSingleSendMail = operation({
  name: 'Check the e-mail of a single send as one of its recipients sees it (addition)',
  description: 'Returns the findings that may keep contacts from reading the e-mail, without the code of the e-mail.',
  role: 'viewer',
  input: PreviewChoice,
  output: Type.Object({ checked: CheckedMailRecord }),
  run: async (context, choice) => ({ checked: await checkedMail(context, selectionOf(context, choice)) }),
});

export const readSingleSendCode = operation({
  name: 'Read the template code of a single send (addition)',
  description: 'Returns only the template_html, as it was written; empty if the single send has none.',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.') }),
  run: ({ db, accountId }, { utr }) => requireSingleSend(db, accountId, utr).template_html ?? '',
});

/** Used by the list of campaigns, which shows a small picture of each. */
export const sketchSingleSend = operation({
  name: 'Draw a small picture of the mail of a single send',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.') }),
  run({ db, accountId }, { utr }) {
    const { template_id, ...send } = requireSingleSend(db, accountId, utr);
    const [json, html] = [send.template_json ?? '', send.template_html ?? ''];
    if (json !== '' || html !== '') return sketch(accountId, { json, html });
    const codes = findTemplateCodes(db, accountId, template_id);
    return sketch(accountId, { json: codes?.json_code ?? '', html: codes?.html_code ?? '' });
  },
});

/** Reads the addresses of a test. Throws 409 if a key pair without the scope `everything` may not send a test to one of them. */
export async function readTestAddresses({ db, accountId, role, scopes }: Context, list: string): Promise<Address[]> {
  const addresses = await readAddressList(list);
  if (scopes !== null && role !== 'owner') requireOwnAddresses(db, accountId, addresses);
  return addresses;
}

export const testSingleSend = operation({
  name: 'Send a test of a single send',
  description:
    'Sends to ten addresses at most. A key pair without the scope `everything` can send tests only to addresses of senders and contacts. Tests count in no report.',
  role: 'editor',
  input: Type.Object({
    utr: identifier('The single send.'),
    email_address: AddressList,
    variant: variantNumber('The number of the variant to send; 0 or absent: A, the e-mail itself (addition).'),
  }),
  check: (_context, { email_address }, errors) => checkTestAddresses(email_address, errors),
  async run(context, { utr, email_address, variant = 0 }) {
    const { db, config, accountId } = context;
    const addresses = await readTestAddresses(context, email_address);
    await withinShare(accountId, () => {
      const send = requireSingleSend(db, accountId, utr);
      const attachments = listAttachments(db, send.id).map(({ id }) => id);
      return queueTestMail(context, { ...asVariant(db, send, variant), kind: 'single', attachments }, addresses);
    });
    return testMailMessage(db.$client, config);
  },
});

/** The last test of a mail; null if there was none. */
export const LastTestRecord = nullable(
  Type.Object({ sent_at: isoTimestampSchema(), addresses: Type.Array(Type.String()) }),
);

/** Used by the check and the review of a campaign. */
export const readLastTest = operation({
  name: 'Read when a single send was tested last',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.') }),
  output: Type.Object({ test: LastTestRecord }),
  run: ({ db, accountId }, { utr }) => ({
    test: findLastTest(db, accountId, { kind: 'single', id: requireSingleSend(db, accountId, utr).id }),
  }),
});

/** Used by the page with the designer. */
export const readDesignUrl = operation({
  name: 'Read the link to the designer of a single send',
  role: 'editor',
  input: Type.Object({ utr: identifier('The single send.') }),
  run: (context, { utr }) => designUrl(context, requireSingleSend(context.db, context.accountId, utr)),
});

/**
 * Returns the link to the designer of a single send. The link works without signing in, so it is empty for users with the read-only role.
 */
export function designUrl({ role, tokens, clock, actor, publicUrl }: Context, { utr }: { utr: string }): string {
  if (role === 'viewer') return '';
  return `${publicUrl()}/design/${designToken(tokens, 'single', utr, actor.userId ?? 0, clock.now())}`;
}
