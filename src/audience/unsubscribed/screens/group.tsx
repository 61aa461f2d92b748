/** Adding, changing and deleting unsubscribe groups. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Confirm } from '../../../dashboard/components/confirm.tsx';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { FormFields, type FormValues, type Labels, readForm } from '../../../dashboard/components/form.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { addGroup, changeGroup, deleteGroup, type GroupAndUses, readGroupAndUses } from '../groups.ts';

const SEE_OTHER = 303;
const LIST = '/left/groups';
const LABELS: Labels<typeof addGroup.input> = [
  { name: 'group_name', label: 'segments.name' },
  { name: 'description', label: 'left.groups.description', hint: 'groups.description.hint' },
  { name: 'is_display', label: 'groups.display' },
];
const BLANK = { is_display: 1 };

interface ById {
  Params: { id: string };
}

export async function groupScreens(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  app.route({
    method: READ,
    url: `${LIST}/new`,
    handler: (request, reply) => show(request, reply, { values: BLANK }),
  });

  app.post(`${LIST}/new`, async (request, reply) => {
    const values = readForm(request, addGroup.input, LABELS);
    const added = await attempt(request, addGroup, values);
    if ('problems' in added) return show(request, reply.code(added.status), { values, problems: added.problems });
    return saved(reply, values);
  });

  app.route<ById>({
    method: READ,
    url: `${LIST}/:id/edit`,
    handler: async (request, reply) => {
      const known = await ask(request, readGroupAndUses, request.params);
      return show(request, reply, { known, values: known.group });
    },
  });

  app.post<ById>(`${LIST}/:id/edit`, async (request, reply) => {
    const values = readForm(request, changeGroup.input, LABELS);
    const changed = await attempt(request, changeGroup, { ...request.params, ...values });
    if (!('problems' in changed)) return saved(reply, values);
    const known = await ask(request, readGroupAndUses, request.params);
    return show(request, reply.code(changed.status), { known, values, problems: changed.problems });
  });

  app.post<ById>(`${LIST}/:id/delete`, async (request, reply) => {
    const deleted = await attempt(request, deleteGroup, request.params);
    const isRefused = 'problems' in deleted;
    if (isRefused) setFlash(reply, 'bad', 'groups.used.title');
    else setFlash(reply, 'good', 'groups.deleted');
    return reply.redirect(isRefused ? `${LIST}/${request.params.id}/edit` : LIST, SEE_OTHER);
  });
}

function saved(reply: FastifyReply, { group_name: name }: FormValues) {
  setFlash(reply, 'good', 'groups.saved', { name: String(name) });
  return reply.redirect(LIST, SEE_OTHER);
}

interface Shown {
  /** The group that is changed; none where one is added. */
  known?: GroupAndUses;
  values: Readonly<Record<string, unknown>>;
  problems?: Problems;
}

function show(request: FastifyRequest, reply: FastifyReply, { known, values, problems = {} }: Shown) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say(known === undefined ? 'groups.new' : 'groups.change');
  return sendPage(
    request,
    reply,
    viewer,
    { title, section: 'left' },
    <>
      <GroupForm {...{ values, problems }} />
      {known && <Delete {...known} />}
    </>,
  );
}

function GroupForm({ values, problems }: { values: Shown['values']; problems: Problems }) {
  const language = useLanguage();
  return (
    <Card>
      <p class="quiet-text">{language.say('left.groups.empty.text')}</p>
      <form method="post" class="narrow">
        <FormFields input={addGroup.input} labels={LABELS} values={values} problems={problems} />
        <div class="buttons">
          <Button>{language.say('groups.save')}</Button>
          <LinkButton look="quiet" href={LIST}>
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

/** The button that deletes the group, or what stands in the way. */
function Delete({ group, uses: { single_sends: campaigns, automations } }: GroupAndUses) {
  const language = useLanguage();
  const { id, group_name: name, unsubscribe_clients_count: people } = group;
  if (campaigns + automations > 0) {
    return (
      <Card title={language.say('groups.used.title')}>
        {campaigns > 0 && <p>{language.say('groups.used.mailings', { count: campaigns })}</p>}
        {automations > 0 && <p>{language.say('groups.used.automations', { count: automations })}</p>}
        <p class="quiet-text">{language.say('groups.used.cure')}</p>
      </Card>
    );
  }
  return (
    <div class="buttons below">
      <Confirm
        id="delete-group"
        action={`${LIST}/${id}/delete`}
        label={language.say('groups.delete')}
        title={language.say('groups.delete.title', { name })}
      >
        <p>{language.say('groups.delete.stays')}</p>
        {people > 0 && <p>{language.say('groups.delete.people', { count: people })}</p>}
      </Confirm>
    </div>
  );
}
