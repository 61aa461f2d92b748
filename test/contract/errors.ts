/** The failure texts of the contract, to the letter. */

/** A text to the letter, or a pattern where the contract asks for a text without settling it. */
export type Expected = string | RegExp;

/** Any text: the contract says that the field is refused, not how. */
export const someText = /^\S.*\S$/;

const named = (field: string) => field.replaceAll('_', ' ');

export const required = (field: string) => `The ${named(field)} field is required.`;
export const selected = (field: string) => `The selected ${named(field)} is invalid.`;
export const notAnEmail = (field: string) => `The ${named(field)} must be a valid email address.`;
export const notAnInteger = (field: string) => `The ${named(field)} must be an integer.`;
export const tooShort = (field: string, least: number) => `The ${named(field)} must be at least ${least} characters.`;
export const tooLong = (field: string, most: number) =>
  `The ${named(field)} may not be greater than ${most} characters.`;
export const taken = (field: string) => `The ${named(field)} has already been taken.`;

export const missingPublicKey = { PublicKey: ['The public key field is required.'] };
export const missingSecretKey = { SecretKey: ['The secret key field is required.'] };
export const wrongKeys = 'Invalid public key or secret key';
export const unknownPath = 'Not Found';

/** What is wrong with the `errors` of a failure; nothing when each field has exactly its one text. */
export function compareErrors(expected: Expected | Record<string, Expected | string[]>, actual: unknown): string[] {
  if (typeof expected === 'string' || expected instanceof RegExp) return compareText(expected, actual, 'errors');
  if (typeof actual !== 'object' || actual === null)
    return [`errors is ${JSON.stringify(actual)}, not an object of fields`];
  const given = new Map<string, unknown>(Object.entries(actual));
  const problems = Object.entries(expected).flatMap(([field, text]) => compareTexts(text, given.get(field), field));
  const surplus = [...given.keys()].filter((field) => !(field in expected));
  return [...problems, ...surplus.map((field) => `errors.${field} is too much: ${JSON.stringify(given.get(field))}`)];
}

function compareTexts(expected: Expected | string[], actual: unknown, field: string): string[] {
  const text = Array.isArray(expected) ? expected[0] : expected;
  if (text === undefined || !Array.isArray(actual) || actual.length !== 1) {
    return [`errors.${field} is ${JSON.stringify(actual)}, not [${text}]`];
  }
  return compareText(text, actual[0], `errors.${field}`);
}

function compareText(expected: Expected, actual: unknown, at: string): string[] {
  const fits = typeof expected === 'string' ? actual === expected : typeof actual === 'string' && expected.test(actual);
  return fits ? [] : [`${at} is ${JSON.stringify(actual)}, not ${expected}`];
}
