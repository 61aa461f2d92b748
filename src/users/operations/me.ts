/** Operations for the calling user's own settings (additions to the contract). */
import { eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { readRecord, recordObject } from '../../database/record-json.ts';
import { COLOUR_SCHEMES, users } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { notFound } from '../../errors/failure.ts';
import { choice, flag, integer, line, zeroOrOne } from '../../http/requests/schemas.ts';
import { LANGUAGE_CODES } from '../../languages.ts';
import { type Context, operation, recordOperation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../audit.ts';
import { findUser, type User } from '../users.ts';

const Language = {
  ...choice('browser', ...LANGUAGE_CODES),
  description:
    'Language of the dashboard; browser: the first language that the browser asks for and the dashboard has.',
};
const ColourScheme = {
  ...choice(...COLOUR_SCHEMES),
  description: 'Colours of the dashboard; system: light or dark, as the browser asks for.',
};
const Me = Type.Object({
  id: integer(),
  email: Type.String(),
  name: Type.String(),
  role: choice('owner', 'editor', 'viewer'),
  language: Language,
  shortcuts: zeroOrOne('1: single keys such as / do something in the dashboard.'),
  colour_scheme: ColourScheme,
});
const record = recordObject(Me, users, {
  language: sql`CASE ${users.language} WHEN '' THEN 'browser' ELSE ${users.language} END`,
});

export const readMe = recordOperation({
  name: 'Read the calling user and their own settings (addition)',
  role: 'viewer',
  isForUsers: true,
  input: Type.Object({}),
  as: 'user',
  record: Me,
  json: (context) => readRecord(context.db, record, sql`${users}`, eq(users.id, requireMe(context).id)),
});

export const changeOwnSettings = operation({
  name: "Change the caller's own settings (addition)",
  // Every user may change their own settings.
  role: 'viewer',
  isForUsers: true,
  input: Type.Object({
    name: Type.Optional(line()),
    language: Type.Optional(Language),
    shortcuts: Type.Optional(flag('True if single keys such as / do something in the dashboard.')),
    colour_scheme: Type.Optional(ColourScheme),
  }),
  run(context, input) {
    const { db, clock } = context;
    const settings = {
      ...input,
      ...(input.language && { language: input.language === 'browser' ? '' : input.language }),
    };
    inTransaction(db, (tx) => {
      const me = requireMe(context);
      const changes = Object.entries(settings).filter(([name, value]) => Reflect.get(me, name) !== value);
      if (changes.length === 0) return;
      tx.update(users)
        .set({ ...settings, updated_at: isoTimestamp(clock.now()) })
        .where(eq(users.id, me.id))
        .run();
      // The log says that the user's name has changed, but not the new name, because a name is personal and can be long.
      const subject = changes
        .map(([name, value]) => (name === 'name' ? name : `${name}: ${value === '' ? 'browser' : value}`))
        .join(', ');
      auditBy(context, 'settings_changed', subject);
    });
  },
});

function requireMe({ db, accountId, actor }: Context): User {
  const me = findUser(db, accountId, actor.userId ?? 0);
  if (me === undefined) throw notFound();
  return me;
}
