/** The newest bulk actions and imports, so that users find them again after leaving their pages. */
import type { FastifyInstance } from 'fastify';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Time } from '../../../ui/components/figures.tsx';
import { Badge, Card } from '../../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type Action, listActions } from '../../bulk/operations.ts';
import { actionTitle } from '../../bulk/screens/actions.tsx';
import { type Import, listImports } from '../../import/operations/imports.ts';
import { STATES } from '../../import/screens/progress.tsx';
import { type Choices, readChoices } from './filter.tsx';

const MAX_IMPORTS = 20;

/** Registers the page of recent bulk actions and imports. */
export async function recentScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/contacts/recent', async (request, reply) => {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const [{ jobs }, choices, imports] = await Promise.all([
      ask(request, listActions, {}),
      readChoices(request),
      ask(request, listImports, { order: 'newest', limit: MAX_IMPORTS }),
    ]);
    const title = language.say('contacts.recent');
    const content = (
      <div class="stack">
        <Actions jobs={jobs} choices={choices} />
        <Imports imports={imports} canChange={viewer.role !== 'viewer'} />
        <p>
          <LinkButton look="quiet" href="/contacts" label={language.say('contacts.back')} />
        </p>
      </div>
    );
    return sendPage(request, reply, viewer, { title, section: 'contacts' }, content);
  });
}

function Actions({ jobs, choices }: { jobs: readonly Action[]; choices: Choices }) {
  const language = useLanguage();
  const title = language.say('contacts.recent.actions');
  return (
    <Card title={title}>
      {jobs.length === 0 ? (
        <p class="quiet-text">{language.say('contacts.recent.none')}</p>
      ) : (
        <Table
          caption={title}
          rows={jobs}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('contacts.action'),
              cell: (job) => <a href={`/contacts/actions/${job.id}`}>{actionTitle(language, job, choices)}</a>,
            },
            { heading: language.say('contacts.recent.started'), cell: (job) => <Time at={new Date(job.created_at)} /> },
            numberColumn(language, 'contacts.job.finished', 'done'),
            {
              heading: language.say('contacts.recent.state'),
              cell: ({ state, is_undoable }) => (
                <span class="badges">
                  {language.say(`contacts.job.${state}`)}
                  {is_undoable === 1 && <Badge>{language.say('contacts.recent.undoable')}</Badge>}
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
  const title = language.say('contacts.recent.imports');
  return (
    <Card title={title}>
      {imports.length === 0 ? (
        <p class="quiet-text">{language.say('contacts.recent.none')}</p>
      ) : (
        <Table
          caption={title}
          rows={imports}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('contacts.recent.file'),
              cell: ({ id, file_name }) => (canChange ? <a href={`/contacts/import/${id}`}>{file_name}</a> : file_name),
            },
            { heading: language.say('contacts.recent.started'), cell: (row) => <Time at={new Date(row.created_at)} /> },
            numberColumn(language, 'import.created', 'created'),
            numberColumn(language, 'import.updated', 'updated'),
            { heading: language.say('contacts.recent.state'), cell: ({ state }) => language.say(STATES[state]) },
            {
              heading: language.say('import.failed'),
              isNumber: true,
              cell: ({ id, failed }) =>
                failed > 0 && canChange ? (
                  <a href={`/contacts/import/${id}/errors`}>{language.number(failed)}</a>
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
