/** The operation that runs an automation over the past without sending anything: who would have entered, and what each would have got. */
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
import { listSchedules, requireAutomation } from '../automations.ts';
import type { ReplayPlan } from '../replay/engine.ts';
import { segmentsOf } from '../replay/history.ts';
import { replaysOf } from '../replay/replays.ts';
import type { ReasonCount, ReplayFigures, ReplayPath } from '../replay/result.ts';
import { ByUtr } from './automations.ts';
import { timed } from './forecast.ts';

/** The greatest number of days, and the default. */
export const MAX_DAYS = 90;
export const DEFAULT_OPENS = 30;
export const DEFAULT_CLICKS = 3;
/** How long an answer waits for the result, in seconds. */
const MAX_WAIT = 20;
const DEFAULT_ROWS = 20;
const MAX_ROWS = 50;
const DAY_MS = 86_400_000;

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

const reasons = (of: string, description: string) =>
  Type.Array(
    Type.Object({
      reason: said(),
      reason_code: nullable(Type.String()),
      count: integer({ description: `How many ${of}.` }),
    }),
    { description },
  );

/** A number of the input with its bounds and an example. */
const bounded = (minimum: number, maximum: number, example: number, description: string) => ({
  ...integer({ minimum, maximum, description }),
  examples: [example],
});

const Path = Type.Object({
  id: integer({ description: 'Of the run, for the next page.' }),
  email: Type.String(),
  contact_id: nullable(integer()),
  run: integer({ description: 'Which of the entries of the contact it is, from 1.' }),
  state: {
    ...choice('active', 'finished', 'left'),
    description:
      'What became of the run at the end of the time: on the way (active), completed (finished) or exited (left).',
  },
  lines: Type.Array(
    Type.Object({
      happened_at: isoTimestampSchema('When it would have happened, UTC.'),
      code: {
        ...choice('entered', 'finished', 'left', ...STEP_OUTCOMES),
        description: 'What would have happened, as in the log.',
      },
      kind: { ...nullable(choice(...STEP_KINDS)), description: 'The kind of the step.' },
      step: nullable(Type.String(), 'utr of the step; null for entries and ends.'),
      subject: nullable(Type.String()),
      sent_at: nullable(
        isoTimestampSchema(),
        'Of an e-mail: when it would have been sent; null if it would not have been sent.',
      ),
      reason: nullable(said(), 'Why the contact would have exited, or the e-mail not been sent.'),
      reason_code: nullable(Type.String()),
    }),
    { description: 'What would have happened to the contact, in order.' },
  ),
});
/** The path of a contact in a replay. */
export type ShownPath = Static<typeof Path>;

const Found = Type.Object({
  from: isoTimestampSchema('When the replay begins, UTC.'),
  to: isoTimestampSchema('When it ends, UTC: the time of the request that began it.'),
  problem: nullable(said(), 'Why the automation would have stopped; null if it would not.'),
  entered: integer({ description: 'How often contacts would have entered.' }),
  on_the_way: integer({ description: 'How many would be on the way now.' }),
  finished: integer({ description: 'How many would have completed it.' }),
  exited: integer({ description: 'How many would have exited, the control group included.' }),
  mails: integer({ description: 'How many e-mails would have been sent.' }),
  days: Type.Array(
    Type.Object({
      day: Type.String({ description: 'A day in UTC, YYYY-MM-DD.' }),
      entered: integer({ description: 'How often contacts would have entered on it.' }),
      mails: integer({ description: 'How many e-mails would have been sent on it.' }),
    }),
    { description: 'The days on which something would have happened.' },
  ),
  by_mail: Type.Array(
    Type.Object({
      utr: Type.String(),
      subject: Type.String(),
      sent: integer({ description: 'How many would have been sent.' }),
      waited: integer({
        description: 'How many of the e-mails would have waited for sending hours or the frequency caps.',
      }),
      not_sent: integer({ description: 'How many would not have been sent, although the contact came to the e-mail.' }),
    }),
    { description: 'The e-mails of the automation, in their order.' },
  ),
  exits: reasons('would have exited', 'Why contacts would have exited.'),
  not_entered: reasons(
    'contacts',
    'Why contacts who met the trigger would not have entered, such as a goal reached before.',
  ),
  not_sent: reasons('e-mails', 'Why e-mails would not have been sent.'),
  limits: Type.Array(choice(...REPLAY_LIMITS), {
    description:
      'What is not known or assumed: fields (values as they are now), segments (who was in new_segments before they were created: nobody), field_changes (entries by a field only of contacts who were added), by_hand (entries by hand), earlier_runs (nobody was in it before), opens (the share given), shorter (the history was too long for the days asked for), delivery (every e-mail is accepted at once), removed (contacts and events that were removed).',
  }),
  new_segments: Type.Array(
    Type.Object({ segment_id: integer(), segment_name: Type.String(), created_at: isoTimestampSchema() }),
    {
      description:
        'Segments of the automation that were created within this time. Nobody was in them before, so conditions, the goal and the exit rule about them were not met.',
    },
  ),
  paths: Type.Array(Path, { description: 'The paths of contacts in the order of their entry.' }),
  next_after_id: nullable(integer(), 'The after_id of the next page; null at the end.'),
});

const Replay = Type.Object({
  state: {
    ...choice('waiting', 'running', 'done'),
    description:
      'waiting: another replay of the account, or two of other accounts, are running. Ask again until it is done; it ends if nobody asks for 20 seconds.',
  },
  progress: integer({ description: 'How far it is, in percent.' }),
  trigger: { ...choice(...TRIGGER_KINDS), description: 'The trigger by which contacts enter.' },
  needs_opens: nullable(
    zeroOrOne(),
    '1: a step depends on opens or clicks, which are assumed; null before it is done.',
  ),
  result: nullable(Found, 'What it found; null before it is done.'),
});
/** A replay and what it found. */
export type ShownReplay = Static<typeof Replay>;

export const replayAutomation = operation({
  name: 'Replay an automation over the last days (addition)',
  description:
    'Runs the automation as it is now over the real history of the account, as if it had been live: nothing is sent or changed. The answer waits for the result, and gives the progress if that takes longer; ask again with the same values. The result is kept for five minutes. 409: another replay replaced the result meanwhile. 422: the days take too much memory.',
  role: 'viewer',
  input: Type.Object({
    ...ByUtr.properties,
    days: Type.Optional(bounded(1, MAX_DAYS, 30, `How many days back it begins; ${MAX_DAYS} by default.`)),
    opens: Type.Optional(
      bounded(0, 100, 40, `How many of a hundred e-mails are assumed to be opened; ${DEFAULT_OPENS} by default.`),
    ),
    clicks: Type.Optional(
      bounded(0, 100, 5, `How many of a hundred e-mails are assumed to be clicked; ${DEFAULT_CLICKS} by default.`),
    ),
    email: Type.Optional(email()),
    limit: Type.Optional(bounded(1, MAX_ROWS, 20, `At most so many paths; ${DEFAULT_ROWS} by default.`)),
    after_id: Type.Optional(integer({ description: 'Only later paths: next_after_id of the page before.' })),
    wait: Type.Optional(
      bounded(0, MAX_WAIT, 20, `How many seconds the answer waits for the result; ${MAX_WAIT} by default.`),
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
    const limits = REPLAY_LIMITS.filter((one) => {
      if (one === 'segments') return new_segments.length > 0;
      if (one === 'field_changes') return trigger === 'field';
      if (one === 'by_hand') return trigger === 'hand';
      if (one === 'earlier_runs') return hadRuns !== undefined;
      if (one === 'opens') return figures.needs_opens;
      if (one === 'shorter') return figures.from > beginning(figures.to, days);
      return true;
    });
    const result = { ...shown(figures), limits, new_segments, paths: paths.slice(0, limit).map(shownPath) };
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

/** Returns those of these segments that were created after `from`, epoch milliseconds. */
function segmentsSince(db: Db, ids: readonly number[], from: number) {
  return db
    .select({ segment_id: segments.id, segment_name: segments.segment_name, created_at: segments.created_at })
    .from(segments)
    .where(and(inArray(segments.id, [...ids]), gt(segments.created_at, isoTimestamp(new Date(from)))))
    .all();
}

/** Returns the beginning of the day (UTC) so many days before `now`, epoch milliseconds. */
function beginning(now: number, days: number): number {
  return now - (now % DAY_MS) - days * DAY_MS;
}

function shown({ needs_opens: _needs, ...figures }: ReplayFigures) {
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

function shownPath({ lines, ...path }: ReplayPath): ShownPath {
  return {
    ...path,
    lines: lines.map(({ at, sent_at, reason, ...line }) => ({
      ...line,
      happened_at: isoTimestamp(new Date(at)),
      sent_at: timed(sent_at),
      ...reasonOf(reason),
    })),
  };
}

/** Returns a reason in its stored form as it is shown, with its code. */
function reasonOf(reason: string | null) {
  const said = readStored(reason);
  return { reason: said, reason_code: codeOf(said) };
}
