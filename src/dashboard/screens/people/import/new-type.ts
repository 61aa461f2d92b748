/** A new contact type that is made for an import. */
import type { FastifyRequest } from 'fastify';
import { addContactType } from '../../../../audience/contact-types/operations.ts';
import { type ApiAnswer, type ApiClient, refusalOf } from '../../../api-client.ts';
import { attempt } from '../../../operations.ts';

/** The choice of a contact type that is made with the import. */
export const NEW_TYPE = 'new';

/** Makes a contact type for an import; gives its id, or why the API refused the import's columns or the name. */
export async function makeType(
  request: FastifyRequest,
  api: ApiClient,
  name: string,
  plan: { upload_id: string; mapping: string[] },
): Promise<{ id?: string; refusal?: ApiAnswer<string> }> {
  // Without a contact type nothing is previewed; the answer says whether the columns are right, before a type is made for them.
  const planned = await api.send('POST', '/contacts/imports/preview', plan);
  const { mapping } = refusalOf(planned).problems;
  if (mapping !== undefined) return { refusal: { status: planned.status, errors: { mapping } } };
  const added = await attempt(request, addContactType, { name });
  if ('problems' in added) return { refusal: { status: added.status, errors: added.problem || added.problems } };
  return { id: String(added.output.id) };
}
