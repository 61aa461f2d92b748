/** How many mails of a domain that is being warmed up may leave on which day. Days are YYYY-MM-DD, UTC. */

const DAY_MS = 86_400_000;
/** A plan with the least growth takes fewer days than this. */
const MAX_DAYS = 400;

export interface Plan {
  starts_on: string;
  /** Mails of the first day. */
  volume: number;
  /** So many percent more on each day. */
  growth: number;
  /** It is over on the day that would have so many. */
  until_volume: number;
}

/** How far a plan is: `step` days with at least half of their volume lie behind it, and `mails` were sent today. */
export interface Progress {
  step: number;
  mails: number;
}

export function dayOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

export function dayAfter(day: string, days = 1): string {
  return dayOf(new Date(Date.parse(day) + days * DAY_MS));
}

/** How many mails the day after `step` days of use has; null once the plan is over. */
export function volumeAfter({ volume, growth, until_volume }: Plan, step: number): number | null {
  const mails = Math.floor(volume * (1 + growth / 100) ** step);
  return mails >= until_volume ? null : mails;
}

/** The day on which the plan is over if every day from `today` on has all of its mails. */
export function lastDay(plan: Plan, { step }: Progress, today: string): string {
  let days = 0;
  while (days < MAX_DAYS && volumeAfter(plan, step + days) !== null) days++;
  return dayAfter(today < plan.starts_on ? plan.starts_on : today, days);
}

/** The day on which the last of so many waiting mails is expected to leave. */
export function expectedDay(plan: Plan, { step, mails }: Progress, waiting: number, today: string): string {
  let left = waiting;
  for (let days = 0; days < MAX_DAYS; days++) {
    const volume = volumeAfter(plan, step + days);
    if (volume === null) return dayAfter(today, days);
    left -= days === 0 ? Math.max(0, volume - mails) : volume;
    if (left <= 0) return dayAfter(today, days);
  }
  return dayAfter(today, MAX_DAYS);
}
