/** What became of a mailing, in numbers (decisions §4, `GET /single-send/report`). */
import type { Database } from 'better-sqlite3';
import { State } from './ledger.ts';

export interface MailingReport {
  states: Record<string, number>;
  reasons: { state: string; reason: string; count: number }[];
  opens_by_hour: { hour: string; count: number }[];
  clicks_by_hour: { hour: string; count: number }[];
  top_links: { url: string; clicks: number }[];
  /** Those of all opens and clicks that were no person's (trust 45). */
  machine_opens: number;
  machine_clicks: number;
}

const TOP = 20;

/** Counts by state and reason, opens and clicks by hour (UTC), the most clicked links. Mailing 0 gives empty ones. */
export function readReport(client: Database, mailingId: number): MailingReport {
  const counts = client
    .prepare<[number], { state: number; count: number }>(
      'SELECT state, count(*) AS count FROM deliveries WHERE mailing_id = ? GROUP BY state',
    )
    .all(mailingId);
  const reasons = client
    .prepare<[number], { state: number; reason: string; count: number }>(`
      SELECT state, substr(reply, 1, 200) AS reason, count(*) AS count FROM deliveries
      WHERE mailing_id = ? AND state <> ${State.accepted} AND reply IS NOT NULL
      GROUP BY 1, 2 ORDER BY count DESC, reason LIMIT ${TOP}`)
    .all(mailingId);
  const byHour = client.prepare<[number, string], { hour: string; count: number }>(`
    SELECT strftime('%Y-%m-%d %H:00:00', happened_at / 1000, 'unixepoch') AS hour, count(*) AS count
    FROM events WHERE mailing_id = ? AND kind = ? GROUP BY 1 ORDER BY 1`);
  const links = client.prepare<[number], { url: string; clicks: number }>(`
    SELECT links.url, count(*) AS clicks FROM events JOIN links
      ON links.mailing_id = events.mailing_id AND links.number = events.link_number
    WHERE events.mailing_id = ? AND events.kind = 'click' GROUP BY links.number ORDER BY clicks DESC, links.number LIMIT ${TOP}`);
  const machines = client
    .prepare<[number, string], number>(
      'SELECT count(*) FROM events WHERE mailing_id = ? AND kind = ? AND is_machine = 1',
    )
    .pluck();
  const nameOf = (state: number) => Object.entries(State).find(([, value]) => value === state)?.[0] ?? String(state);
  const states = new Map(counts.map(({ state, count }) => [nameOf(state), count]));
  return {
    states: Object.fromEntries(Object.keys(State).map((name) => [name, states.get(name) ?? 0])),
    reasons: reasons.map(({ state, reason, count }) => ({ state: nameOf(state), reason, count })),
    opens_by_hour: byHour.all(mailingId, 'open'),
    clicks_by_hour: byHour.all(mailingId, 'click'),
    top_links: links.all(mailingId),
    machine_opens: machines.get(mailingId, 'open') ?? 0,
    machine_clicks: machines.get(mailingId, 'click') ?? 0,
  };
}
