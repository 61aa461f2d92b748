/**
 * Operations for the versions of a single send in other languages (additions to the contract). Each recipient gets the version in their
 * language; recipients with another language get the mail itself.
 */
import Type from 'typebox';
import type { LanguageVersion } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { invalid } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { identifier, isoTimestampSchema, unchangedSince } from '../../http/requests/schemas.ts';
import { type Context, operation } from '../../operations/operation.ts';
import {
  shownVersions,
  Versions,
  versionInput,
  versionLanguage,
  withoutVersion,
  withVersion,
} from '../../templates/languages/operations.ts';
import { MAX_LANGUAGES } from '../../templates/languages/versions.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { requireChangeable, requireSingleSend, type SingleSend } from '../single-sends.ts';
import { changeUnsent } from '../status.ts';

const ByUtr = { utr: identifier('The single send.') };

export const listLanguages = operation({
  name: 'List the language versions of a single send (addition)',
  role: 'viewer',
  input: Type.Object(ByUtr),
  output: Versions,
  run(context, { utr }) {
    const send = requireSingleSend(context.db, context.accountId, utr);
    const { recipient_id: targets, exclude_specific_recipient_id: excluded, unsubscribe_group_id: groupId } = send;
    return shownVersions(context, send.languages, { targets, excluded, groupId });
  },
});

export const saveLanguage = operation({
  name: 'Add or change the version of a single send in a language (addition)',
  description: `A single send can have up to ${MAX_LANGUAGES} versions, but not together with an A/B test. The single send stays a draft or queued.`,
  role: 'editor',
  input: Type.Object({ ...ByUtr, unchanged_since: unchangedSince(), ...versionInput }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { utr, unchanged_since, ...fields }) =>
    change(context, utr, unchanged_since, ({ ab_test, languages }) => {
      if (ab_test !== null) throw invalid('language', sentence('ab_languages'));
      return withVersion(context, languages, fields);
    }),
});

export const removeLanguage = operation({
  name: 'Remove the version of a single send in a language (addition)',
  role: 'editor',
  input: Type.Object({ ...ByUtr, unchanged_since: unchangedSince(), language: versionLanguage }),
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run: (context, { utr, unchanged_since, language }) =>
    change(context, utr, unchanged_since, ({ languages }) => withoutVersion(languages, language)),
});

/** Replaces the versions of a single send that has not been sent by the versions that `newVersions` returns. */
function change(
  { db, clock, accountId, actor }: Context,
  utr: unknown,
  unchangedSince: string | undefined,
  newVersions: (send: SingleSend) => LanguageVersion[] | null,
): { updated_at: string } {
  return inTransaction(db, () => {
    const send = requireChangeable(db, accountId, utr, unchangedSince);
    const updated_at = isoTimestamp(clock.now());
    changeUnsent(db, send.id, { languages: newVersions(send), changed_by: actor.userId, updated_at });
    return { updated_at };
  });
}
