/**
 * The operation that replays an automation: runs it over the past without sending anything, to find out who would have entered, and what
 * each contact would have got.
 */
import { createHash } from 'node:crypto';
import { and, gt, inArray } from 'drizzle-orm';
import Type, { type Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import type { Db } from '../../database/open.ts';
import { STEP_KINDS, STEP_OUTCOMES, segments, TRIGGER_KINDS } from '../../database/schema/index.ts';
import { conflict } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { codeOf, readStored } from '../../errors/stored.ts';
import { choice, email, integer, isoTimestampSchema, nullable, said, zeroOrOne } from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { listSchedules, requireAutomation } from '../automations.ts';
import type { ReplayPlan } from '../replay/engine.ts';
import { segmentsOf } from '../replay/history.ts';
import { replaysOf } from '../replay/replays.ts';
import type { ReasonCount, ReplayFigures, ReplayPath } from '../replay/result.ts';
import { ByUtr } from './automations.ts';
import { timestampOf } from './forecast.ts';

/** The maximum number of days of a replay, which is also the default. */
export const MAX_DAYS = 90;
/** The percentage of mails that are assumed to be opened, by default. */
export const DEFAULT_OPENS = 30;
/** The percentage of mails that are assumed to be clicked, by default. */
export const DEFAULT_CLICKS = 3;
/** The longest time in seconds that an answer waits for the result. */
const MAX_WAIT = 20;
const DEFAULT_ROWS = 20;
const MAX_ROWS = 50;

/** What a replay cannot know, or assumes. */
export const REPLAY_LIMITS = [
  'fields',
  'segments',
  'field_changes',
  'by_hand',
  'earlier_runs',
  'opens',
  'shorter',
  'delivery',
  'removed',
] as const;

const reasonCounts = (counted: string, description: string) =>
  Type.Array(
    Type.Object({
      reason: said(),
      reason_code: nullable(Type.String()),
      count: integer({ description: `The number of ${counted}.` }),
    }),
    { description },
  );

/** A number of the input with its bounds and an example. */
const bounded = (minimum: number, maximum: number, example: number, description: string) => ({
  ...integer({ minimum, maximum, description }),
  examples: [example],
});

const Path = Type.Object({
  id: integer({ description: 'The id of the path.' }),
  email: Type.String(),
  contact_id: nullable(integer()),
  run: integer({ description: 'The number of the entry of the contact, counted from 1.' }),
  state: {
    ...choice('active', 'finished', 'left'),
    description: 'Where the contact would be at the end of the replay: active, completed (finished) or exited (left).',
  },
  lines: Type.Array(
    Type.Object({
      happened_at: isoTimestampSchema('The time at which this would have happened, UTC.'),
      code: {
        ...choice('entered', 'finished', 'left', ...STEP_OUTCOMES),
        description: 'What would have happened, with the codes of GET /automations/log.',
      },
      kind: { ...nullable(choice(...STEP_KINDS)), description: 'The kind of the step.' },
      step: nullable(Type.String(), 'utr of the step; null for entries, completions and exits.'),
      subject: nullable(Type.String()),
      sent_at: nullable(
        isoTimestampSchema(),
        'When the e-mail would have been sent; null if no e-mail would have been sent.',
      ),
      reason: nullable(said(), 'Why the contact would have exited, or why the e-mail would not have been sent.'),
      reason_code: nullable(Type.String()),
    }),
    { description: 'What would have happened to the contact, in order.' },
  ),
});
/** The path of a contact in a replay. */
export type ShownPath = Static<typeof Path>;

const ReplayResult = Type.Object({
  from: isoTimestampSchema('The beginning of the replayed time, UTC.'),
  to: isoTimestampSchema('The end of the replayed time, UTC: the time of the request that started the replay.'),
  problem: nullable(said(), 'Why the automation would have stopped; null if it would not have stopped.'),
  entered: integer({ description: 'How often contacts would have entered.' }),
  on_the_way: integer({ description: 'The number of entries that would still be active.' }),
  finished: integer({ description: 'The number of entries that would have been completed.' }),
  exited: integer({
    description:
      'The number of entries that would have ended with an exit, including the entries of the control group.',
  }),
  mails: integer({ description: 'The number of e-mails that would have been sent.' }),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'A day in UTC, YYYY-MM-DD.' }),
      entered: integer({ description: 'How often contacts would have entered on this day.' }),
      mails: integer({ description: 'The number of e-mails that would have been sent on this day.' }),
    }),
    { description: 'The days on which something would have happened.' },
  ),
  by_mail: Type.Array(
    Type.Object({
      utr: Type.String(),
      subject: Type.String(),
      sent: integer({ description: 'How often the e-mail would have been sent.' }),
      waited: integer({
        description: 'How often the e-mail would have waited for sending hours or the frequency caps.',
      }),
      not_sent: integer({
        description: 'How often the e-mail would not have been sent, although the contact came to the e-mail.',
      }),
    }),
    { description: 'The e-mails of the automation, in their order.' },
  ),
  exits: reasonCounts('exits', 'Why contacts would have exited.'),
  not_entered: reasonCounts(
    'contacts',
    'Why contacts who met the trigger would not have entered, such as a goal reached before.',
  ),
  not_sent: reasonCounts('e-mails', 'Why e-mails would not have been sent.'),
  limits: Type.Array(choice(...REPLAY_LIMITS), {
    description:
      'What the replay assumes or leaves out. fields: contacts have their current field values; segments: nobody was in new_segments before they were created; field_changes: past changes of fields are unknown, so a trigger on a field only lets in contacts who were added with the value; by_hand: entries by hand are left out; earlier_runs: nobody was in the automation before; opens: the given percentages of e-mails are opened and clicked; shorter: the history was too long, so fewer days are replayed; delivery: every e-mail is accepted at the next full hour; removed: contacts and events that have been removed are left out.',
  }),
  new_segments: Type.Array(
    Type.Object({ segment_id: integer(), segment_name: Type.String(), created_at: isoTimestampSchema() }),
    {
      description:
        'Segments of the automation that were created within the replayed time. Nobody was in these segments before, so conditions, the goal and the exit rule with these segments were not met.',
    },
  ),
  paths: Type.Array(Path, { description: 'The paths of contacts in the order of their entry.' }),
  next_after_id: nullable(integer(), 'The after_id of the next page; null on the last page.'),
});

const Replay = Type.Object({
  state: {
    ...choice('waiting', 'running', 'done'),
    description:
      'waiting: another replay of the account, or two replays of other accounts, are running. Ask again until the state is done. A running replay ends if no request asks for it within 20 seconds.',
  },
  progress: integer({ description: 'The progress of the replay in percent.' }),
  trigger: { ...choice(...TRIGGER_KINDS), description: 'The trigger by which contacts enter.' },
  needs_opens: nullable(
    zeroOrOne(),
    '1: a step depends on opens or clicks, which are assumed. Null until the replay is done.',
  ),
  result: nullable(ReplayResult, 'The result of the replay. Null until the replay is done.'),
});
/** A replay in an answer of the API. */
export type ShownReplay = Static<typeof Replay>;

export const replayAutomation = operation({
  name: 'Replay an automation over the last days (addition)',
  description:
    'Runs the automation as it is now over the real history of the account, as if it had been live. Nothing is sent or changed. The answer waits for the result; if the result takes longer, the answer has the progress, and the request can be repeated with the same values. The result is kept for five minutes. 409: the automation has no list or segment, or another replay replaced the result meanwhile. 422: so many days need too much memory.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    days: Type.Optional(bounded(1, MAX_DAYS, 30, `The number of past days to replay; ${MAX_DAYS} by default.`)),
    opens: Type.Optional(
      bounded(0, 100, 40, `The percentage of e-mails that are assumed to be opened; ${DEFAULT_OPENS} by default.`),
    ),
    clicks: Type.Optional(
      bounded(0, 100, 5, `The percentage of e-mails that are assumed to be clicked; ${DEFAULT_CLICKS} by default.`),
    ),
    email: Type.Optional({ ...email(), description: 'Only the paths of the contact with this address.' }),
    limit: Type.Optional(bounded(1, MAX_ROWS, 20, `The maximum number of paths; ${DEFAULT_ROWS} by default.`)),
    after_id: Type.Optional(
      integer({ description: 'next_after_id of the previous page, for the paths after that page.' }),
    ),
    wait: Type.Optional(
      bounded(
        0,
        MAX_WAIT,
        20,
        `The number of seconds for which the answer waits for the result; ${MAX_WAIT} by default.`,
      ),
    ),
  }),
  output: Type.Object({ replay: Replay }),
  async run({ db, clock, config, accountId }, input): Promise<{ replay: ShownReplay }> {
    const { utr, days = MAX_DAYS, opens = DEFAULT_OPENS, clicks = DEFAULT_CLICKS } = input;
    const { limit = DEFAULT_ROWS, after_id: after = 0, wait = MAX_WAIT } = input;
    const automation = requireAutomation(db, accountId, utr);
    if (automation.automation_for === 0) throw conflict(sentence('live_no_target'));
    const steps = listSchedules(db, automation.id);
    const now = clock.now().getTime();
    const plan: ReplayPlan = { automationId: automation.id, from: beginning(now, days), now, opens, clicks };
    const key = createHash('sha256')
      .update(JSON.stringify([automation, steps, days, opens, clicks]))
      .digest('base64');
    const address = input.email === undefined ? null : (parseAddress(input.email)?.normalized ?? '');
    const answer = await replaysOf(db).ask(
      key,
      { path: db.$client.name, config, account: accountId, plan },
      { email: address, after, limit: limit + 1 },
      wait * 1000,
    );
    const { trigger_kind: trigger } = automation;
    const progress = Math.floor(answer.share * 100);
    if (answer.state !== 'done')
      return { replay: { state: answer.state, progress, trigger, needs_opens: null, result: null } };
    const { figures, paths } = answer;
    const hadRuns = db.$client.prepare('SELECT 1 FROM enrolments WHERE automation_id = ? LIMIT 1').get(automation.id);
    const new_segments = segmentsSince(db, segmentsOf(automation, steps), figures.from);
    const limits = REPLAY_LIMITS.filter((code) => {
      if (code === 'segments') return new_segments.length > 0;
      if (code === 'field_changes') return trigger === 'field';
      if (code === 'by_hand') return trigger === 'hand';
      if (code === 'earlier_runs') return hadRuns !== undefined;
      if (code === 'opens') return figures.needs_opens;
      if (code === 'shorter') return figures.from > beginning(figures.to, days);
      return true;
    });
    const result = { ...shownFigures(figures), limits, new_segments, paths: paths.slice(0, limit).map(shownPath) };
    const next_after_id = paths.length > limit ? (result.paths.at(-1)?.id ?? null) : null;
    return {
      replay: {
        state: answer.state,
        progress,
        trigger,
        needs_opens: figures.needs_opens ? 1 : 0,
        result: { ...result, next_after_id },
      },
    };
  },
});

/** Returns the segments with these ids that were created after `from`, epoch milliseconds. */
function segmentsSince(db: Db, ids: readonly number[], from: number) {
  return db
    .select({ segment_id: segments.id, segment_name: segments.segment_name, created_at: segments.created_at })
    .from(segments)
    .where(and(inArray(segments.id, [...ids]), gt(segments.created_at, isoTimestamp(new Date(from)))))
    .all();
}

/** Returns the beginning (epoch milliseconds) of the day (UTC) that is this number of days before `now`. */
function beginning(now: number, days: number): number {
  return now - (now % DAY_MS) - days * DAY_MS;
}

/** Returns the figures of a replay in the form of the API. */
function shownFigures({ needs_opens: _needs, ...figures }: ReplayFigures) {
  const reasons = (rows: readonly ReasonCount[]) =>
    rows.map(({ reason, count }) => ({ ...reasonOf(reason), reason: readStored(reason), count }));
  return {
    ...figures,
    from: isoTimestamp(new Date(figures.from)),
    to: isoTimestamp(new Date(figures.to)),
    problem: readStored(figures.problem),
    exits: reasons(figures.exits),
    not_entered: reasons(figures.not_entered),
    not_sent: reasons(figures.not_sent),
  };
}

/** Returns a path in the form of the API. */
function shownPath({ lines, ...path }: ReplayPath): ShownPath {
  return {
    ...path,
    lines: lines.map(({ at, sent_at, reason, ...line }) => ({
      ...line,
      happened_at: isoTimestamp(new Date(at)),
      sent_at: timestampOf(sent_at),
      ...reasonOf(reason),
    })),
  };
}

/** Returns a stored reason as a sentence, with its code. */
function reasonOf(reason: string | null) {
  const said = readStored(reason);
  return { reason: said, reason_code: codeOf(said) };
}
