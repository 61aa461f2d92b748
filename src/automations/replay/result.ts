/**
 * Reads the result of a replay from the tables of its view: figures of all contacts, and the paths of some contacts. Reasons are in their
 * stored form, because the result is sent from one thread to another.
 */
import type { Db } from '../../database/open.ts';
import { type automationSchedules, DELIVERY_STATE, type STEP_OUTCOMES } from '../../database/schema/index.ts';
import { sentence } from '../../errors/sentences.ts';
import { stored } from '../../errors/stored.ts';
import type { Replayed } from './engine.ts';

/** A number of contacts or mails with the same reason. */
export interface ReasonCount {
  reason: string;
  count: number;
}

/** A day (UTC) of a replay. */
interface ReplayDay {
  /** `YYYY-MM-DD`. */
  day: string;
  entered: number;
  mails: number;
}

/** A mail of the automation in a replay, with the numbers of its deliveries. */
interface ReplayMail {
  utr: string;
  subject: string;
  sent: number;
  /** How many deliveries waited for sending hours or the frequency caps. */
  waited: number;
  not_sent: number;
}

/** The figures of a replay. */
export interface ReplayFigures extends Replayed {
  /** The number of entries. Each entry is either on the way, finished or exited. */
  entered: number;
  on_the_way: number;
  finished: number;
  exited: number;
  mails: number;
  days: ReplayDay[];
  by_mail: ReplayMail[];
  /** Why contacts exited. */
  exits: ReasonCount[];
  /** Why contacts who met the trigger did not enter. */
  not_entered: ReasonCount[];
  /** Why mails were not sent. */
  not_sent: ReasonCount[];
}

/** A line of the path of a contact: an entry, a step, a completion or an exit. */
interface PathLine {
  /** Epoch milliseconds. */
  at: number;
  code: 'entered' | 'finished' | 'left' | (typeof STEP_OUTCOMES)[number];
  kind: typeof automationSchedules.$inferSelect.kind | null;
  /** The utr of the step; null if the line is not about a step. */
  step: string | null;
  subject: string | null;
  reason: string | null;
  /** When the mail was sent, epoch milliseconds; null if no mail was sent. */
  sent_at: number | null;
}

/** A run of a contact through the automation in a replay. */
export interface ReplayPath {
  id: number;
  email: string;
  contact_id: number | null;
  run: number;
  state: 'active' | 'finished' | 'left';
  lines: PathLine[];
}

/** A page of paths, in the order of entry. */
export interface PathQuery {
  /** The normalized address of the contact whose paths are read; null: the paths of all contacts. */
  email: string | null;
  /** The id of the last path of the previous page; 0 for the first page. */
  after: number;
  limit: number;
}

/** The maximum number of different reasons in each list. */
const MAX_REASONS = 50;

/** The stored reason of contacts who were in the automation before and may not enter again. */
const WAS_IN = stored(sentence('replay_was_in'));

/** SQL: the states of a delivery that was not sent. */
const NOT_SENT = `(${DELIVERY_STATE.suppressed}, ${DELIVERY_STATE.failed}, ${DELIVERY_STATE.bounced})`;

/** Reads the figures of a replay from its view. */
export function readFigures(view: Db, replayed: Replayed): ReplayFigures {
  const client = view.$client;
  const all = <Row>(text: string) => client.prepare<[], Row>(text).all();
  const reasons = (text: string) => all<ReasonCount>(`${text} GROUP BY 1 ORDER BY 2 DESC LIMIT ${MAX_REASONS}`);
  const day = (column: string) => `strftime('%Y-%m-%d', ${column} / 1000, 'unixepoch')`;
  const states = new Map(
    all<{ state: string; count: number }>('SELECT state, count(*) AS count FROM enrolments GROUP BY 1').map(
      ({ state, count }) => [state, count],
    ),
  );
  const [on_the_way = 0, finished = 0, exited = 0] = ['active', 'finished', 'left'].map(
    (state) => states.get(state) ?? 0,
  );
  // The deliveries of the automation. Other mails of the account have no mailing in the view, so the join leaves them out.
  const own = 'deliveries d CROSS JOIN mailings m ON m.id = d.mailing_id';
  const by_mail = all<ReplayMail>(`
    SELECT s.utr, s.subject, ifnull(sum(d.state = ${DELIVERY_STATE.accepted}), 0) AS sent,
      ifnull(sum(d.id IN (SELECT delivery_id FROM replay_waits)), 0) AS waited, ifnull(sum(d.state IN ${NOT_SENT}), 0) AS not_sent
    FROM automation_schedules s CROSS JOIN mailings m ON m.owner_id = s.id LEFT JOIN deliveries d ON d.mailing_id = m.id
    GROUP BY s.id ORDER BY s.position`);
  return {
    ...replayed,
    entered: on_the_way + finished + exited,
    on_the_way,
    finished,
    exited,
    mails: by_mail.reduce((sum, { sent }) => sum + sent, 0),
    days: all<ReplayDay>(`
      SELECT day, sum(entered) AS entered, sum(mails) AS mails FROM (
        SELECT ${day('entered_at')} AS day, count(*) AS entered, 0 AS mails FROM enrolments GROUP BY 1
        UNION ALL SELECT ${day('d.updated_at')}, 0, count(*) FROM ${own} WHERE d.state = ${DELIVERY_STATE.accepted} GROUP BY 1)
      GROUP BY day ORDER BY day`),
    by_mail,
    exits: reasons("SELECT ifnull(reason, '') AS reason, count(*) AS count FROM enrolments WHERE state = 'left'"),
    not_entered: reasons(
      `SELECT ifnull(reason, '${WAS_IN}') AS reason, count(DISTINCT address_id) AS count FROM replay_asks`,
    ),
    not_sent: reasons(
      `SELECT ifnull(d.reply, '') AS reason, count(*) AS count FROM ${own} WHERE d.state IN ${NOT_SENT}`,
    ),
  };
}

/**
 * Reads a page of paths from the view of a replay, with the current addresses of the contacts. Leaves out contacts who have been
 * erased meanwhile.
 */
export function readPaths(view: Db, account: number, { email, after, limit }: PathQuery): ReplayPath[] {
  const client = view.$client;
  const ofContact =
    email === null
      ? ''
      : 'AND e.address_id = (SELECT id FROM addresses WHERE user_id = @account AND normalized_email = @email)';
  const runs = client
    .prepare<[object], Omit<ReplayPath, 'lines'> & { address_id: number }>(`
      SELECT e.id, ifnull(c.email, a.normalized_email) AS email, c.id AS contact_id, e.run, e.state, e.address_id
      FROM enrolments e CROSS JOIN addresses a ON a.id = e.address_id LEFT JOIN main.contacts c ON c.id = e.contact_id AND c.deleted_at IS NULL
      WHERE e.id > @after ${ofContact} ORDER BY e.id LIMIT @limit`)
    .all({ account, after, limit, ...(email !== null && { email }) });
  const lines = client.prepare<[object], PathLine>(`
    SELECT l.happened_at AS at, l.code, s.kind, s.utr AS step, nullif(s.subject, '') AS subject,
      ifnull(l.reason, CASE WHEN d.state IN ${NOT_SENT} THEN d.reply END) AS reason,
      CASE d.state WHEN ${DELIVERY_STATE.accepted} THEN d.updated_at END AS sent_at
    FROM enrolment_log l LEFT JOIN automation_schedules s ON s.id = l.step_id
      LEFT JOIN steps t ON t.enrolment_id = @id AND t.schedule_id = l.step_id LEFT JOIN deliveries d ON d.id = t.delivery_id
    WHERE l.address_id = @address_id AND l.run = @run ORDER BY l.id`);
  return runs.map(({ address_id, ...run }) => ({
    ...run,
    lines: lines.all({ id: run.id, address_id, run: run.run }),
  }));
}
