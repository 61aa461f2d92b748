/** How long an automation waits before a mail. */
import type { Schedule } from './automations.ts';

const HOUR_MS = 3_600_000;

/** The wait before a mail after the one before, or after the entry, in milliseconds; 0 without a mail. */
export function waitMs(schedule: Pick<Schedule, 'waiting_type' | 'waiting_period'> | undefined): number {
  if (schedule === undefined || schedule.waiting_type === 'instantly') return 0;
  return schedule.waiting_period * (schedule.waiting_type === 'days' ? 24 * HOUR_MS : HOUR_MS);
}
