/** The names of reported events and of their properties, and the filter by a property that rules of segments use. */

/** The maximum length of a property's text. */
export const MAX_PROPERTY_TEXT = 255;
/** The prefix of the field of a rule about events, as in `event.purchase`. Custom fields have no dot in their names. */
export const EVENT_FIELD = 'event.';
/** The fields of an event that filters name like properties, so no property may have such a name. */
const OWN_FIELDS = ['value', 'currency'];

/** A name: up to 64 characters, without control characters, line separators, the signs of filters, and the @ of addresses. */
const NAME = /^[^\p{Cc}\p{Zl}\p{Zp}@=<>!]{1,64}$/u;

/** Returns true if a text can name an event or a property. A name has no @, so that it contains no address. */
export function isEventName(text: string): boolean {
  return NAME.test(text) && text.trim() === text && text.isWellFormed();
}

/** Returns true if a text can name a property. */
export function isPropertyName(text: string): boolean {
  return isEventName(text) && !OWN_FIELDS.includes(text);
}

/** Returns the name of the event in the field of a rule; null if the field is not one of events. */
export function eventOfField(field: string): string | null {
  if (field.slice(0, EVENT_FIELD.length).toLowerCase() !== EVENT_FIELD) return null;
  const name = field.slice(EVENT_FIELD.length);
  return isEventName(name) ? name : null;
}

/** A condition on one property of an event, such as `category = shoes`. */
export interface PropertyFilter {
  property: string;
  comparison: string;
  operand: string;
  /** True if the operand is a number. */
  isNumber: boolean;
}

const FILTER = /^([^=<>!]{1,64}?)\s*(!=|>=|<=|=|>|<)\s*(.{0,255})$/u;
const NUMBER = /^-?\d{1,15}(\.\d{1,9})?$/;

/**
 * Parses a filter: a property, `value` or `currency`, then `=`, `!=`, `>`, `>=`, `<` or `<=`, then a text or number. Returns null if the
 * filter is malformed, or has a text after `>`, `>=`, `<` or `<=`.
 */
export function parseFilter(text: string): PropertyFilter | null {
  const [, property = '', comparison = '', operand = ''] = FILTER.exec(text.trim()) ?? [];
  if (!isEventName(property)) return null;
  const isNumber = NUMBER.test(operand);
  return isNumber || comparison === '=' || comparison === '!=' ? { property, comparison, operand, isNumber } : null;
}
