/** What composing says of the days and hours at which mail leaves. */
import type { FastifyReply } from 'fastify';
import type { SendWindow } from '../../../../database/schema/index.ts';
import { waitsUntil } from '../../../../delivery/timing/send-window.ts';
import type { ApiClient } from '../../../api-client.ts';
import { Notice } from '../../../components/surface.tsx';
import { setFlash } from '../../../flash.ts';
import { recordTime } from '../../../record-time.ts';
import { type Language, useLanguage } from '../../../words/index.ts';

/** When mail of the account leaves; `window` is null at any time. */
export interface LeavingTimes {
  window: SendWindow | null;
  time_zone: string;
  /** When mail that waits now leaves; null while it may leave. */
  waits_until: string | null;
}

export function readLeavingTimes(api: ApiClient): Promise<LeavingTimes> {
  return api.get('/sending/window');
}

/** That mail does not leave at this time. */
export function LeavingNotice({ times }: { times: LeavingTimes }) {
  const language = useLanguage();
  const opens = recordTime(times.waits_until);
  if (opens === null) return null;
  const { time_zone: zone } = times;
  return <Notice>{language.say('window.now', { time: language.weekdayTime(opens, zone), zone })}</Notice>;
}

/** Says on the next page for when a mailing was scheduled, and from when on it leaves if that is another time. */
export function sayBooked(
  reply: FastifyReply,
  language: Language,
  { window, time_zone }: LeavingTimes,
  start: Date,
  zone: string,
): void {
  const time = language.weekdayTime(start, zone);
  const opens = window && waitsUntil(window, start, time_zone);
  if (opens === null) setFlash(reply, 'good', 'compose.schedule.done', { time, zone });
  else setFlash(reply, 'warn', 'window.booked', { time, zone, opens: language.weekdayTime(opens, zone) });
}
