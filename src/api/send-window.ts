/** When mail of single sends and automations may leave (addition): on some weekdays, within some hours. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { isoTimestamp } from '../clock.ts';
import { changeSendWindow, readSendWindow } from '../database/accounts.ts';
import { waitsUntil } from '../delivery/timing/send-window.ts';
import type { Deps } from '../deps.ts';
import {
  done,
  integer,
  isoTimestampSchema,
  line,
  nullable,
  stringList,
  successWith,
} from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES } from '../sentences.ts';
import { audit } from '../users/audit.ts';

const tags = ['Single sends'];
const WEEKDAY = /^[1-7]$/;
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;
const END_OF_DAY = '24:00';

const NewWindow = Type.Object({
  days: Type.Optional(
    Type.Unsafe<string[]>({
      ...stringList({
        maxItems: 7,
        description: 'Weekdays: 1 is Monday, 7 is Sunday. Empty: mail leaves at any time.',
      }),
      empty: [],
    }),
  ),
  opens: Type.Optional(line({ description: 'HH:MM in the zone of schedules. Needed with days.' })),
  closes: Type.Optional(line({ description: 'HH:MM, after opens; 24:00 is the end of the day. Needed with days.' })),
});

const Window = Type.Object({
  days: Type.Array(integer(), { description: 'Weekdays: 1 is Monday, 7 is Sunday.' }),
  opens: Type.String({ description: 'The first minute at which mail leaves, HH:MM.' }),
  closes: Type.String({ description: 'The minute from which on none leaves, HH:MM.' }),
});

export const sendWindowRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, clock, config }) => {
  app.get(
    '/sending/window',
    {
      schema: {
        tags,
        summary: 'Read when mail of campaigns leaves (addition)',
        response: successWith({
          window: { ...nullable(Window), description: 'Null: at any time.' },
          time_zone: Type.String({ description: 'The zone of schedules.' }),
          waits_until: {
            ...nullable(isoTimestampSchema()),
            description: 'When mail that waits now leaves; null while it may leave.',
          },
        }),
      },
    },
    async ({ accountId }) => {
      const window = readSendWindow(db, accountId);
      const until = window && waitsUntil(window, clock.now(), config.TIME_ZONE);
      const message = { window, time_zone: config.TIME_ZONE, waits_until: until && isoTimestamp(until) };
      return { status: 'success' as const, message };
    },
  );

  app.post(
    '/sending/window/save',
    {
      schema: {
        tags,
        summary: 'Change when mail of campaigns leaves (addition)',
        description:
          'Mail of single sends and automations waits at all other times. Transactional mail, tests and confirmations leave at any time.',
        body: NewWindow,
        response: done,
      },
      config: {
        role: 'owner',
        check: check(NewWindow, ({ days = [], opens = '', closes = '' }, errors) => {
          if (days.length === 0) return;
          if (!days.every((day) => WEEKDAY.test(day))) errors.add('days', SENTENCES.window_days);
          const isTime = TIME.test(opens) && (TIME.test(closes) || closes === END_OF_DAY);
          if (!isTime || opens >= closes) errors.add('opens', SENTENCES.window_hours);
        }),
      },
    },
    async ({ accountId, actor, body: { days = [], opens = '', closes = '' } }) => {
      const numbers = [...new Set(days.map(Number))].sort();
      const change = () => {
        changeSendWindow(db, accountId, numbers.length === 0 ? null : { days: numbers, opens, closes });
        audit(db, { accountId, actor, action: 'send_window_changed' }, clock.now());
      };
      db.transaction(change, { behavior: 'immediate' });
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );
};
