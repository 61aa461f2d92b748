/** Reads the events of a request: every event is checked before the first one is recorded. */
import { setImmediate } from 'node:timers/promises';
import { recordId } from '../../database/ownership.ts';
import { messages } from '../../errors/field-errors.ts';
import type { Said } from '../../errors/sentences.ts';
import { isDay } from '../../time/clock.ts';
import { DAY_MS } from '../../units.ts';
import { type Address, parseAddress } from '../contacts/addresses.ts';
import { isEventName, isPropertyName, MAX_PROPERTY_TEXT } from './names.ts';

/** The maximum number of events in one request. */
export const MAX_EVENTS = 1000;
/** The maximum number of properties of an event. */
export const MAX_PROPERTIES = 30;
/** The maximum length of the key of an event in characters. */
const MAX_KEY = 255;
/** The largest value, positive or negative, so that sums stay exact to the cent. */
const MAX_VALUE = 1e12;
/** How far in the future an event may lie, because clocks differ. */
const MAX_AHEAD_MS = DAY_MS;
/** The earliest time of an event. */
const EARLIEST = Date.UTC(2000, 0, 1);
/** The maximum number of events with errors that an answer names. */
const MAX_NAMED = 20;
/** The number of events that are read before other requests have a turn, which takes a few milliseconds. */
const READ_AT_ONCE = 200;

/** An event of a request. */
export interface ReportedEvent {
  /** The contact's id; null: the contact is named by the address. */
  contactId: number | null;
  address: Address | null;
  name: string;
  /** When the event happened, epoch milliseconds. */
  at: number;
  key: string | null;
  value: number | null;
  currency: string | null;
  properties: readonly (readonly [name: string, value: string | number])[];
}

interface ReadEvents {
  events: ReportedEvent[];
  /** Pairs of field and text. */
  errors: [string, Said][];
}

/**
 * Reads events. Returns them with their errors; the events are complete only if there is no error. In a list, the name of a field in an
 * error has the index of its event, as in `events.3.name`.
 * @param now Epoch milliseconds, the time of events that have no time of their own.
 */
export async function readEvents(values: readonly unknown[], isList: boolean, now: number): Promise<ReadEvents> {
  const events: ReportedEvent[] = [];
  const errors: [string, Said][] = [];
  let faulty = 0;
  for (const [index, value] of values.entries()) {
    if (index > 0 && index % READ_AT_ONCE === 0) await setImmediate();
    const before = errors.length;
    const prefix = isList ? `events.${index}` : '';
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      errors.push([prefix, messages.selected(prefix)]);
    else
      events.push(
        readEvent(new Map(Object.entries(value)), now, (field, text) => {
          const name = prefix === '' ? field : `${prefix}.${field}`;
          errors.push([name, text(name)]);
        }),
      );
    if (errors.length > before) faulty++;
    if (faulty === MAX_NAMED) break;
  }
  return { events, errors };
}

type Report = (field: string, text: (field: string) => Said) => void;

function readEvent(fields: ReadonlyMap<string, unknown>, now: number, report: Report): ReportedEvent {
  const contactId = fields.get('contact_id');
  const isById = contactId !== undefined && contactId !== null && contactId !== '';
  return {
    contactId: isById ? recordId(contactId) : null,
    address: isById ? null : readAddress(fields.get('email'), report),
    name: readName(fields.get('name'), report),
    at: readTime(fields.get('at'), now, report),
    key: readKey(fields.get('key'), report),
    value: readValue(fields.get('value'), report),
    currency: readCurrency(fields.get('currency'), report),
    properties: readProperties(fields.get('properties'), report),
  };
}

function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function readAddress(value: unknown, report: Report): Address | null {
  if (isAbsent(value)) report('email', messages.required);
  const address = typeof value === 'string' ? parseAddress(value.trim()) : null;
  if (address === null && !isAbsent(value)) report('email', messages.email);
  return address;
}

function readName(value: unknown, report: Report): string {
  if (isAbsent(value)) report('name', messages.required);
  const name = typeof value === 'string' ? value.trim() : '';
  if (!isAbsent(value) && !isEventName(name)) report('name', messages.selected);
  return name;
}

/** A time of ISO 8601 with its zone, because a time without a zone could mean any moment of more than a day. */
const MOMENT = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

function readTime(value: unknown, now: number, report: Report): number {
  if (isAbsent(value)) return now;
  const [text = '', day = ''] = (typeof value === 'string' && MOMENT.exec(value.trim())) || [];
  const at = Date.parse(text);
  if (!isDay(day) || !(at >= EARLIEST && at <= now + MAX_AHEAD_MS)) report('at', messages.selected);
  return at;
}

function readKey(value: unknown, report: Report): string | null {
  if (isAbsent(value)) return null;
  const key = typeof value === 'string' ? value.trim() : '';
  if (key.length === 0 || key.length > MAX_KEY || !key.isWellFormed() || /\p{Cc}/u.test(key)) {
    report('key', messages.selected);
    return null;
  }
  return key;
}

function readValue(input: unknown, report: Report): number | null {
  if (isAbsent(input)) return null;
  const isText = typeof input === 'string' && /^-?\d{1,13}(\.\d{1,9})?$/.test(input.trim());
  const value = isText ? Number(input) : input;
  // The comparison also refuses the infinity that `JSON.parse` makes of 1e999.
  if (typeof value !== 'number' || !(Math.abs(value) <= MAX_VALUE)) {
    report('value', messages.selected);
    return null;
  }
  return value;
}

function readCurrency(value: unknown, report: Report): string | null {
  if (isAbsent(value)) return null;
  if (typeof value === 'string' && /^[A-Za-z]{3}$/.test(value.trim())) return value.trim().toUpperCase();
  report('currency', messages.selected);
  return null;
}

function readProperties(input: unknown, report: Report): [string, string | number][] {
  if (isAbsent(input)) return [];
  if (typeof input !== 'object' || Array.isArray(input)) {
    report('properties', messages.selected);
    return [];
  }
  const entries = Object.entries(input);
  if (entries.length > MAX_PROPERTIES) {
    report('properties', (field) => messages.items(field, MAX_PROPERTIES));
    return [];
  }
  const properties = new Map<string, string | number>();
  for (const [key, value] of entries) {
    const name = key.trim();
    const read = readProperty(value);
    if (!isPropertyName(name) || properties.has(name) || read === undefined) report('properties', messages.selected);
    else if (read !== null) properties.set(name, read);
  }
  return [...properties];
}

/** Returns the value of a property: a text or a number. `true` and `false` become texts. Null: it has no value; undefined: the value is malformed. */
function readProperty(value: unknown): string | number | null | undefined {
  if (value === null) return null;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  return typeof value === 'string' && value.length <= MAX_PROPERTY_TEXT ? value.toWellFormed() : undefined;
}
