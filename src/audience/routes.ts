/** The API of the audience: maps paths to operations, by resource. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { matchesEtag } from '../http/etags.ts';
import { chooseEncoding, sendCsv, sendLongCsv, sendMessage } from '../http/list-response.ts';
import { contextOf, operationRoutes } from '../http/operation-routes.ts';
import { csvFile, done, successWith } from '../http/requests/schemas.ts';
import type { Deps } from '../operations/deps.ts';
import { cancelAction, confirmAction, listActions, readAction, startAction, undoAction } from './bulk/operations.ts';
import {
  addContactType,
  deleteContactType,
  listContactTypes,
  readContactType,
  renameContactType,
} from './contact-types/operations.ts';
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
  upsertContacts,
} from './contacts/operations.ts';
import { reportEvents } from './events/operations.ts';
import {
  addField,
  deleteField,
  listOwnFields,
  listPlaceholders,
  listReservedFields,
  renameField,
} from './fields/operations.ts';
import { listImports, listKept, readImport, startUndo } from './import/operations/imports.ts';
import {
  CsvForm,
  FileForm,
  failedRowsCsv,
  importCsv,
  inspectFile,
  OneUpload,
  readPreview,
  readUpload,
  startImport,
  startPreview,
} from './import/operations/uploads.ts';
import { erase, exportPerson, PersonExport, readPerson, readTimeline } from './person/operations.ts';
import { placesBody, placesEtag } from './places/body.ts';
import { City, Country, findPlaces, listCountries, State } from './places/operations.ts';
import { findContacts } from './search/operations.ts';
import {
  addRecipientByHand,
  addSegment,
  changeSegment,
  countMatches,
  deleteSegment,
  listNames,
  listRecipients,
  listSegments,
  readSegment,
  readSegmentProblem,
  removeRecipientByHand,
  undeleteSegment,
} from './segments/operations.ts';
import {
  liftAllInactive,
  liftInactive,
  listInactive,
  previewSunset,
  readSunset,
  saveSunset,
} from './sunset/operations.ts';
import { changeTracking, keepPersonChoice, readPersonChoice, readTracking } from './tracking/operations.ts';
import {
  listSuppressed,
  listUnsubscribedFromAll,
  listUnsubscribedFromGroup,
  removeAllFromGlobalList,
  removeAllFromGroup,
  removeFromGlobalList,
  removeFromGroup,
  removeFromSuppressionList,
  reportBounce,
  unsubscribeFromAll,
  unsubscribeFromGroup,
} from './unsubscribed/entries.ts';
import { addGroup, changeGroup, countUsesOfGroup, deleteGroup, listGroups, readGroup } from './unsubscribed/groups.ts';
import { countUsesOfContactType, countUsesOfField, countUsesOfSegment } from './uses/operations.ts';

/** The options of a route whose handler reads the body itself. The schema of such a body is used only in the OpenAPI document. */
const UPLOAD = { validatorCompiler: () => () => true, config: { upload: true } };

/** Registers the API for contacts, contact types, fields, segments, unsubscribes and imports. */
export const audienceRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const global = operationRoutes(app, deps, 'Global unsubscribes');
  global.list('GET /global-unsubscribes', listUnsubscribedFromAll);
  global.change('POST /global-unsubscribes/save', unsubscribeFromAll, 'Added Successfully');
  global.change('DELETE /global-unsubscribes/delete', removeFromGlobalList, 'Deleted Successfully');
  global.change('POST /global-unsubscribes/bulk-delete', removeAllFromGlobalList, 'Deleted Successfully');

  const groups = operationRoutes(app, deps, 'Topics (unsubscribe groups)');
  groups.list('GET /unsubscribes-groups', listGroups);
  groups.change(
    'POST /unsubscribes-groups/save',
    addGroup,
    'Saved Successfully',
    ({ id }) => `/api/unsubscribes-groups/details?id=${id}`,
  );
  groups.record('GET /unsubscribes-groups/details', readGroup);
  groups.change('POST /unsubscribes-groups/update?id', changeGroup, 'Updated Successfully');
  groups.read('GET /unsubscribes-groups/uses', countUsesOfGroup);
  groups.change('DELETE /unsubscribes-groups/delete', deleteGroup, 'Deleted Successfully');
  groups.change('POST /unsubscribes-groups/manually-add', unsubscribeFromGroup, 'Added Successfully');
  groups.list('GET /unsubscribes-groups/recipients-list', listUnsubscribedFromGroup);
  groups.change('DELETE /unsubscribes-groups/recipients-delete', removeFromGroup, 'Deleted Successfully');
  groups.change('POST /unsubscribes-groups/recipients-bulk-delete', removeAllFromGroup, 'Deleted Successfully');

  const suppressed = operationRoutes(app, deps, 'Bounces and suppressions');
  suppressed.change('POST /bounces', reportBounce, 'Recorded Successfully');
  suppressed.list('GET /suppressions/list', listSuppressed);
  suppressed.change('DELETE /suppressions/delete', removeFromSuppressionList, 'Deleted Successfully');

  const segments = operationRoutes(app, deps, 'Segments');
  const details = ({ id }: { id: number }) => `/api/segment/details?segment_id=${id}`;
  segments.list('GET /segment/list', listSegments);
  segments.change('POST /segment/store', addSegment, 'Added Successfully', details);
  segments.change('POST /segment/update', changeSegment, 'Updated Successfully', details);
  segments.record('GET /segment/details', readSegment);
  segments.read('GET /segment/problem', readSegmentProblem);
  segments.deleteInErrors('DELETE /segment/delete', deleteSegment);
  segments.change('POST /segment/undelete', undeleteSegment, 'Restored Successfully');
  segments.list('GET /segment/email/list', listRecipients);
  segments.change('POST /segment/email/store', addRecipientByHand, 'Added Successfully');
  segments.change('DELETE /segment/email/delete', removeRecipientByHand, 'Deleted Successfully');
  segments.read('GET /segment/count', countMatches);
  segments.read('GET /segment/names', listNames);

  const types = operationRoutes(app, deps, 'Lists (contact types)');
  const fields = operationRoutes(app, deps, 'Fields');
  segments.read('GET /segment/uses', countUsesOfSegment);
  types.read('GET /contacts-type/uses', countUsesOfContactType);
  fields.read('GET /custom-fields/uses', countUsesOfField);
  types.list('GET /contacts-type', listContactTypes);
  types.change(
    'POST /contacts-type/add',
    addContactType,
    'Added Successfully',
    ({ id }) => `/api/contacts-type/view?contact_type_id=${id}`,
  );
  types.record('GET /contacts-type/view', readContactType);
  types.change('POST /contacts-type/update', renameContactType, 'Updated Successfully');
  types.deleteInErrors('DELETE /contacts-type/delete', deleteContactType);

  const contacts = operationRoutes(app, deps, 'Contacts');
  contacts.list('GET /contacts/list', listContacts);
  contacts.change('POST /contacts/add', addContact, 'Contact Added Successfully', detailsPath);
  contacts.read('POST /contacts/upsert', upsertContacts);
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

  app.post(
    '/contacts/upload-csv',
    {
      schema: {
        tags: ['Contacts'],
        summary: 'Import contacts from a CSV file',
        description:
          'The first row names the fields; only email is required. A contact of the type with the same address is updated; where a cell is empty, the contact keeps its value, unless `empty_cells` is clear (addition). With `start_automations` 0, no contact enters an automation by the import (addition). A row with errors does not stop the others. The header Location of the answer names the report of the import.',
        body: CsvForm,
        consumes: ['multipart/form-data'],
        response: done,
      },
      ...UPLOAD,
      config: { ...UPLOAD.config, hasLocation: true },
    },
    async (request, reply) => {
      const id = await importCsv(contextOf(request, deps), request);
      reply.header('location', `/api/contacts/imports/details?id=${id}`);
      return { status: 'success' as const, message: 'Imported Successfully' };
    },
  );
  contacts.list('GET /contacts/imports', listImports);
  contacts.record('GET /contacts/imports/details', readImport);
  app.post(
    '/contacts/imports/look',
    {
      schema: {
        tags: ['Contacts'],
        summary: 'Upload a CSV file, or an export of another service, and look at its columns (addition)',
        description:
          'With `source`, the whole file is read. Then the upload says what else will be imported, and its columns are the fields that contacts get.',
        body: FileForm,
        consumes: ['multipart/form-data'],
        response: successWith(OneUpload.properties),
      },
      ...UPLOAD,
    },
    async (request) => ({
      status: 'success' as const,
      message: { upload: await inspectFile(contextOf(request, deps), request) },
    }),
  );
  contacts.read('POST /contacts/imports/preview', startPreview);
  contacts.read('GET /contacts/imports/previewed', readPreview);
  contacts.read('POST /contacts/imports/start', startImport);
  contacts.read('GET /contacts/imports/progress', readUpload);
  contacts.send('GET /contacts/imports/errors', failedRowsCsv, csvFile, (csv, reply) =>
    sendCsv(reply, csv, 'import-errors.csv'),
  );

  contacts.read('GET /contacts/search', findContacts);
  contacts.read('GET /contacts/person', readPerson);
  contacts.read('GET /contacts/timeline', readTimeline);
  operationRoutes(app, deps, 'Events').read('POST /events', reportEvents);
  contacts.send('GET /contacts/person/export', exportPerson, successWith(PersonExport.properties), (json, reply) =>
    sendMessage(reply.header('content-disposition', 'attachment; filename="person.json"'), json),
  );
  contacts.change('POST /contacts/person/erase', erase, 'Erased Successfully');

  contacts.change('POST /contacts/imports/undo', startUndo, 'Undoing');
  contacts.list('GET /contacts/imports/kept', listKept);

  contacts.read('POST /contacts/jobs/start', startAction);
  contacts.read('GET /contacts/jobs', listActions);
  contacts.read('GET /contacts/jobs/details', readAction);
  contacts.change('POST /contacts/jobs/confirm', confirmAction, 'Confirmed Successfully');
  contacts.change('POST /contacts/jobs/cancel', cancelAction, 'Cancelled Successfully');
  contacts.change('POST /contacts/jobs/undo', undoAction, 'Undoing');

  fields.read('GET /reserve-fields', listReservedFields);
  fields.list('GET /custom-fields', listOwnFields);
  fields.change('POST /custom-fields/save', addField, 'Added Successfully');
  fields.change('POST /custom-fields/update', renameField, 'Updated Successfully');
  fields.change('DELETE /custom-fields/delete', deleteField, 'Deleted Successfully');
  operationRoutes(app, deps, 'Templates').read('GET /get-dynamic/content', listPlaceholders);
};

/** The API for what an account records about opens and clicks. */
export const trackingRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const tracking = operationRoutes(app, deps, 'Open and click tracking');
  tracking.read('GET /tracking', readTracking);
  tracking.change('POST /tracking/save', changeTracking, 'Updated Successfully');
  tracking.read('GET /contacts/tracking', readPersonChoice);
  tracking.change('POST /contacts/tracking/save', keepPersonChoice, 'Updated Successfully');
};

/** The API for the sunset rule and the contacts that it found. */
export const sunsetRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const contacts = operationRoutes(app, deps, 'Contacts');
  contacts.read('GET /sunset', readSunset);
  contacts.change('POST /sunset/save', saveSunset, 'Updated Successfully');
  contacts.read('GET /sunset/preview', previewSunset);
  contacts.list('GET /sunset/people', listInactive);
  contacts.change('POST /sunset/lift', liftInactive, 'Updated Successfully');
  contacts.change('POST /sunset/lift-all', liftAllInactive, 'Updated Successfully');
};

/** The API for countries, states and cities. */
export const placeRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const places = operationRoutes(app, deps, 'Places');
  places.read('GET /get/countries', listCountries);
  app.get(
    '/get/country-state-city',
    {
      schema: {
        tags: ['Places'],
        summary: 'List countries, states and cities',
        response: successWith({ countries: Type.Array(Country), states: Type.Array(State), cities: Type.Array(City) }),
      },
    },
    (request, reply: FastifyReply) => {
      const coding = chooseEncoding(request.headers['accept-encoding']);
      const etag = placesEtag(coding);
      reply.headers({ etag, vary: 'Accept-Encoding', 'cache-control': 'private, max-age=86400' });
      if (matchesEtag(request.headers['if-none-match'], etag)) {
        reply.code(304).send();
        return;
      }
      const { content, length } = placesBody(coding);
      if (coding !== 'identity') reply.header('content-encoding', coding);
      reply.type('application/json; charset=utf-8').header('content-length', length).send(content);
    },
  );
  places.read('GET /get/states-cities', findPlaces);
};
