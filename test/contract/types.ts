/** What the contract table is made of: endpoints with their parameters, their success and their failures. */

import type { Fixture, World } from '../support/account-records.ts';
import type { FilePart, TestApp } from '../support/app.ts';
import type { Expected } from './errors.ts';
import type { Shape } from './shapes.ts';

export type Method = 'GET' | 'POST' | 'DELETE';

/** A parameter as it travels: everything is text, as in the forms of the interface. */
export type Value = string | string[] | FilePart;
export type Values = Record<string, Value>;

/** Changes to a valid request; `undefined` leaves the parameter out. */
export type Changes = Record<string, Value | undefined>;

export type Kind =
  /** The record the endpoint is about: never a field error. */
  | 'record'
  | 'records'
  /** A record of the account, or one that all accounts share, referred to in a body: a field error. */
  | 'reference'
  | 'shared'
  /** `contacts_<id>` or `segments_<id>`, one or an array. */
  | 'target'
  | 'targets'
  /** One line; `header` is one that ends in a mail header. */
  | 'line'
  | 'header'
  | 'text'
  | 'email'
  | 'emails'
  | 'integer'
  | 'flag'
  | 'choice'
  /** Template code, date, time: judged by rules of their own, listed as faults of the endpoint. */
  | 'code'
  | 'date'
  | 'time'
  | 'file';

export interface Parameter {
  kind: Kind;
  required: boolean;
  /** A valid value; an optional parameter without one stays out of requests unless a change names it. */
  example?: Value | ((world: World) => Value);
  /** For `record`, `records`, `reference`: which record. */
  fixture?: Fixture;
  /** For `record`, `records`: identified by utr, not by id. */
  utr?: boolean;
  /** Fewest and most characters. */
  minimum?: number;
  maximum?: number;
}

export type Parameters = Record<string, Parameter>;

/** What a success carries: records or a text in `message`, the text in `errors` (three deletes), or a CSV file. */
export type Success =
  | { message: Shape }
  | { errors: string }
  | { csv: { filename: string; header: readonly string[] } };

/** A faulty request that no parameter's kind implies, and its field errors: exactly these, or one or more among the fields. */
export type Fault = { given: (world: World) => Changes } & ({ errors: Record<string, Expected> } | { among: string[] });

/** A business rule that refuses an otherwise good request: 409. */
export interface Conflict {
  when: string;
  /** Brings the rule about; gives what the request then says. */
  arrange: (app: TestApp, world: World) => Promise<Changes>;
  errors: Expected;
}

export interface Endpoint {
  /** The method of the interface's table first; a second one where the interface accepts both. */
  methods: readonly [Method, ...Method[]];
  /** After `{base_url}`. */
  path: string;
  query?: Parameters;
  body?: Parameters;
  success: Success;
  /** True if a success changes something; by default, the method decides. */
  acts?: boolean;
  /** The text when the record is absent, malformed, unknown or another account's. */
  recordFailure?: 'Record Not Found' | 'Record not found';
  /** Records that exist in the account, yet not for this endpoint. */
  alsoNotFound?: (world: World) => Changes[];
  /** Further requests that succeed. */
  also?: (world: World) => Changes[];
  /** Spellings of the valid request that must have the same result. */
  same?: (world: World) => Changes[];
  faults?: readonly Fault[];
  conflicts?: readonly Conflict[];
  /** The details endpoint that shows what was saved and its parameter; a new record's `Location` leads there. */
  shownAt?: readonly [path: string, parameter: string];
  /** Answered with an ETag instead of `Cache-Control: no-store`. */
  cacheable?: true;
}
