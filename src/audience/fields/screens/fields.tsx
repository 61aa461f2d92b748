/** Custom fields: what the account knows about people beyond the fields that everybody has. Add, rename and delete them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Confirm } from '../../../dashboard/components/confirm.tsx';
import { type Problems, SelectField } from '../../../dashboard/components/field.tsx';
import { FormFields } from '../../../dashboard/components/form.tsx';
import { Card, Empty } from '../../../dashboard/components/surface.tsx';
import { Table } from '../../../dashboard/components/table.tsx';
import { ask, attempt, problemsAt } from '../../../dashboard/operations.ts';
import { backTo, sendSettings } from '../../../dashboard/screens/settings/frame.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { fieldLabel } from '../../../dashboard/words/known.ts';
import { notFound } from '../../../errors/failure.ts';
import { READ } from '../../../http/pages/layout.ts';
import { FIELD_TYPES } from '../../contacts/contact-fields.ts';
import { countUsesOfField, type FieldUses } from '../../uses/operations.ts';
import { CampaignsUsing } from '../../uses/screens/campaigns.tsx';
import { addField, deleteField, type Field, listOwnFields, renameField } from '../operations.ts';

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

const NAME = [{ name: 'field_name', label: 'segments.name', hint: 'fields.name.hint' }] as const;

export async function fieldScreens(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, given: Given = { name: '', type: 'text' }) => {
    const fields = await ask(request, listOwnFields, {});
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'fields', <Fields {...{ fields, canChange, given }} />);
  };

  app.route({ method: READ, url: '/settings/fields', handler: (request, reply) => show(request, reply) });

  app.post('/settings/fields', async (request, reply) => {
    requireEditor(request);
    const [name, type] = [nameIn(request), field(request, 'field_type')];
    const added = await attempt(request, addField, { field_name: name, field_type: type });
    if ('output' in added) return backTo(reply, 'fields', 'settings.done.fieldAdded');
    return show(request, reply.code(added.status), { name, type, problems: problemsAt(added, 'field_name') });
  });

  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, sent: Sent = {}) => {
    const { uses } = await ask(request, countUsesOfField, request.params);
    const fields = await ask(request, listOwnFields, {});
    const one = fields.find(({ id }) => String(id) === request.params.id);
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
    const renamed = await attempt(request, renameField, { id: request.params.id, field_name: name });
    if ('output' in renamed) return backTo(reply, 'fields', 'settings.done.fieldRenamed');
    return showOne(request, reply.code(renamed.status), { name, problems: problemsAt(renamed, 'field_name') });
  });

  app.post<ById>('/settings/fields/:id/delete', async (request, reply) => {
    requireEditor(request);
    await ask(request, deleteField, request.params);
    return backTo(reply, 'fields', 'settings.done.fieldDeleted');
  });
}

/** The name in a form that was sent; people write spaces. */
function nameIn(request: FastifyRequest): string {
  return field(request, 'field_name').trim().replaceAll(' ', '_');
}

function Fields({ fields, canChange, given }: { fields: readonly Field[]; canChange: boolean; given: Given }) {
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
            <FormFields
              input={addField.input}
              labels={NAME}
              values={{ field_name: given.name }}
              problems={given.problems ?? {}}
            />
            <SelectField
              name="field_type"
              label={language.say('fields.kind')}
              value={given.type}
              options={FIELD_TYPES.map((type) => ({ value: type, label: language.say(`fields.kind.${type}`) }))}
              problems={given.problems}
            />
            <Button>{language.say('fields.add')}</Button>
          </form>
        </Card>
      )}
    </>
  );
}

function OneField({ one, uses, name = one.field_name, problems }: { one: Field; uses: FieldUses } & Sent) {
  const language = useLanguage();
  const label = fieldLabel(language, one.field_name);
  return (
    <Card title={label}>
      <p>
        {language.say(`fields.kind.${one.field_type}`)} · <code>{`((${one.field_name}))`}</code>
      </p>
      <form method="post" action={`/settings/fields/${one.id}`} class="narrow">
        <FormFields input={renameField.input} labels={NAME} values={{ field_name: name }} problems={problems ?? {}} />
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
          <CampaignsUsing uses={uses} />
        </Confirm>
        <LinkButton look="quiet" href="/settings/fields">
          {language.say('confirm.cancel')}
        </LinkButton>
      </div>
    </Card>
  );
}
