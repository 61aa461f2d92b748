/** NATS loses all its disks in the middle of a send. */
import t from 'tap';
import { fetch } from 'undici';
import { ledgerProblems } from '../support/ledger-problems.ts';
import { skipWithout } from '../support/tools.ts';
import type { Taken } from './reckoning.ts';
import { FleetSend } from './rig.ts';

const PEOPLE = 1500;
/** Nodes begin nothing by then, and the service has recorded what it took. */
const STILL_MS = 3000;

t.test(
  'what NATS had on all its disks is lost during a send: nobody is left out, what was recorded is not sent again, and a new node knows the links',
  { skip: skipWithout('nats') },
  async (t) => {
    const send = await FleetSend.prepare(t, { people: PEOPLE, rate: 200, nodes: 2, servers: 3 });
    await send.start();
    await send.until(async () => (await send.taken()) > 300);
    const { servers } = send.nats;
    await Promise.all(servers.map((server) => server.end('SIGKILL')));
    const still = Date.now() + STILL_MS;
    await send.until(() => Date.now() > still);
    const recorded = Number(send.read('SELECT count(*) AS n FROM deliveries WHERE state = 2').n);
    const unrecorded = (await send.taken()) - recorded;
    for (const server of servers) server.wipe();
    await Promise.all(servers.map((server) => server.start()));
    t.notOk(send.isOver(), 'the loss landed inside the send');
    await send.relay.pace(0);

    const [, node] = send.nodes;
    const isReady = async () => {
      const origin = /"origin":"([^"]+)"/.exec(node?.lines.findLast((line) => line.includes('"origin"')) ?? '')?.[1];
      if (origin === undefined) return false;
      // A link that nobody made: 404 where the secrets are known, 503 before.
      return (await fetch(`${origin}/u/${'a'.repeat(60)}~a`)).status === 404;
    };
    await send.until(() => send.isOver());
    await node?.end('SIGTERM');
    node?.lines.splice(0);
    node?.start();
    await send.until(isReady);

    const taken = await send.relay.ask<Taken[]>('taken');
    const byRecipient = Map.groupBy(taken, ({ to }) => to);
    t.equal(byRecipient.size, PEOPLE, 'nobody is left out');
    const ids = new Set(taken.map(({ messageId }) => messageId));
    t.equal(ids.size, PEOPLE, 'a mail that is sent twice has the same Message-ID');
    const duplicates = taken.length - PEOPLE;
    t.ok(duplicates <= unrecorded, `${duplicates} duplicates, ${unrecorded} were handed over and not recorded`);
    t.same(
      ledgerProblems(PEOPLE, (sql) => send.read(sql)),
      [],
    );
  },
);
