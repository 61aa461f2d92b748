/** A single send whose results are looked at, and what its relay was given. */
import type { Test } from 'tap';
import type { Outcome } from '../../../src/delivery/transport/courier.ts';
import { replyOutcome } from '../../../src/delivery/transport/smtp/outcome.ts';
import { ACCEPTED, Relay } from '../../support/launched-mailing.ts';
import { createSend, RECALL, readyToSend, sendReport } from '../../support/single-sends.ts';

export const UNKNOWN = replyOutcome('rcpt', { code: 550, text: '5.1.1 no such user' });
export const DOMAINS = 10;
/** The usual number of people: enough for a first batch, which has at least 300 of them. */
export const PEOPLE = 1200;

interface Given {
  people?: number;
  answer?: (to: string) => Outcome;
  canary?: Record<string, number>;
  /** True if sends of the account without a canary are held, too. */
  holdsAll?: boolean;
  settings?: Record<string, string>;
}

/** A single send to people at ten domains, begun, and what its relay was given. */
export async function begun(
  t: Test,
  {
    people = PEOPLE,
    answer = () => ACCEPTED,
    canary = { canary_percent: 5 },
    holdsAll = false,
    settings = {},
  }: Given = {},
) {
  const relay = new Relay((to) => (to.endsWith('@example.com') ? ACCEPTED : answer(to)));
  const { app, body } = await readyToSend(t, settings, () => relay);
  // The mail that verifies the sender.
  relay.started.length = 0;
  await app.one.call('POST', '/contacts-type/add', { form: { name: 'Everybody' } });
  const numbers = `WITH RECURSIVE n(at) AS (SELECT 0 UNION ALL SELECT at + 1 FROM n WHERE at + 1 < ${people})`;
  app.db.exec(`
    INSERT INTO addresses (user_id, normalized_email) ${numbers}
      SELECT 1, 'p' || at || '@d' || (at * ${DOMAINS} / ${people}) || '.example' FROM n ORDER BY at;
    INSERT INTO contacts (user_id, contact_type_id, address_id, first_name, email, country_id, created_at, updated_at)
      SELECT 1, 2, id, 'P', normalized_email, 1, '', '' FROM addresses WHERE normalized_email GLOB 'p*@d*' ORDER BY id`);
  if (holdsAll) await app.one.call('POST', '/sending/limits/save', { form: { auto_hold: 1 } });
  const utr = await createSend(app, { ...body, recipient_id: ['contacts_2'], ...canary });
  const act = async (action: string) =>
    (await app.one.call('POST', `/single/send/${action}`, { query: { utr } })).status;
  const pass = async (ms: number) => {
    app.clock.advance(ms);
    await app.background();
  };
  return { app, relay, utr, act, pass, report: () => sendReport(app, utr), started: () => new Set(relay.started) };
}

/** The send after its first mails. */
export async function begunAndRun(t: Test, given: Given = {}) {
  const send = await begun(t, given);
  await send.pass(RECALL);
  return send;
}
