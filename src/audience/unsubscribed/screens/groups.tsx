/** The unsubscribe groups, each with how many people have left it. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { Empty } from '../../../dashboard/components/surface.tsx';
import { Table } from '../../../dashboard/components/table.tsx';
import { ask } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { listGroups } from '../groups.ts';
import { LeftTabs } from './tabs.tsx';

type Group = Static<typeof listGroups.record>;

export async function groupsScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/left/groups',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const groups = await ask(request, listGroups, {});
      const language = languageOf(request, viewer);
      const canChange = viewer.role !== 'viewer';
      const frame = {
        title: language.say('nav.left'),
        section: 'left',
        ...(canChange && {
          action: (
            <LinkButton href="/left/groups/new" icon="plus">
              {language.say('groups.new')}
            </LinkButton>
          ),
        }),
      } as const;
      return sendPage(request, reply, viewer, frame, <Groups groups={groups} canChange={canChange} />);
    },
  });
}

function Groups({ groups, canChange }: { groups: readonly Group[]; canChange: boolean }) {
  const language = useLanguage();
  return (
    <>
      <LeftTabs current="group" />
      {groups.length === 0 ? (
        <Empty icon="leave" title={language.say('left.groups.empty.title')}>
          {language.say('left.groups.empty.text')}
        </Empty>
      ) : (
        <Table
          caption={language.say('left.group')}
          rows={groups}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('left.groups.name'),
              cell: ({ id, group_name: name }) => (
                <a href={`/left/groups/${id}`}>
                  <bdi>{name}</bdi>
                </a>
              ),
            },
            { heading: language.say('left.groups.description'), cell: ({ description }) => <bdi>{description}</bdi> },
            {
              heading: language.say('left.groups.count'),
              isNumber: true,
              cell: ({ unsubscribe_clients_count: count }) => language.number(count),
            },
            ...(canChange
              ? [
                  {
                    heading: language.say('left.action'),
                    cell: ({ id, group_name: name }: Group) => (
                      <a href={`/left/groups/${id}/edit`} aria-label={language.say('groups.editOne', { name })}>
                        {language.say('groups.edit')}
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
