/** The operation that checks the mails of an automation for all contacts whom the mails would reach now (an addition to the contract). */
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
    'Runs the checks of POST /check, also on the e-mails of a draft. An e-mail would reach the contacts of the target who meet the conditions before the e-mail, except contacts for whom the automation has ended. Checks that pass are not in the answer.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    mail: optionalIdentifier('The utr of an e-mail, if only this e-mail is to be checked.'),
  }),
  output: CheckedMails,
  async run(context, { utr, mail }) {
    const { db, accountId } = context;
    const { id } = requireAutomation(db, accountId, utr);
    const only = mail === undefined ? null : requireMail(db, accountId, mail).schedule;
    if (only !== null && only.automation_id !== id) throw notFound('Record not found');
    const chosen = listSchedules(db, id).filter(
      (step) => step.kind === 'mail' && (only === null || step.id === only.id),
    );
    const mails: CheckedMails['mails'] = [];
    for (const { utr: mailUtr, subject } of chosen) {
      const check = await checkForAll(context, () => checkedSource(context, mailUtr));
      mails.push({ utr: mailUtr, subject, check });
    }
    return { mails };
  },
});

/**
 * Returns a mail of an automation, with its versions and audience, as the check takes it. Throws 409 if the mail was removed since the
 * check began.
 */
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

/** Returns the mail with this utr and its automation. Throws 409 if the mail was removed since the check began. */
function requireRemaining({ db, accountId }: Context, utr: string): ReturnType<typeof requireMail> {
  try {
    return requireMail(db, accountId, utr);
  } catch (error) {
    if (error instanceof Failure && error.status === 404) throw conflict(sentence('removed_during_check'));
    throw error;
  }
}
