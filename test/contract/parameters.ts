/** The vocabulary of the table: kinds of parameter, each with a valid value, and kinds of success. */

import type { Fixture, World } from '../support/account-records.ts';
import { exactly, record as object, type Shape } from './shapes.ts';
import type { Parameter, Success, Value } from './types.ts';

type Example = Value | ((world: World) => Value);

/** The record the endpoint is about, by id. */
export const record = (fixture: Fixture): Parameter => ({
  kind: 'record',
  required: true,
  fixture,
  example: (world) => world[fixture][0],
});

/** The record the endpoint is about, by utr. */
export const utrOf = (fixture: Fixture): Parameter => ({ ...record(fixture), utr: true });

/** The records a bulk operation is about. */
export const records = (fixture: Fixture): Parameter => ({
  kind: 'records',
  required: true,
  fixture,
  example: (world) => [...world[fixture]],
});

/** As `records`, by utr. */
export const utrsOf = (fixture: Fixture): Parameter => ({ ...records(fixture), utr: true });

/** Another record of the account, by id, in a body. */
export const reference = (fixture: Fixture): Parameter => ({
  kind: 'reference',
  required: true,
  fixture,
  example: (world) => world[fixture][0],
});

/** A record that all accounts share: a country, a template. */
export const shared = (id: string): Parameter => ({ kind: 'shared', required: true, example: id });

const of =
  (kind: Parameter['kind']) =>
  (example: Example): Parameter => ({ kind, required: true, example });

export const target = of('target');
export const targets = of('targets');
export const email = of('email');
export const emails = of('emails');
export const integer = of('integer');
export const flag = of('flag');
export const choice = of('choice');
export const file = of('file');
/** Template code, dates and times are optional everywhere; what they demand is listed as faults. */
export const code = (): Parameter => ({ kind: 'code', required: false });
export const date = (): Parameter => ({ kind: 'date', required: false });
export const time = (): Parameter => ({ kind: 'time', required: false });

/** One line of text, at most 255 characters. */
export const line = (example: string, minimum = 1): Parameter => ({
  kind: 'line',
  required: true,
  example,
  minimum,
  maximum: 255,
});

/** One line that ends in the header of a mail. */
export const header = (example: string): Parameter => ({ ...line(example), kind: 'header' });

/** Free text, at most 65 535 characters. */
export const text = (example: string): Parameter => ({ kind: 'text', required: true, example, maximum: 65_535 });

export const optional = (parameter: Parameter): Parameter => ({ ...parameter, required: false });

/** A success whose `message` is this text. */
export const says = (text: string): Success => ({ message: exactly(text) });

/** One of the three deletes whose text is in `errors`. */
export const saysInErrors = (text: string): Success => ({ errors: text });

/** A success whose `message` carries records under these names. */
export const gives = (shapes: Record<string, Shape>): Success => ({ message: object(shapes) });
