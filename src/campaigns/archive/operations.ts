/** Operations for the public archive (additions to the contract): the single sends in it, its slug and its title. */
import Type, { type Static } from 'typebox';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { flag, identifier, integer, line, nullable, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';
import { requireSingleSend } from '../single-sends.ts';
import {
  addToArchive,
  countPublished,
  findArchive,
  findArchivedMail,
  isSlugTaken,
  removeFromArchive,
  saveArchive,
} from './archive.ts';

const SLUG = /^(?=.{3,60}$)[a-z0-9]+(-[a-z0-9]+)*$/;

const Archive = Type.Object({
  slug: Type.String({
    description: 'The part of the address that names the archive; empty before an e-mail was added to the archive.',
  }),
  title: Type.String({
    description: 'The title above the list. If empty, the page shows Mail archive in the language of the reader.',
  }),
  url: Type.String({ description: 'The address of the page; empty while the archive has no page.' }),
  mails: integer({ description: 'The number of public e-mails.' }),
});

export type Archive = Static<typeof Archive>;

const ArchivedMail = Type.Object({
  is_archived: zeroOrOne('1: the single send is in the archive.'),
  url: nullable(
    Type.String(),
    'The public address; null while the single send is not in the archive or not completely sent.',
  ),
});

export type ArchivedMail = Static<typeof ArchivedMail>;

export const readArchive = operation({
  name: 'Read the address and title of the public archive (addition)',
  description: 'The page exists while the archive has a public e-mail.',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ archive: Archive }),
  run({ db, accountId, publicUrl }) {
    const { slug, title } = findArchive(db, accountId) ?? { slug: '', title: '' };
    const mails = countPublished(db.$client, accountId);
    const url = mails === 0 ? '' : `${publicUrl()}/archive/${slug}`;
    return { archive: { slug, title, url, mails } };
  },
});

export const changeArchive = operation({
  name: 'Change the address or the title of the public archive (addition)',
  description: 'The old address of the page and of its e-mails no longer works.',
  role: 'owner',
  input: Type.Object({
    slug: line({
      description:
        'The part of the address that names the archive: 3 to 60 lowercase letters and digits, with single hyphens between them.',
    }),
    title: Type.Optional(line({ description: 'The title above the list. If empty, the page shows Mail archive.' })),
  }),
  check(_context, { slug = '' }, errors) {
    if (slug !== '' && !SLUG.test(slug)) errors.add('slug', sentence('archive_slug'));
  },
  run(context, { slug, title = '' }) {
    const { db, clock, accountId } = context;
    const save = () => {
      if (isSlugTaken(db, accountId, slug)) throw invalid('slug', messages.taken('slug'));
      saveArchive(db, accountId, { slug, title }, clock.now());
      auditBy(context, 'archive_changed', slug);
    };
    inTransaction(db, save);
  },
});

export const readArchivedMail = operation({
  name: 'Read whether a single send is in the public archive (addition)',
  role: 'viewer',
  input: Type.Object({ utr: identifier('The single send.') }),
  output: Type.Object({ archived: ArchivedMail }),
  run({ db, accountId, publicUrl }, { utr }): { archived: ArchivedMail } {
    const { id } = requireSingleSend(db, accountId, utr);
    const mail = findArchivedMail(db, id);
    const slug = findArchive(db, accountId)?.slug ?? '';
    const url = mail?.published_at ? `${publicUrl()}/archive/${slug}/${mail.token}` : null;
    return { archived: { is_archived: mail === null ? 0 : 1, url } };
  },
});

export const changeArchivedMail = operation({
  name: 'Add a single send to the public archive, or remove it (addition)',
  description:
    'When the single send has been sent completely, anybody can read its e-mail, without values of contacts and without tracking. The address of a removed e-mail no longer works.',
  role: 'editor',
  input: Type.Object({
    utr: identifier('The single send.'),
    is_archived: flag('1: the single send is added to the archive; 0: it is removed.'),
  }),
  run({ db, clock, accountId }, { utr, is_archived }) {
    const change = () => {
      const { id } = requireSingleSend(db, accountId, utr);
      if (is_archived === 1) addToArchive(db, accountId, id, clock.now());
      else removeFromArchive(db, id);
    };
    inTransaction(db, change);
  },
});
