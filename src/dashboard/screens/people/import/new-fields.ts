/** New fields for columns of an import that are none of the fields a contact has. */
import { fieldNameFor } from '../../../../audience/contacts/field-names.ts';
import { type ApiAnswer, type ApiClient, refusalText } from '../../../api-client.ts';
import type { Upload } from '../records.ts';

/** What a column becomes in the form when a field is to be made for it. */
export const NEW_FIELD = 'new:';
/** Makes the fields that a mapping asks for; gives the mapping with their names, and why the API refused one. */
export async function makeNewFields(
  api: ApiClient,
  columns: Upload['columns'],
  asked: readonly string[],
): Promise<{ mapping: string[]; refusal?: ApiAnswer<string> }> {
  const mapping = [...asked];
  for (const [at, { name }] of columns.entries()) {
    if (mapping[at] !== NEW_FIELD) continue;
    const field_name = fieldNameFor(name, at + 1);
    const answer = await api.send('POST', '/custom-fields/save', { field_name, field_type: 'text' });
    if (answer.message === undefined) return { mapping, refusal: withMapping(answer) };
    mapping[at] = field_name;
  }
  return { mapping };
}

/** The refusal of a field's name as one of the mapping, above which it is shown. */
function withMapping(answer: ApiAnswer<string>): ApiAnswer<string> {
  return { status: answer.status, errors: { mapping: [refusalText(answer)] } };
}
