/**
 * Operations for warming up sender domains (additions to the contract): a limited number of mails per day that grows daily
 * until a volume is reached.
 */
import Type, { type Static } from 'typebox';
import { asciiDomain } from '../../audience/contacts/addresses.ts';
import { inTransaction } from '../../database/transaction.ts';
import { DEFAULT_PLAN, listWarmUps, removeWarmUp, saveWarmUp, WARM_UP_STATES } from '../../delivery/warm-up/plans.ts';
import { invalid, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { choice, integer, line } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { dayOf, isDay } from '../../time/clock.ts';
import { addDays } from '../../time/zones.ts';
import { auditBy } from '../../users/audit.ts';
import { listSenderDomains } from '../domains.ts';

/** How many days before or after today a plan may start. */
const YEAR = 365;

const fields = {
  starts_on: () => line({ description: 'First day, YYYY-MM-DD, UTC.' }),
  volume: () => integer({ minimum: 10, maximum: 1_000_000, description: 'E-mails of the first day.' }),
  growth: () =>
    integer({ minimum: 10, maximum: 100, description: 'The growth in percent after each day on which mail was sent.' }),
  until_volume: () =>
    integer({
      minimum: 11,
      maximum: 10_000_000,
      description: 'The plan ends when a day would allow this number of e-mails: what the domain sends on a usual day.',
    }),
};

const WarmUp = Type.Object({
  domain: Type.String({ description: 'Domain that senders write from.' }),
  starts_on: fields.starts_on(),
  volume: fields.volume(),
  growth: fields.growth(),
  until_volume: fields.until_volume(),
  state: {
    ...choice(...WARM_UP_STATES),
    description: 'waiting: the first day has not come; on: the plan limits mail; over: it no longer limits mail.',
  },
  today: integer({ description: 'The number of e-mails that may be sent today, UTC; 0 unless the plan is on.' }),
  sent_today: integer({ description: 'How many of these e-mails were sent or are being handed over.' }),
  ends_on: Type.String({ description: 'The day on which the plan is over if all e-mails of each day are sent.' }),
});

/** The part of a report about recipients who wait for another day. */
export const WarmUpWait = Type.Object({
  domain: Type.String({ description: 'The domain of the sender, which is being warmed up.' }),
  today: integer({ description: 'The number of e-mails that may be sent from the domain today, UTC.' }),
  sent_today: integer({ description: 'How many of these e-mails were sent or are being handed over.' }),
  waiting: integer({ description: 'How many recipients of single sends from this domain have no mail yet.' }),
  expected_on: Type.String({
    description: 'The day on which the last of these recipients should get mail, YYYY-MM-DD.',
  }),
});

const domain = line({ description: 'The domain of a sender’s address.' });

export type WarmUp = Static<typeof WarmUp>;

export const readWarmUps = operation({
  name: 'List the sender domains that are being warmed up (addition)',
  role: 'owner',
  isReading: true,
  input: Type.Object({}),
  output: Type.Object({ warm_ups: Type.Array(WarmUp, { description: 'The domains with a plan.' }) }),
  run: ({ db, clock, accountId }) => ({ warm_ups: listWarmUps(db.$client, accountId, clock.now()) }),
});

export const changeWarmUp = operation({
  name: 'Start warming a sender domain up, or change its plan (addition)',
  description: `On each day, no more mail is sent from the domain than the plan allows: by default ${DEFAULT_PLAN.volume} e-mails on the first day, and ${DEFAULT_PLAN.growth} % more on each following day. A change keeps the counts of past days.`,
  role: 'owner',
  input: Type.Object({
    domain,
    starts_on: Type.Optional(fields.starts_on()),
    volume: Type.Optional(Type.Unsafe<number>({ ...fields.volume(), empty: DEFAULT_PLAN.volume })),
    growth: Type.Optional(Type.Unsafe<number>({ ...fields.growth(), empty: DEFAULT_PLAN.growth })),
    until_volume: fields.until_volume(),
  }),
  run(context, { volume = DEFAULT_PLAN.volume, growth = DEFAULT_PLAN.growth, until_volume, ...fields }) {
    const { db, config, clock, accountId } = context;
    const today = dayOf(clock.now());
    const starts_on = fields.starts_on || today;
    const domain = asciiDomain(fields.domain);
    const known = listSenderDomains(db, config, accountId).some((sender) => sender.domain === domain);
    if (domain === null || !known) throw invalid('domain', sentence('warm_up_no_sender'));
    if (!isDay(starts_on) || starts_on < addDays(today, -YEAR) || starts_on > addDays(today, YEAR))
      throw invalid('starts_on', sentence('warm_up_day'));
    if (until_volume <= volume) throw invalid('until_volume', sentence('warm_up_until'));
    const save = () => {
      saveWarmUp(db.$client, accountId, domain, { starts_on, volume, growth, until_volume });
      auditBy(context, 'warm_up_saved', domain);
    };
    inTransaction(db, save);
  },
});

export const stopWarmUp = operation({
  name: 'Stop warming a sender domain up (addition)',
  description: 'Mail that waits because of the plan may be sent at once. The counts of its days are removed.',
  role: 'owner',
  input: Type.Object({ domain }),
  run(context, input) {
    const { db, accountId } = context;
    const domain = asciiDomain(input.domain) ?? '';
    const stop = () => {
      if (!removeWarmUp(db.$client, accountId, domain)) throw notFound();
      auditBy(context, 'warm_up_stopped', domain);
    };
    inTransaction(db, stop);
  },
});
