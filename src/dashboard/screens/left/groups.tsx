/** The unsubscribe groups, each with how many people have left it. */
import type { FastifyInstance } from 'fastify';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import { Empty } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { LeftTabs } from './left-tabs.tsx';
import { type Group, readGroups } from './lists.ts';

export async function leftGroupsScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/left/groups',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const groups = await readGroups(new ApiClient(app, request));
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
