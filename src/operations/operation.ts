/**
 * An operation: one thing that the product can do, stated once with its input, its output and who may do it. The API maps a path to it
 * (src/http/operation-routes.ts) and a page calls it as a function (src/operations/perform.ts).
 */
import type { Static, TObject } from 'typebox';
import { type ListPart, type ListSource, readPart } from '../database/record-json.ts';
import { notFound } from '../errors/failure.ts';
import type { FieldErrorCollector } from '../http/requests/validation.ts';
import type { Allowed, Caller } from './callers.ts';
import type { Deps } from './deps.ts';

/** What an operation works with. */
export type Context = Deps & Caller;

/** One thing that the product can do. */
export interface Operation<Input extends TObject, Output> extends Allowed {
  /** What it does, as the API reference says it, such as “Add a group”. */
  name: string;
  /** What else a caller must know, for the API reference. */
  description?: string;
  input: Input;
  /** Adds the field errors that need the database. Sees only the fields that are present and passed the schema. */
  check?(context: Context, input: Partial<Static<Input>>, errors: FieldErrorCollector): void | Promise<void>;
  run(context: Context, input: Static<Input>): Output | Promise<Output>;
}

/** An operation whose output is described, so that it can be an answer of the API. */
export interface DescribedOperation<Input extends TObject, Output extends TObject>
  extends Operation<Input, Static<Output>> {
  output: Output;
}

/** An operation that reads one record. */
export interface RecordOperation<Input extends TObject, Record extends TObject>
  extends Operation<Input, Static<Record>> {
  /** What the API calls the record in its answer. */
  as: string;
  record: Record;
  /** The record as JSON text, made by SQLite or another thread; undefined if the caller's account has none. */
  json(context: Context, input: Static<Input>): string | undefined | Promise<string | undefined>;
}

/** Records to be read: where they are, and which part of them. */
export interface Selection extends ListSource {
  part: ListPart;
}

/** An operation that reads records in the order of their ids. */
export interface ListOperation<Input extends TObject, Record extends TObject>
  extends Operation<Input, Static<Record>[]> {
  /** What the API calls the records in its answer. */
  as: string;
  record: Record;
  /** Which records the caller means. The API sends them as SQLite makes them, without an object for each. */
  select(context: Context, input: Static<Input>): Selection;
}

/** States an operation. */
export function operation<Input extends TObject, Output extends TObject>(
  stated: DescribedOperation<Input, Output>,
): DescribedOperation<Input, Output>;
export function operation<Input extends TObject, Output>(stated: Operation<Input, Output>): Operation<Input, Output>;
export function operation(stated: object): object {
  return stated;
}

/** States an operation that reads one record. It throws 404 where there is none. */
export function recordOperation<Input extends TObject, Record extends TObject>(
  stated: Omit<RecordOperation<Input, Record>, 'run'>,
): RecordOperation<Input, Record> {
  return {
    ...stated,
    async run(context, input) {
      const json = await stated.json(context, input);
      if (json === undefined) throw notFound();
      return JSON.parse(json);
    },
  };
}

/** States an operation that reads records. */
export function listOperation<Input extends TObject, Record extends TObject>(
  stated: Omit<ListOperation<Input, Record>, 'run'>,
): ListOperation<Input, Record> {
  return {
    ...stated,
    run(context, input) {
      const { part, ...source } = stated.select(context, input);
      return readPart(context.db, source, part);
    },
  };
}
