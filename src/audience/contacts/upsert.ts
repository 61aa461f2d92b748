/** Adds contacts or changes those that a list has already, each by its address: what other programs need to bring their customers in. */
import { setImmediate } from 'node:timers/promises';
import type { Db } from '../../database/open.ts';
import { inTransaction } from '../../database/transaction.ts';
import { messages } from '../../errors/field-errors.ts';
import type { Said } from '../../errors/sentences.ts';
import { parseAddress } from './addresses.ts';
import { TEXT_COLUMNS } from './contact-fields.ts';
import { type ContactInput, contactErrors, findWithEmail, insertContact, updateContact } from './contacts.ts';
import { countryId } from './countries.ts';

/** The maximum number of contacts in one request. */
export const MAX_CONTACTS = 1000;
const MAX_LINE = 255;
/** How long contacts are written in one transaction, in milliseconds. */
const SLICE_MS = 8;

export const OUTCOMES = ['created', 'updated', 'failed'] as const;

/** What became of one contact. */
export interface Outcome {
  email: string;
  outcome: (typeof OUTCOMES)[number];
  contact_id: number | null;
  errors: { field: string; text: Said }[];
}

/**
 * Adds contacts to a list, or changes those that it has already, each by its address. What a request gives is checked here; one with an error
 * is left as it is, and the others are written. Other requests have their turn between the transactions.
 */
export async function upsertAll(
  db: Db,
  accountId: number,
  list: number,
  given: readonly unknown[],
  now: string,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  while (outcomes.length < given.length) {
    // One transaction for a slice, because each commit waits for the disk.
    inTransaction(db, () => {
      const until = performance.now() + SLICE_MS;
      do outcomes.push(upsert(db, accountId, list, given[outcomes.length], now));
      while (outcomes.length < given.length && performance.now() < until);
    });
    await setImmediate();
  }
  return outcomes;
}

/** Adds or changes one contact. Call inside a transaction. */
function upsert(db: Db, accountId: number, list: number, given: unknown, now: string): Outcome {
  const { input, errors } = readContact(given, list);
  if (errors.length === 0) errors.push(...contactErrors(db, accountId, input));
  const failed = { email: input.email, contact_id: null, errors: errors.map(([field, text]) => ({ field, text })) };
  if (errors.length > 0) return { ...failed, outcome: 'failed' };
  const known = findWithEmail(db, accountId, list, input.email, 0);
  if (known === undefined)
    return { ...failed, outcome: 'created', contact_id: insertContact(db, accountId, input, now) };
  updateContact(db, accountId, known, input, now);
  return { ...failed, outcome: 'updated', contact_id: known };
}

/** Reads a contact of a request, whose shape nothing has checked yet. */
function readContact(given: unknown, list: number): { input: ContactInput; errors: [string, Said][] } {
  const errors: [string, Said][] = [];
  const fields = new Map<string, unknown>(Object.entries(Object(given)));
  const text = (name: string): string | undefined => {
    const value = fields.get(name);
    if (value === undefined) return undefined;
    if (value === null) return '';
    const line = typeof value === 'string' || typeof value === 'number' ? String(value).trim() : null;
    if (line === null) errors.push([name, messages.string(name)]);
    else if (line.length > MAX_LINE) errors.push([name, messages.maximum(name, MAX_LINE)]);
    else if (/[\p{Cc}\u2028\u2029]/u.test(line)) errors.push([name, messages.oneLine(name)]);
    return line ?? '';
  };
  const address = text('email') ?? '';
  if (address === '') errors.push(['email', messages.required('email')]);
  else if (parseAddress(address) === null) errors.push(['email', messages.email('email')]);
  const input: ContactInput = { contact_type_id: list, email: address };
  for (const name of TEXT_COLUMNS) {
    const value = text(name);
    if (value !== undefined) input[name] = value;
  }
  const country = text('country');
  if (country === '') input.country = null;
  else if (country !== undefined) {
    input.country = countryId(country);
    if (input.country === null) errors.push(['country', messages.selected('country')]);
  }
  const own = fields.get('custom_field');
  if (own !== undefined && own !== null) {
    if (typeof own !== 'object' || Array.isArray(own)) errors.push(['custom_field', messages.selected('custom_field')]);
    else {
      const values = Object.entries(own).map(([name, value]) => [name, value === null ? '' : value] as const);
      const isPlain = values.every(([, value]) => ['string', 'number', 'boolean'].includes(typeof value));
      if (!isPlain) errors.push(['custom_field', messages.string('custom_field')]);
      input.custom_field = Object.fromEntries(values.map(([name, value]) => [name, String(value)]));
    }
  }
  return { input, errors };
}
