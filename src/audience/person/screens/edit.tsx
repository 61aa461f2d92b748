/** Adding a contact, and changing its fields. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { Button, LinkButton } from '../../../ui/components/button.tsx';
import { AreaField, CheckField, type Problems, SelectField, TextField } from '../../../ui/components/field.tsx';
import { form } from '../../../ui/components/form.tsx';
import { Card, Empty, Notice } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt, problemsAt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { field, fieldList } from '../../../ui/submitted.ts';
import { type PlainKey, useLanguage } from '../../../ui/words/index.ts';
import { countryOptions, fieldLabel, languageOptions } from '../../../ui/words/known.ts';
import { listContactTypes } from '../../contact-types/operations.ts';
import { RESERVED_FIELDS } from '../../contacts/contact-fields.ts';
import { meantDomain } from '../../contacts/misspelt-domains.ts';
import { type Contact, editContact, enterContact, readContact } from '../../contacts/operations.ts';
import { writtenValue } from '../../fields/custom-fields.ts';
import { type Field, listOwnFields } from '../../fields/operations.ts';
import { COUNTRIES } from '../../places/operations.ts';
import { readPerson } from '../operations.ts';

/** The checkbox that keeps a domain as it was typed. */
const AS_TYPED = 'as_typed';
/** Longer values of custom fields are not editable, because a form would not submit them completely. */
const MAX_SHOWN = 10_000;

// The address is what a contact is known by, so it is asked for first.
const LABELS = RESERVED_FIELDS.toSorted((one, other) => Number(other === 'email') - Number(one === 'email')).map(
  (name) => ({
    name,
    label: `field.${name}` as const,
    ...(name === 'country' && { control: Country }),
    ...(name === 'language' && { control: ContactLanguage }),
  }),
);
const [EMAIL, ...OTHERS] = LABELS;
const NEW_FORM = form(enterContact.input, [
  ...(EMAIL ? [EMAIL] : []),
  { name: 'contact_type_id', label: 'contacts.type' },
  ...OTHERS,
]);
const CHANGED_FORM = form(editContact.input, LABELS);

/** A custom field with the name of its input and its value. */
interface OwnValue {
  name: string;
  field: Field;
  value: string;
}

/** Registers the pages for a new contact and for changing one. */
export async function editPersonScreens(app: FastifyInstance): Promise<void> {
  /** `doubted`: a domain that looks misspelt, which the user may keep. */
  const showNew = async (
    request: FastifyRequest,
    reply: FastifyReply,
    values: Values = {},
    problems: Problems = {},
    doubted = '',
  ) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const types = await ask(request, listContactTypes, {});
    const frame = {
      title: language.say('person.new'),
      section: 'contacts',
      back: { href: '/contacts', label: 'nav.contacts' },
    } as const;
    const content =
      types.length === 0 ? (
        <Empty
          title={language.say('lists.none.title')}
          action={<LinkButton href="/settings/lists" label={language.say('lists.add')} />}
        >
          {language.say('lists.none.text')}
        </Empty>
      ) : (
        <ContactForm
          action="/contacts/new"
          save="person.new.save"
          back="/contacts"
          own={await ownValues(request)}
          problems={problems}
          values={values}
        >
          {problems.email?.includes(language.say('problem.field_taken')) && (
            <Notice>
              {language.say('person.taken')}{' '}
              <a href={`/contacts?${new URLSearchParams({ search: String(values.email) })}`}>
                {language.say('person.taken.find')}
              </a>
            </Notice>
          )}
          <NEW_FORM.Fields
            values={{ contact_type_id: types[0]?.id, country: '', ...values }}
            options={{ contact_type_id: types.map(({ id, name }) => ({ value: String(id), label: name })) }}
            problems={problems}
          />
          {doubted !== '' && (
            <CheckField
              name={AS_TYPED}
              label={language.say('person.misspelt.keep', { domain: doubted })}
              checked={false}
            />
          )}
        </ContactForm>
      );
    return sendPage(request, reply, viewer, frame, content);
  };

  pageRoute(app, '/contacts/new', (request, reply) => {
    requireEditor(request);
    return showNew(request, reply);
  });

  app.post('/contacts/new', async (request, reply) => {
    const values = NEW_FORM.read(request);
    const typed = typedIn(request, await ownValues(request));
    const { email, domain, meant } = inspectDomain(values.email);
    if (meant !== null && field(request, AS_TYPED) === '') {
      const question = languageOf(request, viewerOf(request)).say('person.misspelt', { email });
      return showNew(request, reply.code(422), withTyped(values, typed), { email: [question] }, domain);
    }
    const added = await attempt(request, enterContact, {
      ...values,
      custom_field: customFieldParameter(typed.filter(({ text }) => text !== '')),
    });
    if ('problems' in added)
      return showNew(request, reply.code(added.status), withTyped(values, typed), problemsAt(added, 'custom_field'));
    setFlash(reply, 'good', 'person.added');
    return reply.redirect(`/contacts/${added.output}`, 303);
  });

  const show = async (
    request: FastifyRequest<ById>,
    reply: FastifyReply,
    values: Values = {},
    problems: Problems = {},
  ) => {
    const { contact, own } = await readEditable(request);
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('person.edit.title', { name: contact.fullname || contact.email });
    const path = `/contacts/${contact.id}`;
    const content = (
      <ContactForm
        action={`${path}/edit`}
        save="person.edit.save"
        back={path}
        own={own}
        problems={problems}
        values={values}
      >
        <CHANGED_FORM.Fields values={{ ...contact, ...values }} problems={problems} />
      </ContactForm>
    );
    return sendPage(
      request,
      reply,
      viewer,
      { title, section: 'contacts', back: { href: path, label: 'nav.contacts' } },
      content,
    );
  };

  pageRoute<ById>(app, '/contacts/:id/edit', (request, reply) => {
    requireEditor(request);
    return show(request, reply);
  });

  app.post<ById>('/contacts/:id/edit', async (request, reply) => {
    const { contact, own } = await readEditable(request);
    const values = CHANGED_FORM.read(request);
    const typed = typedIn(request, own);
    const saved = await attempt(request, editContact, {
      contact_id: request.params.id,
      contact_type_id: contact.contact_type_id,
      ...values,
      // Unchanged values are not submitted, because a browser may write line breaks differently.
      custom_field: customFieldParameter(typed.filter(({ text, value }) => text !== value.replaceAll('\r\n', '\n'))),
    });
    if ('problems' in saved)
      return show(request, reply.code(saved.status), withTyped(values, typed), problemsAt(saved, 'custom_field'));
    setFlash(reply, 'good', 'person.edited');
    return reply.redirect(`/contacts/${contact.id}`, 303);
  });
}

/** Returns the domain of a typed address, the domain that was probably meant (null if the domain looks right), and the meant address. */
function inspectDomain(value: unknown) {
  const typed = String(value).trim();
  const at = typed.lastIndexOf('@') + 1;
  const domain = typed.slice(at).toLowerCase();
  const meant = at === 0 ? null : meantDomain(domain);
  return { domain, meant, email: typed.slice(0, at) + (meant ?? domain) };
}

/** Returns a contact with its language, and those of its custom fields that a form can show. */
async function readEditable(
  request: FastifyRequest<ById>,
): Promise<{ contact: Contact & { language: string }; own: OwnValue[] }> {
  const { id: contact_id } = request.params;
  const contact = await ask(request, readContact, { contact_id });
  const { person } = await ask(request, readPerson, { contact_id });
  const language = person.contacts.find(({ id }) => id === contact.id)?.language ?? '';
  const own = await ownValues(request, contact.custom_field);
  return { contact: { ...contact, language }, own: own.filter(({ value }) => value.length <= MAX_SHOWN) };
}

/** Returns the custom fields with the values of a contact. */
async function ownValues(request: FastifyRequest, stored: Contact['custom_field'] = null): Promise<OwnValue[]> {
  return (await ask(request, listOwnFields, {})).map((field) => ({
    name: `own${field.id}`,
    field,
    value: stored?.[field.field_name]?.field_value ?? '',
  }));
}

/** Returns the custom fields that a form has, with the typed text. */
function typedIn(request: FastifyRequest, own: readonly OwnValue[]) {
  return own.flatMap((input) =>
    fieldList(request, input.name).map((text) => ({ ...input, text: text.replaceAll('\r\n', '\n') })),
  );
}

type Typed = ReturnType<typeof typedIn>;

function customFieldParameter(typed: Typed): Record<string, string> {
  return Object.fromEntries(
    typed.map(({ field: { field_name, field_type }, text }) => [field_name, writtenValue(field_type, text)]),
  );
}

function withTyped(values: Values, typed: Typed): Values {
  return { ...values, ...Object.fromEntries(typed.map(({ name, text }) => [name, text])) };
}

type Values = Readonly<Record<string, unknown>>;

interface ContactFormProps {
  action: string;
  save: PlainKey;
  /** The target of the cancel link. */
  back: string;
  own: readonly OwnValue[];
  /** The submitted values, by the names of the inputs. */
  values: Values;
  problems: Problems;
  /** The fields that every contact has. */
  children: ComponentChildren;
}

function ContactForm({ action, save, back, own, values, problems, children }: ContactFormProps) {
  const language = useLanguage();
  return (
    <Card>
      {problems.custom_field && (
        <Notice tone="bad" isNews>
          {problems.custom_field.join(' ')}
        </Notice>
      )}
      <form method="post" action={action} class="narrow">
        {children}
        {own.map(({ name, field: { field_name, field_type }, value }) => {
          const common = {
            name,
            label: fieldLabel(language, field_name),
            value: String(values[name] ?? value),
            hint: field_type === 'text' ? undefined : language.say(`fields.hint.${field_type}`),
          };
          const isLong = field_type === 'text' && value.includes('\n');
          return isLong ? (
            <AreaField key={name} {...common} />
          ) : (
            <TextField key={name} {...common} autocomplete="off" />
          );
        })}
        <div class="buttons">
          <Button label={language.say(save)} />
          <LinkButton look="plain" href={back} label={language.say('contacts.confirm.no')} />
        </div>
      </form>
    </Card>
  );
}

function Country({ label, value, problems }: { label: string; value: unknown; problems: Problems }) {
  const language = useLanguage();
  return (
    <SelectField
      name="country"
      label={label}
      value={String(value)}
      problems={problems}
      options={[
        // Only a contact that has no country yet may stay without a country.
        ...(value === '' ? [{ value: '', label: '–' }] : []),
        ...countryOptions(language, COUNTRIES),
      ]}
    />
  );
}

function ContactLanguage({ label, value, problems }: { label: string; value: unknown; problems: Problems }) {
  const language = useLanguage();
  return (
    <SelectField
      name="language"
      label={label}
      value={String(value ?? '')}
      problems={problems}
      options={[{ value: '', label: '–' }, ...languageOptions(language)]}
    />
  );
}
