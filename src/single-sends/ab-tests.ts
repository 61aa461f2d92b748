/** A/B tests of single sends: what a request may set, how large the groups will be, and the choice of a winner by hand. */

import { isoTimestamp } from '../clock.ts';
import type { Db } from '../database/open.ts';
import type { AbTest, singleSends, Variant } from '../database/schema/index.ts';
import { chooseVariant } from '../delivery/variants/decision.ts';
import { smallestDifference } from '../delivery/variants/statistics.ts';
import { findAbTestProblem, learnsOfPeople } from '../delivery/variants/test-problem.ts';
import { conflict, invalid } from '../failure.ts';
import { messages } from '../field-errors.ts';
import { SENTENCES } from '../sentences.ts';
import { hasTemplate } from '../templates/mail-content.ts';
import { findSingleSendMailing, requireSingleSend, type SingleSendActionDeps } from './actions.ts';
import { countDraftAudience } from './drafts.ts';
import { type Change, requireChangeable, type SingleSendDeps } from './single-sends.ts';
import { changeUnsent } from './status.ts';

type SingleSend = typeof singleSends.$inferSelect;

/** Which field of a test is wrong. */
const FIELD_OF_PROBLEM = { ab_canary: 'subjects', local_time_ab: 'subjects', ab_untracked: 'winner_by' } as const;

/**
 * Gives a draft or queued single send an A/B test, or with null takes it away, and the `canary_percent` if one is given; gives the new
 * `updated_at`. Throws 404, 409 as other changes do, and 422 for a test that is not possible.
 */
export function saveAbTest(
  { db, clock, config }: SingleSendDeps,
  accountId: number,
  utr: unknown,
  given: { ab_test: AbTest | null; canary_percent?: number },
  { userId, unchangedSince }: Change,
): string {
  return db.transaction(
    () => {
      const send = requireChangeable(db, accountId, utr, unchangedSince);
      const problem = findAbTestProblem(db, config, { ...send, ...given });
      if (problem !== null) throw invalid(FIELD_OF_PROBLEM[problem], SENTENCES[problem]);
      if (given.ab_test !== null) requireVariants(db, send, given.ab_test);
      const updated_at = isoTimestamp(clock.now());
      changeUnsent(db, send.id, { ...given, changed_by: userId, updated_at });
      return updated_at;
    },
    { behavior: 'immediate' },
  );
}

function requireVariants(db: Db, send: SingleSend, test: AbTest): void {
  for (const { template_id: id } of test.variants)
    if (id !== 0 && !hasTemplate(db, send.user_id, id))
      throw invalid('template_ids', messages.selected('template_ids'));
  const mails = allVariants(send, test).map((variant) => JSON.stringify(variant));
  if (new Set(mails).size < mails.length) throw invalid('subjects', SENTENCES.ab_same);
}

/** All variants of a mail as they are sent, A first, which is the only one without a test. */
export function allVariants(
  { subject, preheader }: Pick<SingleSend, 'subject' | 'preheader'>,
  test: AbTest | null,
): Variant[] {
  const mail: Variant = { subject, preheader, sender_name: '', template_id: 0 };
  return [
    mail,
    ...(test?.variants ?? []).map((variant) => ({
      ...variant,
      subject: variant.subject || subject,
      preheader: variant.preheader || preheader,
    })),
  ];
}

/** What a rate is expected to be, and the smallest difference to it that a test of this size finds. */
interface Expectation {
  base_rate: number;
  /** How many delivered and measured mails the base rate is from; 0: it is assumed. */
  base_mails: number;
  smallest_difference: number | null;
}

/** How many people a test has, and what it can find. */
export interface AbTestPlan {
  recipients: number;
  test_group: number;
  per_variant: number;
  /** How many of those have their opens and clicks recorded: only they count. */
  measured_per_variant: number;
  rest: number;
  opens: Expectation;
  clicks: Expectation;
}

/** What usual lists see, where the account has not sent enough itself. */
const ASSUMED = { opens: 0.2, clicks: 0.02 };
/** So many mails are enough to know the account's own rates. */
const MIN_MAILS = 500;
const LAST_MAILINGS = 10;

/** What the test of a stored single send would be now. Its segments are recomputed first. */
export async function planAbTest(deps: SingleSendDeps, send: SingleSend, test: AbTest): Promise<AbTestPlan> {
  const { recipients, measured } = await countDraftAudience(deps, send);
  const groups = test.variants.length + 1;
  const test_group = Math.round((recipients * test.share) / 100);
  const per_variant = Math.round(test_group / groups);
  const share = recipients === 0 || !learnsOfPeople(deps.db, deps.config, send) ? 0 : measured / recipients;
  const measured_per_variant = Math.round(per_variant * share);
  const expectations = Object.entries(readRates(deps.db, send.user_id)).map(([measure, base]) => [
    measure,
    { ...base, smallest_difference: smallestDifference(measured_per_variant, groups, base.base_rate) },
  ]);
  const rest = recipients - test_group;
  return { recipients, test_group, per_variant, measured_per_variant, rest, ...Object.fromEntries(expectations) };
}

/**
 * The rates of opens and clicks among the people who were measured, of the account's last single sends that counted any, or the assumed ones.
 * The index has mailings of campaigns only, so that those of tests and confirmations are not read.
 */
function readRates(db: Db, accountId: number) {
  const sums = db.$client
    .prepare<[number], Record<'measured' | 'known' | 'opens' | 'clicks', number | null>>(`
      SELECT sum(delivered - unmeasured) AS measured, sum(delivered - unmeasured - proxied_only) AS known, sum(people_opens) AS opens, sum(people_clicks) AS clicks FROM (
        SELECT delivered, unmeasured, proxied_only, people_opens, people_clicks FROM mailings INDEXED BY mailings_recent
        WHERE user_id = ? AND owner_kind IN ('single', 'schedule') AND owner_kind = 'single' AND people_opens > 0
        ORDER BY CASE WHEN finished_at IS NULL THEN '9' ELSE finished_at END DESC LIMIT ${LAST_MAILINGS})`)
    .get(accountId);
  const rate = (measure: keyof typeof ASSUMED) => {
    // Of whom only a proxy loaded the pictures, it is not known whether they opened the mail.
    const mails = (measure === 'opens' ? sums?.known : sums?.measured) ?? 0;
    const people = sums?.[measure] ?? 0;
    return mails >= MIN_MAILS && people > 0
      ? { base_rate: people / mails, base_mails: mails }
      : { base_rate: ASSUMED[measure], base_mails: 0 };
  };
  return { opens: rate('opens'), clicks: rate('clicks') };
}

/** Lets the rest of a launched test have this variant, whatever was counted. Throws 404, 409 unless it waits for a decision, and 422 for no variant of it. */
export function chooseWinner(deps: SingleSendActionDeps, accountId: number, utr: unknown, variant: number): void {
  const { db, clock, wake } = deps;
  const send = requireSingleSend(db, accountId, utr);
  const mailing = findSingleSendMailing(db, send);
  if (mailing === null || send.ab_test === null) throw conflict(SENTENCES.ab_not_open);
  if (variant > send.ab_test.variants.length) throw invalid('variant', messages.selected('variant'));
  if (!chooseVariant(db.$client, mailing.id, variant, clock.now().getTime())) throw conflict(SENTENCES.ab_not_open);
  wake();
}
