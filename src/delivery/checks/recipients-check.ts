/**
 * Checks a mail for every recipient: finds recipients who see an empty merge tag, branches of conditions that reach nobody, the longest
 * subject, and mails that Gmail clips. Texts are measured without being written, so that a recipient costs a few microseconds.
 */
import { setImmediate } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { languageCode, languageOfCountry } from '../../audience/contacts/contact-languages.ts';
import { exclusionReason, isReadEarlier, isWithin } from '../../audience/eligibility.ts';
import { topicsOf } from '../../audience/unsubscribes.ts';
import type { Target } from '../../database/schema/index.ts';
import { AskedValues, type Condition, prepareCondition } from '../content/conditions.ts';
import { mergeLine, type Values } from '../content/merge.ts';
import type { Placeholder } from '../content/placeholders.ts';
import {
  type ContactFields,
  type CustomName,
  contactFieldsFor,
  contactLanguage,
  LANGUAGE_FIELDS,
  mergeValues,
} from '../content/values.ts';
import { type EnqueueProgress, MEMBERS } from '../queue/enqueue-recipients.ts';
import { GMAIL_BYTES } from './mail-checks.ts';
import { bytesOf, type MeasuredMail, type MeasuredText, measureMail } from './measured-mail.ts';

/** A finding about the mails of the recipients. */
export interface RecipientFinding {
  code: 'value_empty' | 'branch_unused' | 'subject_longest' | 'mail_clipped' | 'language_missing';
  /** The merge tag, the condition or the language; empty for findings about the whole mail. */
  name: string;
  /** The number of recipients concerned; for `subject_longest`, the number of the subject's characters. */
  count: number;
  /** One of the recipients concerned; null if the finding concerns nobody. */
  contact_id: number | null;
}

/** What the check of a mail for its recipients found. */
export interface CheckedRecipients {
  /** The number of recipients whose mails were checked. */
  checked: number;
  /** True if the audience has more recipients than were checked. */
  has_more: boolean;
  findings: RecipientFinding[];
}

/** The maximum number of recipients whose mails one check reads. */
export const MAX_CHECKED = 100_000;
/** The maximum number of contacts that one check reads. Many of them may be no recipients, for example because they are unsubscribed. */
const MAX_READ = 1_000_000;
/** The number of contacts that are read at once. */
const PAGE_ROWS = 200;
/**
 * The time after which other work gets its turn, in milliseconds. It applies even within a page, because the conditions of a mail may take
 * long.
 */
const PAUSE_MS = 5;
/** The number of characters at which inboxes cut a subject. */
const LONG_SUBJECT = 70;

/** A measured text whose conditions can be evaluated, with the number of recipients who got each branch. */
interface CountedText extends Omit<MeasuredText, 'conditions'> {
  conditions: CountedCondition[];
}

interface CountedCondition {
  when: Condition;
  holds: ReturnType<typeof prepareCondition>;
  ifTrue: CountedText;
  ifFalse: CountedText;
  /** The number of recipients for whom the condition was true. */
  taken: number;
  /** The number of recipients for whom the condition was false. */
  skipped: number;
}

function counted({ conditions, ...text }: MeasuredText): CountedText {
  const counting = conditions.map(({ when, ifTrue, ifFalse }) => ({
    when,
    holds: prepareCondition(when),
    taken: 0,
    skipped: 0,
    ifTrue: counted(ifTrue),
    ifFalse: counted(ifFalse),
  }));
  return { ...text, conditions: counting };
}

/** Measures the texts of one recipient. Folded values and sizes are kept from one text to the next. */
class RecipientMeasure {
  /** The names of the merge tags that are empty for the recipient. */
  readonly empty = new Set<string>();
  readonly #values: Values;
  readonly #asked: AskedValues;
  /** The bytes of values by the place and name of their placeholder. */
  readonly #bytes = new Map<string, number>();

  constructor(values: Values) {
    this.#values = values;
    this.#asked = new AskedValues((name) => values[name]);
  }

  /**
   * Returns the bytes of a text as the recipient gets it. Counts the recipient in the branches of its conditions, and adds the merge tags
   * without a value to `empty`.
   */
  measure(text: CountedText): number {
    let bytes = text.bytes;
    for (const { placeholder, times } of text.uses) {
      if (!this.#values[placeholder.name] && placeholder.fallback === '') this.empty.add(placeholder.name);
      else bytes += times * this.#bytesOfValue(placeholder);
    }
    for (const condition of text.conditions) {
      const isTaken = condition.holds(this.#asked);
      if (isTaken) condition.taken++;
      else condition.skipped++;
      bytes += this.measure(isTaken ? condition.ifTrue : condition.ifFalse);
    }
    return bytes;
  }

  #bytesOfValue(placeholder: Placeholder): number {
    const value = this.#values[placeholder.name];
    // Without a value, the bytes depend on the placeholder's default, so they are not kept.
    if (!value) return bytesOf(placeholder, value);
    const key = `${placeholder.place} ${placeholder.name}`;
    const bytes = this.#bytes.get(key) ?? bytesOf(placeholder, value);
    this.#bytes.set(key, bytes);
    return bytes;
  }
}

/** The SQL of the fields that are not columns of the contact `c`; `co` is the contact's country. */
const OTHER_COLUMNS: Partial<Record<keyof ContactFields, string>> = {
  country: 'co.name AS country',
  topic: `${topicsOf('c.user_id', 'c.address_id')} AS topic`,
};

/**
 * Returns a finding for each language of recipients that is neither `language`, the mail's own, nor one of `others`, in which the mail has
 * versions. All are ISO 639-1 codes.
 */
export async function checkLanguages(
  client: Database,
  names: readonly CustomName[],
  audience: CheckedAudience,
  { language, others }: { language: string; others: readonly string[] },
): Promise<RecipientFinding[]> {
  const mails = new Map(others.map((other) => [other, EMPTY_MAIL]));
  return (await checkRecipients(client, EMPTY_MAIL, names, audience, { language, mails })).findings;
}

const EMPTY_MAIL = measureMail({ subject: '', html: [] }, {});

/** The audience of a mail, as it would be enqueued now. */
export interface CheckedAudience extends Pick<EnqueueProgress, 'targets' | 'excluded'> {
  groupId: number;
  /** Limits the audience to contacts who are in all of these targets; if absent or empty, the audience is not limited. */
  within?: EnqueueProgress['targets'];
}

/** The languages of a mail. */
export interface MeasuredVersions {
  /** The ISO 639-1 code of the mail's own language, which is also assumed for contacts whose language is unknown. */
  language: string;
  /** The versions of the mail in other languages, by ISO 639-1 code. */
  mails: ReadonlyMap<string, MeasuredMail>;
}

/** A mail whose conditions can be evaluated, with the number of recipients who get it. */
type CountedMail = ReturnType<typeof countedMail>;

const countedMail = ({ ofSubject, ofHtml, ...mail }: MeasuredMail) => ({
  ...mail,
  ofSubject: counted(ofSubject),
  ofHtml: counted(ofHtml),
  recipients: 0,
});

/** The number of recipients whom a finding concerns, and one of them. */
interface Concerned {
  count: number;
  contact_id: number;
}

/** Checks the mails of recipients one after the other, and collects the findings. */
class RecipientChecks {
  /** The number of recipients whose mails were checked. */
  checked = 0;
  readonly #names: readonly CustomName[];
  readonly #main: CountedMail;
  /** The language of the main mail; null if the mail has no versions. */
  readonly #language: string | null;
  /** The versions of the mail in other languages, by ISO 639-1 code. */
  readonly #versions: ReadonlyMap<string, CountedMail>;
  /** The recipients whose language no version has, by language. */
  readonly #missing = new Map<string, Concerned>();
  /** The recipients for whom a merge tag is empty, by the name of the tag. */
  readonly #empty = new Map<string, Concerned>();
  #longest = { length: 0, contact_id: 0 };
  #clipped: Concerned = { count: 0, contact_id: 0 };

  constructor(measured: MeasuredMail, versions: MeasuredVersions | null, names: readonly CustomName[]) {
    this.#names = names;
    this.#main = countedMail(measured);
    this.#language = versions === null ? null : versions.language;
    this.#versions = new Map([...(versions?.mails ?? [])].map(([language, mail]) => [language, countedMail(mail)]));
  }

  /** The fields of a contact that the checks need. */
  get fields(): readonly (keyof ContactFields)[] {
    const placeholders = this.#mails.flatMap((mail) => mail.placeholders);
    return contactFieldsFor([...placeholders, ...(this.#language === null ? [] : LANGUAGE_FIELDS)], this.#names);
  }

  get #mails(): CountedMail[] {
    return [this.#main, ...this.#versions.values()];
  }

  /** Checks the mail to the contact with this id. */
  check(id: number, contact: Partial<ContactFields>): void {
    const own = mergeValues(contact, this.#names, '');
    const mail = this.#mailFor(id, own);
    const values = { ...own, ...mail.constants };
    const recipient = new RecipientMeasure(values);
    // The bytes of a subject are at least as many as its characters, so a shorter subject need not be merged.
    if (recipient.measure(mail.ofSubject) > this.#longest.length) {
      const { length } = mergeLine(mail.subject, values);
      if (length > this.#longest.length) this.#longest = { length, contact_id: id };
    }
    if (recipient.measure(mail.ofHtml) > GMAIL_BYTES)
      this.#clipped = { count: this.#clipped.count + 1, contact_id: id };
    for (const name of recipient.empty) {
      const concerned = this.#empty.get(name) ?? { count: 0, contact_id: id };
      this.#empty.set(name, { ...concerned, count: concerned.count + 1 });
    }
    this.checked++;
  }

  /** Returns the mail in the contact's language, and counts the contact as its recipient. */
  #mailFor(id: number, values: Values): CountedMail {
    const language = this.#language && contactLanguage(values, this.#language);
    const mail = (language && this.#versions.get(language)) || this.#main;
    if (language && mail === this.#main && language !== this.#language)
      this.#missing.set(language, { count: (this.#missing.get(language)?.count ?? 0) + 1, contact_id: id });
    mail.recipients++;
    return mail;
  }

  /** Returns the findings about the mails checked so far. */
  result(has_more: boolean): CheckedRecipients {
    const findings: RecipientFinding[] = [...this.#empty].map(([name, concerned]) => ({
      code: 'value_empty',
      name,
      ...concerned,
    }));
    for (const name of findUnusedBranches(this.#mails))
      findings.push({ code: 'branch_unused', name, count: 0, contact_id: null });
    const { length, contact_id } = this.#longest;
    if (length > LONG_SUBJECT) findings.push({ code: 'subject_longest', name: '', count: length, contact_id });
    if (this.#clipped.count > 0) findings.push({ code: 'mail_clipped', name: '', ...this.#clipped });
    for (const [name, concerned] of this.#missing) findings.push({ code: 'language_missing', name, ...concerned });
    return { checked: this.checked, has_more, findings };
  }
}

/** Prepares reading the recipients of one target of an audience page by page, without those of the targets before it. */
function recipientPages(
  client: Database,
  { excluded, groupId, within = [] }: CheckedAudience,
  { table, id: target }: Target,
  targetsBefore: readonly Target[],
  fields: readonly (keyof ContactFields)[],
) {
  const columns = fields.map((field) => OTHER_COLUMNS[field] ?? `c.${field}`).join(', ');
  const page = client.prepare<Record<string, unknown>, Partial<ContactFields> & { id: number; address_id: number }>(`
    SELECT c.id, d.address_id, ${columns}
    FROM (${MEMBERS[table]} ORDER BY p.address_id LIMIT ${PAGE_ROWS}) d
      CROSS JOIN contacts c ON c.id = d.contact_id LEFT JOIN countries co ON co.id = c.country_id
    WHERE NOT ${isReadEarlier('d')} AND ${isWithin('d')} AND ${exclusionReason('d', '@group')} IS NULL`);
  const lastAddress = client
    .prepare<Record<string, unknown>, number | null>(
      `SELECT max(address_id) FROM (${MEMBERS[table]} ORDER BY p.address_id LIMIT ${PAGE_ROWS})`,
    )
    .pluck();
  const bounds = {
    target,
    group: groupId,
    excluded: JSON.stringify(excluded),
    within: JSON.stringify(within),
    earlier: JSON.stringify(targetsBefore),
  };
  return {
    /** Returns the last address id of the page after the address id `after`; null if there is no such page. */
    lastOf: (after: number) => lastAddress.get({ target, after }) ?? null,
    /** Returns the recipients of the page between these address ids. */
    read: (after: number, last: number) => page.all({ ...bounds, after, last }),
  };
}

/**
 * Checks the mails to the first recipients of an audience, up to `MAX_CHECKED`, in steps of some milliseconds. `names` are the account's
 * custom fields.
 */
export async function checkRecipients(
  client: Database,
  measured: MeasuredMail,
  names: readonly CustomName[],
  audience: CheckedAudience,
  versions: MeasuredVersions | null = null,
): Promise<CheckedRecipients> {
  // Each of these functions loads Node's language data at its first call, which takes some milliseconds. Other work has its turn in between.
  for (const load of [() => languageCode('en'), () => languageOfCountry('')]) {
    load();
    await setImmediate();
  }
  const checks = new RecipientChecks(measured, versions, names);
  let membersRead = 0;
  for (const [at, target] of audience.targets.entries()) {
    const pages = recipientPages(client, audience, target, audience.targets.slice(0, at), checks.fields);
    for (let after = 0; ; await setImmediate()) {
      let begun = performance.now();
      const last = pages.lastOf(after);
      if (last === null) break;
      if (checks.checked >= MAX_CHECKED || membersRead >= MAX_READ) return checks.result(true);
      membersRead += PAGE_ROWS;
      for (const { id, address_id: _, ...contact } of pages.read(after, last)) {
        checks.check(id, contact);
        if (performance.now() - begun < PAUSE_MS) continue;
        await setImmediate();
        begun = performance.now();
      }
      after = last;
    }
  }
  return checks.result(false);
}

/**
 * Returns the branches of conditions that no recipient got, within branches that somebody got. A branch that is written in the same way in
 * several mails, such as a mail and its versions in other languages, counts only if nobody got it in any of these mails.
 */
function findUnusedBranches(mails: readonly CountedMail[]): Set<string> {
  const namesOf = (branches: readonly Branch[]) => new Set(branches.map(({ name }) => name));
  const branchesOfMails = mails
    .filter(({ recipients }) => recipients > 0)
    .map(({ ofSubject, ofHtml }) => {
      const branches = [ofSubject, ofHtml].flatMap(branchesOf);
      const unused = namesOf(branches.filter(({ isUsed }) => !isUsed));
      // A branch that somebody got in the subject but nobody in the HTML, or the reverse, is unused.
      return { unused, used: namesOf(branches.filter(({ name }) => !unused.has(name))) };
    });
  const isUsedInAny = (name: string) => branchesOfMails.some(({ used }) => used.has(name));
  return new Set(branchesOfMails.flatMap(({ unused }) => [...unused].filter((name) => !isUsedInAny(name))));
}

interface Branch {
  name: string;
  isUsed: boolean;
}

/** Returns the branches of a text's conditions. Branches within a branch that no recipient got are omitted. */
function branchesOf({ conditions }: CountedText): Branch[] {
  return conditions.flatMap(({ when, ifTrue, ifFalse, taken, skipped }) => {
    const written = when.rules.map(({ name, operator, operand }) =>
      `${name} ${operator} ${operand && JSON.stringify(operand)}`.trim(),
    );
    const begin = `((if ${written.join(when.any ? ' or ' : ' and ')}))`;
    const branch = (name: string, text: CountedText, recipients: number): Branch[] => [
      ...(isEmpty(text) ? [] : [{ name, isUsed: recipients > 0 }]),
      ...(recipients > 0 ? branchesOf(text) : []),
    ];
    return [...branch(begin, ifTrue, taken), ...branch(`((else)) of ${begin}`, ifFalse, skipped)];
  });
}

function isEmpty({ bytes, uses, conditions }: CountedText): boolean {
  return bytes === 0 && uses.length === 0 && conditions.length === 0;
}
