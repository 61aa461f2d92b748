/** The test outbox (additions): the mails stored because no SMTP server is configured. */
import { and, eq, isNull, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { fold } from '../../database/functions/fold.ts';
import { ownedBy, ownedRecord } from '../../database/ownership.ts';
import { readRecord, recordObject } from '../../database/record-json.ts';
import {
  addresses,
  automations,
  contacts,
  deliveries,
  mailings,
  outbox,
  singleSends,
} from '../../database/schema/index.ts';
import { HIDDEN, withoutTokens } from '../../delivery/links/tokens.ts';
import {
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
} from '../../http/requests/schemas.ts';
import { isReadOnly } from '../../operations/callers.ts';
import { type Context, listOperation, recordOperation } from '../../operations/operation.ts';

const ListedMail = Type.Object({
  id: integer(),
  envelope_from: Type.String({ description: 'Return path of the e-mail.' }),
  envelope_to: Type.String({ description: 'Address that the e-mail was sent to.' }),
  from: Type.String({ description: 'From header of the e-mail, decoded.' }),
  to: Type.String({ description: 'To header of the e-mail, decoded.' }),
  subject: Type.String(),
  created_at: isoTimestampSchema(),
});
const Mail = Type.Object({
  ...ListedMail.properties,
  web_copy: nullable(
    Type.String(),
    'URL of the e-mail for a browser; null when its recipient was deleted permanently.',
  ),
  contact_id: nullable(integer(), 'The contact who would have got the e-mail; null if there is no such contact.'),
  single_send_utr: nullable(Type.String(), 'The single send of the e-mail; null if it has none.'),
  automation_utr: nullable(Type.String(), 'The automation of the e-mail; null if it has none.'),
  raw: Type.String({ description: 'The source of the e-mail as it would have been sent.' }),
});

export type ListedMail = Static<typeof ListedMail>;
export type Mail = Static<typeof Mail>;

const from = sql`${outbox}`;

/** SQL for the envelope sender without its signature. Whoever knows the signature could report that the recipient's mail bounced. */
const unsignedReturnPath = sql`iif(instr(${outbox.envelope_from}, '+') = 0, ${outbox.envelope_from},
  substr(${outbox.envelope_from}, 1, instr(${outbox.envelope_from}, '+')) || ${HIDDEN} || substr(${outbox.envelope_from}, instr(${outbox.envelope_from}, '@')))`;

export const listMails = listOperation({
  name: 'List the e-mails in the test outbox',
  description: 'Without an SMTP server, e-mails are kept here instead of being sent.',
  role: 'viewer',
  input: Type.Object({
    ...eitherOrderQuery.properties,
    search: Type.Optional(line({ description: 'Only e-mails with this text in their sender, recipient or subject.' })),
  }),
  as: 'mails',
  record: ListedMail,
  select: (context, { search, ...part }) => ({
    record: recordObject(ListedMail, outbox, hiddenFrom(context)),
    from,
    where: and(ownedBy(outbox, context.accountId), search ? includes(search) : undefined),
    id: outbox.id,
    part,
  }),
});

export const readMail = recordOperation({
  name: 'Read an e-mail in the test outbox',
  description: 'For the role viewer, links have no tokens, because a token can act for the recipient.',
  role: 'viewer',
  input: Type.Object({ id: identifier('The e-mail.') }),
  as: 'mail',
  record: Mail,
  json(context, { id }) {
    const { db, accountId } = context;
    const where = ownedRecord(outbox, id, accountId);
    const raw = sql<string>`CAST(${outbox.raw} AS TEXT)`;
    const mail = db.select({ mailing: outbox.mailing_id, to: outbox.envelope_to, raw }).from(outbox).where(where).get();
    if (mail === undefined) return undefined;
    const isHidden = isReadOnly(context);
    const recipient = findRecipient(context, mail);
    const record = recordObject(Mail, outbox, {
      raw: isHidden ? sql`${withoutTokens(mail.raw)}` : raw,
      web_copy: sql`${isHidden || recipient === undefined ? null : `${context.publicUrl()}/w/${context.tokens.recipient(recipient).web}`}`,
      contact_id: sql`CAST(${recipient?.contact_id ?? null} AS INTEGER)`,
      single_send_utr: sql`${recipient?.single_send_utr ?? null}`,
      automation_utr: sql`${recipient?.automation_utr ?? null}`,
      ...hiddenFrom(context),
    });
    return readRecord(db, record, from, where);
  },
});

/** Returns the columns that replace stored values for a caller with read access only, who could otherwise act for a recipient. */
function hiddenFrom(context: Context) {
  return isReadOnly(context) ? { envelope_from: unsignedReturnPath } : {};
}

/** Returns the condition that a mail's sender, recipient or subject contains a text, regardless of case. */
function includes(search: string) {
  return sql`instr(fold(concat_ws(char(10), ${outbox.from}, ${outbox.to}, ${outbox.subject})), ${fold(search)}) > 0`;
}

/**
 * Returns the recipient and the campaign of a mail, with the ids that the tokens in its links contain; undefined if the recipient is no
 * longer in the database.
 */
function findRecipient({ db }: Context, { mailing, to }: { mailing: number; to: string }) {
  return db
    .select({
      delivery: deliveries.id,
      mailing: deliveries.mailing_id,
      address: deliveries.address_id,
      group: sql<number>`ifnull(${mailings.unsubscribe_group_id}, 0)`,
      user: mailings.user_id,
      email: addresses.normalized_email,
      contact_id: contacts.id,
      single_send_utr: singleSends.utr,
      automation_utr: automations.utr,
    })
    .from(deliveries)
    .innerJoin(mailings, eq(mailings.id, deliveries.mailing_id))
    .innerJoin(addresses, eq(addresses.id, deliveries.address_id))
    .leftJoin(contacts, and(eq(contacts.id, deliveries.contact_id), isNull(contacts.deleted_at)))
    .leftJoin(singleSends, and(eq(mailings.owner_kind, 'single'), eq(singleSends.id, mailings.owner_id)))
    .leftJoin(automations, and(eq(automations.id, mailings.automation_id), isNull(automations.deleted_at)))
    .where(
      and(
        eq(deliveries.mailing_id, mailing),
        eq(addresses.user_id, mailings.user_id),
        eq(addresses.normalized_email, parseAddress(to)?.normalized ?? ''),
      ),
    )
    .get();
}
