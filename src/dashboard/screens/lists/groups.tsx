/** Adding and changing unsubscribe groups. They cannot be deleted: mails that were sent lead to them, and the consent log names them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { CheckField, type Problems, TextField } from '../../components/field.tsx';
import { Card } from '../../components/surface.tsx';
import { setFlash } from '../../flash.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { problemsOf } from './problems.ts';

const SEE_OTHER = 303;

interface ById {
  Params: { id?: string };
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
        return show(request, reply, group);
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
        return show(request, reply.code(answer.status), group, problemsOf(answer, 'group_name'));
      setFlash(reply, 'good', 'groups.saved', { name: group.group_name });
      return reply.redirect('/left/groups', SEE_OTHER);
    });
  }
}

function show(request: FastifyRequest<ById>, reply: FastifyReply, group: Group, problems: Problems = {}) {
  const viewer = viewerOf(request);
  const { id } = request.params;
  const title = languageOf(request, viewer).say(id === undefined ? 'groups.new' : 'groups.change');
  return sendPage(request, reply, viewer, { title, section: 'left' }, <GroupForm {...{ id, group, problems }} />);
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
        {id !== undefined && <p class="quiet-text small">{language.say('groups.stays')}</p>}
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
