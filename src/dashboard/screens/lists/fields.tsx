/** Custom fields: what the account knows about people beyond the fields that everybody has. Add, rename and delete them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../failure.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, problemsOf } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../components/field.tsx';
import { Card, Empty } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { fieldLabel } from '../people/field-label.ts';
import { Campaigns } from '../segments/members.tsx';
import type { Field, Uses } from '../segments/records.ts';
import { backTo, sendSettings } from '../settings/frame.tsx';

type CustomField = Field & { id: number };
type FieldUses = Omit<Uses, 'people'> & { segments: number };

interface ById {
  Params: { id: string };
}
interface Given {
  name: string;
  type: string;
  problems?: Problems;
}

/** What a form to rename a field was sent with. */
interface Sent {
  name?: string;
  problems?: Problems;
}

const TYPES = ['text', 'number', 'datetime-local'] as const;

export async function fieldScreens(app: FastifyInstance): Promise<void> {
  const readFields = async (api: ApiClient) =>
    (await api.get<{ customFields: CustomField[] }>('/custom-fields')).customFields;
  const show = async (request: FastifyRequest, reply: FastifyReply, given: Given = { name: '', type: 'text' }) => {
    const fields = await readFields(new ApiClient(app, request));
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'fields', <Fields {...{ fields, canChange, given }} />);
  };

  app.route({ method: READ, url: '/settings/fields', handler: (request, reply) => show(request, reply) });

  app.post('/settings/fields', async (request, reply) => {
    requireEditor(request);
    const [name, type] = [nameIn(request), field(request, 'field_type')];
    const fields = { field_name: name, field_type: type };
    const answer = await new ApiClient(app, request).send('POST', '/custom-fields/save', fields);
    if (answer.message !== undefined) return backTo(reply, 'fields', 'settings.done.fieldAdded');
    return show(request, reply.code(answer.status), { name, type, problems: problemsOf(answer, 'field_name') });
  });

  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, sent: Sent = {}) => {
    const api = new ApiClient(app, request);
    const { uses } = await api.get<{ uses: FieldUses }>('/custom-fields/uses', { id: request.params.id });
    const one = (await readFields(api)).find(({ id }) => String(id) === request.params.id);
    if (one === undefined) throw notFound();
    return sendSettings(request, reply, 'fields', <OneField {...{ one, uses, ...sent }} />);
  };

  app.route<ById>({
    method: READ,
    url: '/settings/fields/:id',
    handler: async (request, reply) => {
      requireEditor(request);
      return showOne(request, reply);
    },
  });

  app.post<ById>('/settings/fields/:id', async (request, reply) => {
    requireEditor(request);
    const name = nameIn(request);
    const fields = { id: request.params.id, field_name: name };
    const answer = await new ApiClient(app, request).send('POST', '/custom-fields/update', fields);
    if (answer.message !== undefined) return backTo(reply, 'fields', 'settings.done.fieldRenamed');
    return showOne(request, reply.code(answer.status), { name, problems: problemsOf(answer, 'field_name') });
  });

  app.post<ById>('/settings/fields/:id/delete', async (request, reply) => {
    requireEditor(request);
    const query = new URLSearchParams({ id: request.params.id });
    await new ApiClient(app, request).send('DELETE', `/custom-fields/delete?${query}`);
    return backTo(reply, 'fields', 'settings.done.fieldDeleted');
  });
}

/** The name in a form that was sent; people write spaces. */
function nameIn(request: FastifyRequest): string {
  return field(request, 'field_name').trim().replaceAll(' ', '_');
}

function Fields({ fields, canChange, given }: { fields: readonly CustomField[]; canChange: boolean; given: Given }) {
  const language = useLanguage();
  return (
    <>
      {fields.length === 0 ? (
        <Empty icon="sliders" title={language.say('fields.none.title')}>
          {language.say('fields.none.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('settings.fields')}
          rows={fields}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('people.field'),
              cell: ({ id, field_name: name }) =>
                canChange ? (
                  <a href={`/settings/fields/${id}`}>{fieldLabel(language, name)}</a>
                ) : (
                  fieldLabel(language, name)
                ),
            },
            {
              heading: language.say('fields.kind'),
              cell: ({ field_type: type }) => language.say(`fields.kind.${type}`),
            },
            { heading: language.say('fields.inMails'), cell: ({ field_name: name }) => <code>{`((${name}))`}</code> },
          ]}
        />
      )}
      {canChange && (
        <Card title={language.say('fields.add')}>
          <form method="post" action="/settings/fields" class="narrow">
            <TextField
              name="field_name"
              label={language.say('segments.name')}
              hint={language.say('fields.name.hint')}
              value={given.name}
              maxLength={255}
              autocomplete="off"
              required
              problems={given.problems}
            />
            <SelectField
              name="field_type"
              label={language.say('fields.kind')}
              value={given.type}
              options={TYPES.map((type) => ({ value: type, label: language.say(`fields.kind.${type}`) }))}
              problems={given.problems}
            />
            <Button>{language.say('fields.add')}</Button>
          </form>
        </Card>
      )}
    </>
  );
}

function OneField({ one, uses, name = one.field_name, problems }: { one: CustomField; uses: FieldUses } & Sent) {
  const language = useLanguage();
  const label = fieldLabel(language, one.field_name);
  return (
    <Card title={label}>
      <p>
        {language.say(`fields.kind.${one.field_type}`)} · <code>{`((${one.field_name}))`}</code>
      </p>
      <form method="post" action={`/settings/fields/${one.id}`} class="narrow">
        <TextField
          name="field_name"
          label={language.say('segments.name')}
          hint={language.say('fields.name.hint')}
          value={name}
          maxLength={255}
          autocomplete="off"
          required
          problems={problems}
        />
        <p class="quiet-text">{language.say('fields.rename.about')}</p>
        <Button>{language.say('fields.rename')}</Button>
      </form>
      <div class="buttons">
        <Confirm
          id="delete-field"
          action={`/settings/fields/${one.id}/delete`}
          label={language.say('fields.delete')}
          title={language.say('fields.delete.title', { name: label })}
        >
          <p>{language.say('fields.delete.values')}</p>
          {uses.segments > 0 && <p>{language.say('fields.delete.segments', { count: uses.segments })}</p>}
          <Campaigns uses={uses} />
        </Confirm>
        <LinkButton look="quiet" href="/settings/fields">
          {language.say('confirm.cancel')}
        </LinkButton>
      </div>
    </Card>
  );
}
