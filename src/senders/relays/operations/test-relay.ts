/**
 * The operation that tests a stored SMTP relay (addition), for operators: how far a mail would get, with the server's last reply if the
 * test failed.
 */
import { and, isNull } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { asciiAddress } from '../../../audience/contacts/addresses.ts';
import { ownedRecord } from '../../../database/ownership.ts';
import { senders } from '../../../database/schema/index.ts';
import { inTransaction } from '../../../database/transaction.ts';
import { findPublicUrl } from '../../../delivery/links/public-url.ts';
import { recordRelayTest } from '../../../delivery/queue/relay-use.ts';
import { relayOf } from '../../../delivery/transport/relays/in-use.ts';
import { diagnose } from '../../../delivery/transport/relays/relay-diagnosis.ts';
import { TRIAL_STAGES, tryRelay } from '../../../delivery/transport/relays/try-relay.ts';
import { heloName } from '../../../delivery/transport/smtp/helo.ts';
import { conflict } from '../../../errors/failure.ts';
import { sentence } from '../../../errors/sentences.ts';
import { codeOf } from '../../../errors/stored.ts';
import { choice, findingFields, identifier, nullable, optionalIdentifier } from '../../../http/requests/schemas.ts';
import { type Context, operation } from '../../../operations/operation.ts';
import { auditBy } from '../../../users/audit.ts';
import { requireRelay } from './relays.ts';

const Test = Type.Object(
  {
    stage: {
      ...choice(...TRIAL_STAGES),
      description: 'The step that failed; done: no step failed, and an e-mail would be accepted.',
    },
    from: Type.String({ description: 'The sender that the server was asked about.' }),
    to: Type.String({ description: 'The recipient that the server was asked about: the user who is signed in.' }),
    ...findingFields,
    reply: nullable(
      Type.String({ description: 'What the server said, or why it said nothing; null after a passed test.' }),
    ),
  },
  { description: 'What the test found.' },
);

export type RelayTest = Static<typeof Test>;

/** The databases whose relays are being tested. */
const testing = new WeakSet<Context['db']>();

export const testRelay = operation({
  name: 'Test an SMTP server: connect, log in, and ask whether it would take an e-mail (addition)',
  description:
    'Asks about an e-mail from a sender to the user who is signed in, and sends no e-mail. One test runs at a time, for less than half a minute.',
  role: 'owner',
  isForOperators: true,
  input: Type.Object({
    id: identifier('The SMTP server.'),
    sender_id: optionalIdentifier('The sender to ask about; without an id, the user who is signed in.'),
  }),
  output: Type.Object({ test: Test }),
  check(context, { sender_id: id }, errors) {
    if (id) errors.reference('sender_id', () => findSender(context, id) !== undefined);
  },
  async run(context, { id, sender_id }) {
    const { db, config, clock, actor } = context;
    const row = requireRelay(db, id);
    if (testing.has(db)) throw conflict(sentence('relay_test_under_way'));
    testing.add(db);
    try {
      const to = asciiAddress(String(actor.name)) ?? '';
      const sender = sender_id ? findSender(context, sender_id) : undefined;
      const address = (sender && asciiAddress(sender.from_email)) ?? to;
      const relay = relayOf(db.$client, row);
      const from = config.BOUNCE_DOMAIN === '' ? address : `bounce@${config.BOUNCE_DOMAIN}`;
      const name = await heloName(config.SMTP_HELO, findPublicUrl(db.$client, config).url);
      const trial = await tryRelay(relay, { from, to, name });
      const reply = trial.outcome?.reply ?? null;
      inTransaction(db, () => {
        recordRelayTest(db.$client, row.id, reply, clock.now().getTime());
        auditBy(context, 'relay_tested', row.name);
      });
      const diagnosis = diagnose(trial, relay);
      const test = { stage: trial.stage, from, to, ...diagnosis, code: codeOf(diagnosis.found), reply };
      return { test };
    } finally {
      testing.delete(db);
    }
  },
});

function findSender({ db, accountId }: Context, id: unknown) {
  return db
    .select({ from_email: senders.from_email })
    .from(senders)
    .where(and(ownedRecord(senders, id, accountId), isNull(senders.deleted_at)))
    .get();
}
