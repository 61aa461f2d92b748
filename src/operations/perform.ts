/** Performs an operation for a caller in this process, such as a page. */
import type { Static, TObject } from 'typebox';
import { normalize } from '../http/requests/normalize.ts';
import { FieldErrorCollector, passedFields } from '../http/requests/validation.ts';
import { isValid, type SchemaError } from '../http/schema-compilers.ts';
import { requireAccess } from './callers.ts';
import type { Context, Operation } from './operation.ts';

/** The input of an operation before it is checked. Values may be texts, as in a form. */
export type UncheckedInput<Input extends TObject> = { readonly [Name in keyof Static<Input>]?: unknown };

/**
 * Checks the caller's role, parses and checks the input, performs the operation, and returns its output. Throws a Failure: 403 if the
 * caller may not perform the operation, 422 with the field errors, or the failure of the operation itself.
 */
export async function perform<Input extends TObject, Output>(
  operation: Operation<Input, Output>,
  context: Context,
  values: UncheckedInput<Input>,
): Promise<Output> {
  requireAccess(operation, context);
  const input = normalize(operation.input, values);
  const schemaErrors: SchemaError[] = [];
  const passes = isValid(operation.input, input, schemaErrors);
  const errors = new FieldErrorCollector();
  errors.addSchemaErrors(schemaErrors);
  await operation.check?.(context, passedFields(operation.input, input, errors), errors);
  errors.throwIfAny();
  if (!passes) throw new Error(`the input of ${operation.name} is refused without a field`);
  return operation.run(context, input);
}
