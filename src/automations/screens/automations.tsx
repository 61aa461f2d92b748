/** The list of automations, newest first, with their contacts and results, and a search by state or name. Registers all pages of automations. */
import type { FastifyInstance } from 'fastify';
import { checkStep } from '../../campaigns/screens/compose/check.tsx';
import { designScreen, htmlScreen, templatesScreen } from '../../campaigns/screens/compose/mail-content.tsx';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { languageVersionScreens } from '../../templates/languages/screens/versions.tsx';
import { LinkButton } from '../../ui/components/button.tsx';
import { StateBadge } from '../../ui/components/campaign-state.tsx';
import { type ListQuery, readListQuery, resultColumns, SearchList } from '../../ui/components/search-list.tsx';
import { Empty } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { AUTOMATION_STATES, listSummaries, type Summary } from '../operations/reports.ts';
import { automationScreen, stateActions } from './automation.tsx';
import { checkScreen } from './check.tsx';
import { editScreen } from './edit.tsx';
import { enterScreens } from './enter.tsx';
import { logScreen } from './log.tsx';
import { AUTOMATION_MAIL, MAIL_LANGUAGES, mailContentScreen, newMailScreen, removeMailScreen } from './mail.tsx';
import { newAutomationScreen, Recipes } from './new.tsx';
import { waitingScreen } from './people.tsx';
import { replayScreen } from './replay.tsx';
import { resultsScreen } from './results.tsx';
import { stepScreens } from './steps.tsx';
import { whyScreen } from './why.tsx';

/** Registers the list, the pages of one automation, and the pages that change automations, which only editors can open. */
export async function automationScreens(app: FastifyInstance, { clock, db, config }: Deps): Promise<void> {
  pageRoute<{ Querystring: ListQuery }>(app, '/automations', async (request, reply) => {
    const viewer = viewerOf(request);
    const { listSearch, input, isAll } = readListQuery(request.query, AUTOMATION_STATES);
    const { summaries, next_before_id: next } = await ask(request, listSummaries, input);
    const canChange = viewer.role !== 'viewer';
    const isEmpty = isAll && summaries.length === 0;
    const frame = {
      title: languageOf(request, viewer).say('nav.automations'),
      section: 'automations',
      action: (
        <div class="buttons">
          <LinkButton look="plain" href="/feeds" label={languageOf(request, viewer).say('feeds.title')} />
          {canChange && !isEmpty && <NewAutomation />}
        </div>
      ),
    } as const;
    const table = summaries.length === 0 ? null : <AutomationTable summaries={summaries} />;
    const content = isEmpty ? (
      <NoAutomation canChange={canChange} />
    ) : (
      <SearchList kind="automations" states={AUTOMATION_STATES} {...{ listSearch, next, table }} />
    );
    return sendPage(request, reply, viewer, frame, content);
  });
  await automationScreen(app, { clock });
  await waitingScreen(app);
  await logScreen(app);
  await whyScreen(app);
  await replayScreen(app);
  await checkScreen(app);
  await resultsScreen(app);
  await app.register(async (editing) => {
    editing.addHook('onRequest', async (request) => requireEditor(request));
    await newAutomationScreen(editing);
    await editScreen(editing, { clock });
    await newMailScreen(editing);
    await removeMailScreen(editing);
    await stepScreens(editing);
    await mailContentScreen(editing);
    languageVersionScreens(editing, MAIL_LANGUAGES);
    await templatesScreen(editing, AUTOMATION_MAIL);
    await htmlScreen(editing, AUTOMATION_MAIL);
    await designScreen(editing, AUTOMATION_MAIL);
    await checkStep(editing, AUTOMATION_MAIL, { db, config });
    await enterScreens(app);
    await stateActions(editing);
  });
}

function NewAutomation() {
  return <LinkButton href="/automations/new" label={useLanguage().say('automations.new')} />;
}

function NoAutomation({ canChange }: { canChange: boolean }) {
  const language = useLanguage();
  return (
    <>
      <Empty
        pose="flies"
        title={language.say('automations.empty.title')}
        {...(canChange && { action: <NewAutomation /> })}
      >
        {language.say('automations.empty.text')}
      </Empty>
      {canChange && (
        <section class="stack">
          <h2>{language.say('automations.recipes')}</h2>
          <Recipes />
        </section>
      )}
    </>
  );
}

function AutomationTable({ summaries }: { summaries: readonly Summary[] }) {
  const language = useLanguage();
  return (
    <Table
      caption={language.say('nav.automations')}
      rows={summaries}
      keyOf={({ id }) => id}
      columns={[
        {
          heading: language.say('automations.name'),
          cell: ({ utr, automation_name: name, held_reason: reason }) => (
            <span class="named">
              <a href={`/automations/${utr}`}>
                <bdi>{name}</bdi>
              </a>
              {reason !== null && <span class="small quiet-text">{language.sentence(reason)}</span>}
            </span>
          ),
        },
        { heading: language.say('word.status'), cell: ({ state }) => <StateBadge state={state} /> },
        numberColumn(language, 'automations.mails', 'mails'),
        numberColumn(language, 'automations.people.waiting', 'waiting'),
        ...resultColumns<Summary>(language, ['delivered', 'opened', 'clicked', 'unsubscribed']),
      ]}
    />
  );
}
