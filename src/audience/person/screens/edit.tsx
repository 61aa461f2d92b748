/** Changing the fields of one contact of a person. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { AreaField, type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { FormFields, type Labels, readForm } from '../../../dashboard/components/form.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt, problemsAt } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { fieldList } from '../../../dashboard/sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { fieldLabel } from '../../../dashboard/words/known.ts';
import { READ } from '../../../http/pages/layout.ts';
import { RESERVED_FIELDS } from '../../contacts/contact-fields.ts';
import { type Contact, editContact, readContact } from '../../contacts/operations.ts';
import { type Field, listOwnFields } from '../../fields/operations.ts';
import { COUNTRIES } from '../../places/operations.ts';

const SEE_OTHER = 303;
/** A longer value of a field of the account's own is left as it is: a form does not take it whole. */
const MAX_SHOWN = 10_000;

interface WithId {
  Params: { id: string };
}

const LABELS: Labels<typeof editContact.input> = RESERVED_FIELDS.map((name) => ({
  name,
  label: `field.${name}`,
  ...(name === 'country' && { control: Country }),
}));

/** A field of the account's own with the name of its input and its value. */
interface OwnValue {
  name: string;
  field: Field;
  value: string;
}

export async function editPersonScreen(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<WithId>,
    reply: FastifyReply,
    given: object = {},
    problems?: Problems,
  ) => {
    const { contact, own } = await readFields(request);
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('person.edit.title', { name: contact.fullname || contact.email });
    const back = { href: `/people/${contact.id}`, label: 'nav.people' } as const;
    const form = <EditForm id={contact.id} values={{ ...contact, ...given }} own={own} problems={problems ?? {}} />;
    return sendPage(request, reply, viewer, { title, section: 'people', back }, form);
  };

  app.route<WithId>({
    method: READ,
    url: '/people/:id/edit',
    handler: (request, reply) => {
      requireEditor(request);
      return show(request, reply);
    },
  });

  app.post<WithId>('/people/:id/edit', async (request, reply) => {
    const { contact, own } = await readFields(request);
    const given = readForm(request, editContact.input, LABELS);
    const typed = own.flatMap((one) =>
      fieldList(request, one.name).map((text) => ({ ...one, typed: text.replaceAll('\r\n', '\n') })),
    );
    // What stays the same is not given: a browser may write the end of a line in another way.
    const changed = typed.filter(({ typed, value }) => typed !== value.replaceAll('\r\n', '\n'));
    const saved = await attempt(request, editContact, {
      contact_id: request.params.id,
      contact_type_id: contact.contact_type_id,
      ...given,
      custom_field: Object.fromEntries(changed.map(({ field: { field_name }, typed }) => [field_name, typed])),
    });
    if ('problems' in saved) {
      const values = { ...given, ...Object.fromEntries(typed.map(({ name, typed }) => [name, typed])) };
      return show(request, reply.code(saved.status), values, problemsAt(saved, 'custom_field'));
    }
    setFlash(reply, 'good', 'person.edited');
    return reply.redirect(`/people/${contact.id}`, SEE_OTHER);
  });
}

async function readFields(request: FastifyRequest<WithId>): Promise<{ contact: Contact; own: OwnValue[] }> {
  const contact = await ask(request, readContact, { contact_id: request.params.id });
  const own = (await ask(request, listOwnFields, {})).map((field) => ({
    name: `own${field.id}`,
    field,
    value: contact.custom_field?.[field.field_name]?.field_value ?? '',
  }));
  return { contact, own: own.filter(({ value }) => value.length <= MAX_SHOWN) };
}

interface EditFormProps {
  id: number;
  values: Readonly<Record<string, unknown>>;
  own: readonly OwnValue[];
  problems: Problems;
}

function EditForm({ id, values, own, problems }: EditFormProps) {
  const language = useLanguage();
  return (
    <Card>
      {problems.custom_field && (
        <Notice tone="bad" isNews>
          {problems.custom_field.join(' ')}
        </Notice>
      )}
      <form method="post" action={`/people/${id}/edit`} class="narrow">
        <FormFields input={editContact.input} labels={LABELS} values={values} problems={problems} />
        {own.map(({ name, field: { field_name, field_type }, value }) => {
          const common = { name, label: fieldLabel(language, field_name), value: String(values[name] ?? value) };
          const isLong = field_type === 'text' && value.includes('\n');
          return isLong ? (
            <AreaField key={name} {...common} />
          ) : (
            <TextField key={name} {...common} autocomplete="off" />
          );
        })}
        <div class="buttons">
          <Button>{language.say('person.edit.save')}</Button>
          <LinkButton look="plain" href={`/people/${id}`}>
            {language.say('people.confirm.no')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

function Country({ label, value, problems }: { label: string; value: unknown; problems: Problems }) {
  return (
    <SelectField
      name="country"
      label={label}
      value={String(value)}
      problems={problems}
      options={[
        // Only who has no country can go without one.
        ...(value === '' ? [{ value: '', label: '–' }] : []),
        ...COUNTRIES.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
    />
  );
}
