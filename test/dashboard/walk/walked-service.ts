/** A listening service with a filled and an empty account, for walks through every screen in a browser. */
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { writePacedGroups } from '../../../src/delivery/pacing/paced-groups.ts';
import { type Caller, startApp, type TestApp } from '../../support/app.ts';
import { mustSucceed } from '../../support/campaign.ts';
import { fillAccount, type Naming } from '../../support/dashboard/filled-account.ts';
import { fillDrafts } from '../../support/dashboard/filled-drafts.ts';
import { fillMailings } from '../../support/dashboard/filled-mailings.ts';
import { fillRest } from '../../support/dashboard/filled-rest.ts';
import { fillTransactional } from '../../support/dashboard/filled-transactional.ts';
import { gallery } from '../../support/dashboard/gallery.tsx';
import { addPerson, callerOf, cookieOf } from '../../support/people.ts';
import { MAILGUN_KEY, mailgun, makeIntake, post } from '../../support/provider-events.ts';
import { addNode } from '../../support/sender-nodes.ts';
import { addLoggedWebhooks } from '../../support/webhooks/logged-webhooks.ts';
import type { Screen } from './screens.ts';

export interface WalkedService {
  app: TestApp;
  origin: string;
  /** The cookies of the accounts' owners. */
  cookies: { filled: string; empty: string };
  /** The address of a screen. */
  addressOf(screen: Pick<Screen, 'path'>): string;
}

/** Starts it; `naming` says what the records are called, `courier` whether campaign mail leaves from sender nodes or over a relay. */
export async function startWalked(
  t: Test,
  naming: Naming,
  courier: 'nodes' | 'relay' = 'nodes',
): Promise<WalkedService> {
  const nodes = courier === 'nodes' ? { NATS_URL: 'nats://127.0.0.1:4222' } : {};
  const app = await startApp(t, { ...nodes, SENDER_VERIFICATION: 'optional' });
  await app.fastify.register(gallery);
  const records: Record<string, string> = {
    utr: await fillAccount(t, app, naming),
    ...(await fillRest(t, app, naming)),
    ...(await fillDrafts(t, app, naming)),
    // Last, because the background would end the mailing that is shown while it is under way.
    ...(await fillMailings(t, app, naming)),
  };
  const ada = addPerson(app, 'owner', { name: 'Ada' });
  await slowDown(t, app, callerOf(app, ada), records.sending);
  const relay = { name: naming('Main relay'), host: '127.0.0.1', port: 1, security: 'none' };
  const added = await mustSucceed(t, callerOf(app, ada))('/relays/save', relay);
  records.relay = String((added as { id: number }).id);
  records.transactional = fillTransactional(app, naming);
  records.webhook = String(await addLoggedWebhooks(app));
  await makeIntake(t, app.one, 'ses');
  const mailgunPath = await makeIntake(t, app.one, 'mailgun', MAILGUN_KEY);
  await post(app, mailgunPath, mailgun(app, { event: 'complained', recipient: 'nobody@example.net' }));
  await post(app, mailgunPath, mailgun(app, { event: 'complained' }, { key: 'another key' }));
  addNode(app, { name: 'north' }, { accepted: 18_250, deferred: 12, refused: 3 });
  addNode(app, { name: 'south', rate: 4, load: 12 }, { ceiling: 1688, given: 1420, accepted: 1408 });
  addNode(app, {
    name: naming('east'),
    state: 'refused',
    refusal: '554 5.7.1 Client host [192.0.2.7] blocked by our list',
  });
  addNode(app, { name: 'west', version: '0.0.9', state: 'draining', rate: 2, load: 2 });
  const cookies = {
    filled: cookieOf(app, ada, 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'),
    empty: cookieOf(app, addPerson(app, 'owner', { name: 'Grace', accountId: 2 })),
  };
  await app.fastify.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.fastify.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  return {
    app,
    origin,
    cookies,
    addressOf: ({ path }) => origin + path.replaceAll(/(?<=\/):(\w+)/g, (_, name: string) => records[name] ?? name),
  };
}

/** Warms the domain of the first sender up, and has a provider ask for fewer mails of this single send. */
async function slowDown(t: Test, app: TestApp, owner: Caller, utr: string | undefined): Promise<void> {
  const [{ domain }] = (await owner.call('GET', '/senders/checks')).body.message.domains;
  await mustSucceed(t, owner)('/senders/warm-ups/save', { domain, until_volume: 5000 });
  const mailing = app.db
    .prepare<[string], number>(
      "SELECT m.id FROM mailings m JOIN single_sends s ON s.id = m.owner_id WHERE m.owner_kind = 'single' AND s.utr = ?",
    )
    .pluck()
    .get(utr ?? '');
  const now = app.clock.now().getTime();
  const limit = { relay_id: null, group: 'Google', rate: 3, refused: 6 };
  const times = { over_at: now + 600_000, forgotten_at: now + 3_600_000 };
  writePacedGroups(app.db, [{ ...limit, ...times, mailings: [mailing ?? 0] }]);
}
