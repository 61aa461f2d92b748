/**
 * The data for public pages on a sender node. Tokens are verified by their signature, contents and images come from buckets, and all other
 * data from the controller.
 */
import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { contactKey, withoutKept } from '../../delivery/feedback/preference-choice.ts';
import { readShared } from '../../delivery/links/shared-links.ts';
import { hasSealedAddress, type LinkTokens, type RecipientIds } from '../../delivery/links/tokens.ts';
import type { SenderValues } from '../../delivery/variants/recipient-variants.ts';
import { unavailable } from '../../errors/failure.ts';
import { changesOf, type Preferences, preferencesAfter } from '../../pages/preferences.ts';
import type { RecipientSource, StoredPicture } from '../../pages/recipient-source.ts';
import { NO_PUBLIC_BRAND } from '../../templates/brand/brand.ts';
import { findNewest, type StoredObject, withTimeout } from '../bucket.ts';
import {
  erasedSubject,
  type MailingObject,
  mailingObjectName,
  mailingOfObject,
  type Questions,
} from '../feedback-messages.ts';
import { publishChoice } from '../keep-consent.ts';
import { BUCKET, STREAM, SUBJECT } from '../streams.ts';
import type { HitPublisher } from './hits.ts';
import { Objects } from './objects.ts';

/** How long to wait for the controller, which replies within a few milliseconds or is unavailable. */
const ASK_MS = 1500;

/** The cached data of a mailing: its content as bytes, because only another thread parses it. */
interface Mailing extends Omit<MailingObject, 'frozen'>, SenderValues {
  links: readonly string[];
  hasVariants: boolean;
  frozen: Uint8Array;
}

interface NodeSourceDeps {
  connection: NatsConnection;
  hits: HitPublisher;
  /** Reads and creates links with the newest secrets. Throws 503 before the secrets are known. */
  tokens(): LinkTokens;
  publicUrl(): string;
}

/** Returns the data for public pages on a node, which has no database. */
export function nodeSource({ connection, hits, tokens, publicUrl }: NodeSourceDeps): RecipientSource {
  const client = jetstream(connection);
  const ask = async <Name extends keyof Questions>(
    name: Name,
    request: Questions[Name]['request'],
  ): Promise<Questions[Name]['response']> => {
    try {
      const answer = await connection.request(`${SUBJECT.ask}.${name}`, JSON.stringify(request), { timeout: ASK_MS });
      return answer.json();
    } catch {
      throw unavailable();
    }
  };
  const mailings = new Objects<Mailing>(connection, BUCKET.content, asMailing, (name) =>
    ask('mailing', { mailing: mailingOfObject(name) }),
  );
  const pictures = new Objects<StoredPicture>(connection, BUCKET.pictures, asPicture, (picture) =>
    ask('picture', { picture }),
  );
  const findMailing = async ({ mailing, user }: RecipientIds): Promise<Mailing | null> => {
    const stored = await mailings.get(mailingObjectName(mailing));
    return stored?.user === user ? stored : null;
  };
  const wasErased = async ({ user: account, email }: RecipientIds): Promise<boolean> => {
    const subject = erasedSubject({ account, person: contactKey(tokens(), account, email) });
    return (await withTimeout(findNewest(connection, STREAM.consents, subject), ASK_MS)) !== null;
  };
  /** The preferences that are known without the controller: the address, and the groups as they were when the mail was created. */
  const preferencesWithoutController = async (ids: RecipientIds): Promise<Preferences> => {
    const mailing = await findMailing(ids).catch(() => null);
    const groups = mailing?.groups ?? [];
    return {
      email: ids.email,
      sender: mailing?.sender_name ?? '',
      groups,
      // The mail's group, even if its name is unknown.
      own: mailing === null || groups.some(({ id }) => id === ids.group) ? ids.group : 0,
      unsubscribed: new Map(),
      tracking: null,
      brand: NO_PUBLIC_BRAND,
      isCurrent: false,
    };
  };

  return {
    publicUrl,
    async readLink(purpose, token) {
      const ids = tokens().readRecipient(purpose, token);
      // An erased contact's address must not come back through an old link.
      if (ids !== null && purpose === 'unsubscribe' && (await wasErased(ids))) return null;
      // Only the controller can check a token that does not contain the address.
      if (ids !== null || hasSealedAddress(token)) return ids;
      const known = await ask('link', { purpose, token });
      return known === null ? null : asIds(known.ids);
    },
    readShared: (token) => readShared(tokens(), token),
    async readPreferences(ids, token) {
      const answer = await ask('preferences', { token }).catch(() => null);
      return answer === null
        ? preferencesWithoutController(ids)
        : {
            ...answer,
            brand: answer.brand ?? NO_PUBLIC_BRAND,
            tracking: answer.tracking ?? null,
            unsubscribed: new Map(answer.unsubscribed),
          };
    },
    async keepChoice(ids, token, before, choice) {
      const changes = changesOf(before, choice);
      const { kept } = before;
      await publishChoice(
        client,
        tokens(),
        { ids, token, at: Date.now() },
        kept === undefined ? changes : withoutKept(changes, kept),
      );
      return preferencesAfter(before, choice);
    },
    async readMail(ids, token) {
      const mailing = await findMailing(ids);
      if (mailing === null) return null;
      // Only the controller knows which recipient got which variant.
      const variant = mailing.hasVariants ? ((await ask('variant', { token })) ?? 0) : 0;
      return { frozen: mailing.frozen, variant };
    },
    findLink: async (ids, number) => (await findMailing(ids))?.links[number] ?? null,
    async readValues(ids, purpose, token) {
      const values = await ask('values', { purpose, token }).catch(() => null);
      if (values !== null) return values;
      // Without the controller, values are as for a deleted contact: merge tags have their defaults.
      const { sender_name = '', sender_address = '' } = (await findMailing(ids)) ?? {};
      return { sender_name, sender_address };
    },
    addHit: (hit) => hits.add(hit),
    findPicture: (publicId) => (/^[\w-]{1,100}$/.test(publicId) ? pictures.get(publicId) : null),
  };
}

function asMailing({ bytes }: StoredObject): Mailing {
  const { user, groups, frozen }: MailingObject = JSON.parse(new TextDecoder().decode(bytes));
  const { sender_name, sender_address, content, variants = [] } = frozen;
  return {
    user,
    groups,
    sender_name,
    sender_address,
    // The last variant has the links of all variants.
    links: (variants.at(-1)?.content ?? content).links,
    hasVariants: variants.length > 0,
    frozen: Buffer.from(JSON.stringify(frozen)),
  };
}

function asPicture({ bytes, facts }: StoredObject): StoredPicture {
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { hash = '', kind = '' } = facts;
  return { hash, kind, size: content.length, part: (number) => (number === 0 ? content : undefined) };
}

function asIds(message: Record<string, number | string>): RecipientIds {
  const { delivery, mailing, address, group, user, email } = message;
  return {
    delivery: Number(delivery),
    mailing: Number(mailing),
    address: Number(address),
    group: Number(group),
    user: Number(user),
    email: String(email),
  };
}
