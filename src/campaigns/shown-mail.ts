/** The preview and the check of a mail of a single send or an automation. The mail is merged for one contact, and its links are numbered. */
import { eq } from 'drizzle-orm';
import { findAddressId } from '../audience/contacts/address-rows.ts';
import type { Address } from '../audience/contacts/addresses.ts';
import { listCustomFields } from '../audience/fields/custom-fields.ts';
import type { Config } from '../config.ts';
import { readMailRule } from '../database/accounts.ts';
import type { Db } from '../database/open.ts';
import { type LanguageVersion, type RecordedFinding, senders, type singleSends } from '../database/schema/index.ts';
import { type CheckedAudience, checkLanguages, type RecipientFinding } from '../delivery/checks/recipients-check.ts';
import { type ErrorCheck, FINDINGS, isErrorCheck } from '../delivery/checks/severity.ts';
import { findLinkRules, freezeText } from '../delivery/compiling/freeze.ts';
import { checkMail, show, showHtml } from '../delivery/compiling/show.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { OPEN_URL, PREFERENCES, WEB_COPY } from '../delivery/content/placeholders.ts';
import { findContactFields, mergeValues } from '../delivery/content/values.ts';
import { findPublicUrl } from '../delivery/links/public-url.ts';
import { findAudienceContact } from '../delivery/queue/audience-counts.ts';
import { joinReasons } from '../delivery/queue/holds.ts';
import { readFrozen } from '../delivery/queue/mailings.ts';
import type { FrozenContent } from '../delivery/queue/ready-mailing.ts';
import { isVariantName, variantName } from '../delivery/queue/variant-groups.ts';
import { type CheckedContent, faultsIn, type MergedMail } from '../delivery/shown/shown-content.ts';
import { invalid } from '../errors/failure.ts';
import { type Said, type Sentence, sentence } from '../errors/sentences.ts';
import { knownPlaceholders, textsOf } from '../templates/content-warnings.ts';
import { listAttachments } from './attachments.ts';
import type { CompiledDrafts } from './compiled-drafts.ts';
import { findSingleSendMailing } from './single-sends.ts';

type SingleSend = typeof singleSends.$inferSelect;

/** A mail to preview: of a single send, or of an automation, whose `single_send` is null and whose recipients are the automation's target. */
export type ShownSource = Pick<
  SingleSend,
  | 'user_id'
  | 'recipient_id'
  | 'exclude_specific_recipient_id'
  | 'sender_id'
  | 'template_id'
  | 'template_json'
  | 'template_html'
  | 'subject'
  | 'preheader'
  | 'tracking'
> & {
  single_send: SingleSend | null;
  /** The number of the previewed variant or version; 0 or absent: the mail itself. */
  variant?: number;
  /** The sender name of the previewed variant; if empty or absent, the mail has the name of the sender. */
  sender_name?: string;
  link_rules?: SingleSend['link_rules'];
  single_send_name?: string;
  /** The language of the previewed version, if the mail has versions in several languages. */
  version_language?: string;
};

/** What a preview is made with. */
export interface ShowDeps {
  db: Db;
  config: Config;
  publicUrl(): string;
  drafts: CompiledDrafts;
  /** Runs work that compiles a template. Throws if the account has too much such work running. */
  compile<T>(work: () => Promise<T>): Promise<T>;
}

interface ShownMail extends MergedMail {
  /** The contact whose values are filled in; null if there is none. */
  contact_id: number | null;
}

/**
 * Returns the mail as it was or would be sent to the recipient with this address (null: any recipient), or the reason why there is no
 * preview. In the preview, tracked links have their destination as `href` and their number as `data-link`, and no link acts for a
 * recipient. Throws 422 if no recipient has the address.
 */
export async function showMail(
  deps: ShowDeps,
  source: ShownSource,
  address: Address | null,
  hasHtml: boolean,
): Promise<ShownMail | { problem: Said }> {
  return orProblem(async () => {
    const { contact_id, ...mail } = await mergeable(deps, source, address);
    return { contact_id, ...(await show(source.user_id, { ...mail, hasHtml })) };
  });
}

/** Returns the HTML of the mail that `showMail` returns; empty if there is no preview. Throws as `showMail` does. */
export async function showMailHtml(deps: ShowDeps, source: ShownSource, address: Address | null): Promise<string> {
  const html = await orProblem(async () =>
    showHtml(source.user_id, { ...(await mergeable(deps, source, address)), hasHtml: true }),
  );
  return typeof html === 'string' ? html : '';
}

/**
 * Returns the findings of the checks on the mail that `showMail` returns, and the beginning of its text; or the reason why there is no
 * preview. Throws as `showMail` does.
 */
export async function checkShownMail(
  deps: ShowDeps,
  source: ShownSource,
  address: Address | null,
): Promise<(CheckedContent & { contact_id: number | null }) | { problem: Said }> {
  return orProblem(async () => checkMergeable(deps.db, source, await mergeable(deps, source, address)));
}

/**
 * The origin of links in a check while there is no public URL. A link without an origin would be removed from the mail, and the check would
 * not find the unsubscribe link.
 */
const UNKNOWN_ORIGIN = 'http://localhost';

/**
 * Returns the checks that the frozen content of a mail does not pass, as one recipient gets it; null if it cannot be checked, for example
 * because the mail is too large for that recipient.
 */
async function findingsOf(
  { db, config }: Pick<ShowDeps, 'db' | 'config'>,
  source: ShownSource,
  frozen: Uint8Array,
): Promise<RecordedFinding[] | null> {
  const publicUrl = () => findPublicUrl(db.$client, config).url || UNKNOWN_ORIGIN;
  const checked = await orProblem(async () =>
    checkMergeable(db, source, { frozen, variant: 0, ...recipientOf({ db, publicUrl }, source, null) }),
  );
  return 'problem' in checked ? null : faultsIn([...checked.own, ...checked.shared, ...checked.further]);
}

/**
 * Returns what the checks find in a frozen mail, and what they find only in its variants or versions; null if the mail cannot be checked.
 * `sourceOf` returns the variant or version with a number as it was written; 0 means the mail itself.
 */
export async function findingsInAll(
  deps: Pick<ShowDeps, 'db' | 'config'>,
  { variants = [], language: _, ...mail }: FrozenContent,
  sourceOf: (number: number) => ShownSource,
): Promise<RecordedFinding[] | null> {
  const find = (number: number, frozen: object) =>
    findingsOf(deps, sourceOf(number), Buffer.from(JSON.stringify(frozen)));
  const inMail = await find(0, mail);
  if (inMail === null) return null;
  const allFindings = [...inMail];
  for (const [at, { content, sender_name, language }] of variants.entries()) {
    const findings = await find(at + 1, { ...mail, content, sender_name: sender_name ?? mail.sender_name });
    allFindings.push(...findingsOnlyIn(language ?? variantName(at + 1), findings ?? [], inMail));
  }
  return allFindings;
}

/**
 * Returns a function that finds the languages of recipients in which a mail has no version, with the number of recipients of each language.
 * If the function is called again for the same audience, it does not read the recipients again.
 */
export function languageCounter(db: Db, accountId: number) {
  const known = new Map<string, RecipientFinding[]>();
  return async (versions: readonly LanguageVersion[] | null, audience: CheckedAudience): Promise<RecordedFinding[]> => {
    if (versions === null || versions.length === 0) return [];
    const key = JSON.stringify(audience);
    const language = readMailRule(db, accountId, 'mail_language');
    const findings =
      known.get(key) ??
      (await checkLanguages(db.$client, listCustomFields(db, accountId), audience, { language, others: [] }));
    known.set(key, findings);
    return findings
      .filter(({ name }) => !versions.some((version) => version.language === name))
      .map(({ code, name, count }) => ({
        code,
        count,
        limit: 0,
        names: [name],
        severity: FINDINGS[code].severity,
      }));
  };
}

/** Returns the findings that only a variant or version has, not the mail itself. `version` is its name. */
export function findingsOnlyIn<Found extends Pick<RecordedFinding, 'code' | 'count' | 'names'>>(
  version: string,
  findings: readonly Found[],
  inMail: readonly Found[],
): (Found & { version: string })[] {
  const keyOf = ({ code, count, names }: Found) => JSON.stringify([code, count, names]);
  const known = new Set(inMail.map(keyOf));
  return findings.filter((finding) => !known.has(keyOf(finding))).map((finding) => ({ ...finding, version }));
}

/** What is wrong in a mail in which a check found an error. `names` are the names of the first findings. */
const ERRORS: Readonly<Record<ErrorCheck, (names: string) => Sentence>> = {
  leave: () => sentence('found_no_unsubscribe'),
  address: () => sentence('found_no_address'),
  urls: (names) => sentence('found_bad_links', { names }),
  foreign: (names) => sentence('found_foreign_tags', { names }),
  oneClick: (names) => sentence('found_no_one_click', { names }),
  freemail: (names) => sentence('found_freemail', { names }),
  headers: (names) => sentence('found_bad_headers', { names }),
};

/** The maximum number of errors that a reason names. Each further one doubles the quotes and backslashes in the stored reason. */
const MAX_NAMED_ERRORS = 5;

/** Returns why a mail with these findings is not sent: its first errors, with the variant or version that has them; null if there is no error. */
export function checkFailure(findings: readonly RecordedFinding[]): Sentence | null {
  const errors = findings.flatMap(({ code, names, version }) => {
    if (!isErrorCheck(code)) return [];
    const error = ERRORS[code](names.join(', '));
    if (version === undefined) return error;
    return isVariantName(version)
      ? sentence('found_in_variant', { name: version, error })
      : sentence('found_in_version', { language: version, error });
  });
  const more = errors.length - MAX_NAMED_ERRORS;
  const named = errors.slice(0, MAX_NAMED_ERRORS);
  const reason = joinReasons(more > 0 ? [...named, sentence('found_more', { count: more })] : named);
  return reason === null ? null : sentence('held_errors_found', { errors: reason });
}

/** Runs the checks on a mail and its recipient. */
async function checkMergeable(
  db: Db,
  source: ShownSource,
  { contact_id, ...mail }: Mergeable,
): Promise<CheckedContent & { contact_id: number | null }> {
  const sender = db.select().from(senders).where(eq(senders.id, source.sender_id)).get();
  const checking = {
    showing: { ...mail, hasHtml: true },
    texts: textsOf(source),
    known: knownPlaceholders(db, source.user_id),
    address: sender?.company_address ?? '',
    lacking: sender === undefined ? [] : missingParts(sender),
    template: source.template_json ?? '',
    from: sender?.from_email ?? '',
    linkRules: findLinkRules(db, source.user_id, source),
    attached: source.single_send === null ? [] : listAttachments(db, source.single_send.id).map(({ size }) => size),
  };
  return { contact_id, ...(await checkMail(source.user_id, checking)) };
}

/**
 * Returns the missing parts of a sender's postal address. If the second address line is used, it may contain the place, so
 * nothing counts as missing.
 */
function missingParts(sender: typeof senders.$inferSelect): ('zip_code' | 'city_id' | 'country_id')[] {
  const place = sender.company_address2 === '' ? (['zip_code', 'city_id'] as const) : [];
  return [...place, 'country_id' as const].filter((part) => !sender[part]);
}

/** Runs work, and returns its result, or the problem of the content if the work throws ContentError. */
async function orProblem<T>(work: () => Promise<T>): Promise<T | { problem: Said }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ContentError) return { problem: error.said };
    throw error;
  }
}

/** The frozen content of a mail, the number of its variant, and the recipient with whose values the mail is merged. */
interface Mergeable {
  frozen: Uint8Array;
  variant: number;
  contact_id: number | null;
  values: Record<string, string>;
}

/** Returns the content of a mail and the values of its recipient. Throws ContentError if the content cannot be made. */
async function mergeable(deps: ShowDeps, source: ShownSource, address: Address | null): Promise<Mergeable> {
  const content = await contentOf(deps, source);
  if ('problem' in content) throw new ContentError(content.problem);
  return { ...content, ...recipientOf(deps, source, address) };
}

/**
 * Returns the recipient with this address (null: any recipient), with the values that the preview shows. Throws 422 if no recipient has the
 * address.
 */
function recipientOf(
  { db, publicUrl }: Pick<ShowDeps, 'db' | 'publicUrl'>,
  source: ShownSource,
  address: Address | null,
): Pick<Mergeable, 'contact_id' | 'values'> {
  const contact_id = findAudienceContact(
    db.$client,
    { targets: source.recipient_id, excluded: source.exclude_specific_recipient_id },
    address === null ? null : (findAddressId(db.$client, source.user_id, address) ?? 0),
  );
  if (address !== null && contact_id === null) throw invalid('email', sentence('not_in_audience'));
  const person = contact_id === null ? undefined : findContactFields(db.$client, contact_id);
  const values: Record<string, string> = {
    ...(person && mergeValues(person, listCustomFields(db, source.user_id), '')),
    [PREFERENCES]: `${publicUrl()}/u/preview`,
    [WEB_COPY]: `${publicUrl()}/w/preview`,
    [OPEN_URL]: '',
  };
  return { contact_id, values };
}

/** Returns the frozen content of a mail as JSON. Before the launch, this is the content that would be frozen now. */
async function contentOf(
  { db, config, drafts, compile }: ShowDeps,
  source: ShownSource,
): Promise<{ frozen: Uint8Array; variant: number } | { problem: Said }> {
  const mailing = source.single_send === null ? null : findSingleSendMailing(db, source.single_send);
  if (mailing !== null) {
    const frozen = readFrozen(db.$client, mailing.id, source.user_id);
    if (frozen === undefined) throw new Error('a mailing is gone');
    return { frozen, variant: source.variant ?? 0 };
  }
  if (source.sender_id === 0) return { problem: sentence('no_sender') };
  const stored = db.select().from(senders).where(eq(senders.id, source.sender_id)).get();
  if (stored === undefined) return { problem: sentence('held_sender_deleted') };
  const sender = { ...stored, from_name: source.sender_name || stored.from_name };
  const { template_id, template_json, template_html, subject, preheader, tracking } = source;
  const { version_language } = source;
  const written = {
    template_id,
    template_json,
    template_html,
    subject,
    preheader,
    tracking,
    ...(version_language !== undefined && { version_language }),
  };
  const link_rules = findLinkRules(db, source.user_id, source) ?? ('off' as const);
  const parts = [...Object.values(written), JSON.stringify(link_rules), ...Object.values(sender)];
  const compiled = await drafts.get(parts, () =>
    compile(() => freezeText(db, config, { ...written, link_rules }, sender)),
  );
  return 'problem' in compiled ? compiled : { frozen: compiled.frozen, variant: 0 };
}
