/**
 * Reclassifies opens and clicks recorded by releases that distinguished only people and machines. The background thread reclassifies some
 * deliveries at a time. User agents were not stored, so only two things can be corrected: a late open by a "machine" came from an image
 * proxy, because those releases took the proxies of Apple, Google and Yahoo for machines; and bursts of hits by people came from a machine.
 */
import type { Database } from 'better-sqlite3';
import { inChunks } from '../../database/bulk.ts';
import { findNamedValue, removeNamedValue, writeNamedValue } from '../../database/named-values.ts';
import { BY_PERSON, MADE_BY } from '../../database/schema/index.ts';
import {
  addChange,
  type CountedEvent,
  type CounterChanges,
  counterWriter,
  type Engagement,
  eventCounter,
} from './event-counts.ts';
import { isTooSoonForPerson } from './readers.ts';
import { engagementOf, type RecordedHit, RecordedHits } from './recorded-hits.ts';

/** The working time of one call, in milliseconds. */
const BACKGROUND_MS = 20;
/** The number of deliveries without opens that take as much time as one delivery with opens. */
const ROWS_PER_OPENED = 10;
const UNFINISHED = 'hits_to_classify';

/**
 * The remaining work: deliveries with ids after `after` and up to `deliveries`, and their events with ids up to `events`. A migration
 * writes it.
 */
interface Unfinished {
  after: number;
  deliveries: number;
  events: number;
}

interface Delivery extends Engagement {
  id: number;
  mailing_id: number;
  address_id: number;
  owner_kind: string;
  updated_at: number;
}

/**
 * Reclassifies earlier opens and clicks for a short time. Returns true if there are more. Continues where it stopped, even after a crash.
 */
export async function continueReclassifying(client: Database): Promise<boolean> {
  if (findNamedValue(client, UNFINISHED) === null) return false;
  const until = performance.now() + BACKGROUND_MS;
  const recorded = new RecordedHits(client);
  let hasMore = true;
  await inChunks(client, (rows) => {
    hasMore = reclassifySome(client, recorded, Math.ceil(rows / ROWS_PER_OPENED));
    return hasMore && performance.now() < until;
  });
  return hasMore;
}

/** Reclassifies the hits of the next `rows` deliveries. Returns false when none are left. */
function reclassifySome(client: Database, recorded: RecordedHits, rows: number): boolean {
  const stored = findNamedValue(client, UNFINISHED);
  if (stored === null) return false;
  const unfinished: Unfinished = JSON.parse(stored);
  const last = client
    .prepare<[object], number | null>(
      'SELECT max(id) FROM (SELECT id FROM deliveries WHERE id > @after AND id <= @deliveries ORDER BY id LIMIT @rows)',
    )
    .pluck()
    .get({ ...unfinished, rows });
  if (last === null || last === undefined) {
    removeNamedValue(client, UNFINISHED);
    return false;
  }
  const deliveries = client
    .prepare<[object], Delivery>(`
    SELECT d.id, d.mailing_id, d.address_id, m.owner_kind, d.state, d.opened_at, d.opens, d.clicks, d.machine_hits, d.by_person, d.updated_at
    FROM deliveries d CROSS JOIN mailings m ON m.id = d.mailing_id
    WHERE d.id > @after AND d.id <= @last AND d.opens + d.clicks > 0 ORDER BY d.id`)
    .all({ after: unfinished.after, last });
  const events: CountedEvent[] = [];
  const changes: CounterChanges = new Map();
  for (const delivery of deliveries) events.push(...classify(client, recorded, delivery, unfinished.events, changes));
  eventCounter(client)(events);
  counterWriter(client)(changes);
  writeNamedValue(client, UNFINISHED, JSON.stringify({ ...unfinished, after: last }));
  return true;
}

/** Reclassifies the hits of one delivery. Returns the changes to the counts by hour and link. */
function classify(
  client: Database,
  recorded: RecordedHits,
  delivery: Delivery,
  lastEvent: number,
  changes: CounterChanges,
): CountedEvent[] {
  const before = recorded.of(delivery.id);
  const bursts = new Set(recorded.inBursts(delivery.mailing_id, before).map(({ id }) => id));
  const after = before.map((hit) => (hit.id > lastEvent ? hit : { ...hit, made_by: classOf(hit, delivery, bursts) }));
  const engagement = reclassified(delivery, after, lastEvent);
  recorded.write(delivery.id, engagement);
  addChange(changes, delivery.mailing_id, delivery, engagement);
  storeProxiedActivity(client, delivery, engagement, after);
  return after.flatMap(({ id, link, at, made_by, device }, place): CountedEvent[] => {
    const old = before[place]?.made_by;
    if (old === undefined || old === made_by) return [];
    recorded.classify(id, made_by);
    const event = {
      mailing: delivery.mailing_id,
      kind: link === null ? ('open' as const) : ('click' as const),
      link,
      device,
      at,
    };
    return [
      { ...event, by: old, times: -1 },
      { ...event, by: made_by },
    ];
  });
}

function classOf({ id, link, at, made_by }: RecordedHit, { updated_at }: Delivery, bursts: ReadonlySet<number>) {
  if (made_by === MADE_BY.person) return bursts.has(id) ? MADE_BY.machine : MADE_BY.person;
  return link === null && !isTooSoonForPerson(at, updated_at) ? MADE_BY.proxied : made_by;
}

/**
 * Returns the delivery's counters after reclassification. Earlier releases counted hits of machines as opens and clicks, so these are
 * subtracted. Hits whose events were removed since then stay counted as they were.
 */
function reclassified(delivery: Delivery, hits: readonly RecordedHit[], lastEvent: number): Engagement {
  const countMachineHits = (isClick: boolean) =>
    hits.filter(
      ({ id, link, made_by }) => id <= lastEvent && (link !== null) === isClick && made_by === MADE_BY.machine,
    ).length;
  const [opens, clicks] = [countMachineHits(false), countMachineHits(true)];
  const engagement = engagementOf(
    {
      ...delivery,
      opens: Math.max(0, delivery.opens - opens),
      clicks: Math.max(0, delivery.clicks - clicks),
      machine_hits: delivery.machine_hits + opens + clicks,
    },
    hits,
  );
  // Opens are counted, but no stored event shows who made them, so it is unknown whether a proxy did.
  const isUnknown = engagement.opens > 0 && (engagement.by_person & (BY_PERSON.opened | BY_PERSON.proxied)) === 0;
  return isUnknown ? { ...engagement, by_person: engagement.by_person | BY_PERSON.proxied } : engagement;
}

/** Stores when a proxy last loaded the images of one of the contact's mails, for segment rules about inactive contacts. */
function storeProxiedActivity(
  client: Database,
  { address_id, owner_kind }: Delivery,
  { by_person, opened_at }: Engagement,
  hits: readonly RecordedHit[],
): void {
  if ((by_person & BY_PERSON.proxied) === 0 || (owner_kind !== 'single' && owner_kind !== 'schedule')) return;
  const times = hits.filter(({ made_by }) => made_by === MADE_BY.proxied).map(({ at }) => at);
  client
    .prepare(`INSERT INTO proxied_activity (address_id, last_at) VALUES (?, ?)
    ON CONFLICT (address_id) DO UPDATE SET last_at = max(last_at, excluded.last_at)`)
    .run(address_id, Math.max(opened_at ?? 0, ...times));
}
