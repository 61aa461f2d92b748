/** Public forms by which people subscribe themselves (additions): list, read, create, change, delete. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Db } from '../database/open.ts';
import type { Deps } from '../deps.ts';
import { conflict, notFound } from '../failure.ts';
import { askedFields } from '../forms/fields.ts';
import {
  addForm,
  changeForm,
  type Form,
  type FormInput,
  findForm,
  formOffCode,
  formPath,
  listForms,
  removeForm,
} from '../forms/forms.ts';
import { removeRequests } from '../forms/old-requests.ts';
import { readShown } from '../forms/shown.ts';
import { formSnippet } from '../http/pages/form-markup.ts';
import { done, identifier, integer, successWith } from '../http/requests/schemas.ts';
import { check } from '../http/requests/validation.ts';
import { SENTENCES, sentence } from '../sentences.ts';
import { type AuditAction, audit } from '../users/audit.ts';
import { checkForm, formInput } from './forms-body.ts';
import { CreateBody, FormRecord, SaveBody } from './forms-schemas.ts';

const MAX_FORMS = 50;
const ById = Type.Object({ id: identifier('The form.') });
const tags = ['Forms'];
const OFF_REASONS = {
  off: SENTENCES.form_off,
  type_deleted: SENTENCES.form_type_deleted,
  sender_deleted: SENTENCES.form_sender_deleted,
  sender_unverified: SENTENCES.form_sender_unverified,
} as const;

export const formRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock, tokens, publicUrl }) => {
  app.get(
    '/forms',
    {
      schema: {
        tags,
        summary: 'List the forms (addition)',
        response: successWith({
          forms: Type.Array(FormRecord, { description: 'The forms in the order of their ids.' }),
        }),
      },
    },
    async ({ accountId }) => ({ status: 'success' as const, message: { forms: listForms(db, accountId).map(shown) } }),
  );

  app.get(
    '/forms/details',
    {
      schema: {
        tags,
        summary: 'Read a form, with its HTML for another website (addition)',
        querystring: ById,
        response: successWith({
          form: FormRecord,
          snippet: Type.String({ description: 'HTML that shows the form in a page of another website.' }),
        }),
      },
    },
    async ({ accountId, query }) => {
      const form = requireForm(db, accountId, query.id);
      const snippet = formSnippet(readShown(db, form), urlOf(form));
      return { status: 'success' as const, message: { form: shown(form), snippet } };
    },
  );

  app.post(
    '/forms/create',
    {
      schema: {
        tags,
        summary: 'Add a form (addition)',
        description: 'It takes subscriptions at once unless is_active is 0.',
        body: CreateBody,
        response: successWith({ id: integer(), url: Type.String() }),
      },
      config: {
        check: check(CreateBody, (body, errors, { accountId }) => checkForm(db, accountId, body, null, errors)),
      },
    },
    async (request) => {
      const { accountId, body } = request;
      const id = db.transaction(
        () => {
          if (listForms(db, accountId).length >= MAX_FORMS)
            throw conflict(sentence('forms_many', { count: MAX_FORMS }));
          record(request, 'form_added', body.name);
          return addForm(db, accountId, formInput(db, accountId, body, null), clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: { id, url: urlOf({ id }) } };
    },
  );

  app.post(
    '/forms/save',
    {
      schema: {
        tags,
        summary: 'Change a form (addition)',
        description:
          'A parameter that is absent keeps its value. Where the language is changed, usual texts become those of the new language.',
        body: SaveBody,
        response: done,
      },
      config: {
        check: check(SaveBody, (body, errors, { accountId }) =>
          checkForm(db, accountId, body, findForm(db, accountId, body.id) ?? null, errors),
        ),
      },
    },
    async (request) => {
      db.transaction(
        () => {
          const form = requireForm(db, request.accountId, request.body.id);
          const input: FormInput = formInput(db, request.accountId, request.body, form);
          record(request, 'form_changed', input.name);
          changeForm(db, form, input, clock.now());
        },
        { behavior: 'immediate' },
      );
      return { status: 'success' as const, message: 'Updated Successfully' };
    },
  );

  app.delete(
    '/forms/delete',
    {
      schema: {
        tags,
        summary: 'Delete a form (addition)',
        description:
          'Its page and the links in its mails lead nowhere from then on, and what was not confirmed is removed. Those who have confirmed stay.',
        querystring: ById,
        response: done,
      },
    },
    async (request) => {
      const form = db.transaction(
        () => {
          const found = requireForm(db, request.accountId, request.query.id);
          record(request, 'form_removed', found.name);
          removeForm(db, found);
          return found;
        },
        { behavior: 'immediate' },
      );
      await removeRequests(db.$client, form.id);
      return { status: 'success' as const, message: 'Deleted Successfully' };
    },
  );

  function urlOf({ id }: Pick<Form, 'id'>): string {
    return publicUrl() + formPath(tokens, id);
  }

  function record(
    { accountId, actor }: Pick<FastifyRequest, 'accountId' | 'actor'>,
    action: AuditAction,
    subject: string,
  ) {
    audit(db, { accountId, actor, action, subject }, clock.now());
  }

  function shown(form: Form): Static<typeof FormRecord> {
    const { user_id: accountId, fields, ...columns } = form;
    const code = formOffCode(db.$client, config, form);
    return {
      ...columns,
      off_code: code,
      off_reason: code === null ? null : OFF_REASONS[code],
      url: urlOf(form),
      fields: askedFields(db, accountId, fields).map(({ name, label, required }) => ({
        name,
        label,
        required: required ? (1 as const) : (0 as const),
      })),
    };
  }
};

/** The account's form with this identifier. Throws 404. */
function requireForm(db: Db, accountId: number, given: unknown): Form {
  const form = findForm(db, accountId, given);
  if (form === undefined) throw notFound();
  return form;
}
