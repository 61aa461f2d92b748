/** People who unsubscribe on the pages of nodes while nodes send to them. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import Database from 'better-sqlite3';
import t from 'tap';
import { linkSecrets } from '../../src/delivery/links/secrets.ts';
import { createLinkTokens } from '../../src/delivery/links/tokens.ts';
import { skipWithout } from '../support/tools.ts';
import type { Taken } from './reckoning.ts';
import { FleetSend } from './rig.ts';
import { open } from './world.ts';

const PEOPLE = 1500;
/** After they are in the file: by then nodes know them, and what was in flight has ended. */
const SETTLED_MS = 4000;
const NOBODY = {
  findEmail: () => undefined,
  unsigned: { deliveries: 0, mailings: 0, addresses: 0 },
  sealsAddress: true,
};

t.test(
  'who unsubscribes on a node during a send gets nothing that was not begun, from none of four nodes',
  { skip: skipWithout('nats') },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: PEOPLE, rate: 150, nodes: 4 });
    await send.start();
    await send.until(async () => (await send.taken()) > 150);
    const client = new Database(join(send.service.folder, 'test.db'));
    t.teardown(async () => void client.close());
    const tokens = createLinkTokens(linkSecrets(client), NOBODY);
    // Some that nodes have already, and some that still wait.
    const leaving = [1, 0].flatMap((state) =>
      client
        .prepare<[number], { delivery: number; address: number; email: string }>(
          `SELECT d.id AS delivery, address_id AS address, normalized_email AS email FROM deliveries d
           JOIN addresses a ON a.id = d.address_id WHERE state = ? ORDER BY d.id DESC LIMIT 40`,
        )
        .all(state),
    );
    const origins = send.nodes.map(({ lines }) => {
      const line = lines.find((text) => text.includes('"origin"')) ?? '{}';
      return String(JSON.parse(line).origin);
    });
    const answers = await Promise.all(
      leaving.map(({ delivery, address, email }, at) => {
        const { unsubscribe } = tokens.recipient({ delivery, mailing: 1, address, email, group: 0, user: 1 });
        return open(`${origins[at % origins.length]}/u/${unsubscribe}`, { form: 'none' });
      }),
    );
    t.strictSame([...new Set(answers.map(({ status }) => status))], [200]);
    await send.until(() => send.read('SELECT count(*) AS n FROM unsubscribers').n === leaving.length);
    await setTimeout(SETTLED_MS);
    const emails = new Set(leaving.map(({ email }) => email));
    const accepted = async () => (await send.relay.ask<Taken[]>('taken')).filter(({ to }) => emails.has(to)).length;
    const suppressed = client.prepare<[], number>('SELECT count(*) FROM deliveries WHERE state = 5').pluck();
    const before = await accepted();
    t.ok(before < leaving.length, `${before} of ${leaving.length} were begun before`);
    await send.relay.pace(0);
    await send.until(() => send.isOver());
    t.equal(await accepted(), before, 'none was begun later');
    t.equal(suppressed.get(), leaving.length - before, 'each of the others has its reason');
    t.equal(await send.taken(), PEOPLE - leaving.length + before, 'the relay got as many as the ledger says');
  },
);
