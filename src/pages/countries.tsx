/** The page that lists the countries with their ids, which senders and contacts use. */
import type { FastifyInstance } from 'fastify';
import { countries } from '../database/schema/index.ts';
import { sendPublicPage } from '../http/pages/document.tsx';
import type { Deps } from '../operations/deps.ts';

/** Registers the page that lists the countries, for people who write programs. Programs get the list from the API. */
export async function countriesPage(app: FastifyInstance, { db }: Deps): Promise<void> {
  app.get('/docs/countries', (_request, reply) => {
    const rows = db.select().from(countries).orderBy(countries.id).all();
    return sendPublicPage(
      reply,
      'Countries',
      <>
        <h1>Countries</h1>
        <p>
          The number is the <code>country_id</code> of a sender and the <code>country</code> of a contact. It never
          changes.
        </p>
        <table>
          <thead>
            <tr>
              <th>Number</th>
              <th>Country</th>
              <th>ISO 3166-1</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, name, iso2 }) => (
              <tr key={id}>
                <td>{id}</td>
                <td>{name}</td>
                <td>{iso2}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </>,
    );
  });
}
