/** Operations for the versions of a mail of an automation in other languages (additions to the contract). */
import Type from 'typebox';
import { isoTimestampSchema, nullable, unchangedSince } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import {
  shownVersions,
  Versions,
  versionInput,
  versionLanguage,
  withoutVersion,
  withVersion,
} from '../../templates/languages/operations.ts';
import { MAX_LANGUAGES } from '../../templates/languages/versions.ts';
import { audienceOf, requireMail } from '../automations.ts';
import { changeMailColumns } from './changes.ts';
import { ByMail } from './mails.ts';

const Changed = Type.Object({ updated_at: nullable(isoTimestampSchema(), 'When the e-mail was changed.') });

export const listMailLanguages = operation({
  name: 'List the language versions of an e-mail of an automation (addition)',
  role: 'viewer',
  input: ByMail,
  output: Versions,
  run(context, { utr }) {
    const { schedule, automation } = requireMail(context.db, context.accountId, utr);
    return shownVersions(context, schedule.languages, audienceOf(context.db, automation, schedule));
  },
});

export const saveMailLanguage = operation({
  name: 'Add or change the version of an e-mail of an automation in a language (addition)',
  description: `An e-mail can have ${MAX_LANGUAGES} versions. While the automation is live, contacts who wait for the e-mail get it with the change.`,
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, unchanged_since: unchangedSince(), ...versionInput }),
  output: Changed,
  async run(context, { utr, unchanged_since, ...fields }) {
    const { languages } = requireMail(context.db, context.accountId, utr).schedule;
    const columns = { languages: withVersion(context, languages, fields) };
    const { updated_at } = await changeMailColumns(context, { utr, unchanged_since }, columns);
    return { updated_at };
  },
});

export const removeMailLanguage = operation({
  name: 'Remove the version of an e-mail of an automation in a language (addition)',
  role: 'editor',
  input: Type.Object({ ...ByMail.properties, unchanged_since: unchangedSince(), language: versionLanguage }),
  output: Changed,
  async run(context, { utr, unchanged_since, language }) {
    const { languages } = requireMail(context.db, context.accountId, utr).schedule;
    const columns = { languages: withoutVersion(languages, language) };
    const { updated_at } = await changeMailColumns(context, { utr, unchanged_since }, columns);
    return { updated_at };
  },
});
