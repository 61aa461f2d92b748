/** Everything that is recorded about one person, as a list of moments. */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { isoTimestamp } from '../clock.ts';
import { stateName } from '../delivery/reporting/mailing-report.ts';

/** The kinds of moments. `Moment` says what its other fields mean for each. */
export const MOMENTS = [
  'contact_created',
  'contact_changed',
  'imported',
  'segment_joined',
  'segment_removed',
  'automation_entered',
  'mail',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'resubscribed',
  'suppressed',
] as const;

export interface Moment {
  /** Different for each moment of the person, and ascending in time. */
  key: string;
  kind: (typeof MOMENTS)[number];
  /** ISO timestamp. */
  at: string;
  /** The contact type, the file, the segment, the automation, the group (null: all mail), or the campaign of the mail. */
  name: string | null;
  /** The utr of the single send, of the mail of an automation, or of the automation. */
  utr: string | null;
  subject: string | null;
  /** Of a mail: its state in the ledger. Of an automation: where the person is. */
  state: string | null;
  /** Why a mail was not sent or what the relay said, why somebody left, or how they unsubscribed. */
  reason: string | null;
  /** The link that was clicked. */
  url: string | null;
  /** Whether a program opened or clicked, as far as can be told. */
  isMachine: boolean;
}

/** The newest mailings that are looked at. */
const MAX_MAILINGS = 2000;
/** The mailings that are read in one go: a person has two hundred opens and clicks of one at most. */
const MAILINGS_AT_ONCE = 25;
/** The newest changes of their lists that are looked at: an address has more only where somebody tests with it. */
const MAX_CHANGES = 1000;
/** The most moments of an export. */
export const MAX_MOMENTS = 7000;

interface Row {
  kind: Moment['kind'];
  id: number;
  /** Epoch milliseconds, or an ISO timestamp. */
  at: number | string;
  name?: string | null;
  utr?: string | null;
  subject?: string | null;
  state?: string | number | null;
  reason?: string | null;
  url?: string | null;
  is_machine?: number;
}

/**
 * The newest `limit` moments of an address of the account, or those before the moment with the key `before`, newest first. Joining a
 * segment is known for the segments they are in now. Mails and their events are read for a few mailings at a time, and other requests
 * are answered in between.
 */
export async function personTimeline(
  client: Database,
  accountId: number,
  addressId: number,
  { before, limit }: { before?: string | undefined; limit: number },
): Promise<Moment[]> {
  const given = { account: accountId, address: addressId };
  let newest: Moment[] = [];
  const add = (rows: readonly Row[]) => {
    const moments = rows.map(moment).filter(({ key }) => before === undefined || key < before);
    if (moments.length > 0) newest = [...newest, ...moments].sort((a, b) => (a.key < b.key ? 1 : -1)).slice(0, limit);
  };
  for (const source of OTHERS) add(client.prepare<unknown[], Row>(source).all(given));
  const mailings = client.prepare<[number], number>(MAILINGS).pluck().all(accountId);
  const sources = MAILED.map((source) => client.prepare<unknown[], Row>(source));
  for (let at = 0; at < mailings.length; at += MAILINGS_AT_ONCE) {
    await setImmediate();
    const some = JSON.stringify(mailings.slice(at, at + MAILINGS_AT_ONCE));
    for (const source of sources) add(source.all({ ...given, mailings: some }));
  }
  return newest;
}

function moment({ kind, id, at, state, ...row }: Row): Moment {
  const time = typeof at === 'number' ? isoTimestamp(new Date(at)) : at;
  return {
    key: `${time} ${MOMENTS.indexOf(kind).toString(36)}${String(id).padStart(16, '0')}`,
    kind,
    at: time,
    name: row.name ?? null,
    utr: row.utr ?? null,
    subject: row.subject ?? null,
    state: typeof state === 'number' ? stateName(state) : (state ?? null),
    reason: row.reason ?? null,
    url: row.url ?? null,
    isMachine: row.is_machine === 1,
  };
}

/** The campaign of mailing `m`: its joins and columns. */
const CAMPAIGN = `
  LEFT JOIN single_sends ss ON m.owner_kind IN ('single', 'test') AND ss.id = m.owner_id
  LEFT JOIN automation_schedules sc ON m.owner_kind = 'schedule' AND sc.id = m.owner_id
  LEFT JOIN automations au ON au.id = m.automation_id`;
const CAMPAIGN_COLUMNS = `coalesce(ss.single_send_name, au.automation_name) AS name,
  coalesce(ss.utr, sc.utr) AS utr, coalesce(ss.subject, sc.subject) AS subject`;
const MAILINGS = `SELECT id FROM mailings WHERE user_id = ? ORDER BY id DESC LIMIT ${MAX_MAILINGS}`;
/** The deliveries of the person, found by one lookup in a unique index for each of the given mailings of the account. */
const DELIVERIES = `
  json_each(@mailings) given
  CROSS JOIN mailings m ON m.id = given.value AND m.user_id = @account
  CROSS JOIN deliveries d ON d.mailing_id = m.id AND d.address_id = @address`;

/** What comes of mailings. */
const MAILED = [
  `SELECT 'mail' AS kind, d.id, iif(d.updated_at > 0, d.updated_at, m.created_at) AS at, ${CAMPAIGN_COLUMNS},
     d.state, d.reply AS reason FROM ${DELIVERIES} ${CAMPAIGN}`,
  `SELECT CASE e.kind WHEN 'open' THEN 'opened' WHEN 'click' THEN 'clicked' WHEN 'bounce' THEN 'bounced' ELSE 'complained' END AS kind,
     e.id, e.happened_at AS at, ${CAMPAIGN_COLUMNS}, e.is_machine, l.url
   FROM ${DELIVERIES} CROSS JOIN events e ON e.delivery_id = d.id AND e.kind <> 'unsubscribe' ${CAMPAIGN}
     LEFT JOIN links l ON l.mailing_id = e.mailing_id AND l.number = e.link_number`,
];

/** All else, of which a person has little. */
const OTHERS = [
  `SELECT 'contact_created' AS kind, c.id, c.created_at AS at, t.name FROM contacts c JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.deleted_at IS NULL AND t.deleted_at IS NULL`,
  `SELECT 'contact_changed' AS kind, c.id, c.updated_at AS at, t.name FROM contacts c JOIN contact_types t ON t.id = c.contact_type_id
   WHERE c.address_id = @address AND c.updated_at <> c.created_at AND c.deleted_at IS NULL AND t.deleted_at IS NULL`,
  `SELECT 'imported' AS kind, i.id, i.written_at AS at, i.file_name AS name FROM contacts c JOIN contact_imports i
     ON i.contact_type_id = c.contact_type_id AND i.written_at IN (c.created_at, c.updated_at)
   WHERE c.address_id = @address AND i.user_id = @account AND c.deleted_at IS NULL`,
  `SELECT 'segment_joined' AS kind, r.id, r.created_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
   WHERE s.user_id = @account AND s.deleted_at IS NULL`,
  `SELECT 'segment_removed' AS kind, r.id, r.updated_at AS at, s.segment_name AS name
   FROM segments s CROSS JOIN segment_recipients r ON r.segment_id = s.id AND r.address_id = @address
   WHERE s.user_id = @account AND s.deleted_at IS NULL AND r.is_removed = 1`,
  `SELECT 'automation_entered' AS kind, e.id, e.entered_at AS at, a.automation_name AS name, a.utr, e.state, e.reason
   FROM automations a CROSS JOIN enrolments e ON e.automation_id = a.id AND e.address_id = @address
   WHERE a.user_id = @account AND a.deleted_at IS NULL`,
  `SELECT g.action AS kind, g.id, g.created_at AS at, u.group_name AS name, g.source AS reason
   FROM consent_log g LEFT JOIN unsubscribe_groups u ON u.id = g.unsubscribe_groups_id
   WHERE g.address_id = @address AND g.user_id = @account ORDER BY g.id DESC LIMIT ${MAX_CHANGES}`,
  `SELECT 'suppressed' AS kind, s.id, s.created_at AS at, s.kind AS state, s.diagnostic AS reason
   FROM suppressions s WHERE s.address_id = @address AND s.user_id = @account`,
];
