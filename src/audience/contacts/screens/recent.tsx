/** The newest actions on people and the newest imports, so that whoever left the page of one finds it again. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { Time } from '../../../dashboard/components/figures.tsx';
import { Badge, Card } from '../../../dashboard/components/surface.tsx';
import { numberColumn, Table } from '../../../dashboard/components/table.tsx';
import { ask } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { READ } from '../../../http/pages/layout.ts';
import { type Action, listActions } from '../../bulk/operations.ts';
import { actionTitle } from '../../bulk/screens/actions.tsx';
import { type Import, listImports } from '../../import/operations/imports.ts';
import { type Choices, readChoices } from './filter.tsx';

const IMPORTS = 20;

export async function recentScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/people/recent',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const [{ jobs }, choices, imports] = await Promise.all([
        ask(request, listActions, {}),
        readChoices(request),
        ask(request, listImports, { order: 'newest', limit: IMPORTS }),
      ]);
      const title = languageOf(request, viewer).say('people.recent');
      const content = (
        <div class="stack">
          <Actions jobs={jobs} choices={choices} />
          <Imports imports={imports} canChange={viewer.role !== 'viewer'} />
          <p>
            <LinkButton look="quiet" href="/people">
              {languageOf(request, viewer).say('people.back')}
            </LinkButton>
          </p>
        </div>
      );
      return sendPage(request, reply, viewer, { title, section: 'people' }, content);
    },
  });
}

function Actions({ jobs, choices }: { jobs: readonly Action[]; choices: Choices }) {
  const language = useLanguage();
  const title = language.say('people.recent.actions');
  return (
    <Card title={title}>
      {jobs.length === 0 ? (
        <p class="quiet-text">{language.say('people.recent.none')}</p>
      ) : (
        <Table
          caption={title}
          rows={jobs}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('people.action'),
              cell: (job) => <a href={`/people/actions/${job.id}`}>{actionTitle(language, job, choices)}</a>,
            },
            { heading: language.say('people.recent.started'), cell: (job) => <Time at={new Date(job.created_at)} /> },
            numberColumn(language, 'people.job.finished', 'done'),
            {
              heading: language.say('people.recent.state'),
              cell: ({ state, is_undoable }) => (
                <span class="badges">
                  {language.say(`people.job.${state}`)}
                  {is_undoable === 1 && <Badge>{language.say('people.recent.undoable')}</Badge>}
                </span>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function Imports({ imports, canChange }: { imports: readonly Import[]; canChange: boolean }) {
  const language = useLanguage();
  const title = language.say('people.recent.imports');
  return (
    <Card title={title}>
      {imports.length === 0 ? (
        <p class="quiet-text">{language.say('people.recent.none')}</p>
      ) : (
        <Table
          caption={title}
          rows={imports}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('people.recent.file'),
              cell: ({ id, file_name }) => (canChange ? <a href={`/people/import/${id}`}>{file_name}</a> : file_name),
            },
            { heading: language.say('people.recent.started'), cell: (one) => <Time at={new Date(one.created_at)} /> },
            numberColumn(language, 'import.created', 'created'),
            numberColumn(language, 'import.updated', 'updated'),
            {
              heading: language.say('import.failed'),
              isNumber: true,
              cell: ({ id, failed }) =>
                failed > 0 && canChange ? (
                  <a href={`/people/import/${id}/errors`}>{language.number(failed)}</a>
                ) : (
                  language.number(failed)
                ),
            },
          ]}
        />
      )}
    </Card>
  );
}
