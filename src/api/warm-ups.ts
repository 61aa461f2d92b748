/** Warming sender domains up (additions): so many mails a day, more each day, until a volume is reached. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { asciiDomain } from '../audience/contacts/addresses.ts';
import { dayAfter, dayOf } from '../delivery/warm-up/plan.ts';
import { listWarmUps, removeWarmUp, saveWarmUp, WARM_UP_STATES } from '../delivery/warm-up/store.ts';
import type { Deps } from '../deps.ts';
import { invalid, notFound } from '../failure.ts';
import { choice, done, integer, line, successWith } from '../http/requests/schemas.ts';
import { listSenderDomains } from '../senders/domains.ts';
import { SENTENCES } from '../sentences.ts';
import { audit } from '../users/audit.ts';

/** docs/sending-well.md says why. */
const DEFAULT_VOLUME = 50;
const DEFAULT_GROWTH = 50;
const YEAR = 365;

const fields = {
  starts_on: () => line({ description: 'First day, YYYY-MM-DD, UTC.' }),
  volume: () => integer({ minimum: 10, maximum: 1_000_000, description: 'Mails of the first day.' }),
  growth: () => integer({ minimum: 10, maximum: 100, description: 'So many percent more on each day that was used.' }),
  until_volume: () =>
    integer({
      minimum: 11,
      maximum: 10_000_000,
      description: 'It is over on the day that would have so many mails: what the domain sends on a usual day.',
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
    description: 'waiting: its first day has not come; on: it limits what leaves; over: it limits nothing any more.',
  },
  today: integer({ description: 'How many mails may leave today, UTC; 0 unless it is on.' }),
  sent_today: integer({ description: 'How many of them have left or are being handed over.' }),
  ends_on: Type.String({ description: 'The day on which it is over if each day before has all of its mails.' }),
});

/** Of a report: why people wait for another day. */
export const WarmUpWait = Type.Object({
  domain: Type.String({ description: 'The domain of the sender, which is being warmed up.' }),
  today: integer({ description: 'How many mails may leave from it today, UTC.' }),
  sent_today: integer({ description: 'How many of them have left or are being handed over.' }),
  waiting: integer({ description: 'How many recipients of single sends from this domain have no mail yet.' }),
  expected_on: Type.String({ description: 'The day on which the last of them is expected to get it, YYYY-MM-DD.' }),
});

const tags = ['Senders'];
const config = { role: 'owner' } as const;
const SaveBody = Type.Object({
  domain: line({ description: 'The domain of a sender’s address.' }),
  starts_on: Type.Optional(fields.starts_on()),
  volume: Type.Optional(Type.Unsafe<number>({ ...fields.volume(), empty: DEFAULT_VOLUME })),
  growth: Type.Optional(Type.Unsafe<number>({ ...fields.growth(), empty: DEFAULT_GROWTH })),
  until_volume: fields.until_volume(),
});

export const warmUpRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config: settings, clock }) => {
  app.get(
    '/senders/warm-ups',
    {
      schema: {
        tags,
        summary: 'List the sender domains that are being warmed up (addition)',
        response: successWith({ warm_ups: Type.Array(WarmUp, { description: 'The domains with a plan.' }) }),
      },
      config,
    },
    async ({ accountId }) => {
      const warm_ups = listWarmUps(db.$client, accountId, clock.now());
      return { status: 'success' as const, message: { warm_ups } };
    },
  );

  app.post(
    '/senders/warm-ups/save',
    {
      schema: {
        tags,
        summary: 'Warm a sender domain up, or change how (addition)',
        description:
          'No more mail leaves from it on a day than the plan has; 50 mails on the first day and 50 % more on each next one, unless it is said. Days that were used stay used.',
        body: SaveBody,
        response: done,
      },
      config,
    },
    async ({ accountId, actor, body }) => {
      const today = dayOf(clock.now());
      const { volume = DEFAULT_VOLUME, growth = DEFAULT_GROWTH, until_volume } = body;
      const starts_on = body.starts_on || today;
      const domain = asciiDomain(body.domain);
      const known = listSenderDomains(db, settings, accountId).some((one) => one.domain === domain);
      if (domain === null || !known) throw invalid('domain', SENTENCES.warm_up_no_sender);
      if (!isDay(starts_on) || starts_on < dayAfter(today, -YEAR) || starts_on > dayAfter(today, YEAR))
        throw invalid('starts_on', SENTENCES.warm_up_day);
      if (until_volume <= volume) throw invalid('until_volume', SENTENCES.warm_up_until);
      const save = () => {
        saveWarmUp(db.$client, accountId, domain, { starts_on, volume, growth, until_volume });
        audit(db, { accountId, actor, action: 'warm_up_saved', subject: domain }, clock.now());
      };
      db.transaction(save, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.post(
    '/senders/warm-ups/stop',
    {
      schema: {
        tags,
        summary: 'Stop warming a sender domain up (addition)',
        description: 'All that waits for it may leave at once. What was used of it is forgotten.',
        body: Type.Object({ domain: line({ description: 'The domain of a sender’s address.' }) }),
        response: done,
      },
      config,
    },
    async ({ accountId, actor, body }) => {
      const domain = asciiDomain(body.domain) ?? '';
      const stop = () => {
        if (!removeWarmUp(db.$client, accountId, domain)) throw notFound();
        audit(db, { accountId, actor, action: 'warm_up_stopped', subject: domain }, clock.now());
      };
      db.transaction(stop, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(new Date(text)) === text;
}
