/** The report of a single send, its recipients with their results, and test mails (additions). */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, eq, sql } from 'drizzle-orm';
import Type from 'typebox';
import { isAddress } from '../audience/contacts/address-rows.ts';
import { isoTimestamp } from '../clock.ts';
import { recordObject } from '../database/record-json.ts';
import { DELIVERY_STATE, deliveries, HELD_CODES, SINGLE_SEND_STATUS } from '../database/schema/index.ts';
import { pacedGroupsOf } from '../delivery/pacing/paced-groups.ts';
import { COMMON_HELD_CODES, reportedHold } from '../delivery/queue/held.ts';
import { mailingReport } from '../delivery/reporting/mailing-report.ts';
import { findLocalWait } from '../delivery/timing/local-times.ts';
import { findWaitsUntil } from '../delivery/timing/send-window.ts';
import { COURIERS, courierInUse } from '../delivery/transport/relays/in-use.ts';
import { abTestReport } from '../delivery/variants/report.ts';
import { findWarmUpWait } from '../delivery/warm-up/store.ts';
import { findWatch } from '../delivery/watch/watched-mailings.ts';
import type { Deps } from '../deps.ts';
import { designToken } from '../designs/designs.ts';
import { sendList } from '../http/list-response.ts';
import { operationRoutes } from '../http/operation-routes.ts';
import {
  choice,
  identifier,
  integer,
  isoTimestampSchema,
  line,
  listQuery,
  nullable,
  ShownDeliveryState,
  successWith,
  zeroOrOne,
} from '../http/requests/schemas.ts';
import { changesNothing } from '../operations/callers.ts';
import { WarmUpWait } from '../senders/operations/warm-ups.ts';
import { SENTENCES } from '../sentences.ts';
import { findSingleSendMailing, requireSingleSend } from '../single-sends/actions.ts';
import { testSingleSend } from '../single-sends/operations/shown-mails.ts';
import { Watch } from '../single-sends/operations/watch.ts';
import { mailWarnings } from '../templates/content-warnings.ts';
import { ContentWarnings } from '../templates/operations.ts';
import { ReportedAbTest, reportedAbTest } from './single-send-variants.ts';

const tags = ['Single sends'];

const ByUtr = Type.Object({ utr: identifier('The single send.') });
const stateNames = Object.entries(DELIVERY_STATE).map(([name, state]) => sql`WHEN ${state} THEN ${name}`);
const Recipient = Type.Object({
  id: integer(),
  email: Type.String(),
  contact_id: nullable(integer()),
  state: ShownDeliveryState,
  attempts: integer(),
  reply: nullable(Type.String()),
  opens: integer(),
  updated_at: nullable(Type.String()),
});

const PacedGroup = Type.Object({
  group: Type.String({ description: 'The name of a mail provider, or a domain.' }),
  per_minute: integer({ description: 'How many mails a minute it gets now, from all mailings.' }),
  until: Type.String({ description: 'When it may be over, if it takes all mails until then; UTC.' }),
});

const LocalWait = Type.Object({
  people: integer({ description: 'How many had not reached it, those included who have left since.' }),
  next_at: Type.String({ description: 'When the next of them reach it, UTC.' }),
  last_at: Type.String({ description: 'When the last of them reach it, UTC.' }),
});

const Hourly = Type.Array(Type.Object({ hour: Type.String(), count: integer() }));
const Report = Type.Object({
  status: integer(),
  held_code: nullable(choice(...HELD_CODES, ...COMMON_HELD_CODES)),
  held_reason: nullable(Type.String()),
  courier: choice(...COURIERS),
  tracking: zeroOrOne(),
  watch: {
    ...nullable(Watch),
    description: 'Of a send with a canary, or one that was held because of its results; null of others.',
  },
  paced: Type.Array(PacedGroup, {
    description:
      'Providers and domains that ask for fewer mails, for which recipients wait while it is sent (addition).',
  }),
  warm_up: {
    ...nullable(WarmUpWait),
    description: 'Why people wait for another day: the domain of the sender is being warmed up (addition).',
  },
  waits_until: {
    ...nullable(isoTimestampSchema()),
    description:
      'Until when it waits for the hours in which mail of the account leaves (addition); null when it does not.',
  },
  local_wait: {
    ...nullable(LocalWait),
    description: 'Whose own time it waits for (addition); null when it waits for nobody, or leaves at one moment.',
  },
  states: Type.Record(Type.String(), integer()),
  reasons: Type.Array(Type.Object({ state: Type.String(), reason: Type.String(), count: integer() })),
  opens_by_hour: Hourly,
  clicks_by_hour: Hourly,
  top_links: Type.Array(Type.Object({ url: Type.String(), clicks: integer() })),
  opens_by_class: Type.Object({ person: integer(), proxied: integer(), machine: integer() }),
  machine_opens: integer(),
  machine_clicks: integer(),
  design_url: Type.String(),
  warnings: ContentWarnings,
  funnel: Type.Object({
    recipients: integer(),
    triggered: integer(),
    delivered: integer(),
    kept: integer(),
    unmeasured: integer(),
    unique_opens: integer(),
    people_opens: integer(),
    unique_clicks: integer(),
    people_clicks: integer(),
    proxied_only: integer(),
    bounces: integer(),
    failed: integer(),
    suppressed: integer(),
    cancelled: integer(),
    unsubscribes: integer(),
  }),
  hours: Type.Array(
    Type.Object({
      hour: Type.String(),
      opens: integer(),
      machine_opens: integer(),
      proxied_opens: integer(),
      clicks: integer(),
      machine_clicks: integer(),
      bounces: integer(),
      unsubscribes: integer(),
    }),
  ),
  links: Type.Array(
    Type.Object({ number: integer(), url: Type.String(), clicks: integer(), machine_clicks: integer() }),
  ),
  ab_test: { ...nullable(ReportedAbTest), description: 'The A/B test; null: everybody got the same mail.' },
});

export const singleSendReportRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const { db, config, clock, tokens, publicUrl } = deps;

  app.get(
    '/single-send/report',
    {
      schema: {
        tags,
        summary: 'Read the report of a single send',
        querystring: ByUtr,
        response: successWith({ report: Report }),
      },
    },
    async (request) => {
      const send = requireSingleSend(db, request.accountId, request.query.utr);
      const mailing = findSingleSendMailing(db, send);
      const abTest = mailing === null ? null : await abTestReport(db.$client, mailing.id);
      const isUnderWay = send.status === SINGLE_SEND_STATUS.queued || send.status === SINGLE_SEND_STATUS.running;
      const isRunning = send.status === SINGLE_SEND_STATUS.running;
      // What is paused or held does not go on when the hours begin.
      const mayGoOn = mailing?.state === 'sending' || mailing?.state === 'enqueueing';
      const waits = mayGoOn ? findWaitsUntil(db, send.user_id, clock.now(), config.TIME_ZONE) : null;
      const report = {
        status: send.status,
        ...reportedHold(db.$client, [mailing, send], isUnderWay),
        courier: courierInUse(db.$client, config),
        tracking: send.tracking,
        watch: mailing === null ? null : findWatch(db.$client, mailing.id),
        paced: isUnderWay && mailing !== null ? pacedGroupsOf(db.$client, mailing.id, clock.now()) : [],
        warm_up: isUnderWay && mailing !== null ? findWarmUpWait(db.$client, mailing.sender_id, clock.now()) : null,
        waits_until: waits && isoTimestamp(waits),
        local_wait: isRunning && mailing !== null ? findLocalWait(db.$client, mailing.id, clock.now()) : null,
        ...mailingReport(db.$client, mailing?.id ?? 0),
        ab_test: abTest && reportedAbTest(abTest),
        warnings: await mailWarnings(db, send.user_id, send),
        design_url: changesNothing(request)
          ? ''
          : `${publicUrl()}/design/${designToken(tokens, 'single', send.utr, request.actor.userId ?? 0, clock.now())}`,
      };
      return { status: 'success' as const, message: { report } };
    },
  );

  const record = recordObject(Recipient, deliveries, {
    email: sql`ifnull((SELECT email FROM contacts WHERE id = ${deliveries.contact_id} AND address_id = ${deliveries.address_id}), normalized_email)`,
    state: sql`CASE WHEN ${deliveries.state} = ${DELIVERY_STATE.accepted} AND ${deliveries.reply} = ${SENTENCES.kept_in_outbox} THEN 'kept' ELSE CASE ${deliveries.state} ${sql.join(stateNames, sql` `)} END END`,
    attempts: sql`${deliveries.attempt}`,
    updated_at: sql`iif(${deliveries.updated_at} = 0, NULL, strftime('%Y-%m-%dT%H:%M:%S', ${deliveries.updated_at} / 1000, 'unixepoch') || '.000000Z')`,
  });

  app.get(
    '/single-send/recipients',
    {
      schema: {
        tags,
        summary: 'List the recipients of a single send with their results',
        querystring: Type.Object({
          ...ByUtr.properties,
          email: Type.Optional(line({ description: 'Only this address.' })),
          ...listQuery.properties,
        }),
        response: successWith({ recipients: Type.Array(Recipient) }),
      },
    },
    (request, reply) => {
      const { utr, email } = request.query;
      const mailing = findSingleSendMailing(db, requireSingleSend(db, request.accountId, utr));
      const where = and(
        eq(deliveries.mailing_id, mailing?.id ?? 0),
        isAddress(deliveries.address_id, request.accountId, email),
      );
      const from = sql`${deliveries} CROSS JOIN addresses ON addresses.id = ${deliveries.address_id}`;
      sendList(reply, db, 'recipients', { record, from, where, id: deliveries.id }, request.query);
    },
  );

  operationRoutes(app, deps, 'Single sends').change('POST /single/send/test', testSingleSend, (message) => message);
};
