/** The API of contacts: one by one, as a CSV file, found by filters, many at once, and everything about one person. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Deps } from '../../deps.ts';
import { sendCsv, sendLongCsv } from '../../http/list-response.ts';
import { operationRoutes } from '../../http/operation-routes.ts';
import { csvFile } from '../../http/requests/schemas.ts';
import {
  addContact,
  changeContact,
  deleteContact,
  deleteContacts,
  detailsPath,
  exportContacts,
  listContacts,
  readContact,
  sampleCsv,
} from './operations.ts';

const TAG = 'Contacts';

export const contactRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const contacts = operationRoutes(app, deps, TAG);
  contacts.list('GET /contacts/list', listContacts);
  contacts.change('POST /contacts/add', addContact, 'Contact Added Successfully', detailsPath);
  contacts.record('GET /contacts/details', readContact);
  contacts.change('POST /contacts/update', changeContact, 'Contact Updated Successfully');
  contacts.change('DELETE /contacts/delete', deleteContact, 'Deleted Successfully');
  contacts.change('POST /contacts/bulk-delete', deleteContacts, 'Deleted Successfully');
  contacts.send('GET /contacts/csv-sample/download', sampleCsv, csvFile, (csv, reply) =>
    sendCsv(reply, csv, 'contacts-sample.csv'),
  );
  contacts.send('GET /contacts/export', exportContacts, csvFile, (csv, reply) =>
    sendLongCsv(reply, csv, 'contacts.csv'),
  );
};
