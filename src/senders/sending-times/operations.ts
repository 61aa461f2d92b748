/**
 * When mail of single sends and automations is sent (additions): frequency caps, sending hours, and the limits above which the results of a
 * single send hold it.
 */
import Type, { type Static } from 'typebox';
import { changeMailCaps, changeMailRules, readMailCaps, readMailRule } from '../../database/accounts.ts';
import type { MailCap } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { markEarlierMailsSoon } from '../../delivery/queue/ledger/earlier-mails.ts';
import { MAX_CAP_DAYS, MAX_CAP_MAILS, MAX_CAPS } from '../../delivery/timing/mail-caps.ts';
import { nextSendingTime } from '../../delivery/timing/send-window.ts';
import { LIMITS, MIN_RESULTS } from '../../delivery/watch/limits.ts';
import { sentence } from '../../errors/sentences.ts';
import {
  choice,
  flag,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  stringList,
  zeroOrOne,
} from '../../http/requests/schemas.ts';
import { operation } from '../../operations/operation.ts';
import { isoTimestamp } from '../../time/clock.ts';
import { auditBy } from '../../users/audit.ts';

const WEEKDAY = /^[1-7]$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const END_OF_DAY = '24:00';

const NewCaps = Type.Object({
  caps: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: MAX_CAPS,
        description: `Each as mails/days: 3/7 is at most 3 e-mails in 7 days, including today. Up to ${MAX_CAP_MAILS} e-mails and ${MAX_CAP_DAYS} days. Empty: no caps.`,
      }),
      empty: [],
    }),
  ),
});

const Caps = Type.Array(
  Type.Object({
    mails: integer({ description: 'The maximum number of e-mails of single sends and automations for a contact.' }),
    days: integer({ description: 'The number of days, including today, in the time zone of schedules.' }),
  }),
  { description: 'The frequency caps. All of them apply.' },
);

const NewWindow = Type.Object({
  days: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: 7,
        description: 'Weekdays: 1 is Monday, 7 is Sunday. Empty: mail is sent at any time.',
      }),
      empty: [],
    }),
  ),
  opens: Type.Optional(line({ description: 'HH:MM in the time zone of schedules. Required if days is not empty.' })),
  closes: Type.Optional(
    line({ description: 'HH:MM, after opens; 24:00 is the end of the day. Required if days is not empty.' }),
  ),
});

const Window = Type.Object({
  days: Type.Array(integer(), { description: 'Weekdays: 1 is Monday, 7 is Sunday.' }),
  opens: Type.String({ description: 'The first minute at which mail is sent, HH:MM.' }),
  closes: Type.String({ description: 'The minute from which on no mail is sent, HH:MM.' }),
});

const Times = Type.Object({
  window: nullable(Window, 'Null: mail is sent at any time.'),
  time_zone: Type.String({ description: 'The time zone of schedules.' }),
  waits_until: nullable(
    isoTimestampSchema(),
    'When mail that is waiting now will be sent; null if mail may be sent now.',
  ),
});

const ResultLimits = Type.Object(
  {
    auto_hold: zeroOrOne('1: single sends are held when a limit is exceeded; 0: only single sends with a canary are.'),
    least_results: integer({
      description: 'A single send is not held before this number of its e-mails has a result.',
    }),
    limits: Type.Array(
      Type.Object({
        code: Type.String({ description: 'The held_code of a single send that exceeds this limit.' }),
        measure: {
          ...choice(...LIMITS.map(({ measure }) => measure)),
          description: 'The kind of result whose share is compared with the limit.',
        },
        per_thousand: integer({ description: 'The limit per thousand results.' }),
        least: integer({
          description: 'The single send is held only if it has at least this number of results of this kind.',
        }),
      }),
      { description: 'The limits by kind of result.' },
    ),
  },
  { description: 'Whether results hold single sends, and at which limits.' },
);

export type ResultLimits = Static<typeof ResultLimits>;

export const readCaps = operation({
  name: 'Read the frequency caps (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ caps: Caps }),
  run: ({ db, accountId }) => ({ caps: readMailCaps(db, accountId) }),
});

export const changeCaps = operation({
  name: 'Change the frequency caps (addition)',
  description:
    'The caps apply from the next e-mail on. A single send skips contacts who have reached a cap; an e-mail of an automation waits for up to a week. Transactional e-mail is neither limited nor counted.',
  role: 'owner',
  input: NewCaps,
  check(_context, { caps = [] }, errors) {
    const invalid = caps.find((text) => text.trim() !== '' && parseCap(text) === null);
    if (invalid !== undefined)
      errors.add('caps', sentence('cap_wrong', { given: invalid, mails: MAX_CAP_MAILS, days: MAX_CAP_DAYS }));
  },
  async run(context, input) {
    const { db, clock, accountId } = context;
    const caps = (input.caps ?? []).flatMap((text) => parseCap(text) ?? []).sort((a, b) => a.days - b.days);
    inTransaction(db, () => {
      changeMailCaps(db, accountId, caps);
      auditBy(context, 'mail_caps_changed');
    });
    await markEarlierMailsSoon(db.$client, clock.now().getTime());
  },
});

export const readWindow = operation({
  name: 'Read the sending hours (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Times,
  run({ db, clock, config, accountId }): Static<typeof Times> {
    const window = readMailRule(db, accountId, 'send_window');
    const until = window && nextSendingTime(window, clock.now(), config.TIME_ZONE);
    return { window, time_zone: config.TIME_ZONE, waits_until: until && isoTimestamp(until) };
  },
});

export const changeWindow = operation({
  name: 'Change the sending hours (addition)',
  description:
    'Mail of single sends and automations waits at all other times. Transactional e-mail, tests and confirmations are sent at any time.',
  role: 'owner',
  input: NewWindow,
  check(_context, { days = [], opens = '', closes = '' }, errors) {
    if (days.length === 0) return;
    if (!days.every((day) => WEEKDAY.test(day))) errors.add('days', sentence('window_days'));
    const isTime = TIME.test(opens) && (TIME.test(closes) || closes === END_OF_DAY);
    if (!isTime || opens >= closes) errors.add('opens', sentence('window_hours'));
  },
  run(context, { days = [], opens = '', closes = '' }) {
    const { db, accountId } = context;
    const numbers = [...new Set(days.map(Number))].sort();
    inTransaction(db, () => {
      changeMailRules(db, accountId, { send_window: numbers.length === 0 ? null : { days: numbers, opens, closes } });
      auditBy(context, 'send_window_changed');
    });
  },
});

export const readResultLimits = operation({
  name: 'Read the limits at which results hold single sends (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ limits: ResultLimits }),
  run({ db, accountId }): { limits: ResultLimits } {
    const limits = LIMITS.map(({ share, ...limit }) => ({ ...limit, per_thousand: Math.round(share * 1000) }));
    return { limits: { auto_hold: readMailRule(db, accountId, 'auto_hold'), least_results: MIN_RESULTS, limits } };
  },
});

export const changeAutoHold = operation({
  name: 'Choose whether results also hold single sends without a canary (addition)',
  role: 'owner',
  input: Type.Object({ auto_hold: flag('1: results hold all single sends; 0: only those with a canary.') }),
  run(context, { auto_hold }) {
    const { db, accountId } = context;
    inTransaction(db, () => {
      changeMailRules(db, accountId, { auto_hold });
      auditBy(context, auto_hold === 1 ? 'auto_hold_on' : 'auto_hold_off');
    });
  },
});

/** Parses a cap such as `3/7`; null if it is malformed. */
function parseCap(text: string): MailCap | null {
  const [, mails, days] = /^\s*(\d{1,3})\s*\/\s*(\d{1,3})\s*$/.exec(text) ?? [];
  const cap = { mails: Number(mails), days: Number(days) };
  return cap.mails >= 1 && cap.mails <= MAX_CAP_MAILS && cap.days >= 1 && cap.days <= MAX_CAP_DAYS ? cap : null;
}
