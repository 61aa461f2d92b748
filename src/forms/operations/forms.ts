/**
 * Operations by which programs and the dashboard list, read, add, change, delete and restore public forms (additions to the
 * contract). Visitors subscribe themselves with a form.
 */
import Type, { type Static } from 'typebox';
import { deleteRestorably, restoreDeleted } from '../../database/deleted-records.ts';
import type { Db } from '../../database/open.ts';
import { forms } from '../../database/schema/index.ts';
import { inTransaction } from '../../database/transaction.ts';
import { holdFor } from '../../delivery/queue/holds.ts';
import { conflict, notFound } from '../../errors/failure.ts';
import { sentence } from '../../errors/sentences.ts';
import { formSnippet } from '../../http/pages/form-markup.tsx';
import { choice, identifier, integer, nullable, said, stamps, zeroOrOne } from '../../http/requests/schemas.ts';
import { PAGE_LANGUAGES } from '../../languages.ts';
import { type Context, operation } from '../../operations/operation.ts';
import { auditBy } from '../../users/audit.ts';
import { askedFields } from '../fields.ts';
import {
  addForm,
  changeForm,
  FORM_OFF_CODES,
  type Form as FormRow,
  findForm,
  formOffCode,
  formPath,
  formsOf,
} from '../forms.ts';
import { removeRequests } from '../old-requests.ts';
import { readShown } from '../shown-form.ts';
import { checkForm, FormChanges, formInput, NewForm } from './form-input.ts';

const MAX_FORMS = 50;
const ById = Type.Object({ id: identifier('The form.') });

const FormField = Type.Object({
  name: Type.String({ description: 'The name of the field.' }),
  label: Type.String({ description: 'The label of the field on the page; empty: the usual name of the field.' }),
  required: zeroOrOne('1: the field must be filled in.'),
});
const FormRecord = Type.Object({
  id: integer(),
  name: Type.String({ description: 'The internal name, which visitors do not see.' }),
  contact_type_id: integer({ description: 'The contact type to which contacts are added.' }),
  sender_id: integer({ description: 'The sender of the e-mail that asks for a confirmation.' }),
  segment_id: nullable(integer(), 'The segment to which contacts are also added; null: no segment.'),
  language: { ...choice(...PAGE_LANGUAGES), description: 'The language of the page and the e-mail.' },
  is_active: zeroOrOne('0: the form is switched off.'),
  off_code: nullable(
    choice(...FORM_OFF_CODES),
    'Why the form takes no subscriptions now; null: it takes subscriptions.',
  ),
  off_reason: nullable(said(), 'The reason in `off_code`, as a sentence.'),
  url: Type.String({ description: 'The URL of the page with the form.' }),
  fields: Type.Array(FormField, {
    description: 'The fields that the form asks for in addition to the e-mail address.',
  }),
  group_ids: Type.Array(integer(), { description: 'The topics (unsubscribe groups) that contacts choose from.' }),
  title: Type.String({ description: 'The title of the page and the e-mail.' }),
  intro: Type.String({ description: 'The text above the fields.' }),
  consent_text: Type.String({ description: 'The text that contacts agree to.' }),
  privacy_url: Type.String({
    description: 'The URL of a privacy policy, which is linked behind the consent text; empty: no link.',
  }),
  asks_tracking: zeroOrOne(
    '1: the form also asks whether opens and clicks may be recorded, as long as the account records them only with consent.',
  ),
  tracking_text: Type.String({ description: 'The question whether opens and clicks may be recorded.' }),
  button_text: Type.String({ description: 'The text of the button.' }),
  mail_subject: Type.String({ description: 'The subject of the e-mail that asks for a confirmation.' }),
  mail_text: Type.String({ description: 'The text above the button of the e-mail that asks for a confirmation.' }),
  sent_text: Type.String({ description: 'The text for visitors who have sent the form.' }),
  confirmed_text: Type.String({ description: 'The text for contacts who have confirmed.' }),
  already_text: Type.String({ description: 'The text for contacts who are subscribed already.' }),
  expired_text: Type.String({ description: 'The text for visitors whose link is too old.' }),
  off_text: Type.String({ description: 'The text while the form takes no subscriptions.' }),
  redirect_url: Type.String({
    description: 'The URL to which contacts are redirected when they have confirmed; empty: no redirect.',
  }),
  shown: integer({ description: 'How often the page was shown.' }),
  sent: integer({ description: 'How many e-mails asked for a confirmation.' }),
  confirmed: integer({ description: 'The number of contacts who confirmed.' }),
  ...stamps,
});

export type Form = Static<typeof FormRecord>;

/** The sentences that say why a form takes no subscriptions, by code. */
export const OFF_REASONS = {
  off: sentence('form_off'),
  type_deleted: sentence('form_type_deleted'),
  sender_deleted: sentence('form_sender_deleted'),
  sender_unverified: holdFor('sender_unverified').held_reason,
} as const;

export const listForms = operation({
  name: 'List the forms (addition)',
  role: 'viewer',
  input: Type.Object({}),
  output: Type.Object({ forms: Type.Array(FormRecord, { description: 'The forms in the order of their ids.' }) }),
  run: (context) => ({ forms: formsOf(context.db, context.accountId).map((form) => formRecord(context, form)) }),
});

export const readForm = operation({
  name: 'Read a form, with its HTML for another website (addition)',
  role: 'viewer',
  input: ById,
  output: Type.Object({
    form: FormRecord,
    snippet: Type.String({ description: 'HTML that shows the form in a page of another website.' }),
  }),
  run(context, { id }) {
    const form = requireForm(context, id);
    return {
      form: formRecord(context, form),
      snippet: formSnippet(readShown(context.db, form), urlOf(context, form.id)),
    };
  },
});

export const createForm = operation({
  name: 'Add a form (addition)',
  description: 'The form takes subscriptions at once unless is_active is 0.',
  role: 'editor',
  input: NewForm,
  output: Type.Object({ id: integer(), url: Type.String({ description: 'The URL of the page with the form.' }) }),
  check: ({ db, accountId }, input, errors) => checkForm(db, accountId, input, null, errors),
  run(context, input) {
    const { db, clock, accountId } = context;
    const id = inTransaction(db, () => {
      requireRoom(db, accountId);
      auditBy(context, 'form_added', input.name);
      return addForm(db, accountId, formInput(db, accountId, input, null), clock.now());
    });
    return { id, url: urlOf(context, id) };
  },
});

export const saveForm = operation({
  name: 'Change a form (addition)',
  description:
    'Absent parameters are not changed. If the language changes, texts that were not edited become the usual texts of the new language.',
  role: 'editor',
  input: FormChanges,
  check: ({ db, accountId }, input, errors) =>
    checkForm(db, accountId, input, findForm(db, accountId, input.id) ?? null, errors),
  run(context, fields) {
    const { db, clock, accountId } = context;
    inTransaction(db, () => {
      const form = requireForm(context, fields.id);
      const input = formInput(db, accountId, fields, form);
      auditBy(context, 'form_changed', input.name);
      changeForm(db, form, input, clock.now());
    });
  },
});

export const deleteForm = operation({
  name: 'Delete a form (addition)',
  description:
    'The page of the form and the links in its e-mails stop working, and unconfirmed requests are removed. Confirmed contacts stay. The form can be restored until another form is deleted.',
  role: 'editor',
  input: ById,
  async run(context, { id }) {
    const { db } = context;
    const removed = inTransaction(db, () => {
      const form = requireForm(context, id);
      deleteRestorably(db, forms, form);
      auditBy(context, 'form_removed', form.name);
      return form;
    });
    await removeRequests(db.$client, removed.id);
  },
});

export const undeleteForm = operation({
  name: 'Undo the deletion of a form (addition)',
  description:
    'The page of the form works again at the same URL. Unconfirmed requests stay removed. Only the form that was deleted last can be restored, until `sendlark purge` removes it.',
  role: 'editor',
  input: ById,
  run(context, { id }) {
    const { db, accountId } = context;
    inTransaction(db, () => {
      requireRoom(db, accountId);
      restoreDeleted(db, forms, accountId, id);
      auditBy(context, 'form_restored', requireForm(context, id).name);
    });
  },
});

/** Throws 409 if an account already has the maximum number of forms. */
function requireRoom(db: Db, accountId: number): void {
  if (formsOf(db, accountId).length >= MAX_FORMS) throw conflict(sentence('forms_many', { count: MAX_FORMS }));
}

function urlOf({ tokens, publicUrl }: Context, id: number): string {
  return publicUrl() + formPath(tokens, id);
}

function formRecord(context: Context, form: FormRow): Form {
  const { db, config } = context;
  const { user_id: accountId, fields, ...columns } = form;
  const code = formOffCode(db.$client, config, form);
  return {
    ...columns,
    off_code: code,
    off_reason: code === null ? null : OFF_REASONS[code],
    url: urlOf(context, form.id),
    fields: askedFields(db, accountId, fields).map(({ name, label, required }) => ({
      name,
      label,
      required: required ? (1 as const) : (0 as const),
    })),
  };
}

/** Returns the account's form with this identifier. Throws 404 if there is none. */
function requireForm({ db, accountId }: Context, id: unknown): FormRow {
  const form = findForm(db, accountId, id);
  if (form === undefined) throw notFound();
  return form;
}
