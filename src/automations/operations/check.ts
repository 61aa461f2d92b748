/** The operation that checks the mails of an automation for all contacts whom they would reach now (an addition to the contract). */
import Type, { type Static } from 'typebox';
import { CheckedForAll, type CheckedSource, checkForAll } from '../../campaigns/operations/check.ts';
import { conflict, Failure, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { optionalIdentifier } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { audienceOf, listSchedules, requireAutomation, requireMail, shownSource } from '../automations.ts';
import { ByUtr } from './automations.ts';

const CheckedMails = Type.Object({
  mails: Type.Array(Type.Object({ utr: Type.String(), subject: Type.String(), check: CheckedForAll }), {
    description: 'The e-mails, in the order in which they are sent.',
  }),
});
export type CheckedMails = Static<typeof CheckedMails>;

export const checkAutomationMails = operation({
  name: 'Check the e-mails of an automation, also for all contacts whom they would reach now (addition)',
  description:
    'As POST /check does, also of a draft. An e-mail reaches the contacts of the target, except those for whom the automation has ended, who are in the segments of the conditions before it. Checks that pass are not in the answer.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    mail: optionalIdentifier('Only this e-mail, by its utr.'),
  }),
  output: CheckedMails,
  async run(context, { utr, mail }) {
    const { db, accountId } = context;
    const { id } = requireAutomation(db, accountId, utr);
    const only = mail === undefined ? null : requireMail(db, accountId, mail).schedule;
    if (only !== null && only.automation_id !== id) throw notFound('Record not found');
    const chosen = listSchedules(db, id).filter((one) => one.kind === 'mail' && (only === null || one.id === only.id));
    const mails: CheckedMails['mails'] = [];
    for (const { utr: own, subject } of chosen) {
      const check = await checkForAll(context, () => checkedSource(context, own));
      mails.push({ utr: own, subject, check });
    }
    return { mails };
  },
});

/** The mail of an automation with its versions. Throws 409 if it was removed since the check began. */
function checkedSource(context: Context, utr: string): CheckedSource {
  const { db } = context;
  const { automation, schedule } = requireRemaining(context, utr);
  return {
    find: (number) => shownSource(db, automation, schedule, number),
    others: (schedule.languages ?? []).map(({ language }) => language),
    kind: 'languages',
    audience: audienceOf(db, automation, schedule),
    page: (step) => `/automations/${automation.utr}/mails/${schedule.utr}/${step}`,
  };
}

function requireRemaining({ db, accountId }: Context, utr: string): ReturnType<typeof requireMail> {
  try {
    return requireMail(db, accountId, utr);
  } catch (error) {
    if (error instanceof Failure && error.status === 404) throw conflict(sentence('removed_during_check'));
    throw error;
  }
}
