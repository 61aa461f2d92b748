/** The API for forms, and for subscriptions that other programs request. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { operationRoutes } from '../http/operation-routes.ts';
import type { Deps } from '../operations/deps.ts';
import { createForm, deleteForm, listForms, readForm, saveForm, undeleteForm } from './operations/forms.ts';
import { subscribeContact } from './operations/subscribe.ts';

/** Registers the API for forms. */
export const formRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  const forms = operationRoutes(app, deps, 'Forms');
  forms.read('GET /forms', listForms);
  forms.read('GET /forms/details', readForm);
  forms.read('POST /forms/create', createForm);
  forms.change('POST /forms/save', saveForm, 'Updated Successfully');
  forms.change('DELETE /forms/delete', deleteForm, 'Deleted Successfully');
  forms.change('POST /forms/undelete', undeleteForm, 'Restored Successfully');
};

/** Registers the request by which other programs ask somebody to subscribe. Key pairs need the scope `contacts` for it. */
export const subscriptionRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, deps) => {
  operationRoutes(app, deps, 'Contacts').read('POST /contacts/subscribe', subscribeContact);
};
