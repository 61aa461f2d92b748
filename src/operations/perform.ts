/** Performs an operation for a caller in this process, such as a page: checks who may do it, reads and checks the input, and runs it. */
import type { Static, TObject } from 'typebox';
import { normalize } from '../http/requests/normalize.ts';
import { FieldErrorCollector, passedFields } from '../http/requests/validation.ts';
import { isValid, type SchemaError } from '../http/schema-compilers.ts';
import { requireAllowed } from './callers.ts';
import type { Context, Operation } from './operation.ts';

/** What a caller gives: the operation's own names; values may be texts, as a form has them. */
export type Given<Input extends TObject> = { readonly [Name in keyof Static<Input>]?: unknown };

/**
 * Gives the output of an operation. Throws a Failure: 403 where the caller may not do it, 422 with the errors of the fields, and what
 * the operation itself throws.
 */
export async function perform<Input extends TObject, Output>(
  operation: Operation<Input, Output>,
  context: Context,
  given: Given<Input>,
): Promise<Output> {
  requireAllowed(operation, context);
  const input = normalize(operation.input, given);
  const found: SchemaError[] = [];
  const passes = isValid(operation.input, input, found);
  const errors = new FieldErrorCollector();
  errors.addSchemaErrors(found);
  await operation.check?.(context, passedFields(operation.input, input, errors), errors);
  errors.throwIfAny();
  if (!passes) throw new Error(`the input of ${operation.name} is refused without a field`);
  return operation.run(context, input);
}
