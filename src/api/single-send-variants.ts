/** A/B tests of single sends (additions): their variants, what a test of this size can find, and the choice by hand. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { isoTimestamp } from '../clock.ts';
import { recordId } from '../database/ownership.ts';
import { type AbTest, WINNER_BY } from '../database/schema/index.ts';
import type { AbTestReport } from '../delivery/variants/report.ts';
import type { Deps } from '../deps.ts';
import { withinShare } from '../http/account-share.ts';
import {
  choice,
  done,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  successWith,
  unchangedSince,
} from '../http/requests/schemas.ts';
import { chooseWinner, planAbTest, saveAbTest } from '../single-sends/ab-tests.ts';
import { requireSingleSend } from '../single-sends/actions.ts';
import { MAX_VARIANTS } from '../single-sends/operations/options.ts';

const tags = ['Single sends'];

const MAX_HOURS = 168;

const fraction = (description: string) => Type.Number({ minimum: 0, maximum: 1, description });
const Plan = {
  share: integer({ description: 'Percent of the audience that the variants are tried on, A included.' }),
  winner_by: {
    ...choice(...WINNER_BY),
    description: 'What the winner is found by: opens or clicks by people, or hand: somebody chooses.',
  },
  hours: integer({ description: 'How long the decision is waited for, from when every mail of the test was tried.' }),
};
const variant = {
  subject: Type.String({ description: 'The subject of the variant.' }),
  preheader: Type.String({ description: 'The preheader of the variant.' }),
  sender_name: Type.String({ description: 'The name of its sender; empty: that of the sender.' }),
  template_id: integer({ description: 'The template of its content; 0: that of the mail itself.' }),
};
const Expectation = Type.Object({
  base_rate: fraction('The rate that is expected of A.'),
  base_mails: integer({
    description:
      'How many of your delivered mails it is from, of those whose opens and clicks are recorded; 0: it is assumed.',
  }),
  smallest_difference: {
    ...nullable(Type.Number()),
    description:
      'How much higher a rate must be to be found in four of five tests, as a part of 1; null: no difference is found that often.',
  },
});
const AbTestSchema = Type.Object({
  variants: Type.Array(Type.Object(variant), { description: 'The variants B, C and D; A is the mail itself.' }),
  ...Plan,
});
const PlanSchema = Type.Object({
  recipients: integer({ description: 'Who would get the mail now.' }),
  test_group: integer({ description: 'About how many of them the variants are tried on.' }),
  per_variant: integer({ description: 'About how many of those get each variant.' }),
  measured_per_variant: integer({
    description: 'About how many of those have their opens and clicks recorded. Only they count.',
  }),
  rest: integer({ description: 'About how many wait for the winner.' }),
  opens: Expectation,
  clicks: Expectation,
});

const Rate = Type.Object({
  people: integer({ description: 'Recipients of whom a person did it.' }),
  rate: fraction('Their part of those delivered.'),
  low: fraction('Where the interval of 95 % of the rate begins.'),
  high: fraction('Where it ends.'),
});
/** The part of a report that an A/B test has. */
export const ReportedAbTest = Type.Object({
  state: {
    ...choice('sending', 'waiting', 'decided', 'cancelled'),
    description: 'sending: not every mail of the test was tried yet; waiting: for the time or for a choice.',
  },
  ...Plan,
  decides_at: {
    ...nullable(isoTimestampSchema()),
    description: 'When it is decided, UTC; null before every mail of the test was tried, and where somebody chooses.',
  },
  decided_at: { ...nullable(isoTimestampSchema()), description: 'When it was decided, UTC.' },
  verdict: {
    ...nullable(choice('winner', 'no_difference', 'chosen')),
    description: 'no_difference: no variant is better than A beyond chance, so the rest gets A; chosen: by hand.',
  },
  winner: { ...nullable(integer()), description: 'The number of the variant that the rest gets; null: undecided.' },
  better_than: Type.Array(integer(), { description: 'The variants that the winner is better than beyond chance.' }),
  counted: Type.Array(
    Type.Object({
      people: integer({ description: 'How many had got the variant.' }),
      successes: integer({ description: 'How many of them had opened or clicked it.' }),
    }),
    { description: 'What the decision is from, by variant; empty before it, and where somebody chose.' },
  ),
  rest: integer({ description: 'How many recipients get the winner only.' }),
  variants: Type.Array(
    Type.Object({
      variant: integer({ description: 'Its number: 0 is A, the mail itself.' }),
      ...variant,
      recipients: integer({ description: 'How many of the test group it is for.' }),
      delivered: integer({ description: 'How many of them got it, with those that were kept.' }),
      kept: integer({ description: 'How many of the delivered the built-in outbox took, so that nobody got them.' }),
      opens: Rate,
      clicks: Rate,
    }),
    { description: 'The variants side by side, A first. Only the test group counts, not the rest.' },
  ),
});

/** A report of a test as the API answers it. */
export function reportedAbTest(report: AbTestReport) {
  const time = (at: number | null) => (at === null ? null : isoTimestamp(new Date(at)));
  return { ...report, decides_at: time(report.decides_at), decided_at: time(report.decided_at) };
}

const list = (description: string) =>
  Type.Optional(Type.Unsafe<string[]>({ ...Type.Array(line(), { maxItems: MAX_VARIANTS, description }), empty: [] }));
const SaveBody = Type.Object({
  utr: identifier('The single send.'),
  unchanged_since: unchangedSince(),
  subjects: list('The subjects of B, C and D. Empty: that of the mail.'),
  preheaders: list('Their preheaders, in the same order. Empty: that of the mail.'),
  sender_names: list('Their sender names, in the same order. Empty: that of the sender.'),
  template_ids: list('Ids of the templates of their content, in the same order. Empty: the content of the mail.'),
  share: Type.Optional(
    integer({
      minimum: 1,
      maximum: 100,
      description: 'Percent of the audience that the variants are tried on; 20 if not given.',
    }),
  ),
  winner_by: Type.Optional({ ...choice(...WINNER_BY), description: 'As in the answer; clicks if not given.' }),
  hours: Type.Optional(
    integer({ minimum: 1, maximum: MAX_HOURS, description: 'How long the decision is waited for; 24 if not given.' }),
  ),
  canary_percent: Type.Optional(
    integer({
      maximum: 0,
      description: '0: takes a first part of the recipients away, with which there can be no test.',
    }),
  ),
});
const ByUtr = Type.Object({ utr: identifier('The single send.') });
const DecideBody = Type.Object({
  utr: identifier('The single send.'),
  variant: integer({ maximum: MAX_VARIANTS, description: 'The number of the variant: 0 is A.' }),
});

export const singleSendVariantRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  app.get(
    '/single-send/variants',
    {
      schema: {
        tags,
        summary: 'Read the A/B test of a single send, with the size of its groups and what it can find (addition)',
        querystring: ByUtr,
        response: successWith({
          ab_test: { ...nullable(AbTestSchema), description: 'Null: everybody gets the same mail.' },
          plan: { ...nullable(PlanSchema), description: 'What the test would be now; null without one.' },
        }),
      },
    },
    async (request) => {
      const send = requireSingleSend(deps.db, request.accountId, request.query.utr);
      const { ab_test } = send;
      const plan =
        ab_test === null ? null : await withinShare(request.accountId, () => planAbTest(deps, send, ab_test));
      return { status: 'success' as const, message: { ab_test, plan } };
    },
  );

  app.post(
    '/single/send/variants',
    {
      schema: {
        tags,
        summary: 'Give a single send variants to test, or take them away (addition)',
        description:
          'There are as many variants besides A as the longest list has items; without any the test is taken away. The single send stays a draft or queued.',
        body: SaveBody,
        response: successWith({ updated_at: isoTimestampSchema() }),
      },
    },
    async (request) => {
      const { utr, unchanged_since: since, canary_percent, ...given } = request.body;
      const test = { ab_test: givenTest(given), ...(canary_percent !== undefined && { canary_percent }) };
      const updated_at = saveAbTest(deps, request.accountId, utr, test, { ...request.actor, unchangedSince: since });
      return { status: 'success' as const, message: { updated_at } };
    },
  );

  app.post(
    '/single/send/variants/decide',
    {
      schema: {
        tags,
        summary: 'Choose the variant that the rest of the audience gets (addition)',
        description: 'At any time after the launch, until it is decided. It cannot be changed afterwards.',
        body: DecideBody,
        response: done,
      },
    },
    async (request) => {
      chooseWinner(deps, request.accountId, request.body.utr, request.body.variant);
      return { status: 'success' as const, message: 'Decided Successfully' };
    },
  );
};

type Given = Omit<Type.Static<typeof SaveBody>, 'utr' | 'unchanged_since' | 'canary_percent'>;

/** The test that a body describes; null without variants. */
function givenTest({ share = 20, winner_by = 'clicks', hours = 24, ...lists }: Given): AbTest | null {
  const { subjects = [], preheaders = [], sender_names = [], template_ids = [] } = lists;
  const count = Math.max(...[subjects, preheaders, sender_names, template_ids].map(({ length }) => length));
  const variants = Array.from({ length: count }, (_, at) => ({
    subject: subjects[at] ?? '',
    preheader: preheaders[at] ?? '',
    sender_name: sender_names[at] ?? '',
    // What is no id is no template either.
    template_id: template_ids[at] ? recordId(template_ids[at]) || -1 : 0,
  }));
  return count === 0 ? null : { variants, share, winner_by, hours };
}
