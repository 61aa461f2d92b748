/** Adding, changing and deleting unsubscribe groups. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, problemsOf } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { CheckField, type Problems, TextField } from '../../components/field.tsx';
import { Card } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { readGroups } from '../left/lists.ts';

const SEE_OTHER = 303;

interface ById {
  Params: { id?: string };
}
/** A group that there is, with what is not finished and uses it. */
interface Known {
  id: string;
  name: string;
  people: number;
  uses: { single_sends: number; automations: number };
}
interface Group {
  group_name: string;
  description: string;
  is_display: 0 | 1;
}

export async function groupScreens(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  for (const url of ['/left/groups/new', '/left/groups/:id/edit'] as const) {
    app.route<ById>({
      method: READ,
      url,
      handler: async (request, reply) => {
        const { id } = request.params;
        const group =
          id === undefined
            ? { group_name: '', description: '', is_display: 1 as const }
            : (
                await new ApiClient(app, request).get<{ unsubscribesGroup: Group }>('/unsubscribes-groups/details', {
                  id,
                })
              ).unsubscribesGroup;
        return show(app, request, reply, group);
      },
    });

    app.post<ById>(url, async (request, reply) => {
      const { id } = request.params;
      const group: Group = {
        group_name: field(request, 'group_name'),
        description: field(request, 'description'),
        is_display: field(request, 'is_display') === '' ? 0 : 1,
      };
      const path =
        id === undefined ? '/unsubscribes-groups/save' : `/unsubscribes-groups/update?${new URLSearchParams({ id })}`;
      const answer = await new ApiClient(app, request).send('POST', path, { ...group });
      if (answer.message === undefined)
        return show(app, request, reply.code(answer.status), group, problemsOf(answer, 'group_name'));
      setFlash(reply, 'good', 'groups.saved', { name: group.group_name });
      return reply.redirect('/left/groups', SEE_OTHER);
    });
  }

  app.post<ById>('/left/groups/:id/delete', async (request, reply) => {
    const { id = '' } = request.params;
    const answer = await new ApiClient(app, request).send(
      'DELETE',
      `/unsubscribes-groups/delete?${new URLSearchParams({ id })}`,
    );
    if (answer.message === undefined) setFlash(reply, 'bad', 'groups.used.title');
    else setFlash(reply, 'good', 'groups.deleted');
    return reply.redirect(answer.message === undefined ? `/left/groups/${id}/edit` : '/left/groups', SEE_OTHER);
  });
}

async function show(
  app: FastifyInstance,
  request: FastifyRequest<ById>,
  reply: FastifyReply,
  group: Group,
  problems: Problems = {},
) {
  const viewer = viewerOf(request);
  const { id } = request.params;
  const known = id === undefined ? null : await readKnown(new ApiClient(app, request), id);
  const title = languageOf(request, viewer).say(id === undefined ? 'groups.new' : 'groups.change');
  return sendPage(
    request,
    reply,
    viewer,
    { title, section: 'left' },
    <>
      <GroupForm {...{ id, group, problems }} />
      {known && <Delete {...known} />}
    </>,
  );
}

async function readKnown(api: ApiClient, id: string): Promise<Known> {
  const [groups, { uses }] = await Promise.all([
    readGroups(api),
    api.get<{ uses: Known['uses'] }>('/unsubscribes-groups/uses', { id }),
  ]);
  const listed = groups.find((one) => String(one.id) === id);
  return { id, name: listed?.group_name ?? '', people: listed?.unsubscribe_clients_count ?? 0, uses };
}

/** The button that deletes the group, or what stands in the way. */
function Delete({ id, name, people, uses: { single_sends: mailings, automations } }: Known) {
  const language = useLanguage();
  if (mailings + automations > 0) {
    return (
      <Card title={language.say('groups.used.title')}>
        {mailings > 0 && <p>{language.say('groups.used.mailings', { count: mailings })}</p>}
        {automations > 0 && <p>{language.say('groups.used.automations', { count: automations })}</p>}
        <p class="quiet-text">{language.say('groups.used.cure')}</p>
      </Card>
    );
  }
  return (
    <div class="buttons below">
      <Confirm
        id="delete-group"
        action={`/left/groups/${id}/delete`}
        label={language.say('groups.delete')}
        title={language.say('groups.delete.title', { name })}
      >
        <p>{language.say('groups.delete.stays')}</p>
        {people > 0 && <p>{language.say('groups.delete.people', { count: people })}</p>}
      </Confirm>
    </div>
  );
}

function GroupForm({ id, group, problems }: { id: string | undefined; group: Group; problems: Problems }) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('left.groups.empty.text')}</p>
      <form method="post" action={id === undefined ? '/left/groups/new' : `/left/groups/${id}/edit`} class="narrow">
        <TextField
          name="group_name"
          label={language.say('segments.name')}
          value={group.group_name}
          maxLength={255}
          autocomplete="off"
          required
          problems={problems}
        />
        <TextField
          name="description"
          label={language.say('left.groups.description')}
          hint={language.say('groups.description.hint')}
          value={group.description}
          autocomplete="off"
          required
          problems={problems}
        />
        <CheckField name="is_display" label={language.say('groups.display')} checked={group.is_display === 1} />
        <div class="buttons">
          <Button>{language.say('groups.save')}</Button>
          <LinkButton look="quiet" href="/left/groups">
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}
