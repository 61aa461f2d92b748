/** A new contact type that is made for an import. */
import { type ApiAnswer, type ApiClient, refusalOf } from '../../../api-client.ts';
import type { ContactType } from '../records.ts';

/** The choice of a contact type that is made with the import. */
export const NEW_TYPE = 'new';

/** Makes a contact type for an import; gives its id, or why the API refused the import's columns or the name. */
export async function makeType(
  api: ApiClient,
  name: string,
  plan: { upload_id: string; mapping: string[] },
): Promise<{ id?: string; refusal?: ApiAnswer<string> }> {
  // Without a contact type nothing is previewed; the answer says whether the columns are right, before a type is made for them.
  const planned = await api.send('POST', '/contacts/imports/preview', plan);
  const { mapping } = refusalOf(planned).problems;
  if (mapping !== undefined) return { refusal: { status: planned.status, errors: { mapping } } };
  const ids = async () =>
    (await api.get<{ contactTypes: ContactType[] }>('/contacts-type')).contactTypes.map(({ id }) => id);
  const before = new Set(await ids());
  const answer = await api.send('POST', '/contacts-type/add', { name });
  if (answer.message === undefined) return { refusal: answer };
  return { id: String((await ids()).find((id) => !before.has(id)) ?? NEW_TYPE) };
}
