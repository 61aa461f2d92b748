/** The mails of automations as their owner looks at them (additions): as a person of the target would see them, their checks, their code and tests. */
import Type, { type Static } from 'typebox';
import { withinShare } from '../../http/account-share.ts';
import { AddressList, checkTestAddresses, readAddressList } from '../../http/requests/address-list.ts';
import { email } from '../../http/requests/schemas.ts';
import { type Context, operation, recordOperation } from '../../operations/operation.ts';
import {
  CheckedMailRecord,
  checkedMail,
  ShownMailRecord,
  shownMailHtml,
  shownMailJson,
  shownParts,
} from '../../single-sends/operations/shown-mails.ts';
import { queueTestMail, testMailMessage } from '../../single-sends/test-mail.ts';
import { requireMail } from '../automations.ts';
import { ByMail } from './schedules.ts';

const Seen = Type.Object({ ...ByMail.properties, email: Type.Optional(email()) });

function looked({ db, accountId }: Context, { utr, email }: Static<typeof Seen>) {
  const find = () => {
    const { schedule, automation } = requireMail(db, accountId, utr);
    const { automation_for: id, automation_for_table: table } = automation;
    const isTarget = table === 'contacts' || table === 'segments';
    return {
      ...schedule,
      single_send: null,
      recipient_id: isTarget ? [{ id: String(id), table } as const] : [],
      exclude_specific_recipient_id: [],
    };
  };
  return { find, email };
}

export const showAutomationMail = recordOperation({
  name: 'Read a mail of an automation as a person of its target would see it (addition)',
  description: 'In the HTML each tracked link has its number as data-link. Nothing is counted.',
  role: 'viewer',
  input: Type.Object({ ...Seen.properties, ...shownParts }),
  as: 'mail',
  record: ShownMailRecord,
  json: (context, { html, ...seen }) => shownMailJson(context, looked(context, seen), html !== 0),
});

export const showAutomationMailHtml = operation({
  name: 'Read the HTML of a mail of an automation as a person of its target would see it (addition)',
  description: 'The html of `/automations/schedule/mail` as it is; empty where the mail cannot be shown.',
  role: 'viewer',
  input: Seen,
  run: (context, seen) => shownMailHtml(context, looked(context, seen)),
});

export const checkAutomationMail = operation({
  name: 'Check a mail of an automation as a person of its target would see it (addition)',
  description: 'Says what may keep people from reading it. The code of the mail is not in the answer.',
  role: 'viewer',
  input: Seen,
  output: Type.Object({ checked: CheckedMailRecord }),
  run: async (context, seen) => ({ checked: await checkedMail(context, looked(context, seen)) }),
});

export const readAutomationMailCode = operation({
  name: 'Read the HTML that a mail of an automation was given (addition)',
  description: 'The template_html alone, as it was written; empty without any.',
  role: 'viewer',
  input: ByMail,
  run: ({ db, accountId }, { utr }) => requireMail(db, accountId, utr).schedule.template_html,
});

export const testAutomationMail = operation({
  name: 'Send a test of a mail of an automation (addition)',
  description: 'To ten addresses at most. Tests count in no report.',
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, email_address: AddressList }),
  check: (_context, { email_address }, errors) => checkTestAddresses(email_address, errors),
  async run(context, { utr, email_address }) {
    const { db, config, accountId } = context;
    const addresses = await readAddressList(email_address);
    await withinShare(accountId, async () => {
      const { schedule, automation } = requireMail(db, accountId, utr);
      const tested = { ...schedule, unsubscribe_group_id: Number(automation.unsubscribe_group_id) };
      await queueTestMail(context, tested, addresses);
    });
    return testMailMessage(db.$client, config);
  },
});
