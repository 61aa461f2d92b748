/** Custom fields, which an account has in addition to the reserved ones: adding, renaming and deleting them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { notFound } from '../../../errors/failure.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import { type FormValues, form, SentForm } from '../../../ui/components/form.tsx';
import { Card, Empty } from '../../../ui/components/surface.tsx';
import { Table } from '../../../ui/components/table.tsx';
import { ask, attempt, problemsAt } from '../../../ui/operations.ts';
import { recordScreens, type Submitted } from '../../../ui/record-screens.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { fieldLabel } from '../../../ui/words/known.ts';
import { countUsesOfField, type FieldUses, listFeedsUsing, type UsingFeed } from '../../uses/operations.ts';
import { CampaignsUsing } from '../../uses/screens/campaigns.tsx';
import { FeedsUsing } from '../../uses/screens/feeds.tsx';
import { addField, deleteField, type Field, listOwnFields, renameField } from '../operations.ts';

const PATH = '/settings/fields';
const NEW_FORM = form(addField.input, [
  { name: 'field_name', label: 'fields.name', hint: 'fields.name.hint' },
  { name: 'field_type', label: 'fields.kind', option: (language, type) => language.say(`fields.kind.${type}`) },
]);
const RENAME_FORM = form(renameField.input, [{ name: 'field_name', label: 'fields.name', hint: 'fields.name.hint' }]);

/** Registers the pages of custom fields. */
export async function fieldScreens(app: FastifyInstance): Promise<void> {
  const showAll = async (request: FastifyRequest, reply: FastifyReply, shown: Submitted = {}) => {
    const fields = await ask(request, listOwnFields, {});
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'fields', <Fields {...{ fields, canChange, shown }} />);
  };

  pageRoute(app, PATH, (request, reply) => showAll(request, reply));

  recordScreens(app, {
    path: PATH,
    addsInList: true,
    form: { read: (request) => withUnderscores(NEW_FORM.read(request)) },
    add: (request, values) => attempt(request, addField, values),
    change: (request, { field_name }, id) => attempt(request, renameField, { id, field_name }),
    remove: (request, id) => attempt(request, deleteField, { id }),
    async show(request, reply, id, shown) {
      if (id === null) return showAll(request, reply, shown);
      requireEditor(request);
      const { uses } = await ask(request, countUsesOfField, { id });
      const feeds = await ask(request, listFeedsUsing, { kind: 'field', id });
      const fields = await ask(request, listOwnFields, {});
      const field = fields.find((listed) => String(listed.id) === id);
      if (field === undefined) throw notFound();
      return sendSettings(request, reply, 'fields', <OneField {...{ field, uses, feeds, shown }} />);
    },
    done: (reply, done) => backTo(reply, 'fields', `settings.done.field${done}`),
  });
}

/** Users type spaces in names, which are stored as underscores. */
function withUnderscores({ field_name: name, ...values }: FormValues): FormValues {
  return { ...values, field_name: String(name).trim().replaceAll(' ', '_') };
}

function Fields({ fields, canChange, shown }: { fields: readonly Field[]; canChange: boolean; shown: Submitted }) {
  const language = useLanguage();
  return (
    <>
      {fields.length === 0 ? (
        <Empty title={language.say('fields.none.title')}>{language.say('fields.none.text')}</Empty>
      ) : (
        <Table
          caption={language.say('settings.fields')}
          rows={fields}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('contacts.field'),
              cell: ({ id, field_name: name }) =>
                canChange ? <a href={`${PATH}/${id}`}>{fieldLabel(language, name)}</a> : fieldLabel(language, name),
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
          <SentForm
            form={NEW_FORM}
            action={PATH}
            values={{ field_type: 'text' }}
            {...shown}
            problems={problemsAt(shown, 'field_name')}
            submit={language.say('fields.add')}
          />
        </Card>
      )}
    </>
  );
}

function OneField({
  field,
  uses,
  feeds,
  shown,
}: {
  field: Field;
  uses: FieldUses;
  feeds: readonly UsingFeed[];
  shown: Submitted;
}) {
  const language = useLanguage();
  const label = fieldLabel(language, field.field_name);
  return (
    <Card title={label}>
      <p>
        {language.say(`fields.kind.${field.field_type}`)} · <code>{`((${field.field_name}))`}</code>
      </p>
      <SentForm
        form={RENAME_FORM}
        action={`${PATH}/${field.id}`}
        values={field}
        {...shown}
        problems={problemsAt(shown, 'field_name')}
        submit={language.say('fields.rename')}
      >
        <p class="quiet-text">{language.say('fields.rename.about')}</p>
      </SentForm>
      <div class="buttons">
        <Confirm
          id="delete-field"
          action={`${PATH}/${field.id}/delete`}
          label={language.say('fields.delete')}
          title={language.say('fields.delete.title', { name: label })}
        >
          <p>{language.say('fields.delete.values')}</p>
          {uses.segments > 0 && <p>{language.say('fields.delete.segments', { count: uses.segments })}</p>}
          <CampaignsUsing kind="field" uses={uses} />
          <FeedsUsing kind="field" feeds={feeds} />
        </Confirm>
        <LinkButton look="quiet" href={PATH} label={language.say('confirm.cancel')} />
      </div>
    </Card>
  );
}
