/**
 * Designs: the content of a single send, a schedule or an own template as a design page edits it. This file makes and checks the
 * signed links that open the page, reads the data of its preview, and limits its test mails.
 */
import { hash } from 'node:crypto';
import { eq, max } from 'drizzle-orm';
import { findAddressId } from '../../audience/contacts/address-rows.ts';
import type { Address } from '../../audience/contacts/addresses.ts';
import { targetOf } from '../../automations/automations.ts';
import { requireOwnAddresses } from '../../campaigns/test-mail.ts';
import type { Db } from '../../database/open.ts';
import { ownedBy, recordUtr } from '../../database/ownership.ts';
import {
  AUTOMATION_STATUS,
  apiKeys,
  automationSchedules,
  automations,
  contactTypes,
  designRevocations,
  ownTemplates,
  SINGLE_SEND_STATUS,
  senders,
  singleSends,
  type Target,
} from '../../database/schema/index.ts';
import { senderAddress } from '../../delivery/compiling/freeze.ts';
import type { Values } from '../../delivery/content/merge.ts';
import { findContactValues } from '../../delivery/content/values.ts';
import type { Tokens } from '../../delivery/links/tokens.ts';
import { findAudienceContact } from '../../delivery/queue/audience-counts.ts';
import { Failure } from '../../errors/failure.ts';
import { type Sentence, sentence } from '../../errors/sentences.ts';
import { firstSenderId } from '../../senders/first-sender.ts';
import { DAY_MS } from '../../units.ts';
import { findUser } from '../../users/users.ts';
import { findTemplateCodes } from '../mail-content.ts';

const PURPOSE = 'design';
/** How long a link can be opened. A page that is open when the link expires works for the same time again. */
const LINK_MS = DAY_MS;

/** Template code as a mail stores it: one of the two texts is empty. */
export interface TemplateCode {
  /** MJML in its JSON form. */
  template_json: string;
  template_html: string;
}

/** Returns the version of template code. Code that was changed has another version. */
export function codeVersion({ template_json, template_html }: TemplateCode): string {
  return hash('sha256', JSON.stringify([template_json, template_html]), 'base64url');
}

/** The content of a mail, with the data that its design page needs. */
export interface Design extends TemplateCode {
  kind: 'single' | 'schedule' | 'template';
  id: number;
  utr: string;
  user_id: number;
  /** The name of the single send or automation; empty for a template. */
  title: string;
  /** The subject, or the name of a template. */
  subject: string;
  preheader: string;
  sender_id: number;
  template_id: number;
  unsubscribe_group_id: number;
  tracking: number;
  /** The targets whose contacts get the mail. */
  targets: Target[];
  /** The excluded targets. */
  excluded: Target[];
  /** True if no mail is sent with this content yet. A draft may be saved unfinished. */
  isDraft: boolean;
  /** Why the content can no longer be changed; null if it can be changed. */
  locked: Sentence | null;
  /** When the link expires, in epoch milliseconds. */
  until: number;
}

/**
 * Returns the token in the link to a design page. The token is valid for 24 hours from `now`. It contains the id of the user who asked
 * for the link (0 for a key pair), because the link stops working when that user may no longer change mails.
 */
export function designToken(tokens: Tokens, kind: Design['kind'], utr: string, userId: number, now: Date): string {
  return tokens.sign(PURPOSE, `${kind}:${utr}:${now.getTime() + LINK_MS}:${userId}`);
}

/**
 * Returns the design that a link opens. If nothing was designed yet, the design has the code of the mail's template. Otherwise returns
 *
 * - null if the link is forged or the record was deleted,
 * - `expired` if the link is too old or was revoked, or if a key pair asked for the link and a pair of the account was revoked since,
 * - `withdrawn` if the user of the link was removed or may no longer change mails.
 *
 * For a page that is `open` already the link is valid for another 24 hours, so that a page left open overnight can still be saved.
 */
export function findDesign(
  db: Db,
  tokens: Tokens,
  token: string,
  now: Date,
  page: 'opening' | 'open',
): Design | 'expired' | 'withdrawn' | null {
  // Links of earlier releases have no user.
  const [kind = '', signedUtr = '', expiry = '', userId = '0'] = tokens.read(PURPOSE, token)?.split(':') ?? [];
  const until = Number(expiry);
  const utr = recordUtr(signedUtr);
  if (kind !== '' && now.getTime() > until + (page === 'open' ? LINK_MS : 0)) return 'expired';
  if (kind !== '' && until - LINK_MS <= revokedAt(db, utr)) return 'expired';
  const design = readDesign(db, kind, utr, until);
  if (design === null) return null;
  if (userId === '0') return until - LINK_MS <= pairRevokedAt(db, design.user_id) ? 'expired' : design;
  return mayChange(db, Number(userId), design.user_id) ? design : 'withdrawn';
}

/** Returns when a key pair of this account was last revoked, in epoch milliseconds; 0 if no pair was ever revoked. */
function pairRevokedAt(db: Db, accountId: number): number {
  const last = db
    .select({ at: max(apiKeys.revoked_at) })
    .from(apiKeys)
    .where(eq(apiKeys.user_id, accountId))
    .get();
  return last?.at ? Date.parse(last.at) : 0;
}

/** Returns true if the account has this user, and the user's role may change mails. */
function mayChange(db: Db, userId: number, accountId: number): boolean {
  const user = findUser(db, accountId, userId);
  return user !== undefined && user.role !== 'viewer';
}

/** Returns the design of this kind with this utr; null if there is none. `until` is when its link expires. */
function readDesign(db: Db, kind: string, utr: string, until: number): Design | null {
  if (kind === 'schedule') {
    const row = db
      .select()
      .from(automationSchedules)
      .innerJoin(automations, eq(automations.id, automationSchedules.automation_id))
      .where(eq(automationSchedules.utr, utr))
      .get();
    if (row === undefined || row.automations.deleted_at !== null) return null;
    const { automation_schedules: schedule, automations: automation } = row;
    return {
      ...schedule,
      ...currentCode(db, schedule),
      kind,
      title: automation.automation_name,
      unsubscribe_group_id: Number(automation.unsubscribe_group_id),
      targets: targetOf(automation),
      excluded: [],
      isDraft: automation.status === AUTOMATION_STATUS.draft,
      locked: null,
      until,
    };
  }
  if (kind === 'template') return findTemplateDesign(db, utr, until);
  const send = kind === 'single' ? db.select().from(singleSends).where(eq(singleSends.utr, utr)).get() : undefined;
  if (send === undefined) return null;
  const locked = send.status >= SINGLE_SEND_STATUS.running ? sentence('design_locked') : null;
  return {
    ...send,
    ...currentCode(db, send),
    kind: 'single',
    title: send.single_send_name,
    targets: send.recipient_id,
    excluded: send.exclude_specific_recipient_id,
    isDraft: send.status === SINGLE_SEND_STATUS.draft,
    locked,
    until,
  };
}

/** Returns the design of an own template. It belongs to no campaign, so its preview uses the account's first sender and any contact. */
function findTemplateDesign(db: Db, utr: string, until: number): Design | null {
  const template = db.select().from(ownTemplates).where(eq(ownTemplates.utr, utr)).get();
  if (template === undefined) return null;
  const { id, user_id, template_name, json_code, html_code } = template;
  const types = db.select({ id: contactTypes.id }).from(contactTypes).where(ownedBy(contactTypes, user_id)).all();
  return {
    kind: 'template',
    id,
    utr,
    user_id,
    title: '',
    subject: template_name,
    preheader: '',
    sender_id: firstSenderId(db, user_id),
    template_id: id,
    unsubscribe_group_id: 0,
    tracking: 0,
    targets: types.map((type) => ({ id: String(type.id), table: 'contacts' as const })),
    excluded: [],
    // A template is no draft, because feeds and transactional mails may use it.
    isDraft: false,
    locked: null,
    until,
    template_json: json_code,
    template_html: json_code === '' ? html_code : '',
  };
}

/** Returns when the links to this design were last revoked, in epoch milliseconds; 0 if they were never revoked. */
function revokedAt(db: Db, utr: string): number {
  const row = db.select().from(designRevocations).where(eq(designRevocations.utr, utr)).get();
  return row?.revoked_at ?? 0;
}

/**
 * Revokes the links to the design with this `utr`, or to all designs if `utr` is null, in the account `accountId`, or in all accounts
 * if `accountId` is null. Returns the number of designs whose links were revoked.
 */
export function revokeDesignLinks(
  db: Db,
  { accountId, utr }: { accountId: number | null; utr: string | null },
  now: Date,
): number {
  return db.$client
    .prepare(`
      INSERT INTO design_revocations (utr, revoked_at)
      SELECT utr, @now FROM (SELECT user_id, utr FROM single_sends UNION ALL
        SELECT user_id, utr FROM automation_schedules UNION ALL SELECT user_id, utr FROM own_templates)
      WHERE (@user IS NULL OR user_id = @user) AND (@utr IS NULL OR utr = @utr)
      ON CONFLICT DO UPDATE SET revoked_at = excluded.revoked_at`)
    .run({ user: accountId, utr: utr?.toLowerCase() ?? null, now: now.getTime() }).changes;
}

/** Returns the code of a mail, or that of its template if the mail has no code of its own. */
function currentCode(
  db: Db,
  {
    user_id,
    template_id,
    template_json,
    template_html,
  }: { user_id: number; template_id: number } & { [Name in keyof TemplateCode]: string | null },
): TemplateCode {
  if (template_json || template_html) return { template_json: template_json ?? '', template_html: template_html ?? '' };
  const template = findTemplateCodes(db, user_id, template_id);
  const isMjml = template?.json_code.includes('"mjml"') ?? false;
  return {
    template_json: isMjml ? (template?.json_code ?? '') : '',
    template_html: isMjml ? '' : (template?.html_code ?? ''),
  };
}

/** Returns the values of `((sender_name))` and `((sender_address))` for a design; empty texts if it has no sender. */
export function senderValues(db: Db, { sender_id }: Design): Record<'sender_name' | 'sender_address', string> {
  const sender = db.select().from(senders).where(eq(senders.id, sender_id)).get();
  return { sender_name: sender?.from_name ?? '', sender_address: sender ? senderAddress(db, sender) : '' };
}

/**
 * The maximum number of test mails of one link. Refused test mails count too, so that nobody can use a link to find out which addresses
 * are contacts.
 */
const MAX_TESTS = 10;

/**
 * Checks that the page may send a test mail to this address, and counts the test mail. Throws 429 if the link has reached `MAX_TESTS`,
 * and 409 if the address belongs to none of the account's senders and contacts.
 */
export function allowTest(db: Db, { utr, until, user_id }: Design, address: Address, now: Date): void {
  const forget = db.$client.prepare('DELETE FROM design_tests WHERE until < ?');
  const count = db.$client.prepare(`
    INSERT INTO design_tests (utr, until, tests) VALUES (?, ?, 1)
    ON CONFLICT DO UPDATE SET tests = tests + 1 WHERE tests < ${MAX_TESTS}`);
  const isCounted = db.$client.transaction(() => {
    forget.run(now.getTime() - LINK_MS);
    return count.run(utr, until).changes > 0;
  });
  if (!isCounted.immediate()) throw new Failure(429, sentence('design_too_many_tests', { count: MAX_TESTS }));
  requireOwnAddresses(db, user_id, [address]);
}

/**
 * Returns the placeholder values for the preview of a design: those of the contact with this address, or of any contact if `address`
 * is null. Only contacts in the audience of the design count. Returns null if there is no such contact.
 */
export function sampleValues(db: Db, design: Design, address: Address | null): Values | null {
  const addressId = address === null ? null : findAddressId(db.$client, design.user_id, address);
  if (addressId === undefined) return null;
  const contactId = findAudienceContact(db.$client, design, addressId) ?? undefined;
  return findContactValues(db, design.user_id, contactId);
}
