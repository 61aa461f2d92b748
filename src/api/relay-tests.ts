/** The test of a relay kept in the file (addition), for operators: how far a mail would get, in the server's own words. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { and, isNull } from 'drizzle-orm';
import Type from 'typebox';
import { asciiAddress } from '../audience/contacts/addresses.ts';
import { ownedRecord } from '../database/ownership.ts';
import { senders } from '../database/schema/index.ts';
import { publicAddress } from '../delivery/links/public-address.ts';
import { recordRelayTest } from '../delivery/queue/relay-use.ts';
import { diagnose } from '../delivery/transport/relays/diagnosis.ts';
import { relayOf } from '../delivery/transport/relays/in-use.ts';
import { TRIAL_STAGES, tryRelay } from '../delivery/transport/relays/trial.ts';
import { heloName } from '../delivery/transport/smtp/helo.ts';
import type { Deps } from '../deps.ts';
import { conflict } from '../failure.ts';
import { choice, identifier, nullable, optionalIdentifier, successWith } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentenceCode } from '../sentences.ts';
import { audit } from '../users/audit.ts';
import { requireRelay } from './relays.ts';

const Test = Type.Object(
  {
    stage: { ...choice(...TRIAL_STAGES), description: 'How far it came; done: a mail would be taken.' },
    from: Type.String({ description: 'The sender it was asked about.' }),
    to: Type.String({ description: 'The recipient it was asked about: who is signed in.' }),
    found: Type.String({ description: 'What was found.' }),
    code: nullable(Type.String({ description: 'What was found, for programs.' })),
    advice: Type.Array(Type.String(), { description: 'What to do, in lines.' }),
    reply: nullable(
      Type.String({ description: 'What the server said, or why it said nothing; null where all is well.' }),
    ),
  },
  { description: 'What the test found.' },
);

const TestBody = Type.Object({
  id: identifier('The relay.'),
  sender_id: optionalIdentifier('The sender to ask about; without it, who is signed in.'),
});

export const relayTestRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock }) => {
  let isTesting = false;

  app.post(
    '/relays/test',
    {
      schema: {
        tags: ['Installation'],
        summary: 'Test a relay: connect, log in, and ask whether it would take a mail (addition)',
        description:
          'Asks about a mail from a sender to the person who is signed in, and sends none. One test at a time, of less than half a minute.',
        body: TestBody,
        response: successWith({ test: Test }),
      },
      config: {
        isForOperators: true,
        check: check(TestBody, ({ sender_id: id }, errors, { accountId }) => {
          if (id) errors.reference('sender_id', () => findSender(accountId, id) !== undefined);
        }),
      },
    },
    async ({ body, accountId, actor }) => {
      const row = requireRelay(db, body.id);
      if (isTesting) throw conflict(SENTENCES.relay_test_under_way);
      isTesting = true;
      try {
        const to = asciiAddress(actor.name) ?? '';
        const sender = body.sender_id ? findSender(accountId, body.sender_id) : undefined;
        const from = (sender && asciiAddress(sender.from_email)) ?? to;
        const relay = relayOf(db.$client, row);
        const envelope = config.BOUNCE_DOMAIN === '' ? from : `bounce@${config.BOUNCE_DOMAIN}`;
        const name = await heloName(config.SMTP_HELO, publicAddress(db.$client, config).url);
        const trial = await tryRelay(relay, { from: envelope, to, name });
        const reply = trial.outcome?.reply ?? null;
        const now = clock.now();
        db.transaction(
          () => {
            recordRelayTest(db.$client, row.id, reply, now.getTime());
            audit(db, { accountId, actor, action: 'relay_tested', subject: row.name }, now);
          },
          { behavior: 'immediate' },
        );
        const diagnosis = diagnose(trial, relay);
        const test = {
          stage: trial.stage,
          from: envelope,
          to,
          ...diagnosis,
          code: sentenceCode(diagnosis.found),
          reply,
        };
        return { status: 'success' as const, message: { test } };
      } finally {
        isTesting = false;
      }
    },
  );

  function findSender(accountId: number, id: unknown) {
    return db
      .select({ from_email: senders.from_email })
      .from(senders)
      .where(and(ownedRecord(senders, id, accountId), isNull(senders.deleted_at)))
      .get();
  }
};
