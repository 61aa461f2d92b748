/** Whom the sunset rule stops and lets go, reckoned in memory from what people of a world got and did. */
import type { TestApp } from '../../support/app.ts';
import { mustAnswer } from '../../support/segments.ts';
import { isSeen, type Reader, type World } from './engagement-world.ts';

interface Rule {
  months: number;
  leastMails: number;
}

export class SunsetReckoning {
  /** By name: since when they had done nothing, and when they were stopped. */
  readonly #stopped = new Map<string, { cutoff: number; at: number }>();
  readonly #liftedAt = new Map<string, number>();
  readonly #world: World;
  readonly #rule: Rule;
  #day = '';
  stops = 0;
  lifts = 0;
  /** Who got a mail while they were stopped. */
  readonly wrongMails: string[] = [];

  private constructor(world: World, rule: Rule) {
    this.#world = world;
    this.#rule = rule;
  }

  /** Switches the rule on, and reckons from then on. */
  static async begin(world: World, rule: Rule): Promise<SunsetReckoning> {
    const { app } = world;
    const form = { is_on: 1, months: rule.months, least_mails: rule.leastMails, action: 'stop' };
    await mustAnswer(app, 'POST', '/sunset/save', { form });
    const reckoning = new SunsetReckoning(world, rule);
    world.afterWork = () => reckoning.#follow();
    return reckoning;
  }

  /** Who is stopped now, sorted. */
  inactive(): string[] {
    return [...this.#stopped.keys()].sort();
  }

  #follow(): void {
    const now = this.#world.app.clock.now();
    for (const [name, { cutoff, at }] of this.#stopped) {
      const reader = this.#world.readers.get(name);
      if (reader === undefined) throw new Error(`${name} is nobody`);
      if (reader.mails.some((mail) => mail.at > at)) this.wrongMails.push(name);
      if (reader.lastAt < cutoff) continue;
      this.#stopped.delete(name);
      this.#liftedAt.set(name, now.getTime());
      this.lifts++;
    }
    const day = now.toISOString().slice(0, 10);
    if (day === this.#day) return;
    this.#day = day;
    const cutoff = this.#cutoff(day);
    for (const reader of this.#world.readers.values()) {
      if (this.#stopped.has(reader.name) || !this.#isInactive(reader, cutoff)) continue;
      this.#stopped.set(reader.name, { cutoff, at: now.getTime() });
      this.stops++;
    }
  }

  /** The same day so many months before, or the last one of that month. */
  #cutoff(day: string): number {
    const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
    const before = year * 12 + month - 1 - this.#rule.months;
    for (let last = date; ; last--) {
      const found = new Date(Date.UTC(Math.floor(before / 12), before % 12, last));
      if (found.getUTCMonth() === before % 12) return found.getTime();
    }
  }

  #isInactive({ name, joinedAt, lastAt, lastProxiedAt, mails }: Reader, cutoff: number): boolean {
    const got = mails.filter(({ at, mailing }) => at >= cutoff && this.#isMeasured(mailing));
    // Of whom a proxy loaded the pictures, nobody knows whether they did something.
    const lastAct = Math.max(joinedAt, lastAt, lastProxiedAt, this.#liftedAt.get(name) ?? 0);
    return lastAct < cutoff && got.length >= this.#rule.leastMails;
  }

  /** Returns true if at least one person opened a mail of this mailing or clicked in it. */
  #isMeasured(mailing: number): boolean {
    return [...this.#world.readers.values()].some(({ mails }) =>
      mails.some((mail) => mail.mailing === mailing && isSeen(mail)),
    );
  }
}

/** Who the rule of the account applies to, as the tables have it, sorted. */
export function inactiveNow({ db }: TestApp): string[] {
  return db
    .prepare<[], string>(
      "SELECT replace(a.normalized_email, '@example.com', '') FROM sunset_people z JOIN addresses a ON a.id = z.address_id WHERE z.lifted_at IS NULL ORDER BY 1",
    )
    .pluck()
    .all();
}
