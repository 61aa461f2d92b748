/** Contact types: the lists that people are in. Add, rename, and delete them with everybody in them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Confirm } from '../../../dashboard/components/confirm.tsx';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { FormFields, type Labels } from '../../../dashboard/components/form.tsx';
import { Card, Empty } from '../../../dashboard/components/surface.tsx';
import { Table } from '../../../dashboard/components/table.tsx';
import { ask, attempt, problemsAt } from '../../../dashboard/operations.ts';
import { backTo, sendSettings } from '../../../dashboard/screens/settings/frame.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { type ContactTypeUses, countUsesOfContactType } from '../../uses/operations.ts';
import { CampaignsUsing } from '../../uses/screens/campaigns.tsx';
import {
  addContactType,
  type ContactType,
  deleteContactType,
  type ListedContactType,
  listContactTypes,
  readContactType,
  renameContactType,
} from '../operations.ts';

interface ById {
  Params: { id: string };
}

/** What was typed into a form, and what is wrong with it. */
interface Given {
  name: string;
  problems?: Problems;
}

const LABELS: Labels<typeof addContactType.input> = [{ name: 'name', label: 'segments.name' }];

export async function typeScreens(app: FastifyInstance): Promise<void> {
  const showAll = async (request: FastifyRequest, reply: FastifyReply, given: Given = { name: '' }) => {
    const types = await ask(request, listContactTypes, {});
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'types', <Types {...{ types, canChange, given }} />);
  };
  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, given?: Given) => {
    const query = { contact_type_id: request.params.id };
    const type = await ask(request, readContactType, query);
    const { uses } = await ask(request, countUsesOfContactType, query);
    return sendSettings(request, reply, 'types', <OneType {...{ type, uses }} given={given ?? { name: type.name }} />);
  };

  app.route({ method: READ, url: '/settings/types', handler: (request, reply) => showAll(request, reply) });

  app.post('/settings/types', async (request, reply) => {
    requireEditor(request);
    const name = field(request, 'name');
    const added = await attempt(request, addContactType, { name });
    if ('output' in added) return backTo(reply, 'types', 'settings.done.typeAdded');
    return showAll(request, reply.code(added.status), { name, problems: problemsAt(added, 'name') });
  });

  app.route<ById>({
    method: READ,
    url: '/settings/types/:id',
    handler: (request, reply) => {
      requireEditor(request);
      return showOne(request, reply);
    },
  });

  app.post<ById>('/settings/types/:id', async (request, reply) => {
    requireEditor(request);
    const name = field(request, 'name');
    const renamed = await attempt(request, renameContactType, { id: request.params.id, name });
    if ('output' in renamed) return backTo(reply, 'types', 'settings.done.typeRenamed');
    return showOne(request, reply.code(renamed.status), { name, problems: problemsAt(renamed, 'name') });
  });

  app.post<ById>('/settings/types/:id/delete', async (request, reply) => {
    requireEditor(request);
    await ask(request, deleteContactType, { contact_type_id: request.params.id });
    return backTo(reply, 'types', 'settings.done.typeDeleted');
  });
}

function Types({ types, canChange, given }: { types: readonly ListedContactType[]; canChange: boolean; given: Given }) {
  const language = useLanguage();
  return (
    <>
      {types.length === 0 ? (
        <Empty icon="people" title={language.say('types.none.title')}>
          {language.say('types.none.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('settings.types')}
          rows={types}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('people.type'),
              cell: ({ id, name }) =>
                canChange ? (
                  <a href={`/settings/types/${id}`}>
                    <bdi>{name}</bdi>
                  </a>
                ) : (
                  <bdi>{name}</bdi>
                ),
            },
            {
              heading: language.say('segments.people'),
              isNumber: true,
              cell: ({ id, contacts_count: count }) => (
                <a href={`/people?contact_type_id=${id}`}>{language.number(count)}</a>
              ),
            },
          ]}
        />
      )}
      {canChange && (
        <Card title={language.say('types.add')}>
          <p class="quiet-text">{language.say('types.about')}</p>
          <NameForm action="/settings/types" given={given} submit={language.say('types.add')} />
        </Card>
      )}
    </>
  );
}

function NameForm({ action, given, submit }: { action: string; given: Given; submit: string }) {
  return (
    <form method="post" action={action} class="narrow">
      <FormFields
        input={addContactType.input}
        labels={LABELS}
        values={{ name: given.name }}
        problems={given.problems ?? {}}
      />
      <Button>{submit}</Button>
    </form>
  );
}

function OneType({ type, uses, given }: { type: ContactType; uses: ContactTypeUses; given: Given }) {
  const language = useLanguage();
  return (
    <>
      <Card title={type.name}>
        <NameForm action={`/settings/types/${type.id}`} given={given} submit={language.say('types.rename')} />
      </Card>
      <div class="buttons below">
        <Confirm
          id="delete-type"
          action={`/settings/types/${type.id}/delete`}
          label={language.say('types.delete', { count: uses.people })}
          title={language.say('types.delete.title', { name: type.name })}
        >
          <p>{language.say('types.delete.people', { count: uses.people })}</p>
          {uses.segments > 0 && <p>{language.say('types.delete.segments', { count: uses.segments })}</p>}
          <CampaignsUsing uses={uses} />
        </Confirm>
        <LinkButton look="quiet" href="/settings/types">
          {language.say('confirm.cancel')}
        </LinkButton>
      </div>
    </>
  );
}
