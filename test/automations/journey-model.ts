/**
 * What docs/automations.md says of triggers, paths, waits, re-entry, goals and exit rules, as a plain description in
 * memory, without regard to speed. Tests compare it with the product, line by line of the log. It knows nothing of
 * positions, due times or pages: whoever is at a step is looked at in every tick.
 */

/** In milliseconds. */
export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
const QUARTER = HOUR / 4;

/** A step, with the steps of its two paths. `wait`: in milliseconds, before the step. */
export type Step = { id: number; wait: number; yes: Step[]; no: Step[] } & (
  | { kind: 'mail' | 'webhook' | 'exit' }
  | { kind: 'if' | 'segment_add' | 'segment_remove'; segment: string }
  | { kind: 'split'; share: number }
  | { kind: 'set_field'; field: string; value: string }
  | { kind: 'wait_event'; event: string; least: number; timeout: number }
  | { kind: 'wait_date'; hour: number; timeout: number }
  | { kind: 'wait_hour'; hour: number }
  | { kind: 'wait_weekday'; weekday: number; hour: number }
);

/** How contacts of the target enter. `least`: the least value of the event. `days` after the date; negative: before it. */
export type Trigger =
  | { kind: 'join' | 'form' | 'hand' }
  | { kind: 'event'; event: string; least: number }
  | { kind: 'date'; days: number; hour: number; yearly: boolean }
  | { kind: 'field'; field: string; value: string };

export interface Journey {
  id: number;
  trigger: Trigger;
  /** A segment, or null for the list. */
  target: string | null;
  reEntry: { kind: 'never' | 'key' } | { kind: 'days'; days: number };
  goal: string | null;
  exitRule: string | null;
  exitsOnLeaving: boolean;
  /** How many of a hundred are held out. */
  holdOut: number;
  steps: Step[];
}

/** Who is in a segment: contacts for whom the rule holds, and those who were added by hand. */
export type Rule = (fields: Readonly<Record<string, string>>, events: ReadonlySet<string>) => boolean;

interface Run {
  run: number;
  entered: number;
  key: string | null;
  /** The contact as which the person is in it. */
  contact: number;
  /** Since when it waits for the next step. */
  since: number;
  /** The steps to come, on the paths taken so far. */
  todo: Step[];
  /** The wait whose event came in time. */
  arrived: Step | null;
  isActive: boolean;
  goalAt: number | null;
}

interface Person {
  name: string;
  /** The contact in the list; null: deleted or not yet there. */
  contact: number | null;
  /** When the contact was added. */
  added: number;
  /** True if the time zone changed since the last tick. */
  isRezoned: boolean;
  fields: Record<string, string>;
  events: Set<string>;
  /** The segments the person was added to by hand. */
  byHand: Set<string>;
  /** The segments the person is in. */
  segments: Set<string>;
  isUnsubscribed: boolean;
  /** Runs by journey. */
  runs: Map<number, Run[]>;
}

/** A random but repeatable draw of a person at a step or journey: from 0 to below 1. */
export type Draw = (person: string, of: number | `hold-out ${number}`) => number;

export type Outcome = 'entered' | 'active' | 'was_in' | 'outside_target' | 'no_mail' | 'unknown';

export class JourneyModel {
  /** The log of each person in each journey: `journey person`. */
  readonly log = new Map<string, string[]>();
  readonly #people = new Map<string, Person>();
  readonly #journeys: (Journey & { isLive: boolean; liveSince: number; lookedTo: number })[] = [];
  readonly #rules: Readonly<Record<string, Rule>>;
  readonly #draw: Draw;

  constructor(rules: Readonly<Record<string, Rule>>, draw: Draw) {
    this.#rules = rules;
    this.#draw = draw;
  }

  add(journey: Journey): void {
    this.#journeys.push({ ...journey, isLive: false, liveSince: 0, lookedTo: 0 });
  }

  setLive(at: number, id: number): void {
    Object.assign(this.#journey(id), { isLive: true, liveSince: at, lookedTo: at });
  }

  /** Nobody enters and no step is taken; goals and exit rules still end runs. */
  pause(id: number): void {
    this.#journey(id).isLive = false;
  }

  /** A contact is added to the list; also again, with another id, after it was deleted. */
  join(at: number, name: string, contact: number, fields: Readonly<Record<string, string>>): void {
    const person = this.#person(name);
    Object.assign(person, { contact, added: at, fields: {} });
    this.#setFields(at, person, fields);
    this.#start(at, person, ({ trigger, target }) => trigger.kind === 'join' && target === null);
  }

  remove(at: number, name: string): void {
    const person = this.#person(name);
    person.contact = null;
    for (const { id, target, exitsOnLeaving } of this.#journeys)
      if (exitsOnLeaving && target === null) this.#end(at, id, person, 'left_target');
    this.#followSegments(at, person);
  }

  setFields(at: number, name: string, fields: Readonly<Record<string, string>>): void {
    const person = this.#person(name);
    const before = person.fields.time_zone;
    this.#setFields(at, person, fields);
    if (person.fields.time_zone !== before) person.isRezoned = true;
  }

  setUnsubscribed(name: string, isUnsubscribed: boolean): void {
    this.#person(name).isUnsubscribed = isUnsubscribed;
  }

  /** An event is reported at `at` that happened at `happened`. */
  report(at: number, name: string, event: { name: string; value: number; key: string; happened: number }): void {
    const person = this.#person(name);
    person.events.add(event.name);
    this.#followSegments(at, person);
    const isMeant = (one: { event: string; least: number }) => one.event === event.name && event.value >= one.least;
    const isNew = event.happened >= at - DAY;
    const starts = ({ trigger }: Journey) => trigger.kind === 'event' && isMeant(trigger) && isNew;
    this.#start(at, person, (journey) => starts(journey) && this.#isInTarget(journey, person), event.key);
    for (const run of this.#activeRuns(person)) {
      const [step] = run.todo;
      if (step?.kind !== 'wait_event' || !isMeant(step)) continue;
      const began = run.since + step.wait;
      if (event.happened > began && event.happened <= began + step.timeout) run.arrived = step;
    }
  }

  /** A form is confirmed, by a contact of the list. */
  confirm(at: number, name: string): void {
    this.#start(at, this.#person(name), ({ trigger }) => trigger.kind === 'form');
  }

  /** Somebody lets a contact enter a live journey by hand. */
  enter(at: number, name: string, id: number): Outcome {
    const person = this.#people.get(name);
    const journey = this.#journey(id);
    if (person === undefined || person.contact === null) return 'unknown';
    const runs = person.runs.get(id) ?? [];
    if (!this.#isInTarget(journey, person)) return 'outside_target';
    if (runs.some(({ isActive }) => isActive)) return 'active';
    if (person.isUnsubscribed || this.#isBarredBySegment(journey, person)) return 'no_mail';
    if (isBarred(journey, runs, at, null)) return 'was_in';
    this.#start(at, person, (one) => one === journey);
    return 'entered';
  }

  /** Lets contacts enter whose date has come, and takes every step that is due. */
  tick(at: number): void {
    const live = this.#journeys.filter(({ isLive }) => isLive);
    for (const journey of live) {
      if (journey.trigger.kind === 'date') this.#enterByDate(at, journey, journey.trigger);
      this.#takeAllSteps(at, journey);
    }
    // A step of a later journey can have let people enter an earlier one, who go on at once.
    for (const journey of live) this.#takeAllSteps(at, journey);
    for (const person of this.#people.values()) person.isRezoned = false;
  }

  #takeAllSteps(at: number, journey: Journey): void {
    for (const person of this.#people.values())
      for (const run of person.runs.get(journey.id) ?? []) this.#takeSteps(at, journey, person, run);
  }

  /** The runs of all people in which the goal was reached, with the time: `journey person run time`. */
  goals(): string[] {
    return [...this.#people.values()].flatMap(({ name, runs }) =>
      [...runs].flatMap(([id, all]) =>
        all.flatMap(({ run, goalAt }) => (goalAt === null ? [] : [`${id} ${name} ${run} ${timeOf(goalAt)}`])),
      ),
    );
  }

  #takeSteps(at: number, journey: Journey, person: Person, run: Run): void {
    while (run.isActive) {
      const [step, ...rest] = run.todo;
      if (step === undefined) {
        this.#end(at, journey.id, person, null);
        return;
      }
      if (run.since + step.wait > at) return;
      const outcome = this.#outcomeOf(at, step, person, run, journey);
      if (outcome === null) return;
      if (typeof outcome === 'object') {
        this.#end(at, journey.id, person, outcome.end);
        return;
      }
      this.#note(at, journey.id, person, run, `${outcome} step ${step.id}`);
      const path = outcome === 'yes' ? step.yes : outcome === 'no' ? step.no : [];
      Object.assign(run, { since: at, todo: [...path, ...rest], arrived: null });
      if (outcome === 'exit') this.#end(at, journey.id, person, 'exit_step');
      if (step.kind === 'set_field' && outcome === 'done') this.#setFields(at, person, { [step.field]: step.value });
      if (step.kind === 'segment_add' || step.kind === 'segment_remove') this.#followSegments(at, person);
    }
  }

  /** What a person does at a step: an outcome of the log, null to go on waiting, or the reason for which they exit. */
  #outcomeOf(at: number, step: Step, person: Person, run: Run, journey: Journey): string | null | { end: string } {
    const began = run.since + step.wait;
    const hasContact = person.contact !== null && this.#hasContact(journey, person, run);
    switch (step.kind) {
      case 'mail':
        if (person.isUnsubscribed) return { end: 'unsubscribed_group' };
        return hasContact ? 'mail' : { end: 'contact_deleted' };
      case 'exit':
        return 'exit';
      case 'if':
        return person.segments.has(step.segment) ? 'yes' : 'no';
      case 'split':
        return this.#draw(person.name, step.id) < step.share / 100 ? 'yes' : 'no';
      case 'set_field':
      case 'webhook':
        return hasContact ? 'done' : 'not_done';
      case 'segment_add':
        if (hasContact) person.byHand.add(step.segment);
        return hasContact || person.byHand.has(step.segment) ? 'done' : 'not_done';
      case 'segment_remove':
        return person.byHand.delete(step.segment) ? 'done' : 'not_done';
      case 'wait_event':
        if (run.arrived === step) return 'yes';
        return at >= began + step.timeout ? 'no' : null;
      case 'wait_date': {
        const date = hasContact ? (person.fields.due ?? '') : '';
        const comes = date === '' ? Number.POSITIVE_INFINITY : momentOf(date, step.hour, zoneOf(person));
        if (comes <= Math.min(at, began + step.timeout)) return 'yes';
        return at >= began + step.timeout ? 'no' : null;
      }
      case 'wait_hour':
        return isHour(at, step.hour, zoneOf(person)) ? 'yes' : null;
      case 'wait_weekday': {
        const { weekday, hour } = clockOf(at, zoneOf(person));
        return weekday === step.weekday && hour >= step.hour ? 'yes' : null;
      }
    }
  }

  /** Returns true if the contact that entered still exists, or the person has another one in the target. */
  #hasContact(journey: Journey, person: Person, run: Run): boolean {
    return person.contact === run.contact || this.#isInTarget(journey, person);
  }

  #enterByDate(
    at: number,
    journey: Journey & { liveSince: number; lookedTo: number },
    trigger: Trigger & { kind: 'date' },
  ): void {
    const from = journey.lookedTo;
    journey.lookedTo = at;
    // In another time zone an hour of the last day counts, too.
    const quarter = at - (at % QUARTER);
    const lateFrom = Math.max(journey.liveSince, quarter - DAY);
    for (const person of this.#people.values()) {
      const date = person.contact === null ? '' : (person.fields.due ?? '');
      if (date === '') continue;
      const first = Number(date.slice(0, 4));
      const years = trigger.yearly ? [2025, 2026, 2027].filter((year) => year >= first) : [first];
      for (const year of years) {
        const meant = `${year}${date.slice('YYYY'.length)}`;
        const moment = momentOf(addDays(meant, trigger.days), trigger.hour, zoneOf(person));
        const isDue = moment > from && moment <= at;
        const isLate = person.isRezoned && moment > lateFrom && moment <= quarter && moment >= person.added;
        if (isDue || isLate) this.#start(moment, person, (one) => one === journey, meant);
      }
    }
  }

  #setFields(at: number, person: Person, fields: Readonly<Record<string, string>>): void {
    const before = person.fields;
    person.fields = { ...before, ...fields };
    const starts = ({ trigger }: Journey) =>
      trigger.kind === 'field' &&
      before[trigger.field] !== trigger.value &&
      person.fields[trigger.field] === trigger.value;
    this.#followSegments(at, person);
    this.#start(at, person, starts);
  }

  /** Puts a person into the segments whose rules hold now and takes them out of the others, with all that follows. */
  #followSegments(at: number, person: Person): void {
    const joined = new Set<string>();
    const left = new Set<string>();
    for (const [segment, holds] of Object.entries(this.#rules)) {
      const isIn = person.byHand.has(segment) || (person.contact !== null && holds(person.fields, person.events));
      if (isIn !== person.segments.has(segment)) (isIn ? joined : left).add(segment);
    }
    person.segments = new Set([...person.segments, ...joined].filter((segment) => !left.has(segment)));
    for (const { id, target, exitsOnLeaving, goal, exitRule } of this.#journeys) {
      if (exitsOnLeaving && left.has(target ?? '')) this.#end(at, id, person, 'left_target');
      if (joined.has(goal ?? '')) {
        for (const run of person.runs.get(id) ?? []) run.goalAt ??= at;
        this.#end(at, id, person, 'goal_reached');
      }
      if (joined.has(exitRule ?? '')) this.#end(at, id, person, 'exit_rule');
    }
    this.#start(at, person, ({ trigger, target }) => trigger.kind === 'join' && joined.has(target ?? ''));
  }

  /** Lets a person enter the live journeys that something starts, where nothing bars them. */
  #start(at: number, person: Person, isStarted: (journey: Journey) => boolean, key: string | null = null): void {
    for (const journey of this.#journeys) {
      if (!journey.isLive || !isStarted(journey)) continue;
      const runs = person.runs.get(journey.id) ?? [];
      const active = runs.find(({ isActive }) => isActive);
      if (active !== undefined) {
        active.contact = person.contact ?? active.contact;
        continue;
      }
      if (person.contact === null || !this.#isInTarget(journey, person)) continue;
      if (this.#isBarredBySegment(journey, person) || isBarred(journey, runs, at, key)) continue;
      const run: Run = {
        run: runs.length + 1,
        entered: at,
        key,
        contact: person.contact,
        since: at,
        todo: journey.steps,
        arrived: null,
        isActive: true,
        goalAt: null,
      };
      person.runs.set(journey.id, [...runs, run]);
      this.#note(at, journey.id, person, run, 'entered');
      const isHeldOut = this.#draw(person.name, `hold-out ${journey.id}`) < journey.holdOut / 100;
      if (isHeldOut) this.#end(at, journey.id, person, 'held_out');
    }
  }

  #isInTarget({ target }: Journey, person: Person): boolean {
    return target === null ? person.contact !== null : person.segments.has(target);
  }

  #isBarredBySegment({ goal, exitRule }: Journey, { segments }: Person): boolean {
    return segments.has(goal ?? '') || segments.has(exitRule ?? '');
  }

  /** Ends the run of a person in a journey, if there is one. `reason` null: they completed it. */
  #end(at: number, journey: number, person: Person, reason: string | null): void {
    const run = person.runs.get(journey)?.find(({ isActive }) => isActive);
    if (run === undefined) return;
    run.isActive = false;
    this.#note(at, journey, person, run, reason === null ? 'finished' : `left ${reason}`);
  }

  #activeRuns({ runs }: Person): Run[] {
    return [...runs.values()].flat().filter(({ isActive }) => isActive);
  }

  #note(at: number, journey: number, { name }: Person, { run }: Run, text: string): void {
    const key = `${journey} ${name}`;
    this.log.set(key, [...(this.log.get(key) ?? []), `${timeOf(at)} run ${run} ${text}`]);
  }

  #journey(id: number) {
    const journey = this.#journeys.find((one) => one.id === id);
    if (journey === undefined) throw new Error(`no journey ${id}`);
    return journey;
  }

  #person(name: string): Person {
    const known = this.#people.get(name);
    if (known !== undefined) return known;
    const person: Person = {
      name,
      contact: null,
      added: 0,
      isRezoned: false,
      fields: {},
      events: new Set(),
      byHand: new Set(),
      segments: new Set(),
      isUnsubscribed: false,
      runs: new Map(),
    };
    this.#people.set(name, person);
    return person;
  }
}

/** Returns true if an earlier run keeps a person from entering again. */
function isBarred({ reEntry }: Journey, runs: readonly Run[], at: number, key: string | null): boolean {
  switch (reEntry.kind) {
    case 'never':
      return runs.length > 0;
    case 'days':
      return runs.some(({ entered }) => entered + reEntry.days * DAY > at);
    case 'key':
      return runs.some((run) => key === null || run.key === key);
  }
}

const zoneOf = ({ contact, fields }: Person) => (contact === null ? '' : (fields.time_zone ?? '')) || 'UTC';

export const timeOf = (at: number) => new Date(at).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length);

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00Z`) + days * DAY).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What a clock and calendar in a zone show. `weekday`: 1 is Monday. */
function clockOf(at: number, zone: string): { date: string; hour: number; weekday: number } {
  const format =
    formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  formats.set(zone, format);
  const [date = '', time = ''] = format.format(at).split(' ');
  return { date, hour: Number(time.slice(0, 'HH'.length)), weekday: new Date(`${date}T00:00Z`).getUTCDay() || 7 };
}

const moments = new Map<string, number>();

/** Returns true if it is this hour in a zone, or the next hour where the clock skips this one. */
function isHour(at: number, wanted: number, zone: string): boolean {
  const { date, hour } = clockOf(at, zone);
  const first = momentOf(date, wanted, zone);
  return hour === wanted || (at >= first && at < first + HOUR);
}

/** When it is this hour of a date in a zone, or the first moment after it where the clock skips it. */
function momentOf(date: string, hour: number, zone: string): number {
  const key = `${date} ${hour} ${zone}`;
  const known = moments.get(key);
  if (known !== undefined) return known;
  for (let at = Date.parse(`${date}T00:00Z`) - DAY; ; at += QUARTER) {
    const shown = clockOf(at, zone);
    if (shown.date < date || (shown.date === date && shown.hour < hour)) continue;
    moments.set(key, at);
    return at;
  }
}
