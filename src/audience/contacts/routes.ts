/** The API of contacts: one by one, as CSV files, found by filters, many at once, and everything about one person. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sendCsv, sendLongCsv, sendMessage } from '../../http/list-response.ts';
import { operationRoutes } from '../../http/operation-routes.ts';
import { csvFile, successWith } from '../../http/requests/schemas.ts';
import type { Deps } from '../../operations/deps.ts';
import { cancelAction, confirmAction, listActions, readAction, startAction, undoAction } from '../bulk/operations.ts';
import { erase, exportPerson, KnownOfPerson, readPerson, readTimeline } from '../person/operations.ts';
import { findContacts } from '../search/operations.ts';
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

export const personRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const people = operationRoutes(app, deps, TAG);
  people.read('GET /contacts/search', findContacts);
  people.read('GET /contacts/person', readPerson);
  people.read('GET /contacts/timeline', readTimeline);
  people.send('GET /contacts/person/export', exportPerson, successWith(KnownOfPerson.properties), (known, reply) =>
    sendMessage(reply.header('content-disposition', 'attachment; filename="person.json"'), known),
  );
  people.change('POST /contacts/person/erase', erase, 'Erased Successfully');
};

export const actionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const actions = operationRoutes(app, deps, TAG);
  actions.read('POST /contacts/jobs/start', startAction);
  actions.read('GET /contacts/jobs', listActions);
  actions.read('GET /contacts/jobs/details', readAction);
  actions.change('POST /contacts/jobs/confirm', confirmAction, 'Confirmed Successfully');
  actions.change('POST /contacts/jobs/cancel', cancelAction, 'Cancelled Successfully');
  actions.change('POST /contacts/jobs/undo', undoAction, 'Undoing');
};
