/** Prepares mailings for sending: parses the frozen content once, so that each recipient costs only a few string joins. */
import type { Database, Statement } from 'better-sqlite3';
import { listCustomFields } from '../../audience/fields/custom-fields.ts';
import type { Db } from '../../database/open.ts';
import type { mailings, TrackingMode } from '../../database/schema/index.ts';
import { hasPixel, withoutTracking, withSharedTracking } from '../content/anonymous-content.ts';
import type { Content } from '../content/compiled-content.ts';
import { returnPathKeys } from '../links/secrets.ts';
import { sharedUrls } from '../links/shared-links.ts';
import type { Tokens } from '../links/tokens.ts';
import { attachedParts } from '../mime/attachments.ts';
import { DkimKeys } from '../mime/dkim.ts';
import { readAttachments } from './attachments.ts';
import type { ClaimNeeds } from './candidates.ts';
import type { Held } from './holds.ts';
import type { OpenMailing } from './mailing-state.ts';
import {
  type FrozenContent,
  type MailingSource,
  type ReadyDeps,
  type ReadyMailing,
  readyMailing,
  senderDomain,
} from './ready-mailing.ts';
import { type SenderFacts, Senders } from './sender.ts';

interface MailingDeps {
  tokens: Tokens;
  /** The current origin of links, without a trailing slash. */
  publicUrl(): string;
  /** The domain of return paths; '' if bounces go to the sender's own address. */
  bounceDomain: string;
  /** Returns true if only verified senders may send now. */
  mustBeVerified: () => boolean;
}

interface MailingRow
  extends Pick<typeof mailings.$inferSelect, 'id' | 'user_id' | 'unsubscribe_group_id' | 'owner_kind' | 'sender_id'> {
  content: string;
}

/** The data that all mails of a mailing share, in addition to the mailing's ids and frozen content. */
export interface CommonFacts extends Pick<MailingSource, 'sender' | 'names' | 'origin'> {
  /** What the account records about opens and clicks. */
  tracking: TrackingMode;
}

/** A mailing that is ready to render, in both forms that its mails can have. */
export interface PreparedMailing extends MailingForms {
  /** The data to keep with each sent mail, so that it can be rendered again; null if the account keeps nothing. */
  readonly kept: CommonFacts | null;
}

/** The forms that the mails of a mailing can have, and the data that claims need for them. */
interface MailingForms extends ClaimNeeds {
  /** The form with the recipient's own pixel and links. */
  readonly measured: ReadyMailing;
  /** The form without pixel and tracked links, or with a pixel and links that all recipients share. */
  readonly unmeasured: ReadyMailing;
}

/** The settings of an account on which the form of its mails depends, and whether it keeps mails as sent. */
interface AccountSettings {
  tracking: TrackingMode;
  keeps_sent_mails: 0 | 1;
}

/** The kinds of mailings whose sent mails are kept. */
const KEPT_KINDS: readonly string[] = ['single', 'schedule'] satisfies OpenMailing['owner_kind'][];

/** A mailing as it was last prepared. */
interface CachedMailing {
  prepared: PreparedMailing;
  senderId: number | null;
  userId: number;
  /** The sender, the origin of links and the account's settings at that time, as JSON. */
  facts: string;
}

/** Prepares mailings at first use and caches them until they are finished. */
export class Mailings {
  readonly #db: Db;
  readonly #deps: MailingDeps;
  readonly #keys: DkimKeys;
  readonly #senders: Senders;
  readonly #cache = new Map<number, CachedMailing>();
  readonly #settings: Statement<[number], AccountSettings>;

  constructor(db: Db, deps: MailingDeps) {
    this.#db = db;
    this.#deps = deps;
    this.#keys = new DkimKeys(db.$client);
    this.#settings = db.$client.prepare('SELECT tracking, keeps_sent_mails FROM accounts WHERE id = ?');
    this.#senders = new Senders(db.$client, deps.mustBeVerified);
  }

  /**
   * Returns the mailing with this id, prepared with the current sender, origin of links, tracking mode and newest DKIM key, or the reason
   * why it may not be sent. Call it once per batch: the mailing is prepared again only if one of these has changed.
   */
  get(id: number): PreparedMailing | Held {
    const cached = this.#cache.get(id);
    const row = cached === undefined ? this.#read(id) : null;
    const senderId = cached?.senderId ?? row?.sender_id ?? null;
    const sender = senderId === null ? null : this.#senders.get(senderId);
    if (sender !== null && 'held_code' in sender) return sender;
    const userId = cached?.userId ?? row?.user_id ?? 0;
    const settings = this.#settings.get(userId) ?? { tracking: 'off', keeps_sent_mails: 0 };
    const facts = JSON.stringify([sender, this.#deps.publicUrl(), settings]);
    if (cached?.facts === facts) {
      cached.prepared.measured.refresh();
      cached.prepared.unmeasured.refresh();
      return cached.prepared;
    }
    const prepared = this.#prepare(row ?? this.#read(id), sender, settings);
    this.#cache.set(id, { prepared, senderId, userId, facts });
    return prepared;
  }

  #prepare(
    { content, ...ids }: MailingRow,
    sender: SenderFacts | null,
    { tracking, keeps_sent_mails }: AccountSettings,
  ): PreparedMailing {
    const frozen: FrozenContent = JSON.parse(content);
    const { tokens, publicUrl, bounceDomain } = this.#deps;
    const [secret = ''] = returnPathKeys(this.#db.$client);
    const common = { sender, names: listCustomFields(this.#db, ids.user_id), origin: publicUrl(), tracking };
    const domain = senderDomain(frozen, sender);
    const urls = sharedUrls(tokens, { mailing: ids.id, user: ids.user_id }, common.origin);
    const attached = attachedParts(readAttachments(this.#db.$client, frozen.attachments));
    const forms = mailingForms({ ...ids, ...common, frozen, bounceDomain, secret, attached }, urls, {
      tokens,
      findKey: () => this.#keys.findKey(domain),
    });
    return { ...forms, kept: keeps_sent_mails === 1 && KEPT_KINDS.includes(ids.owner_kind) ? common : null };
  }

  /** Removes a mailing from the cache. */
  forget(id: number): void {
    this.#cache.delete(id);
  }

  #read(id: number): MailingRow {
    const row = this.#db.$client
      .prepare<[number], MailingRow>(
        'SELECT id, user_id, unsubscribe_group_id, owner_kind, sender_id, content FROM mailings WHERE id = ?',
      )
      .get(id);
    if (row === undefined) throw new Error(`mailing ${id} does not exist`);
    return row;
  }
}

/**
 * Makes a mailing ready to render, in the forms that the account's tracking mode asks for. `urls` are the pixel and click URLs that all
 * recipients share. Throws as `readyMailing` does.
 */
export function mailingForms(
  { tracking: mode, ...source }: MailingSource & CommonFacts,
  urls: ReturnType<typeof sharedUrls>,
  deps: ReadyDeps,
): MailingForms {
  const make = (frozen: FrozenContent) => readyMailing({ ...source, frozen }, deps);
  const { frozen } = source;
  const measured = make(frozen);
  const { fields } = measured;
  // For a mail without tracking, both forms are the same.
  if (!hasPixel(frozen.content)) return { tracking: 'off', fields, measured, unmeasured: measured };
  const form = mode === 'totals' ? (content: Content) => withSharedTracking(content, urls) : withoutTracking;
  return { tracking: mode, fields, measured, unmeasured: make(inForm(frozen, form)) };
}

/**
 * Returns the frozen content of one of the account's mailings as JSON bytes, for a thread that only passes the content on; undefined if
 * there is no such mailing.
 */
export function readFrozen(client: Database, mailingId: number, accountId: number): Buffer | undefined {
  const read = 'SELECT CAST(content AS BLOB) AS frozen FROM mailings WHERE id = ? AND user_id = ?';
  return client.prepare<[number, number], { frozen: Buffer }>(read).get(mailingId, accountId)?.frozen;
}

/** Returns the frozen content of a mailing after `form` was applied to the content of every variant. */
function inForm(
  { content, variants = [], ...rest }: FrozenContent,
  form: (content: Content) => Content,
): FrozenContent {
  const others = variants.map((variant) => ({ ...variant, content: form(variant.content) }));
  return { ...rest, content: form(content), variants: others };
}
