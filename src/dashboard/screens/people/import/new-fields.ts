/** New fields for columns of an import that are none of the fields a contact has. */
import type { FastifyRequest } from 'fastify';
import { fieldNameFor } from '../../../../audience/contacts/field-names.ts';
import { addField } from '../../../../audience/fields/operations.ts';
import type { ApiAnswer } from '../../../api-client.ts';
import { attempt, sentenceOf } from '../../../operations.ts';
import type { Upload } from '../records.ts';

/** What a column becomes in the form when a field is to be made for it. */
export const NEW_FIELD = 'new:';
/** Makes the fields that a mapping asks for; gives the mapping with their names, and why the API refused one. */
export async function makeNewFields(
  request: FastifyRequest,
  columns: Upload['columns'],
  asked: readonly string[],
): Promise<{ mapping: string[]; refusal?: ApiAnswer<string> }> {
  const mapping = [...asked];
  for (const [at, { name }] of columns.entries()) {
    if (mapping[at] !== NEW_FIELD) continue;
    const field_name = fieldNameFor(name, at + 1);
    const added = await attempt(request, addField, { field_name, field_type: 'text' });
    // The refusal of a field's name as one of the mapping, above which it is shown.
    if ('problems' in added)
      return { mapping, refusal: { status: added.status, errors: { mapping: [sentenceOf(added)] } } };
    mapping[at] = field_name;
  }
  return { mapping };
}
