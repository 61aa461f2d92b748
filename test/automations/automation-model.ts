/** Automations as decisions §5 tells them, in memory and without haste: what the engine is compared with. */

export interface Mail {
  person: string;
  automation: number;
  schedule: number;
  /** Epoch milliseconds. */
  at: number;
}

export interface Plan {
  /** The contact type whose joins enter. */
  target: number;
  group: number;
  exit: 0 | 1;
}

interface Enrolment {
  person: string;
  /** Which of the person's contacts joined. */
  contact: number;
  /** The last schedule passed; 0 at entry. */
  passed: number;
  /** Entry, or when the mail before went. */
  since: number;
}

interface Automation extends Plan {
  isLive: boolean;
  /** Waits in milliseconds by schedule id. */
  schedules: Map<number, number>;
  /** Everybody who ever entered: once per person. */
  entered: Set<string>;
  active: Map<string, Enrolment>;
}

export class AutomationModel {
  readonly mails: Mail[] = [];
  readonly #automations = new Map<number, Automation>();
  readonly #unsubscribed = new Set<string>();
  /** Contacts that are there, with their person and type. */
  readonly #contacts = new Map<number, { person: string; type: number }>();
  readonly #histories = new Map<string, string[]>();

  /** A draft automation. */
  create(id: number, plan: Plan): void {
    this.#automations.set(id, {
      ...plan,
      isLive: false,
      schedules: new Map(),
      entered: new Set(),
      active: new Map(),
    });
  }

  setLive(id: number): void {
    this.#automation(id).isLive = true;
  }

  /** Nobody enters or gets a mail; places are kept. */
  pause(id: number): void {
    this.#automation(id).isLive = false;
  }

  /** A mail `wait` milliseconds after the one before it; ids tell the order. */
  addSchedule(id: number, schedule: number, wait: number): void {
    this.#automation(id).schedules.set(schedule, wait);
  }

  /** Who waited for it waits for the next one; who has none left has had their last mail, but a pause keeps their place. */
  deleteSchedule(at: number, id: number, schedule: number): void {
    const automation = this.#automation(id);
    automation.schedules.delete(schedule);
    if (!automation.isLive) return;
    for (const { person, passed } of automation.active.values()) {
      if (nextOf(automation, passed) === undefined) this.#end(at, id, person, 'no mail is left');
    }
  }

  /** A contact of this person has come into a contact type, by whatever path. */
  join(at: number, person: string, contact: number, type: number): void {
    this.#note(at, person, `contact ${contact} joins type ${type}`);
    this.#contacts.set(contact, { person, type });
    for (const [id, { isLive, target, entered, active }] of this.#automations) {
      if (target !== type || !isLive) continue;
      const present = active.get(person);
      if (present !== undefined) present.contact = contact;
      if (entered.has(person)) continue;
      entered.add(person);
      active.set(person, { person, contact, passed: 0, since: at });
      this.#note(at, person, `enters automation ${id}`);
    }
  }

  /** A contact has left a contact type for another: the end where exit_criteria is 1. */
  leave(at: number, person: string, contact: number, type: number): void {
    this.#note(at, person, `contact ${contact} leaves type ${type}`);
    for (const [id, { exit, target }] of this.#automations) {
      if (exit === 1 && target === type) this.#end(at, id, person, 'left the target');
    }
  }

  /** A contact is deleted: it has left its type, and whoever is no contact of the target by the next mail leaves then. */
  remove(at: number, person: string, contact: number, type: number): void {
    this.leave(at, person, contact, type);
    this.#contacts.delete(contact);
  }

  /** Group 0 is the global list. */
  unsubscribe(at: number, person: string, group: number): void {
    this.#note(at, person, `unsubscribes from ${group}`);
    this.#unsubscribed.add(`${group} ${person}`);
  }

  resubscribe(at: number, person: string, group: number): void {
    this.#note(at, person, `is taken off unsubscribe list ${group}`);
    this.#unsubscribed.delete(`${group} ${person}`);
  }

  /** Everything that is due goes. */
  tick(at: number): void {
    for (const [id, automation] of this.#automations) {
      if (!automation.isLive) continue;
      for (const enrolment of automation.active.values()) this.#send(at, id, automation, enrolment);
    }
  }

  /** What happened to a person, a line each. */
  history(person: string): string[] {
    return this.#histories.get(person) ?? [];
  }

  #send(at: number, id: number, automation: Automation, enrolment: Enrolment): void {
    const { person } = enrolment;
    for (;;) {
      const next = nextOf(automation, enrolment.passed);
      if (next === undefined) {
        this.#end(at, id, person, 'had the last mail');
        return;
      }
      const [schedule, wait] = next;
      if (enrolment.since + wait > at) return;
      if (!this.#isContact(enrolment, automation.target)) {
        this.#end(at, id, person, 'contact was deleted');
        return;
      }
      if (this.#isUnsubscribed(person, automation.group)) {
        this.#end(at, id, person, 'unsubscribed');
        return;
      }
      this.mails.push({ person, automation: id, schedule, at });
      this.#note(at, person, `gets mail ${schedule} of automation ${id}`);
      enrolment.passed = schedule;
      enrolment.since = at;
    }
  }

  /** Whether the person is still who entered, wherever that contact was moved, or another contact of the target. */
  #isContact(enrolment: Enrolment, target: number): boolean {
    if (this.#contacts.has(enrolment.contact)) return true;
    const other = [...this.#contacts].find(([, { person, type }]) => person === enrolment.person && type === target);
    if (other !== undefined) [enrolment.contact] = other;
    return other !== undefined;
  }

  #isUnsubscribed(person: string, group: number): boolean {
    return this.#unsubscribed.has(`0 ${person}`) || this.#unsubscribed.has(`${group} ${person}`);
  }

  #end(at: number, id: number, person: string, why: string): void {
    if (this.#automation(id).active.delete(person)) this.#note(at, person, `ends automation ${id}: ${why}`);
  }

  #note(at: number, person: string, text: string): void {
    const history = this.#histories.get(person) ?? [];
    history.push(`${new Date(at).toISOString().slice(0, 16)} ${text}`);
    this.#histories.set(person, history);
  }

  #automation(id: number): Automation {
    const automation = this.#automations.get(id);
    if (automation === undefined) throw new Error(`no automation ${id}`);
    return automation;
  }
}

/** The first schedule behind a place, with its wait. */
function nextOf({ schedules }: Automation, passed: number): [number, number] | undefined {
  return [...schedules].filter(([id]) => id > passed).sort(([a], [b]) => a - b)[0];
}
