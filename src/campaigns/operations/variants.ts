/**
 * Operations for A/B tests of single sends (additions to the contract): their variants, what a test of this size can find, and
 * choosing a winner by hand.
 */
import Type, { type Static } from 'typebox';
import type { Db } from '../../database/open.ts';
import { recordId } from '../../database/ownership.ts';
import { type AbTest, MAILING_ENDED, WINNER_BY } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { chooseVariant } from '../../delivery/variants/decision.ts';
import type { AbTestReport } from '../../delivery/variants/report.ts';
import { smallestDifference } from '../../delivery/variants/statistics.ts';
import { findAbTestProblem, measuresIndividuals } from '../../delivery/variants/test-problem.ts';
import { conflict, invalid } from '../../errors/failure.ts';
import { messages } from '../../errors/field-errors.ts';
import { sentence } from '../../errors/sentences.ts';
import { withinShare } from '../../http/account-share.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  unchangedSince,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { hasTemplate } from '../../templates/mail-content.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { allVariants } from '../launch.ts';
import {
  countDraftAudience,
  findSingleSendMailing,
  requireChangeable,
  requireConditions,
  requireSingleSend,
  type SingleSend,
  type SingleSendDeps,
} from '../single-sends.ts';
import { changeUnsent } from '../status.ts';
import { MAX_VARIANTS } from './drafts.ts';

const MAX_HOURS = 168;
/** The values of a test that a request does not give. */
export const USUAL_TEST = { share: 20, winner_by: 'clicks', hours: 24 } as const;

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const Plan = {
  share: integer({ description: 'Percent of the audience that the variants are tried on, A included.' }),
  winner_by: {
    ...choice(...WINNER_BY),
    description: 'What decides the winner: opens, clicks, or hand: a user chooses.',
  },
  hours: integer({ description: 'How long the decision is waited for, from when every e-mail of the test was tried.' }),
};
const variant = {
  subject: Type.String({ description: 'The subject of the variant.' }),
  preheader: Type.String({ description: 'The preheader of the variant.' }),
  sender_name: Type.String({ description: 'The name of its sender; empty: that of the sender.' }),
  template_id: integer({ description: 'The template of its content; 0: that of the e-mail itself.' }),
};
const Expectation = Type.Object({
  base_rate: fraction('The rate that is expected of A.'),
  base_mails: integer({
    description:
      'The number of delivered e-mails with recorded opens and clicks that it is computed from; 0: it is assumed.',
  }),
  smallest_difference: nullable(
    Type.Number(),
    'How much higher a rate must be to be found in four of five tests, as a part of 1; null: no difference is found that often.',
  ),
});
const AbTestSchema = Type.Object({
  variants: Type.Array(Type.Object(variant), { description: 'The variants B, C and D; A is the e-mail itself.' }),
  ...Plan,
});
const PlanSchema = Type.Object({
  recipients: integer({ description: 'Who would get the e-mail now.' }),
  test_group: integer({ description: 'About how many of them the variants are tried on.' }),
  per_variant: integer({ description: 'About how many of these get each variant.' }),
  measured_per_variant: integer({
    description: 'The approximate number of these whose opens and clicks are recorded. Only they count.',
  }),
  rest: integer({ description: 'About how many wait for the winner.' }),
  opens: Expectation,
  clicks: Expectation,
});

export type TestPlan = Static<typeof PlanSchema>;

const Rate = Type.Object({
  people: integer({ description: 'Recipients who did it, without bots.' }),
  rate: fraction('Their share of the delivered e-mails.'),
  low: fraction('Where the interval of 95% of the rate begins.'),
  high: fraction('Where it ends.'),
});
/** The report of an A/B test. */
export const ReportedAbTest = Type.Object({
  state: {
    ...choice('sending', 'waiting', 'decided', 'cancelled'),
    description: 'sending: not every e-mail of the test was tried yet; waiting: for the time or for a choice.',
  },
  ...Plan,
  decides_at: nullable(
    isoTimestampSchema(),
    'When it is decided, UTC; null before every e-mail of the test was tried, and if a user chooses.',
  ),
  decided_at: nullable(isoTimestampSchema(), 'When it was decided, UTC.'),
  verdict: nullable(
    choice('winner', 'no_difference', 'chosen'),
    'no_difference: no variant is better than A beyond chance, so the rest gets A; chosen: by hand.',
  ),
  winner: nullable(integer(), 'The number of the variant that the rest gets; null: undecided.'),
  better_than: Type.Array(integer(), { description: 'The variants that the winner is better than beyond chance.' }),
  counted: Type.Array(
    Type.Object({
      people: integer({ description: 'How many had got the variant.' }),
      successes: integer({ description: 'How many of them had opened or clicked it.' }),
    }),
    { description: 'The counts on which the decision is based, by variant; empty before it, and if a user chose.' },
  ),
  measured_by: {
    ...choice('opens', 'clicks'),
    description: 'What worse and behind are about: what decides, or clicks if a user chooses.',
  },
  worse: Type.Array(integer(), {
    description:
      'The variants that are worse than the one with the highest rate beyond chance, however often the report is read; after the decision by its counts. Between the others it is too early to choose.',
  }),
  rest: integer({ description: 'How many recipients get the winner only.' }),
  variants: Type.Array(
    Type.Object({
      variant: integer({ description: 'Its number: 0 is A, the e-mail itself.' }),
      ...variant,
      recipients: integer({ description: 'How many of the test group it is for.' }),
      delivered: integer({ description: 'How many of them got it, including the e-mails in the outbox.' }),
      kept: integer({
        description: 'How many of the delivered e-mails are in the test outbox, so that no recipient got them.',
      }),
      opens: Type.Object(Rate.properties, { description: 'The number of recipients who opened it.' }),
      clicks: Type.Object(Rate.properties, { description: 'The number of recipients who clicked in it.' }),
      behind: nullable(
        Type.Object({
          difference: Type.Number({ description: 'The highest rate less that of the variant.' }),
          low: Type.Number({ description: 'Where its interval begins.' }),
          high: Type.Number({ description: 'Where it ends.' }),
        }),
        'How much lower its rate is than the highest one; null for the highest. The interval holds with 95% at all readings of the report together.',
      ),
    }),
    { description: 'The variants side by side, A first. Only the test group counts, not the rest.' },
  ),
});

/** Returns the report of a test in the form of the API. */
export function reportedAbTest(report: AbTestReport) {
  const time = (at: number | null) => (at === null ? null : isoTimestamp(new Date(at)));
  return { ...report, decides_at: time(report.decides_at), decided_at: time(report.decided_at) };
}

const list = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...Type.Array(line(), { maxItems: MAX_VARIANTS, description }), empty: [] }));
const SaveBody = Type.Object({
  utr: identifier('The single send.'),
  unchanged_since: unchangedSince(),
  subjects: list('The subjects of B, C and D. Empty: that of the e-mail.'),
  preheaders: list('Their preheaders, in the same order. Empty: that of the e-mail.'),
  sender_names: list('Their sender names, in the same order. Empty: that of the sender.'),
  template_ids: list('Ids of the templates of their content, in the same order. Empty: the content of the e-mail.'),
  share: Type.Optional(
    integer({
      minimum: 1,
      maximum: 100,
      description: `Percent of the audience that the variants are tried on; ${USUAL_TEST.share} if not given.`,
    }),
  ),
  winner_by: Type.Optional({
    ...choice(...WINNER_BY),
    description: `As in the answer; ${USUAL_TEST.winner_by} if not given.`,
  }),
  hours: Type.Optional(
    integer({
      minimum: 1,
      maximum: MAX_HOURS,
      description: `How long the decision is waited for; ${USUAL_TEST.hours} if not given.`,
    }),
  ),
  canary_percent: Type.Optional(
    integer({
      maximum: 0,
      description: '0: removes the first batch, because a single send cannot have both.',
    }),
  ),
});
const ByUtr = Type.Object({ utr: identifier('The single send.') });
const DecideBody = Type.Object({
  utr: identifier('The single send.'),
  variant: integer({ maximum: MAX_VARIANTS, description: 'The number of the variant: 0 is A.' }),
});

/** The field that is wrong, by the problem of a test. */
const FIELD_OF_PROBLEM = {
  ab_canary: 'subjects',
  local_time_ab: 'subjects',
  best_hour_ab: 'subjects',
  ab_languages: 'subjects',
  ab_untracked: 'winner_by',
} as const;

export const readVariants = operation({
  name: 'Read the A/B test of a single send, with the size of its groups and what it can find (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({
    ab_test: nullable(AbTestSchema, 'Null: all get the same e-mail.'),
    plan: nullable(PlanSchema, 'What the test would be now; null without one.'),
  }),
  async run(context, { utr }) {
    const { db, accountId } = context;
    const send = requireSingleSend(db, accountId, utr);
    const { ab_test } = send;
    const plan = ab_test === null ? null : await withinShare(accountId, () => planAbTest(context, send, ab_test));
    return { ab_test, plan };
  },
});

export const saveVariants = operation({
  name: 'Set or remove the variants of a single send (addition)',
  description:
    'The longest list says how many variants there are besides A; with empty lists the A/B test is removed. The single send stays a draft or queued.',
  role: 'editor',
  input: SaveBody,
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run({ db, clock, config, accountId, actor }, { utr, unchanged_since, canary_percent, ...fields }) {
    requireConditions('subjects', fields.subjects ?? []);
    requireConditions('preheaders', fields.preheaders ?? []);
    const ab_test = givenTest(fields);
    const changes = { ab_test, ...(canary_percent !== undefined && { canary_percent }) };
    const save = () => {
      const send = requireChangeable(db, accountId, utr, unchanged_since);
      const problem = findAbTestProblem(db, config, { ...send, ...changes });
      if (problem !== null) throw invalid(FIELD_OF_PROBLEM[problem], sentence(problem));
      if (ab_test !== null) requireVariants(db, send, ab_test);
      const updated_at = isoTimestamp(clock.now());
      changeUnsent(db, send.id, { ...changes, changed_by: actor.userId, updated_at });
      return { updated_at };
    };
    return inTransaction(db, save);
  },
});

export const chooseWinner = operation({
  name: 'Choose the variant that the rest of the audience gets (addition)',
  description: 'At any time after the launch, until it is decided. It cannot be changed afterwards.',
  role: 'editor',
  input: DecideBody,
  run({ db, clock, wake, accountId }, { utr, variant }) {
    const send = requireSingleSend(db, accountId, utr);
    const mailing = findSingleSendMailing(db, send);
    if (mailing === null || send.ab_test === null) throw conflict(sentence('ab_not_open'));
    if (variant > send.ab_test.variants.length) throw invalid('variant', messages.selected('variant'));
    if (!chooseVariant(db.$client, mailing.id, variant, clock.now().getTime())) throw conflict(sentence('ab_not_open'));
    wake();
  },
});

function requireVariants(db: Db, send: SingleSend, test: AbTest): void {
  for (const { template_id: id } of test.variants)
    if (id !== 0 && !hasTemplate(db, send.user_id, id))
      throw invalid('template_ids', messages.selected('template_ids'));
  const mails = allVariants(send, test).map((variant) => JSON.stringify(variant));
  if (new Set(mails).size < mails.length) throw invalid('subjects', sentence('ab_same'));
}

type TestInput = Omit<Static<typeof SaveBody>, 'utr' | 'unchanged_since' | 'canary_percent'>;

/** Returns the test that a body describes; null without variants. */
function givenTest(input: TestInput): AbTest | null {
  const { share = USUAL_TEST.share, winner_by = USUAL_TEST.winner_by, hours = USUAL_TEST.hours, ...lists } = input;
  const { subjects = [], preheaders = [], sender_names = [], template_ids = [] } = lists;
  const count = Math.max(...[subjects, preheaders, sender_names, template_ids].map(({ length }) => length));
  const variants = Array.from({ length: count }, (_, at) => ({
    subject: subjects[at] ?? '',
    preheader: preheaders[at] ?? '',
    sender_name: sender_names[at] ?? '',
    // An invalid id becomes -1, which is not a template either.
    template_id: template_ids[at] ? recordId(template_ids[at]) || -1 : 0,
  }));
  return count === 0 ? null : { variants, share, winner_by, hours };
}

/** Typical rates of lists, used if the account has not sent enough mails itself. */
const ASSUMED = { opens: 0.2, clicks: 0.02 };
/** The number of mails from which the account's own rates are used. */
const MIN_MAILS = 500;
const LAST_MAILINGS = 10;

/** Plans the test of a stored single send as it would be now. Its segments are recomputed first. */
async function planAbTest(deps: SingleSendDeps, send: SingleSend, test: AbTest): Promise<TestPlan> {
  const { recipients, measured } = await countDraftAudience(deps, send);
  const groups = test.variants.length + 1;
  const test_group = Math.round((recipients * test.share) / 100);
  const per_variant = Math.round(test_group / groups);
  const share = recipients === 0 || !measuresIndividuals(deps.db, deps.config, send) ? 0 : measured / recipients;
  const measured_per_variant = Math.round(per_variant * share);
  const expectations = Object.entries(readRates(deps.db, send.user_id)).map(([measure, base]) => [
    measure,
    { ...base, smallest_difference: smallestDifference(measured_per_variant, groups, base.base_rate) },
  ]);
  const rest = recipients - test_group;
  return { recipients, test_group, per_variant, measured_per_variant, rest, ...Object.fromEntries(expectations) };
}

/**
 * Returns the rates of opens and clicks among measured recipients of the account's last single sends that counted any, or the
 * assumed rates. The index has mailings of campaigns only, so that tests and confirmations are not read.
 */
function readRates(db: Db, accountId: number) {
  const sums = db.$client
    .prepare<[number], Record<'measured' | 'known' | 'opens' | 'clicks', number | null>>(`
      SELECT sum(delivered - unmeasured) AS measured, sum(delivered - unmeasured - proxied_only) AS known, sum(people_opens) AS opens, sum(people_clicks) AS clicks FROM (
        SELECT delivered, unmeasured, proxied_only, people_opens, people_clicks FROM mailings INDEXED BY mailings_recent
        WHERE user_id = ? AND owner_kind IN ('single', 'schedule') AND owner_kind = 'single' AND people_opens > 0
        ORDER BY ${MAILING_ENDED} DESC LIMIT ${LAST_MAILINGS})`)
    .get(accountId);
  const rate = (measure: keyof typeof ASSUMED) => {
    // If only a proxy loaded the pictures, it is unknown whether the mail was opened.
    const mails = (measure === 'opens' ? sums?.known : sums?.measured) ?? 0;
    const people = sums?.[measure] ?? 0;
    return mails >= MIN_MAILS && people > 0
      ? { base_rate: people / mails, base_mails: mails }
      : { base_rate: ASSUMED[measure], base_mails: 0 };
  };
  return { opens: rate('opens'), clicks: rate('clicks') };
}
