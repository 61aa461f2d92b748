/** A simple model of automations in memory, written from the rules alone and without regard to speed. Tests compare it with the code. */

export interface Mail {
  person: string;
  automation: number;
  schedule: number;
  /** Epoch milliseconds. */
  at: number;
}

export interface Plan {
  /** The contact type that people join to enter. */
  target: number;
  group: number;
  exit: 0 | 1;
}

interface Enrolment {
  person: string;
  /** The contact as which the person joined. */
  contact: number;
  /** The last schedule the person has passed; 0 at entry. */
  passed: number;
  /** The time of entry, or when the previous mail was sent. */
  since: number;
}

interface Automation extends Plan {
  isLive: boolean;
  /** Waits in milliseconds by schedule id. */
  schedules: Map<number, number>;
  /** Everybody who ever entered, since a person enters only once. */
  entered: Set<string>;
  active: Map<string, Enrolment>;
}

export class AutomationModel {
  readonly mails: Mail[] = [];
  readonly #automations = new Map<number, Automation>();
  readonly #unsubscribed = new Set<string>();
  /** The contacts that are not deleted, with their person and type. */
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

  /** Nobody enters or gets a mail; people keep their place. */
  pause(id: number): void {
    this.#automation(id).isLive = false;
  }

  /** Adds a mail that is sent `wait` milliseconds after the one before it. Ids give the order. */
  addSchedule(id: number, schedule: number, wait: number): void {
    this.#automation(id).schedules.set(schedule, wait);
  }

  /** People who waited for it wait for the next one. If there is none they have finished, except during a pause. */
  deleteSchedule(at: number, id: number, schedule: number): void {
    const automation = this.#automation(id);
    automation.schedules.delete(schedule);
    if (!automation.isLive) return;
    for (const { person, passed } of automation.active.values()) {
      if (nextOf(automation, passed) === undefined) this.#end(at, id, person, 'no mail is left');
    }
  }

  /** A contact of this person was added to a contact type, in whichever way. */
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

  /** A contact was moved to another contact type. With exit_criteria 1 this ends the automation for the person. */
  leave(at: number, person: string, contact: number, type: number): void {
    this.#note(at, person, `contact ${contact} leaves type ${type}`);
    for (const [id, { exit, target }] of this.#automations) {
      if (exit === 1 && target === type) this.#end(at, id, person, 'left the target');
    }
  }

  /** A contact was deleted and so left its type. A person who has no contact in the target at the next mail leaves then. */
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

  /** Sends everything that is due. */
  tick(at: number): void {
    for (const [id, automation] of this.#automations) {
      if (!automation.isLive) continue;
      for (const enrolment of automation.active.values()) this.#send(at, id, automation, enrolment);
    }
  }

  /** What happened to each person, one line per person. */
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
        this.#end(at, id, person, 'the contact was deleted');
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

  /** Returns true if the contact that entered still exists, in any contact type, or the person has another one in the target. */
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

/** The schedule that comes after this one, with its wait. */
function nextOf({ schedules }: Automation, passed: number): [number, number] | undefined {
  return [...schedules].filter(([id]) => id > passed).sort(([a], [b]) => a - b)[0];
}
