/** The pages that sender nodes have, as rows: what a restart leaves with its node, and acceptances that come late. */
import t from 'tap';
import { mailingCounters } from '../../../fixtures/mailing-counters.ts';
import { DELIVERY_STATE } from '../../../src/database/schema/index.ts';
import { enqueueRecipients } from '../../../src/delivery/queue/enqueue-recipients.ts';
import { Ledger } from '../../../src/delivery/queue/ledger/ledger.ts';
import { NodePages } from '../../../src/delivery/queue/ledger/node-pages.ts';
import { ACCEPTED, launch, Relay } from '../../support/launched-mailing.ts';

const { queued, sending, accepted } = DELIVERY_STATE;
const neverFails = (_id: number, error: unknown) => {
  throw error;
};

async function claimed(t: Parameters<typeof launch>[0], people: number) {
  const started = await launch(t, people, new Relay(() => ACCEPTED));
  const client = started.db.$client;
  while (await enqueueRecipients(client, 1, () => true));
  const ledger = new Ledger(client, 'UTC');
  const { claims } = ledger.claim(
    { id: 1, is_canary: 0 },
    { fields: ['email'], tracking: 'person' },
    people,
    Number.MAX_SAFE_INTEGER,
    1,
  );
  const states = () => started.rows().map(({ state }) => state);
  return { ...started, client, ledger, claims, states, pages: new NodePages(client), ids: claims.map(({ id }) => id) };
}

t.test('a restart leaves with a node what it has, and puts back what nobody has', async (t) => {
  const { ledger, pages, ids, states, claims } = await claimed(t, 4);
  const id = pages.add('run', 1, ids.slice(0, 3));
  t.equal(ledger.recover(2, true), 1);
  t.strictSame(states(), [sending, sending, sending, queued]);
  const [page, ...others] = pages.load();
  t.equal(others.length, 0);
  t.match(page, { id, run: 'run', mailing: { id: 1, owner_kind: 'single' } });
  t.strictSame(
    page?.claims.map(({ attempt, normalized_email }) => [attempt, normalized_email]).sort(),
    claims
      .slice(0, 3)
      .map(({ attempt, normalized_email }) => [attempt, normalized_email])
      .sort(),
  );
  t.equal(ledger.recover(2, false), 3, 'without nodes all go back');
  t.strictSame(pages.load(), []);
});

t.test(
  'a recipient who is on two pages belongs to the newer one, and pages that are reported are removed',
  async (t) => {
    const { ledger, pages, ids, claims, client } = await claimed(t, 3);
    const [first = 0, second = 0, third = 0] = ids;
    pages.add('old', 1, [first, second]);
    const newer = pages.add('new', 1, [first]);
    pages.add('done', 1, [third]);
    ledger.requeue(claims.slice(2).map((claim) => ({ claim, due_at: 0 })));
    t.strictSame(
      pages.load().map(({ id, run, claims: left }) => [id === newer, run, left.map(({ id }) => id)]),
      [
        [true, 'new', [first]],
        [false, 'old', [second]],
      ],
    );
    t.equal(client.prepare('SELECT count(*) FROM node_pages').pluck().get(), 2);
  },
);

t.test('a late acceptance ends a delivery that is queued again or with another node, once', async (t) => {
  const { ledger, pages, ids, claims, states, client, mailing } = await claimed(t, 3);
  ledger.requeue(claims.slice(0, 1).map((claim) => ({ claim, due_at: 0 })));
  const late = ids.map((id) => ({ id, reply: '250 taken' }));
  t.strictSame(pages.acceptLate(late.slice(0, 2), 5, neverFails), ids.slice(0, 2));
  t.strictSame(pages.acceptLate(late.slice(0, 2), 5, neverFails), []);
  t.strictSame(states(), [accepted, accepted, sending]);
  t.match(mailing(), { delivered: 2, triggered: 3 });
  ledger.requeue(claims.map((claim) => ({ claim, due_at: 0 })));
  t.strictSame(states(), [accepted, accepted, queued], 'the other node reports nothing that counts');
  for (const { name, kept, right } of mailingCounters(client)) t.strictSame(kept, right, name);
});

t.test('the position in the stream of reports is kept', async (t) => {
  const { pages, client } = await claimed(t, 1);
  t.equal(pages.position(), '');
  pages.savePosition('a:7');
  pages.savePosition('a:8');
  t.equal(new NodePages(client).position(), 'a:8');
});
