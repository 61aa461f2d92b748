/** The people of a contact type as a CSV file: the form that asks for it, and the file. */
import type { FastifyInstance } from 'fastify';
import type { ListedContactType } from '../../../audience/contact-types/operations.ts';
import { ApiClient } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { useLanguage } from '../../words/index.ts';
import { texts } from './filter.ts';

export async function peopleExport(app: FastifyInstance): Promise<void> {
  app.get<{ Querystring: Record<string, unknown> }>('/people/export', async (request, reply) => {
    const [contact_type_id = ''] = texts(request.query.contact_type_id);
    const { headers, body } = await new ApiClient(app, request).file('/contacts/export', { contact_type_id });
    return reply.headers({ ...headers, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }).send(body);
  });
}

/** `type` is the id of the contact type that the list is filtered by. */
export function ExportForm({ types, type }: { types: readonly ListedContactType[]; type: string | undefined }) {
  const language = useLanguage();
  return (
    <form method="get" action="/people/export" class="people-export">
      <select name="contact_type_id" aria-label={language.say('people.type')}>
        {types.map(({ id, name, contacts_count: count }) => (
          <option key={id} value={id} selected={String(id) === type}>
            {name} ({language.say('people.count', { count })})
          </option>
        ))}
      </select>
      <Button look="plain">{language.say('people.export')}</Button>
    </form>
  );
}
