/** Operations for the image library: the pictures that mails load from this service, and the records that use them. */
import { and, eq, sql } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { fold } from '../../database/functions/fold.ts';
import { ownedBy, ownedRecord } from '../../database/ownership.ts';
import { readRecord, recordObject } from '../../database/record-json.ts';
import { PICTURE_KINDS, PICTURE_USES, pictureParts, pictures, pictureUses } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { type Said, sentence } from '../../errors/sentences.ts';
import {
  choice,
  described,
  eitherOrderQuery,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  stamps,
} from '../../http/requests/schemas.ts';
import { type Context, listOperation, operation, recordOperation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';

/** The numbers of records that use a picture, by kind of record. */
const UseCounts = {
  single_sends: integer({ description: 'Number of single sends that contain the image.' }),
  automation_mails: integer({ description: 'Number of e-mails of automations that contain the image.' }),
  sent_mails: integer({
    description: 'Number of mailings that were sent with the image. An image that was sent cannot be deleted.',
  }),
  templates: integer({ description: 'Number of your own templates that contain the image.' }),
  blocks: integer({ description: 'Number of your saved blocks that contain the image.' }),
  brands: integer({ description: '1: the image is the logo of your brand.' }),
};
export const Picture = Type.Object({
  id: integer(),
  name: Type.String(),
  alt: Type.String({ description: 'The alternative text; may be empty.' }),
  url: Type.String({ description: 'URL for e-mails. It works without keys and never changes.' }),
  kind: described(choice(...PICTURE_KINDS), 'The format of the image.'),
  width: integer({ description: 'Width in pixels.' }),
  height: integer({ description: 'Height in pixels.' }),
  size: integer({ description: 'Size in bytes.' }),
  ...UseCounts,
  ...stamps,
});
export type Picture = Static<typeof Picture>;

const PictureUse = Type.Object({
  id: integer(),
  kind: described(
    choice(...PICTURE_USES),
    'single_send, automation_mail, template or block: the present content uses the image; brand: the image is the logo; sent_mail: a mailing was sent with the image.',
  ),
  campaign: nullable(
    choice('single_send', 'automation'),
    'The kind of campaign that uses the image; null for templates, blocks and the brand, and if the campaign was deleted.',
  ),
  utr: nullable(Type.String(), 'UUID of the single send or automation; null if `campaign` is null.'),
  name: nullable(
    Type.String(),
    'Name of the single send, automation, template or block; null if it was deleted, and for the brand.',
  ),
  subject: Type.String(),
  sent_at: nullable(isoTimestampSchema(), 'When the mailing began, UTC; null for content that was not sent.'),
});
export type PictureUse = Static<typeof PictureUse>;

const ById = { id: identifier('The picture.') };

const pictureRecord = (publicUrl: string) =>
  recordObject(Picture, pictures, {
    url: sql`${publicUrl} || '/pictures/' || ${pictures.public_id} || '/' || ${pictures.file_name}`,
  });

export const listPictures = listOperation({
  name: 'List the images, with the numbers of their uses (addition)',
  role: 'viewer',
  input: Type.Object({
    ...eitherOrderQuery.properties,
    search: Type.Optional(line({ description: 'Only images whose name or alternative text contains this text.' })),
  }),
  as: 'pictures',
  record: Picture,
  select({ accountId, publicUrl }, { search, ...part }) {
    const texts = sql`concat_ws(char(10), ${pictures.name}, ${pictures.alt})`;
    const matches = search ? sql`instr(fold(${texts}), ${fold(search)}) > 0` : undefined;
    const where = and(ownedBy(pictures, accountId), matches);
    return { record: pictureRecord(publicUrl()), from: sql`${pictures}`, where, id: pictures.id, part };
  },
});

export const readPicture = recordOperation({
  name: 'Read an image (addition)',
  role: 'viewer',
  input: Type.Object(ById),
  as: 'picture',
  record: Picture,
  json: ({ db, accountId, publicUrl }, { id }) =>
    readRecord(db, pictureRecord(publicUrl()), sql`${pictures}`, ownedRecord(pictures, id, accountId)),
});

/** SQL that joins the uses of pictures with the records that use them. A sent mailing whose campaign was deleted has no such record. */
const USING_RECORDS = sql`${pictureUses}
  LEFT JOIN mailings m ON ${pictureUses.kind} = 'sent_mail' AND m.id = ${pictureUses.owner_id}
  LEFT JOIN single_sends s ON s.id = CASE
    WHEN ${pictureUses.kind} = 'single_send' THEN ${pictureUses.owner_id} WHEN m.owner_kind = 'single' THEN m.owner_id END
  LEFT JOIN automation_schedules c ON ${pictureUses.kind} = 'automation_mail' AND c.id = ${pictureUses.owner_id}
  LEFT JOIN own_templates o ON ${pictureUses.kind} = 'template' AND o.id = ${pictureUses.owner_id}
  LEFT JOIN saved_blocks b ON ${pictureUses.kind} = 'block' AND b.id = ${pictureUses.owner_id}
  LEFT JOIN automations a ON a.id = ifnull(c.automation_id, m.automation_id) AND a.deleted_at IS NULL`;
const PICTURE_USE = recordObject(PictureUse, pictureUses, {
  campaign: sql`CASE WHEN s.id IS NOT NULL THEN 'single_send' WHEN a.id IS NOT NULL THEN 'automation' END`,
  utr: sql`ifnull(s.utr, a.utr)`,
  name: sql`coalesce(s.single_send_name, a.automation_name, o.template_name, b.block_name)`,
  subject: sql`coalesce(nullif(${pictureUses.subject}, ''), s.subject, c.subject, '')`,
  sent_at: sql`m.created_at`,
});

export const listPictureUses = listOperation({
  name: 'List the single sends, automation e-mails, sent campaigns, templates and saved blocks that contain an image (addition)',
  role: 'viewer',
  input: Type.Object({ ...listQuery.properties, ...ById }),
  as: 'uses',
  record: PictureUse,
  select(context, { id, ...part }) {
    const where = eq(pictureUses.picture_id, requirePicture(context, id).id);
    return { record: PICTURE_USE, from: USING_RECORDS, where, id: pictureUses.id, part };
  },
});

export const updatePicture = operation({
  name: 'Change the name and the alternative text of an image (addition)',
  description: 'The URL of the image and the e-mails that contain the image do not change.',
  role: 'editor',
  input: Type.Object({
    ...ById,
    name: line({ description: 'The name of the image.' }),
    alt: Type.Optional(line({ description: 'The alternative text.' })),
  }),
  run({ db, clock, accountId }, { id, name, alt }) {
    const { changes } = db
      .update(pictures)
      .set({ name, alt, updated_at: isoTimestamp(clock.now()) })
      .where(ownedRecord(pictures, id, accountId))
      .run();
    if (changes === 0) throw notFound();
  },
});

export const deletePicture = operation({
  name: 'Delete an image that no mail contains (addition)',
  description:
    'An image cannot be deleted while a single send, an e-mail of an automation, a template or a saved block contains it, or while it is the logo of the brand. An image that was sent can never be deleted, because recipients still load it, even after the campaign was deleted.',
  role: 'editor',
  input: Type.Object(ById),
  run(context, input) {
    inTransaction(context.db, (tx) => {
      const { id, public_id, ...counts } = requirePicture(context, input.id);
      const reason = whyKept(counts);
      if (reason !== null) throw conflict(reason);
      tx.delete(pictureParts).where(eq(pictureParts.public_id, public_id)).run();
      tx.delete(pictures).where(eq(pictures.id, id)).run();
    });
  },
});

/** Returns a picture of the caller's account. Throws 404 if there is no such picture. */
function requirePicture({ db, accountId }: Context, id: unknown): typeof pictures.$inferSelect {
  const where = ownedRecord(pictures, id, accountId);
  const picture = db.select().from(pictures).where(where).get();
  if (picture === undefined) throw notFound();
  return picture;
}

type UseCounts = { [Kind in keyof typeof UseCounts]: number };

/** Returns why a picture cannot be deleted; null if it can be deleted. */
function whyKept({ single_sends, automation_mails, sent_mails, templates, blocks, brands }: UseCounts): Said | null {
  if (sent_mails > 0)
    return sent_mails === 1 ? sentence('picture_sent_once') : sentence('picture_sent', { count: sent_mails });
  const count = single_sends + automation_mails + templates;
  if (count > 1) return sentence('picture_used', { count });
  if (count === 1) return sentence('picture_used_once');
  return brands + blocks > 0 ? sentence('picture_kept') : null;
}
