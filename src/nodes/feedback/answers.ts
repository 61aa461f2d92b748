/** Answers the questions of nodes about a single recipient or mailing. */

import type { NatsConnection } from '@nats-io/transport-node';
import type { Database } from 'better-sqlite3';
import type { Db } from '../../database/open.ts';
import { deliveryValues } from '../../delivery/content/values.ts';
import type { KeptLists } from '../../delivery/feedback/preference-choice.ts';
import type { Purpose, RecipientIds, Tokens } from '../../delivery/links/tokens.ts';
import { RecipientVariants } from '../../delivery/variants/recipient-variants.ts';
import { isObject, parseJson } from '../../json.ts';
import { PreferenceStore } from '../../pages/preferences.ts';
import { MEBIBYTE } from '../../units.ts';
import type { Questions } from '../feedback-messages.ts';
import { SUBJECT } from '../streams.ts';
import type { Content } from './content.ts';

type Answers = { [Name in keyof Questions]: (request: Questions[Name]['request']) => unknown };

interface AnswerDeps {
  /** Returns true if the database has every choice made so far. */
  isCurrent(): Promise<boolean>;
  /** Called for a malformed question. */
  refused(subject: string): void;
}

/** Answers questions until the connection is closed. A malformed question is answered with null. */
export async function answerNodes(
  connection: NatsConnection,
  db: Db,
  tokens: Tokens,
  content: Content,
  { isCurrent, refused }: AnswerDeps,
): Promise<void> {
  const store = new PreferenceStore(db);
  const variants = new RecipientVariants(db.$client);
  const read = (purpose: string, token: string): RecipientIds | null =>
    tokens.readRecipient(requirePurpose(purpose), String(token));
  const answers: Answers = {
    link({ purpose, token }) {
      const ids = read(purpose, token);
      return ids === null ? null : { ids };
    },
    async preferences({ token }) {
      const ids = read('unsubscribe', token);
      if (ids === null) return null;
      const isKnown = await isCurrent();
      const preferences = store.read(ids);
      const kept = isKnown ? keptLists(db.$client, ids) : { left: [], isCounted: false };
      return { ...preferences, unsubscribed: [...preferences.unsubscribed], isCurrent: isKnown, kept };
    },
    variant({ token }) {
      const ids = read('web', token);
      return ids === null ? null : variants.number(ids);
    },
    values({ purpose, token }) {
      const ids = read(purpose, token);
      return ids === null ? null : { ...deliveryValues(db, ids), ...variants.findSender(ids) };
    },
    mailing: ({ mailing }) => content.putMailing(Number(mailing)),
    picture: ({ picture }) => content.putPicture(String(picture)),
  };
  for await (const message of connection.subscribe(`${SUBJECT.ask}.*`)) {
    void answer(answers, message.subject, message.string()).then((text) => {
      if (text === null) refused(message.subject);
      message.respond(text ?? 'null');
    });
  }
}

/** The default limit of NATS for a message in bytes. The values of one contact can be larger; their answer is null. */
const MAX_ANSWER = MEBIBYTE;

/** Returns the answer as JSON; null if the question is malformed. */
async function answer(answers: Answers, subject: string, json: string): Promise<string | null> {
  const question = readQuestion(json);
  if (question === null) return null;
  try {
    const work: Record<string, () => unknown> = {
      link: () => answers.link(question),
      preferences: () => answers.preferences(question),
      variant: () => answers.variant(question),
      values: () => answers.values(question),
      mailing: () => answers.mailing(question),
      picture: () => answers.picture(question),
    };
    const text = JSON.stringify((await work[subject.slice(SUBJECT.ask.length + 1)]?.()) ?? null);
    return Buffer.byteLength(text) <= MAX_ANSWER ? text : 'null';
  } catch {
    return 'null';
  }
}

function requirePurpose(text: string): Purpose {
  if (text !== 'open' && text !== 'click' && text !== 'unsubscribe' && text !== 'web')
    throw new Error('no such purpose');
  return text;
}

interface AnyQuestion {
  purpose: string;
  token: string;
  mailing: number;
  picture: string;
}

/** Returns a node's question, with empty values for fields that this kind of question lacks; null if the question is malformed. */
function readQuestion(text: string): AnyQuestion | null {
  const fields = parseJson(text);
  if (!isObject(fields)) return null;
  const { purpose = '', token = '', mailing = 0, picture = '' } = fields;
  if (typeof purpose !== 'string' || typeof token !== 'string' || typeof picture !== 'string') return null;
  return Number.isSafeInteger(mailing) ? { purpose, token, mailing: Number(mailing), picture } : null;
}

/**
 * SQL for the lists that the contact left by their own choice and that JetStream has. Lists on which others put the address are not included,
 * because how an import is undone depends on the contact's own wish.
 */
const OWN_CHOICES = `
  SELECT list FROM (
    SELECT 0 AS list, created_at, updated_at FROM unsubscribers WHERE address_id = @address AND unsubscribe_groups_id IS NULL
    UNION ALL SELECT unsubscribe_groups_id, created_at, updated_at FROM unsubscribers
      WHERE address_id = @address AND unsubscribe_groups_id IS NOT NULL) u
  WHERE NOT EXISTS (SELECT 1 FROM unpublished_choices p WHERE p.address_id = @address AND p.list = u.list)
    AND (u.updated_at <> u.created_at OR (SELECT source FROM consent_log l
      WHERE l.address_id = @address AND ifnull(l.unsubscribe_groups_id, 0) = u.list AND l.action = 'unsubscribed' ORDER BY id DESC LIMIT 1) IN ('page', 'one-click'))`;
/** SQL that finds a row if the mail with these ids is not counted as one by which its recipient unsubscribed. */
const NOT_COUNTED =
  'SELECT 1 FROM deliveries WHERE id = ? AND mailing_id = ? AND address_id = ? AND unsubscribed_at IS NULL';

/**
 * Returns the lists that the contact of a link has unsubscribed from in this database, and whether the mail with the link is already counted
 * as one by which the contact unsubscribed.
 */
export function keptLists(client: Database, { delivery, mailing, address }: RecipientIds): KeptLists {
  const left = client.prepare<[{ address: number }], number>(OWN_CHOICES).pluck().all({ address });
  return { left, isCounted: client.prepare(NOT_COUNTED).get(delivery, mailing, address) === undefined };
}
