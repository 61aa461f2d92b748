/**
 * Operations: an operation is one thing that the product can do, declared once with its input, its output and its callers. The API maps a
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
  /** The Accept-Language header of the request; undefined if the request has none. */
  acceptLanguage: string | undefined;
  /** Returns true if the connection of the request has ended, so that nobody waits for the answer any more. */
  isGone(): boolean;
}

/** An operation: one thing that the product can do. */
export interface Operation<Input extends TObject, Output> extends AccessRule {
  /** The title in the API reference, such as “Add a group”. */
  name: string;
  /** A longer description in the API reference. */
  description?: string;
  input: Input;
  /** Adds the field errors that only the database can show. `input` has only the fields that are present and fit the schema. */
  check?(context: Context, input: Partial<Static<Input>>, errors: FieldErrorCollector): void | Promise<void>;
  run(context: Context, input: Static<Input>): Output | Promise<Output>;
  /**
   * True if `check` and `run` are synchronous and `run` is one small write, for example of one record. Requests that arrive at the same
   * time then share a transaction, so that they wait for the disk only once (src/operations/write-together.ts).
   */
  isOneWrite?: true;
}

/** An operation whose output has a schema, so that the API can answer with the output. */
export interface DescribedOperation<Input extends TObject, Output extends TObject>
  extends Operation<Input, Static<Output>> {
  output: Output;
}

/** An operation that reads one record. */
export interface RecordOperation<Input extends TObject, Shape extends TObject> extends Operation<Input, Static<Shape>> {
  /** The name of the record in the API's answer. */
  as: string;
  record: Shape;
  /** Returns the record as JSON text, made by SQLite or another thread; undefined if the caller's account has no such record. */
  json(context: Context, input: Static<Input>): string | undefined | Promise<string | undefined>;
}

/** Selects the records of a list: their source, and which part of the list to read. */
export interface Selection extends ListSource {
  part: ListPart;
}

/** An operation that reads records in the order of their ids. */
export interface ListOperation<Input extends TObject, Shape extends TObject> extends Operation<Input, Static<Shape>[]> {
  /** The name of the list in the API's answer. */
  as: string;
  record: Shape;
  /** Selects the requested records. The API sends the JSON that SQLite makes of them, without a JavaScript object for each record. */
  select(context: Context, input: Static<Input>): Selection;
}

/** Declares an operation. */
export function operation<Input extends TObject, Output extends TObject>(
  declaration: DescribedOperation<Input, Output>,
): DescribedOperation<Input, Output>;
export function operation<Input extends TObject, Output>(
  declaration: Operation<Input, Output>,
): Operation<Input, Output>;
export function operation(declaration: object): object {
  return declaration;
}

/** Declares an operation that reads one record. The operation throws 404 if there is no such record. */
export function recordOperation<Input extends TObject, Shape extends TObject>(
  declaration: Omit<RecordOperation<Input, Shape>, 'run'>,
): RecordOperation<Input, Shape> {
  return {
    ...declaration,
    async run(context, input) {
      const json = await declaration.json(context, input);
      if (json === undefined) throw notFound();
      return JSON.parse(json);
    },
  };
}

/** Declares an operation that reads a list of records. */
export function listOperation<Input extends TObject, Shape extends TObject>(
  declaration: Omit<ListOperation<Input, Shape>, 'run'>,
): ListOperation<Input, Shape> {
  return {
    ...declaration,
    run(context, input) {
      const { part, ...source } = declaration.select(context, input);
      return readPart(context.db, source, part);
    },
  };
}
