/**
 * A simple model in memory of who should get which mail in a shop's month, written from the rules alone and without regard to speed:
 * a person is an address; whether they may get a mail is decided when it is claimed; the wait for a mail begins when the previous one
 * was accepted; a deleted mail is never sent.
 */

/** A mail that is expected to be accepted. */
export interface Mail {
  subject: string;
  to: string;
  from: string;
  /** Epoch milliseconds. */
  at: number;
}

interface Contact {
  email: string;
  type: number;
}

interface Enrolment {
  email: string;
  /** The contact that entered or, if that was deleted, the one in the target that replaced it. */
  contact: number;
  /** The last mail that is done for them; 0 at entry. */
  passed: number;
  /** The time of entry, or when the previous mail was accepted. */
  since: number;
  /** The mail that the relay deferred; 0 if none. */
  putOff: number;
}

interface Automation {
  target: number;
  group: number;
  exit: 0 | 1;
  isLive: boolean;
  /** Waits in milliseconds and subjects by id, in order. */
  mails: Map<number, { wait: number; subject: string }>;
  /** Everybody who ever entered, since a person enters only once. */
  entered: Set<string>;
  active: Enrolment[];
}

interface Send {
  subject: string;
  targets: number[];
  excluded: number[];
  group: number;
  /** The people who still wait for it; null until it is launched. */
  waiting: { email: string; contact: number }[] | null;
}

export class MonthModel {
  readonly mails: Mail[] = [];
  readonly #contacts = new Map<number, Contact>();
  readonly #unsubscribed = new Set<string>();
  readonly #automations = new Map<number, Automation>();
  readonly #sends: Send[] = [];
  readonly #histories = new Map<string, string[]>();
  /** Returns true if the relay defers this mail now, which it does at most once. */
  readonly #isPutOff: (subject: string, to: string) => boolean;
  #sender: string;

  constructor(sender: string, isPutOff: (subject: string, to: string) => boolean) {
    this.#sender = sender;
    this.#isPutOff = isPutOff;
  }

  /** A contact is added to a type, by import, by hand or from another type, and enters its live automations. */
  join(at: number, id: number, email: string, type: number): void {
    this.#contacts.set(id, { email, type });
    this.#note(at, email, `contact ${id} joins type ${type}`);
    for (const [number, { isLive, target, entered, active }] of this.#automations) {
      if (!isLive || target !== type) continue;
      const present = active.find((enrolment) => enrolment.email === email);
      if (present !== undefined) present.contact = id;
      if (entered.has(email)) continue;
      entered.add(email);
      active.push({ email, contact: id, passed: 0, since: at, putOff: 0 });
      this.#note(at, email, `enters automation ${number}`);
    }
  }

  /** A contact is deleted or leaves its type, which ends automations with exit_criteria 1 for the person. */
  leave(at: number, id: number): void {
    const contact = this.#contacts.get(id);
    if (contact === undefined) return;
    const { email, type } = contact;
    this.#contacts.delete(id);
    this.#note(at, email, `contact ${id} leaves type ${type}`);
    for (const [number, automation] of this.#automations) {
      if (automation.exit === 1 && automation.target === type) this.#end(at, number, email, 'left the target');
    }
  }

  /** An address is corrected, and the person keeps their place under the new one. */
  correct(at: number, id: number, to: string): void {
    const contact = this.#contacts.get(id);
    if (contact === undefined) return;
    const from = contact.email;
    contact.email = to;
    this.#note(at, from, `is ${to} from now on`);
    this.#histories.set(to, [...this.history(from)]);
    for (const { target, entered, active } of this.#automations.values()) {
      if (entered.has(from)) entered.add(to);
      for (const enrolment of active) {
        const isTheirs = enrolment.contact === id || target === contact.type;
        if (enrolment.email === from && isTheirs) enrolment.email = to;
      }
    }
    for (const { waiting } of this.#sends) {
      for (const person of waiting ?? []) if (person.contact === id) person.email = to;
    }
  }

  /** Group 0 is all mail. */
  unsubscribe(at: number, email: string, group: number): void {
    this.#unsubscribed.add(`${group} ${email}`);
    this.#note(at, email, `leaves list ${group}`);
  }

  resubscribe(at: number, email: string, group: number): void {
    this.#unsubscribed.delete(`${group} ${email}`);
    this.#note(at, email, `comes back to list ${group}`);
  }

  nameSender(name: string): void {
    this.#sender = name;
  }

  createAutomation(number: number, plan: Pick<Automation, 'target' | 'group' | 'exit'>): void {
    this.#automations.set(number, { ...plan, isLive: false, mails: new Map(), entered: new Set(), active: [] });
  }

  setLive(number: number): void {
    this.#automation(number).isLive = true;
  }

  /** People keep their place. */
  pause(number: number): void {
    this.#automation(number).isLive = false;
  }

  addMail(number: number, id: number, subject: string, wait: number): void {
    this.#automation(number).mails.set(id, { subject, wait });
  }

  /** People for whom there is no next mail have finished, except if the deleted one was queued for them, or during a pause. */
  deleteMail(at: number, number: number, id: number): void {
    const automation = this.#automation(number);
    automation.mails.delete(id);
    for (const enrolment of [...automation.active]) {
      const wasOnItsWay = enrolment.putOff === id;
      if (wasOnItsWay) enrolment.putOff = 0;
      if (automation.isLive && !wasOnItsWay && nextOf(automation, enrolment) === undefined)
        this.#end(at, number, enrolment.email, 'no mail is left');
    }
  }

  send(send: Omit<Send, 'waiting'>): void {
    this.#sends.push({ ...send, waiting: null });
  }

  /** Claims everything that is due. */
  tick(at: number): void {
    for (const send of this.#sends) this.#goOn(at, send);
    for (const [number, automation] of this.#automations) {
      if (!automation.isLive) continue;
      for (const enrolment of [...automation.active]) this.#advance(at, number, automation, enrolment);
    }
  }

  /** What happened to each address, one line per address. */
  history(email: string): string[] {
    return this.#histories.get(email) ?? [];
  }

  #goOn(at: number, send: Send): void {
    send.waiting ??= this.#audienceOf(send);
    const still: typeof send.waiting = [];
    for (const person of send.waiting) {
      const isContact = this.#isContact(person.contact, person.email) || this.#isIn(person.email, send.targets);
      if (!isContact || this.#hasLeft(person.email, send.group)) this.#note(at, person.email, `not ${send.subject}`);
      else if (!this.#hand(at, send.subject, person.email)) still.push(person);
    }
    send.waiting = still;
  }

  #audienceOf({ targets, excluded }: Send): { email: string; contact: number }[] {
    const people = new Map<string, number>();
    for (const [id, { email, type }] of this.#contacts) {
      if (targets.includes(type) && !this.#isIn(email, excluded)) people.set(email, id);
    }
    return [...people].map(([email, contact]) => ({ email, contact }));
  }

  #advance(at: number, number: number, automation: Automation, enrolment: Enrolment): void {
    for (;;) {
      const next = nextOf(automation, enrolment);
      if (next === undefined) {
        this.#end(at, number, enrolment.email, 'through');
        return;
      }
      const [id, { wait, subject }] = next;
      if (enrolment.since + wait > at) return;
      const present = this.#contactIn(enrolment.email, automation.target);
      const contact = this.#isContact(enrolment.contact, enrolment.email) ? enrolment.contact : present;
      if (contact === null || this.#hasLeft(enrolment.email, automation.group)) {
        this.#end(at, number, enrolment.email, contact === null ? 'no contact any more' : 'unsubscribed');
        return;
      }
      enrolment.contact = contact;
      if (!this.#hand(at, subject, enrolment.email)) {
        enrolment.putOff = id;
        return;
      }
      Object.assign(enrolment, { passed: id, since: at, putOff: 0 });
    }
  }

  /** Gives false when the relay defers the mail. */
  #hand(at: number, subject: string, to: string): boolean {
    const isPutOff = this.#isPutOff(subject, to);
    this.#note(at, to, `${isPutOff ? 'is put off with' : 'gets'} ${subject}`);
    if (!isPutOff) this.mails.push({ subject, to, from: this.#sender, at });
    return !isPutOff;
  }

  #isContact(id: number, email: string): boolean {
    return this.#contacts.get(id)?.email === email;
  }

  #contactIn(email: string, type: number): number | null {
    for (const [id, contact] of this.#contacts) if (contact.email === email && contact.type === type) return id;
    return null;
  }

  #isIn(email: string, types: readonly number[]): boolean {
    return types.some((type) => this.#contactIn(email, type) !== null);
  }

  #hasLeft(email: string, group: number): boolean {
    return this.#unsubscribed.has(`0 ${email}`) || this.#unsubscribed.has(`${group} ${email}`);
  }

  #end(at: number, number: number, email: string, why: string): void {
    const { active } = this.#automation(number);
    const place = active.findIndex((enrolment) => enrolment.email === email);
    if (place < 0) return;
    active.splice(place, 1);
    this.#note(at, email, `ends automation ${number}: ${why}`);
  }

  #note(at: number, email: string, text: string): void {
    const history = this.#histories.get(email) ?? [];
    this.#histories.set(email, history);
    history.push(`${new Date(at).toISOString().slice(0, 16)} ${text}`);
  }

  #automation(number: number): Automation {
    const automation = this.#automations.get(number);
    if (automation === undefined) throw new Error(`no automation ${number}`);
    return automation;
  }
}

/** The next mail for a person. */
function nextOf({ mails }: Automation, { passed }: Enrolment) {
  return [...mails].filter(([id]) => id > passed).sort(([a], [b]) => a - b)[0];
}
