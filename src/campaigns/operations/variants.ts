/**
 * Operations for A/B tests of single sends (additions to the contract): they read and save the variants, say what a test of this
 * size can find, and let a user choose the winner.
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
import { requireConditions } from '../single-send-errors.ts';
import {
  countDraftAudience,
  findSingleSendMailing,
  requireChangeable,
  requireSingleSend,
  type SingleSend,
  type SingleSendDeps,
} from '../single-sends.ts';
import { changeUnsent } from '../status.ts';
import { allVariants } from '../variants.ts';
import { MAX_VARIANTS } from './drafts.ts';

/** The longest time in hours from the end of the test to the decision. */
export const MAX_TEST_HOURS = 168;
/** The default values of a test. `share` is a percentage. */
export const DEFAULT_TEST = { share: 20, winner_by: 'clicks', hours: 24 } as const;

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const Plan = {
  share: integer({ description: 'The percentage of the audience on which the variants are tried, A included.' }),
  winner_by: {
    ...choice(...WINNER_BY),
    description: 'What decides the winner. opens: the rate of opens; clicks: the rate of clicks; hand: a user chooses.',
  },
  hours: integer({
    description: 'The number of hours from the time at which every e-mail of the test was tried to the decision.',
  }),
};
const variant = {
  subject: Type.String({ description: 'The subject of the variant.' }),
  preheader: Type.String({ description: 'The preheader of the variant.' }),
  sender_name: Type.String({ description: 'The sender name of the variant; empty: the name of the sender.' }),
  template_id: integer({ description: 'The template of the variant; 0: the content of the e-mail itself.' }),
};
const Expectation = Type.Object({
  base_rate: fraction('The rate that is expected of A.'),
  base_mails: integer({
    description: 'The number of measured e-mails from which base_rate is computed; 0 if base_rate is assumed.',
  }),
  smallest_difference: nullable(
    Type.Number(),
    'How much higher a rate must be, as a part of 1, so that four of five such tests find the difference. Null if no difference is found that often.',
  ),
});
const AbTestSchema = Type.Object({
  variants: Type.Array(Type.Object(variant), { description: 'The variants B, C and D; A is the e-mail itself.' }),
  ...Plan,
});
const PlanSchema = Type.Object({
  recipients: integer({ description: 'The number of contacts who would get the e-mail now.' }),
  test_group: integer({ description: 'The approximate number of recipients in the test group.' }),
  per_variant: integer({ description: 'The approximate number of recipients of the test group who get each variant.' }),
  measured_per_variant: integer({
    description:
      'About how many recipients of each variant are measured: their opens and clicks are recorded. Only they count.',
  }),
  rest: integer({ description: 'The approximate number of recipients who wait for the winner.' }),
  opens: Expectation,
  clicks: Expectation,
});

export type TestPlan = Static<typeof PlanSchema>;

const Rate = Type.Object({
  people: integer({ description: 'The number of these recipients, without bots.' }),
  rate: fraction('Their share of the delivered e-mails.'),
  low: fraction('The lower end of the 95% interval of the rate.'),
  high: fraction('The upper end of this interval.'),
});
/** The report of an A/B test. */
export const ReportedAbTest = Type.Object({
  state: {
    ...choice('sending', 'waiting', 'decided', 'cancelled'),
    description:
      'sending: not every e-mail of the test was tried yet; waiting: the decision waits for its time or for the choice of a user.',
  },
  ...Plan,
  decides_at: nullable(
    isoTimestampSchema(),
    'When the winner will be decided, UTC; null before every e-mail of the test was tried, and if a user chooses.',
  ),
  decided_at: nullable(isoTimestampSchema(), 'When the winner was decided, UTC.'),
  verdict: nullable(
    choice('winner', 'no_difference', 'chosen'),
    'winner: the test found a winner; no_difference: no variant is better than A beyond chance, so the other recipients get A; chosen: a user chose the winner.',
  ),
  winner: nullable(
    integer(),
    'The number of the variant that the recipients outside the test group get; null before the decision.',
  ),
  better_than: Type.Array(integer(), {
    description: 'The numbers of the variants that are worse than the winner beyond chance.',
  }),
  counted: Type.Array(
    Type.Object({
      people: integer({ description: 'The number of measured recipients who had got the variant.' }),
      successes: integer({ description: 'The number of these recipients who had opened or clicked it.' }),
    }),
    {
      description:
        'The counts on which the decision is based, by variant; empty before the decision, and if a user chose.',
    },
  ),
  measured_by: {
    ...choice('opens', 'clicks'),
    description: 'The rate to which worse and behind refer: the rate that decides, or clicks if a user chooses.',
  },
  worse: Type.Array(integer(), {
    description:
      'The numbers of the variants that are worse than the variant with the highest rate beyond chance, however often the report is read. After the decision, the counts of the decision are compared. It is too early to choose between the other variants.',
  }),
  rest: integer({ description: 'The number of recipients outside the test group, who get only the winner.' }),
  variants: Type.Array(
    Type.Object({
      variant: integer({ description: 'The number of the variant; 0 is A, the e-mail itself.' }),
      ...variant,
      recipients: integer({ description: 'The number of recipients of the test group who get the variant.' }),
      delivered: integer({
        description: 'The number of e-mails with the variant that were accepted, including those in the test outbox.',
      }),
      kept: integer({
        description: 'The number of delivered e-mails that are in the test outbox, so that no recipient got them.',
      }),
      opens: Type.Object(Rate.properties, { description: 'The recipients who opened the variant.' }),
      clicks: Type.Object(Rate.properties, { description: 'The recipients who clicked in the variant.' }),
      behind: nullable(
        Type.Object({
          difference: Type.Number({ description: 'The highest rate minus the rate of the variant.' }),
          low: Type.Number({ description: 'The lower end of the interval of the difference.' }),
          high: Type.Number({ description: 'The upper end of this interval.' }),
        }),
        'How much lower the rate of the variant is than the highest rate; null for the variant with the highest rate. The 95% interval holds however often the report is read.',
      ),
    }),
    { description: 'The variants, A first. Only recipients of the test group count.' },
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
  subjects: list('The subjects of the variants B, C and D. An empty text means the subject of the e-mail.'),
  preheaders: list('The preheaders of these variants. An empty text means the preheader of the e-mail.'),
  sender_names: list('The sender names of these variants. An empty text means the name of the sender.'),
  template_ids: list('The ids of the templates of these variants. An empty text means the content of the e-mail.'),
  share: Type.Optional(
    integer({
      minimum: 1,
      maximum: 100,
      description: `The percentage of the audience on which the variants are tried; ${DEFAULT_TEST.share} by default.`,
    }),
  ),
  winner_by: Type.Optional({
    ...choice(...WINNER_BY),
    description: `What decides the winner: opens, clicks, or (hand) a user; ${DEFAULT_TEST.winner_by} by default.`,
  }),
  hours: Type.Optional(
    integer({
      minimum: 1,
      maximum: MAX_TEST_HOURS,
      description: `The number of hours from the time at which every e-mail of the test was tried to the decision; ${DEFAULT_TEST.hours} by default.`,
    }),
  ),
  canary_percent: Type.Optional(
    integer({
      maximum: 0,
      description: '0: removes the first batch, because a single send cannot have both a first batch and an A/B test.',
    }),
  ),
});
const ByUtr = Type.Object({ utr: identifier('The single send.') });
const DecideBody = Type.Object({
  utr: identifier('The single send.'),
  variant: integer({ maximum: MAX_VARIANTS, description: 'The number of the variant: 0 is A.' }),
});

/** The field at fault for each problem of a test. */
const FIELD_OF_PROBLEM = {
  ab_canary: 'subjects',
  local_time_ab: 'subjects',
  best_hour_ab: 'subjects',
  ab_languages: 'subjects',
  ab_untracked: 'winner_by',
} as const;

export const readVariants = operation({
  name: 'Read the A/B test of a single send, the size of its groups, and the differences that it can find (addition)',
  role: 'viewer',
  input: ByUtr,
  output: Type.Object({
    ab_test: nullable(AbTestSchema, 'The A/B test; null if all recipients get the same e-mail.'),
    plan: nullable(PlanSchema, 'The groups of the test if it started now; null if there is no test.'),
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
    'The longest list determines the number of variants besides A. If all lists are empty, the A/B test is removed. The single send stays a draft or queued.',
  role: 'editor',
  input: SaveBody,
  output: Type.Object({ updated_at: isoTimestampSchema() }),
  run({ db, clock, config, accountId, actor }, { utr, unchanged_since, canary_percent, ...fields }) {
    requireConditions('subjects', fields.subjects ?? []);
    requireConditions('preheaders', fields.preheaders ?? []);
    const ab_test = testOf(fields);
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
  name: 'Choose the variant that the recipients outside the test group get (addition)',
  description: 'A user can choose at any time after the launch until the decision. The choice cannot be changed.',
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

/** Throws 422 if a template of a variant does not exist, or if two variants are the same. */
function requireVariants(db: Db, send: SingleSend, test: AbTest): void {
  for (const { template_id: id } of test.variants)
    if (id !== 0 && !hasTemplate(db, send.user_id, id))
      throw invalid('template_ids', messages.selected('template_ids'));
  const mails = allVariants(send, test).map((variant) => JSON.stringify(variant));
  if (new Set(mails).size < mails.length) throw invalid('subjects', sentence('ab_same'));
}

type TestInput = Omit<Static<typeof SaveBody>, 'utr' | 'unchanged_since' | 'canary_percent'>;

/** Returns the test that a request describes; null if it has no variants. */
function testOf(input: TestInput): AbTest | null {
  const {
    share = DEFAULT_TEST.share,
    winner_by = DEFAULT_TEST.winner_by,
    hours = DEFAULT_TEST.hours,
    ...lists
  } = input;
  const { subjects = [], preheaders = [], sender_names = [], template_ids = [] } = lists;
  const count = Math.max(...[subjects, preheaders, sender_names, template_ids].map(({ length }) => length));
  const variants = Array.from({ length: count }, (_, at) => ({
    subject: subjects[at] ?? '',
    preheader: preheaders[at] ?? '',
    sender_name: sender_names[at] ?? '',
    // An invalid id becomes -1, which no template has.
    template_id: template_ids[at] ? recordId(template_ids[at]) || -1 : 0,
  }));
  return count === 0 ? null : { variants, share, winner_by, hours };
}

/** Typical rates, which are assumed if the account has not sent enough mails. */
const ASSUMED_RATES = { opens: 0.2, clicks: 0.02 };
/** The number of measured mails from which on the account's own rates are used. */
const MIN_MAILS = 500;
/** The number of the last mailings from which the account's own rates are computed. */
const LAST_MAILINGS = 10;

/** Plans the test of a stored single send as if it started now. Recomputes the segments of the single send first. */
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
 * Returns the rates of opens and clicks among measured recipients of the account's last single sends with opens, or the assumed rates. The
 * condition on two kinds of owner is that of the partial index, without which SQLite does not use the index.
 */
function readRates(db: Db, accountId: number) {
  const sums = db.$client
    .prepare<[number], Record<'measured' | 'known' | 'opens' | 'clicks', number | null>>(`
      SELECT sum(delivered - unmeasured) AS measured, sum(delivered - unmeasured - proxied_only) AS known,
        sum(people_opens) AS opens, sum(people_clicks) AS clicks FROM (
        SELECT delivered, unmeasured, proxied_only, people_opens, people_clicks FROM mailings INDEXED BY mailings_recent
        WHERE user_id = ? AND owner_kind IN ('single', 'schedule') AND owner_kind = 'single' AND people_opens > 0
        ORDER BY ${MAILING_ENDED} DESC LIMIT ${LAST_MAILINGS})`)
    .get(accountId);
  const rate = (measure: keyof typeof ASSUMED_RATES) => {
    // Leave out mails whose pictures only a proxy loaded, because it is unknown whether they were opened.
    const mails = (measure === 'opens' ? sums?.known : sums?.measured) ?? 0;
    const people = sums?.[measure] ?? 0;
    return mails >= MIN_MAILS && people > 0
      ? { base_rate: people / mails, base_mails: mails }
      : { base_rate: ASSUMED_RATES[measure], base_mails: 0 };
  };
  return { opens: rate('opens'), clicks: rate('clicks') };
}
