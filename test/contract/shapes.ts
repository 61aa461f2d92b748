/** A small language for what an answer carries: exact keys, types, nullability, forms of timestamps. */
import { isDeepStrictEqual } from 'node:util';

export interface Shape {
  /** What does not fit in a value found at a path; empty when all fits. */
  problems(value: unknown, at: string): string[];
}

const shown = (value: unknown) => JSON.stringify(value)?.slice(0, 120);

/** A value that passes a test. */
function value(is: string, fits: (value: unknown) => boolean): Shape {
  return { problems: (value, at) => (fits(value) ? [] : [`${at} is ${shown(value)}, not ${is}`]) };
}

function matching(is: string, pattern: RegExp): Shape {
  return value(is, (value) => typeof value === 'string' && pattern.test(value));
}

export const integer = value('a whole number', (value) => Number.isSafeInteger(value) && Number(value) >= 0);
export const id = value('an id', (value) => Number.isSafeInteger(value) && Number(value) > 0);
export const zeroOrOne = value('0 or 1', (value) => value === 0 || value === 1);
export const string = value('a text', (value) => typeof value === 'string');
export const nothing = value('null', (value) => value === null);
export const digits = matching('digits', /^\d+$/);
export const address = matching('a web address', /^https?:\/\/\S+$/);
export const utr = matching('a UUID', /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);

/** `YYYY-MM-DDTHH:MM:SS.ffffffZ`. */
export const timestamp = value(
  'a timestamp with microseconds and Z',
  (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(value) &&
    new Date(value).toISOString().slice(0, 23) === value.slice(0, 23),
);

/** `YYYY-MM-DD HH:MM:SS`; zeroes while there is none. */
export const moment = matching('YYYY-MM-DD HH:MM:SS', /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
export const date = matching('YYYY-MM-DD', /^\d{4}-\d\d-\d\d$/);
export const time = matching('HH:MM:SS', /^\d\d:\d\d:\d\d$/);

export function oneOf(...choices: readonly unknown[]): Shape {
  return value(`one of ${shown(choices)}`, (value) => choices.includes(value));
}

export function exactly(expected: unknown): Shape {
  return value(`exactly ${JSON.stringify(expected)}`, (value) => isDeepStrictEqual(value, expected));
}

export function nullable(shape: Shape): Shape {
  return { problems: (value, at) => (value === null ? [] : shape.problems(value, at)) };
}

/** An object with exactly these keys. */
export function record(shapes: Record<string, Shape>): Shape {
  return {
    problems(value, at) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return [`${at} is ${shown(value)}, not an object`];
      const given = new Map<string, unknown>(Object.entries(value));
      const surplus = [...given.keys()].filter((key) => !(key in shapes)).map((key) => `${at}.${key} is too much`);
      const inside = Object.entries(shapes).flatMap(([key, shape]) =>
        given.has(key) ? shape.problems(given.get(key), `${at}.${key}`) : [`${at}.${key} is missing`],
      );
      return [...surplus, ...inside];
    },
  };
}

/** An object with any keys of one form, and values of one shape. */
export function map(key: RegExp, shape: Shape): Shape {
  return {
    problems(value, at) {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return [`${at} is ${shown(value)}, not an object`];
      return Object.entries(value).flatMap(([name, item]) => [
        ...(key.test(name) ? [] : [`${at} has the key ${shown(name)}`]),
        ...shape.problems(item, `${at}.${name}`),
      ]);
    },
  };
}

/** An array of a shape. */
export function list(shape: Shape): Shape {
  return {
    problems(value, at) {
      if (!Array.isArray(value)) return [`${at} is ${shown(value)}, not an array`];
      return value.flatMap((item, index) => shape.problems(item, `${at}[${index}]`));
    },
  };
}

/** A whole collection: an array in ascending order of id, not empty here, since both accounts have records of every kind. */
export function collection(shape: Shape): Shape {
  const items = list(shape);
  return {
    problems(value, at) {
      if (!Array.isArray(value) || value.length === 0) return [`${at} is ${shown(value)}, not a filled array`];
      const ids = value.map((item) => Number(item.id));
      const sorted = ids.every((id, index) => index === 0 || id > Number(ids[index - 1]));
      return [...(sorted ? [] : [`${at} is not in ascending order of id`]), ...items.problems(value, at)];
    },
  };
}

/** An array of exactly one. */
export function single(shape: Shape): Shape {
  const items = list(shape);
  return {
    problems: (value, at) =>
      Array.isArray(value) && value.length !== 1 ? [`${at} has ${value.length} elements`] : items.problems(value, at),
  };
}

/** An array of texts that begins with the given ones. */
export function beginning(first: readonly string[]): Shape {
  const texts = list(string);
  return {
    problems(value, at) {
      if (!Array.isArray(value)) return [`${at} is ${shown(value)}, not an array`];
      return [
        ...exactly(first).problems(value.slice(0, first.length), `the beginning of ${at}`),
        ...texts.problems(value, at),
      ];
    },
  };
}
