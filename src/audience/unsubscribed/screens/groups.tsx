/** The unsubscribe groups, each with its number of unsubscribed contacts: adding, changing and deleting them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import type { Problems } from '../../../ui/components/field.tsx';
import { type FormValues, form, SentForm } from '../../../ui/components/form.tsx';
import { Card, Empty } from '../../../ui/components/surface.tsx';
import { NamedLink, numberColumn, Table } from '../../../ui/components/table.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { ask, attempt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { listFeedsUsing, type UsingFeed } from '../../uses/operations.ts';
import { FeedsUsing } from '../../uses/screens/feeds.tsx';
import { addGroup, changeGroup, deleteGroup, type GroupAndUses, listGroups, readGroupAndUses } from '../groups.ts';
import { UnsubscribesTabs } from './kinds.tsx';

const LIST_PATH = '/unsubscribes/topics';
const GROUP_FORM = form(addGroup.input, [
  { name: 'group_name', label: 'topics.name' },
  { name: 'description', label: 'unsubscribes.topics.description', hint: 'topics.description.hint' },
  { name: 'is_display', label: 'topics.display' },
]);
const NEW_GROUP = { is_display: 1 };

type Group = Static<typeof listGroups.record>;

/** Registers the list, and the actions of editors on a group. */
export async function groupScreens(app: FastifyInstance): Promise<void> {
  await app.register(groupPages);
  pageRoute(app, LIST_PATH, async (request, reply) => {
    const viewer = viewerOf(request);
    const groups = await ask(request, listGroups, {});
    const language = languageOf(request, viewer);
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: language.say('nav.unsubscribes'),
      section: 'unsubscribes',
      ...(canChange && {
        action: <LinkButton href={`${LIST_PATH}/new`} icon="plus" label={language.say('topics.new')} />,
      }),
    } as const;
    return sendPage(request, reply, viewer, frame, <Groups groups={groups} canChange={canChange} />);
  });
}

function Groups({ groups, canChange }: { groups: readonly Group[]; canChange: boolean }) {
  const language = useLanguage();
  return (
    <>
      <UnsubscribesTabs current="topic" />
      {groups.length === 0 ? (
        <Empty
          title={language.say('unsubscribes.topics.empty.title')}
          action={canChange && <LinkButton look="plain" href={`${LIST_PATH}/new`} label={language.say('topics.new')} />}
        >
          {language.say('unsubscribes.topics.empty.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('unsubscribes.topic')}
          rows={groups}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('unsubscribes.topics.name'),
              cell: ({ id, group_name: name }) => <NamedLink href={`${LIST_PATH}/${id}`} name={name} />,
            },
            {
              heading: language.say('unsubscribes.topics.description'),
              cell: ({ description }) => <bdi>{description}</bdi>,
            },
            numberColumn(language, 'unsubscribes.topics.count', 'unsubscribe_clients_count'),
            ...(canChange
              ? [
                  {
                    heading: language.say('unsubscribes.action'),
                    cell: ({ id, group_name: name }: Group) => (
                      <a href={`${LIST_PATH}/${id}/edit`} aria-label={language.say('topics.editOne', { name })}>
                        {language.say('topics.edit')}
                      </a>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
    </>
  );
}

async function groupPages(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  pageRoute(app, `${LIST_PATH}/new`, (request, reply) => show(request, reply, { values: NEW_GROUP }));

  app.post(`${LIST_PATH}/new`, async (request, reply) => {
    const values = GROUP_FORM.read(request);
    const added = await attempt(request, addGroup, values);
    if ('problems' in added) return show(request, reply.code(added.status), { values, problems: added.problems });
    return saved(reply, values);
  });

  pageRoute<ById>(app, `${LIST_PATH}/:id/edit`, async (request, reply) => {
    const existing = await readExisting(request);
    return show(request, reply, { existing, values: existing.group });
  });

  app.post<ById>(`${LIST_PATH}/:id/edit`, async (request, reply) => {
    const values = GROUP_FORM.read(request);
    const changed = await attempt(request, changeGroup, { ...request.params, ...values });
    if (!('problems' in changed)) return saved(reply, values);
    const existing = await readExisting(request);
    return show(request, reply.code(changed.status), { existing, values, problems: changed.problems });
  });

  app.post<ById>(`${LIST_PATH}/:id/delete`, async (request, reply) => {
    const deleted = await attempt(request, deleteGroup, request.params);
    const isRefused = 'problems' in deleted;
    if (isRefused) setFlash(reply, 'bad', 'topics.used.title');
    else setFlash(reply, 'good', 'topics.deleted');
    return reply.redirect(isRefused ? `${LIST_PATH}/${request.params.id}/edit` : LIST_PATH, 303);
  });
}

function saved(reply: FastifyReply, { group_name: name }: FormValues) {
  setFlash(reply, 'good', 'topics.saved', { name: String(name) });
  return reply.redirect(LIST_PATH, 303);
}

interface ExistingGroup extends GroupAndUses {
  /** The active feeds that use the group. */
  feeds: readonly UsingFeed[];
}

async function readExisting(request: FastifyRequest<ById>): Promise<ExistingGroup> {
  const { id } = request.params;
  const existing = await ask(request, readGroupAndUses, { id });
  return { ...existing, feeds: await ask(request, listFeedsUsing, { kind: 'topic', id }) };
}

interface GroupForm {
  /** The group to change; absent for a new one. */
  existing?: ExistingGroup;
  values: Readonly<Record<string, unknown>>;
  problems?: Problems;
}

function show(request: FastifyRequest, reply: FastifyReply, { existing, values, problems = {} }: GroupForm) {
  const viewer = viewerOf(request);
  const language = languageOf(request, viewer);
  const title = language.say(existing === undefined ? 'topics.new' : 'topics.change');
  return sendPage(
    request,
    reply,
    viewer,
    { title, section: 'unsubscribes' },
    <>
      <Card>
        <p class="quiet-text">{language.say('unsubscribes.topics.empty.text')}</p>
        <SentForm
          form={GROUP_FORM}
          {...(existing && { hints: { group_name: language.say('topics.name.hint') } })}
          {...{ values, problems }}
          submit={language.say('topics.save')}
          back={{ href: LIST_PATH, label: 'confirm.cancel' }}
        />
      </Card>
      {existing && <Delete {...existing} />}
    </>,
  );
}

/** The button that deletes the group, or the records that prevent it. */
function Delete({ group, uses: { single_sends: campaigns, automations }, feeds }: ExistingGroup) {
  const language = useLanguage();
  const { id, group_name: name, unsubscribe_clients_count: people } = group;
  if (campaigns + automations > 0) {
    return (
      <Card title={language.say('topics.used.title')}>
        {campaigns > 0 && <p>{language.say('topics.used.mailings', { count: campaigns })}</p>}
        {automations > 0 && <p>{language.say('topics.used.automations', { count: automations })}</p>}
        <p class="quiet-text">{language.say('topics.used.cure')}</p>
      </Card>
    );
  }
  return (
    <div class="buttons below">
      <Confirm
        id="delete-group"
        action={`${LIST_PATH}/${id}/delete`}
        label={language.say('topics.delete')}
        title={language.say('topics.delete.title', { name })}
      >
        <p>{language.say('topics.delete.stays')}</p>
        {people > 0 && <p>{language.say('topics.delete.people', { count: people })}</p>}
        <FeedsUsing kind="topic" feeds={feeds} />
      </Confirm>
    </div>
  );
}
