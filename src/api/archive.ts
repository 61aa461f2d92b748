/** The public archive (additions): which single sends are in it, its address and its title. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import {
  addToArchive,
  countPublished,
  findArchive,
  findArchivedMail,
  isSlugTaken,
  removeFromArchive,
  saveArchive,
} from '../archive/archive.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { done, flag, identifier, integer, line, nullable, successWith, zeroOrOne } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES } from '../sentences.ts';
import { requireSingleSend } from '../single-sends/actions.ts';
import { audit } from '../users/audit.ts';

const tags = ['Archive'];
const SLUG = /^(?=.{3,60}$)[a-z0-9]+(-[a-z0-9]+)*$/;

const Archive = Type.Object({
  slug: Type.String({ description: 'The part of its address that names it; empty before a mail was put into it.' }),
  title: Type.String({
    description: 'What stands above its list; empty: Mail archive, in the language of the reader.',
  }),
  url: Type.String({ description: 'The address of its page; empty while there is none.' }),
  mails: integer({ description: 'How many mails anybody can read.' }),
});

const ArchivedMail = Type.Object({
  is_archived: { ...zeroOrOne(), description: '1: it is in the archive.' },
  url: {
    ...nullable(Type.String()),
    description: 'Where anybody can read it; null while it is not in the archive or not sent to the end.',
  },
});

const SaveBody = Type.Object({
  slug: line({
    description:
      'The part of its address that names it: 3 to 60 small letters, digits and single hyphens between them.',
  }),
  title: Type.Optional(line({ description: 'What stands above its list; empty: Mail archive.' })),
});

export const archiveRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, publicUrl }) => {
  const client = db.$client;

  app.get(
    '/archive',
    {
      schema: {
        tags,
        summary: 'Read where the public archive is (addition)',
        description: 'Its page exists while there is a mail that anybody can read.',
        response: successWith({ archive: Archive }),
      },
    },
    async ({ accountId }) => {
      const { slug, title } = findArchive(db, accountId) ?? { slug: '', title: '' };
      const mails = countPublished(client, accountId);
      const url = mails === 0 ? '' : `${publicUrl()}/archive/${slug}`;
      return { status: 'success' as const, message: { archive: { slug, title, url, mails } } };
    },
  );

  app.post(
    '/archive/save',
    {
      schema: {
        tags,
        summary: 'Change the address or the title of the public archive (addition)',
        description: 'Its page and its mails are not known at the address before any more.',
        body: SaveBody,
        response: done,
      },
      config: {
        role: 'owner',
        check: check(SaveBody, ({ slug }, errors) => {
          if (slug !== undefined && slug !== '' && !SLUG.test(slug)) errors.add('slug', SENTENCES.archive_slug);
        }),
      },
    },
    async ({ accountId, actor, body: { slug, title = '' } }) => {
      const save = () => {
        if (isSlugTaken(db, accountId, slug)) throw invalid('slug', messages.taken('slug'));
        saveArchive(db, accountId, { slug, title }, clock.now());
        audit(db, { accountId, actor, action: 'archive_changed', subject: slug }, clock.now());
      };
      db.transaction(save, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.get(
    '/single-send/archive',
    {
      schema: {
        tags,
        summary: 'Read whether a single send is in the public archive (addition)',
        querystring: Type.Object({ utr: identifier('The single send.') }),
        response: successWith({ archived: ArchivedMail }),
      },
    },
    async ({ accountId, query }) => {
      const { id } = requireSingleSend(db, accountId, query.utr);
      const mail = findArchivedMail(db, id);
      const slug = findArchive(db, accountId)?.slug ?? '';
      const archived = {
        is_archived: mail === null ? (0 as const) : (1 as const),
        url: mail?.published_at ? `${publicUrl()}/archive/${slug}/${mail.token}` : null,
      };
      return { status: 'success' as const, message: { archived } };
    },
  );

  app.post(
    '/single/send/archive',
    {
      schema: {
        tags,
        summary: 'Put a single send into the public archive, or take it out (addition)',
        description:
          'Anybody can read it once all of it was sent: without the values of anybody, and without tracking. What is taken out is not known at its address any more.',
        body: Type.Object({
          utr: identifier('The single send.'),
          is_archived: flag('1: put it in; 0: take it out.'),
        }),
        response: done,
      },
    },
    async ({ accountId, body }) => {
      const change = () => {
        const { id } = requireSingleSend(db, accountId, body.utr);
        if (body.is_archived === 1) addToArchive(db, accountId, id, clock.now());
        else removeFromArchive(db, id);
      };
      db.transaction(change, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
