/**
 * Measures what frequency caps cost a claim: without caps, and with caps after an account has sent 0, 10 or 100 mailings in the longest
 * period. Every contact has had two mails, and was skipped in the other mailings.
 *
 *   node scripts/bench/caps.ts [PEOPLE]
 */
import { join } from 'node:path';
import { changeMailCaps } from '../../src/database/accounts.ts';
import type { Db } from '../../src/database/open.ts';
import { DELIVERY_STATE } from '../../src/database/schema/index.ts';
import type { Claim } from '../../src/delivery/queue/candidates.ts';
import { continueEarlierMails } from '../../src/delivery/queue/ledger/earlier-mails.ts';
import { Ledger } from '../../src/delivery/queue/ledger/ledger.ts';
import { isoTimestamp } from '../../src/time/clock.ts';
import { DAY_MS } from '../../src/units.ts';
import { inFolder, makeDatabase, measureWork } from './measure.ts';
import { report, type Table } from './report.ts';

const people = Number(process.argv[2] ?? 50_000);
const PAGE = 500;
/** How many mails each contact has had. */
const RECEIVED = 2;
const now = Date.now();

/** Adds a mailing of account 1 to all contacts, with its deliveries in this state. */
function addMailing(db: Db, id: number, state: number, at: number): void {
  const time = isoTimestamp(new Date(at));
  const isDone = state !== DELIVERY_STATE.queued;
  db.$client
    .prepare(`
      INSERT INTO mailings (id, user_id, owner_kind, owner_id, unsubscribe_group_id, content, state, acknowledged_state, recipients, created_at, finished_at)
      VALUES (@id, 1, 'single', @id, 1, '{}', iif(@isDone, 'done', 'sending'), iif(@isDone, 'done', 'sending'), @people, @time, iif(@isDone, @time, NULL))`)
    .run({ id, people, time, isDone: Number(isDone) });
  db.$client
    .prepare(`
      INSERT INTO deliveries (mailing_id, address_id, contact_id, state, updated_at)
      SELECT ?, address_id, id, ?, ? FROM contacts ORDER BY address_id`)
    .run(id, state, isDone ? at : 0);
}

/** Claims all contacts of a new mailing after `recent` earlier ones, and records that their mails were accepted. Returns what this cost. */
async function send(db: Db, recent: number) {
  for (let number = 1; number <= recent; number++) {
    const state = number > recent - RECEIVED ? DELIVERY_STATE.accepted : DELIVERY_STATE.suppressed;
    addMailing(db, number, state, now - (1 + ((recent - number) % 28)) * DAY_MS);
  }
  if (recent > 0) changeMailCaps(db, 1, [{ mails: RECEIVED + 1, days: 31 }]);
  while (await continueEarlierMails(db.$client, now));
  const id = recent + 1;
  addMailing(db, id, DELIVERY_STATE.queued, now);
  const ledger = new Ledger(db.$client, 'UTC');
  const claims: Claim[] = [];
  let longest = 0;
  const claimed = await measureWork(people, () => {
    for (;;) {
      const from = performance.now();
      const page = ledger.claim({ id, is_canary: 0 }, { fields: ['first_name'], tracking: 'person' }, PAGE, now, now);
      longest = Math.max(longest, performance.now() - from);
      if (page.examined === 0) return;
      claims.push(...page.claims);
    }
  });
  const recorded = await measureWork(claims.length, () => {
    for (let from = 0; from < claims.length; from += PAGE)
      ledger.record(
        claims.slice(from, from + PAGE).map((claim) => ({
          ...{ id: claim.id, mailing_id: id, address_id: claim.address_id, user_id: 1, state: 'accepted' },
          ...{ reply: '250 2.0.0 ok', due_at: 0, suppress: false, is_unmeasured: 0, in_series: false },
        })),
        now,
        isoTimestamp(new Date(now)),
      );
  });
  const each = ({ cpuSeconds, units }: typeof claimed) => Math.round((cpuSeconds / units) * 1e7) / 10;
  return {
    claimed: claims.length,
    'claim, CPU µs each': each(claimed),
    'result, CPU µs each': each(recorded),
    'longest claim of 500, ms': Math.round(longest * 10) / 10,
  };
}

const table: Table = {};
for (const recent of [0, 10, 100])
  table[recent === 0 ? 'no caps' : `caps, ${recent} mailings`] = await inFolder(async (folder) => {
    const db = makeDatabase(join(folder, 'bench.db'), people);
    const costs = await send(db, recent);
    db.$client.close();
    return costs;
  });
report(table);
