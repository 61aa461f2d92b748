/**
 * An operation: one thing that the product can do, declared once with its input, its output and its callers. The API maps a
 * path to it (src/http/operation-routes.ts), and a page calls it as a function (src/operations/perform.ts).
 */
import type { Static, TObject } from 'typebox';
import { type ListPart, type ListSource, readPart } from '../database/record-json.ts';
import { notFound } from '../errors/failure.ts';
import type { FieldErrorCollector } from '../http/requests/validation.ts';
import type { AccessRule, Caller } from './callers.ts';
import type { Deps } from './deps.ts';

/** The arguments of an operation besides its input: the application and the caller. */
export interface Context extends Deps, Caller {
  /** Whether the connection of the request has ended, so that nobody waits for the answer. */
  isGone(): boolean;
}

/** One thing that the product can do. */
export interface Operation<Input extends TObject, Output> extends AccessRule {
  /** The title in the API reference, such as “Add a group”. */
  name: string;
  /** Further text for the API reference. */
  description?: string;
  input: Input;
  /** Adds the field errors that need the database. Sees only the fields that are present and passed the schema. */
  check?(context: Context, input: Partial<Static<Input>>, errors: FieldErrorCollector): void | Promise<void>;
  run(context: Context, input: Static<Input>): Output | Promise<Output>;
  /**
   * True if `check` and `run` are synchronous and `run` is one small write, as of one record: requests that arrive at the same time then
   * share a transaction, and so wait for the disk once (src/operations/write-together.ts).
   */
  isOneWrite?: true;
}

/** An operation with a schema of its output, so that the API can answer with it. */
export interface DescribedOperation<Input extends TObject, Output extends TObject>
  extends Operation<Input, Static<Output>> {
  output: Output;
}

/** An operation that reads one record. */
export interface RecordOperation<Input extends TObject, Record extends TObject>
  extends Operation<Input, Static<Record>> {
  /** The name of the record in the API's answer. */
  as: string;
  record: Record;
  /** Returns the record as JSON text, made by SQLite or another thread; undefined if the caller's account has no such record. */
  json(context: Context, input: Static<Input>): string | undefined | Promise<string | undefined>;
}

/** The source of a list's records, and the part to read. */
export interface Selection extends ListSource {
  part: ListPart;
}

/** An operation that reads records in the order of their ids. */
export interface ListOperation<Input extends TObject, Record extends TObject>
  extends Operation<Input, Static<Record>[]> {
  /** The name of the list in the API's answer. */
  as: string;
  record: Record;
  /** Selects the requested records. The API sends them as SQLite makes them, without a JavaScript object for each. */
  select(context: Context, input: Static<Input>): Selection;
}

/** Declares an operation. */
export function operation<Input extends TObject, Output extends TObject>(
  stated: DescribedOperation<Input, Output>,
): DescribedOperation<Input, Output>;
export function operation<Input extends TObject, Output>(stated: Operation<Input, Output>): Operation<Input, Output>;
export function operation(stated: object): object {
  return stated;
}

/** Declares an operation that reads one record. The operation throws 404 if there is no such record. */
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

/** Declares an operation that reads a list of records. */
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
