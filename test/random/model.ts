/**
 * A simple model in memory of an account: its contacts, who left which list, who is suppressed and erased, and who has to get which mail.
 * It knows only what was answered.
 */

/** What was put on the way before a change is answered may still arrive this many milliseconds after it. */
const ON_ITS_WAY_MS = 3000;

/** Who gets test mails. */
export const TESTER = 'tester@example.net';

/** A mail that the relay took. */
export interface Arrived {
  to: string;
  subject: string;
  messageId: string;
  returnPath: string;
  raw: string;
}

export interface Contact {
  email: string;
  type: number;
  isVip: boolean;
  /** Addresses that it had before. */
  former: string[];
}

/** Contact types by number; 0 is the segment of those with the first name Vip in type 1. */
export type Target = 0 | 1 | 2;

/** A mail of a campaign: a single send, or the mails of an automation for those who join it. */
interface Campaign {
  group: number;
  targets: Target[];
  excluded: Target[];
  /** Everybody who was in a target at any time since it was made. */
  may: Set<string>;
  /** Who has to get it, because nothing about them has changed since. */
  must: Set<string>;
}

export class Model {
  readonly contacts = new Map<number, Contact>();
  /** By group; 0 is all mail. */
  readonly left = [new Set<string>(), new Set<string>(), new Set<string>()] as const;
  readonly suppressed = new Set<string>();
  readonly erased = new Set<string>();
  /** By subject; the mails of an automation have one subject each. */
  readonly campaigns = new Map<string, Campaign>();
  readonly arrived: Arrived[] = [];
  /** Return paths of mails that may be recorded as bounced: another report of the same bounce changes nothing. */
  readonly bounced = new Set<string>();
  readonly problems: string[] = [];
  /** Since when an address gets no mail, by the reason. */
  readonly #barred = new Map<string, number>();
  /** Mails to judge, by what forbids them since when. */
  readonly #doubtful: { mail: Arrived; bar: string; since: number }[] = [];
  readonly #got = new Map<string, string[]>();
  readonly #histories = new Map<string, string[]>();
  duplicates = 0;

  isIn(contact: Contact, target: Target): boolean {
    return target === 0 ? contact.type === 1 && contact.isVip : contact.type === target;
  }

  /** The contacts with an address. */
  of(email: string): [number, Contact][] {
    return [...this.contacts].filter(([, contact]) => contact.email === email);
  }

  mayGet(email: string, group: number): boolean {
    const gone = [this.left[0], this.left[group], this.suppressed, this.erased];
    return !gone.some((list) => list?.has(email));
  }

  /** A contact is new, or has other values. */
  put(id: number, contact: Contact): void {
    this.#note(contact.email, `contact ${id} in ${contact.type}, before ${contact.former}`);
    this.contacts.set(id, contact);
    this.#barred.delete(`gone ${contact.email}`);
    for (const { targets, may } of this.campaigns.values())
      if (targets.some((target) => this.isIn(contact, target))) may.add(contact.email);
  }

  remove(id: number): void {
    const contact = this.contacts.get(id);
    if (contact === undefined) return;
    this.contacts.delete(id);
    this.touch(contact.email);
    if (this.of(contact.email).length === 0) this.#bar('gone', contact.email);
  }

  /** Something changes for a person: whether they get what is on the way is not known. */
  touch(email: string): void {
    for (const { must } of this.campaigns.values()) must.delete(email);
  }

  leave(email: string, group: number): void {
    this.left[group]?.add(email);
    this.#bar(`left ${group}`, email);
    this.touch(email);
  }

  comeBack(email: string, group: number): void {
    this.#note(email, `back to ${group}`);
    this.left[group]?.delete(email);
    this.#barred.delete(`left ${group} ${email}`);
  }

  suppress(email: string): void {
    if (this.erased.has(email)) return;
    this.suppressed.add(email);
    this.#bar('suppressed', email);
    this.touch(email);
  }

  /** A bounce is reported by the address alone: it is recorded for one of the mails that came there. */
  bounceOfAny(email: string): void {
    for (const { to, returnPath } of this.arrived) if (to === email) this.bounced.add(returnPath);
    this.suppress(email);
  }

  lift(email: string): void {
    this.#note(email, 'lifted');
    this.suppressed.delete(email);
    this.#barred.delete(`suppressed ${email}`);
  }

  /** The person with this address is erased, with the addresses that they had before and nobody else has. */
  erase(email: string): void {
    const own = this.of(email);
    const former = own.flatMap(([, contact]) => contact.former);
    for (const [id] of own) this.contacts.delete(id);
    for (const address of [email, ...former.filter((one) => this.of(one).length === 0)]) {
      this.touch(address);
      this.suppressed.delete(address);
      for (const list of this.left) list.delete(address);
      this.erased.add(address);
      this.#bar('erased', address);
    }
  }

  /** A campaign begins: everybody in its targets who may get mail has to get it. */
  launch(subject: string, given: Pick<Campaign, 'group' | 'targets' | 'excluded'>): void {
    const audience = [...this.contacts.values()].filter((contact) =>
      given.targets.some((at) => this.isIn(contact, at)),
    );
    const isExcluded = (email: string) =>
      this.of(email).some(([, contact]) => given.excluded.some((target) => this.isIn(contact, target)));
    const people = audience.map(({ email }) => email);
    const must = people.filter((email) => this.mayGet(email, given.group) && !isExcluded(email) && !isGone(email));
    this.campaigns.set(subject, { ...given, may: new Set(people), must: new Set(must) });
  }

  /** A single send is paused or cancelled: nothing more leaves. */
  stop(subject: string): void {
    this.#bar('stopped', subject);
  }

  goOn(subject: string): void {
    this.#barred.delete(`stopped ${subject}`);
  }

  /** Notes a mail that the relay takes. */
  take(mail: Arrived): void {
    const { to, subject, messageId } = mail;
    if (to === TESTER) return;
    this.arrived.push(mail);
    this.#note(to, `gets ${subject}`);
    const key = `${to} ${subject}`;
    const before = this.#got.get(key);
    this.#got.set(key, [...(before ?? []), messageId]);
    // A form asks again on another day.
    if (before !== undefined && !subject.startsWith('Please confirm')) {
      this.duplicates++;
      if (!before.includes(messageId)) this.problems.push(`${key} came under two Message-IDs`);
    }
    const campaign = this.campaigns.get(subject);
    const lists = campaign === undefined ? [] : ['left 0', `left ${campaign.group}`, 'gone'];
    const reasons = ['erased', 'suppressed', ...lists].map((reason) => `${reason} ${to}`);
    for (const bar of [...reasons, `stopped ${subject}`]) {
      const since = this.#barred.get(bar) ?? Number.POSITIVE_INFINITY;
      if (performance.now() - since > ON_ITS_WAY_MS) this.#doubtful.push({ mail, bar, since });
    }
    if (campaign !== undefined) this.#doubtful.push({ mail, bar: 'stranger', since: 0 });
  }

  /**
   * The mails that nobody should have got. They are judged some time after they came, because a mail may be sent before the call that
   * allowed it is answered.
   */
  judge(): string[] {
    return this.#doubtful.splice(0).flatMap(({ mail: { to, subject }, bar, since }) => {
      const isStranger = bar === 'stranger' && !this.campaigns.get(subject)?.may.has(to);
      return isStranger || this.#barred.get(bar) === since ? [`${to} got ${subject}: ${bar}`] : [];
    });
  }

  hasGot(email: string, subject: string): boolean {
    return this.#got.has(`${email} ${subject}`);
  }

  /** Who had to get a mail with one of these subjects and did not. */
  missing(isDue: (subject: string) => boolean): string[] {
    return [...this.campaigns].flatMap(([subject, { must }]) => {
      const without = isDue(subject) ? [...must].filter((email) => !this.hasGot(email, subject)) : [];
      return without.map((email) => `${email} did not get ${subject}`);
    });
  }

  /** What happened to the addresses that are named in the problems, in lines. */
  histories(): string[] {
    const named = new Set(this.problems.join(' ').match(/[a-z]+\d+@example\.org/g));
    return [...named].slice(0, 5).map((email) => `${email}: ${this.#histories.get(email)?.join(', ')}`);
  }

  #note(email: string, text: string): void {
    this.#histories.set(email, [...(this.#histories.get(email) ?? []), text]);
  }

  #bar(reason: string, email: string): void {
    const key = `${reason} ${email}`;
    this.#note(email, reason);
    if (!this.#barred.has(key)) this.#barred.set(key, performance.now());
  }
}

/** Returns true if the relay does not know this address. */
export function isGone(email: string): boolean {
  return email.startsWith('gone');
}
