/** Contact types: the lists that people are in. Add, rename, and delete them with everybody in them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, problemsOf } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Card, Empty } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { Campaigns } from '../segments/members.tsx';
import type { ContactType, Uses } from '../segments/records.ts';
import { backTo, sendSettings } from '../settings/frame.tsx';

interface ById {
  Params: { id: string };
}

/** What was typed into a form, and what is wrong with it. */
interface Given {
  name: string;
  problems?: Problems;
}

type TypeUses = Uses & { segments: number };

export async function typeScreens(app: FastifyInstance): Promise<void> {
  const showAll = async (request: FastifyRequest, reply: FastifyReply, given: Given = { name: '' }) => {
    const { contactTypes } = await new ApiClient(app, request).get<{ contactTypes: ContactType[] }>('/contacts-type');
    const canChange = viewerOf(request).role !== 'viewer';
    return sendSettings(request, reply, 'types', <Types types={contactTypes} {...{ canChange, given }} />);
  };
  const showOne = async (request: FastifyRequest<ById>, reply: FastifyReply, given?: Given) => {
    const api = new ApiClient(app, request);
    const query = { contact_type_id: request.params.id };
    const { contactType: type } = await api.get<{ contactType: ContactType }>('/contacts-type/view', query);
    const { uses } = await api.get<{ uses: TypeUses }>('/contacts-type/uses', query);
    return sendSettings(request, reply, 'types', <OneType {...{ type, uses }} given={given ?? { name: type.name }} />);
  };

  app.route({ method: READ, url: '/settings/types', handler: (request, reply) => showAll(request, reply) });

  app.post('/settings/types', async (request, reply) => {
    requireEditor(request);
    const name = field(request, 'name');
    const answer = await new ApiClient(app, request).send('POST', '/contacts-type/add', { name });
    if (answer.message !== undefined) return backTo(reply, 'types', 'settings.done.typeAdded');
    return showAll(request, reply.code(answer.status), { name, problems: problemsOf(answer, 'name') });
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
    const fields = { id: request.params.id, name };
    const answer = await new ApiClient(app, request).send('POST', '/contacts-type/update', fields);
    if (answer.message !== undefined) return backTo(reply, 'types', 'settings.done.typeRenamed');
    return showOne(request, reply.code(answer.status), { name, problems: problemsOf(answer, 'name') });
  });

  app.post<ById>('/settings/types/:id/delete', async (request, reply) => {
    requireEditor(request);
    const query = new URLSearchParams({ contact_type_id: request.params.id });
    await new ApiClient(app, request).send('DELETE', `/contacts-type/delete?${query}`);
    return backTo(reply, 'types', 'settings.done.typeDeleted');
  });
}

function Types({ types, canChange, given }: { types: readonly ContactType[]; canChange: boolean; given: Given }) {
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
  const language = useLanguage();
  return (
    <form method="post" action={action} class="narrow">
      <TextField
        name="name"
        label={language.say('segments.name')}
        value={given.name}
        maxLength={255}
        autocomplete="off"
        required
        problems={given.problems}
      />
      <Button>{submit}</Button>
    </form>
  );
}

function OneType({ type, uses, given }: { type: ContactType; uses: TypeUses; given: Given }) {
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
          <Campaigns uses={uses} />
        </Confirm>
        <LinkButton look="quiet" href="/settings/types">
          {language.say('confirm.cancel')}
        </LinkButton>
      </div>
    </>
  );
}
