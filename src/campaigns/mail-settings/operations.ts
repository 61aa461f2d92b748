/** What the account wants of its mails before they are sent (additions). */
import Type, { type Static } from 'typebox';
import { changeMailRules, readMailRules } from '../../database/accounts.ts';
import { inTransaction } from '../../database/transaction.ts';
import { flag, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';

const Settings = Type.Object(
  {
    stops_errors: zeroOrOne(
      '1: a single send that the API queued is held with check_failed if the check finds an error in it. 0: findings are only recorded in its report.',
    ),
  },
  { description: 'The settings.' },
);
export type MailSettings = Static<typeof Settings>;

export const readMailSettings = operation({
  name: 'Read what is done about the mails of the account before they are sent (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ settings: Settings }),
  run: ({ db, accountId }) => ({ settings: readMailRules(db, accountId) }),
});

export const changeMailSettings = operation({
  name: 'Change what is done about the mails of the account before they are sent (addition)',
  description: 'Parameters that are not given keep their value. Applies to single sends launched from now on.',
  role: 'owner',
  input: Type.Object({
    stops_errors: Type.Optional(
      Type.Unsafe<0 | 1>(flag('1: a single send that the API queued is held if the check finds an error in it.')),
    ),
  }),
  run(context, changes) {
    inTransaction(context.db, () => {
      changeMailRules(context.db, context.accountId, changes);
      auditBy(context, 'mail_settings_changed');
    });
  },
});
