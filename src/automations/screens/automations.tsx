/** The automations of the account, newest first, found by their state or name, with their people and results. */
import type { FastifyInstance } from 'fastify';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { StateBadge, StateChoice } from '../../dashboard/components/campaign-state.tsx';
import { resultColumns } from '../../dashboard/components/results.tsx';
import { SearchForm } from '../../dashboard/components/search.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Pager, Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { requireEditor, viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Deps } from '../../deps.ts';
import { READ } from '../../http/pages/layout.ts';
import { checkStep } from '../../single-sends/screens/compose/check.tsx';
import { designScreen, htmlScreen, templatesScreen } from '../../single-sends/screens/compose/content-screens.tsx';
import { AUTOMATION_STATES, listSummaries, type Summary } from '../operations/summaries.ts';
import { automationScreen } from './automation.tsx';
import { editScreen, newAutomationScreen } from './edit.tsx';
import { AUTOMATION_MAIL } from './mail.tsx';
import { mailContentScreen } from './mail-content.tsx';
import { mailScreens } from './mails.tsx';
import { stateActions } from './state.tsx';
import { waitingScreen } from './waiting.tsx';

interface ListQuery {
  search?: string;
  state?: string;
  before?: string;
}

/** Registers the list, the pages of one automation, and those that change automations, which only those see who may change something. */
export async function automationScreens(app: FastifyInstance, { clock, db, config }: Deps): Promise<void> {
  app.route<{ Querystring: ListQuery }>({
    method: READ,
    url: '/automations',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { search = '', before } = request.query;
      const state = AUTOMATION_STATES.find((name) => name === request.query.state);
      const { summaries, next_before_id: next } = await ask(request, listSummaries, {
        search,
        ...(state && { state }),
        ...(before !== undefined && { before_id: before }),
      });
      const canChange = viewer.role !== 'viewer';
      const isEmpty = summaries.length === 0 && search === '' && state === undefined && before === undefined;
      const frame = {
        title: languageOf(request, viewer).say('nav.automations'),
        section: 'automations',
        action: (
          <div class="buttons">
            <LinkButton href="/feeds">{languageOf(request, viewer).say('feeds.title')}</LinkButton>
            {canChange && !isEmpty && <NewAutomation />}
          </div>
        ),
      } as const;
      const list = { summaries, next, search, state, isLater: before !== undefined, canChange };
      return sendPage(request, reply, viewer, frame, <Automations {...list} />);
    },
  });
  await automationScreen(app, { clock });
  await waitingScreen(app);
  await app.register(async (editing) => {
    editing.addHook('onRequest', async (request) => requireEditor(request));
    await newAutomationScreen(editing);
    await editScreen(editing, { clock });
    await mailScreens(editing);
    await mailContentScreen(editing);
    await templatesScreen(editing, AUTOMATION_MAIL);
    await htmlScreen(editing, AUTOMATION_MAIL);
    await designScreen(editing, AUTOMATION_MAIL);
    await checkStep(editing, AUTOMATION_MAIL, { db, config });
    await stateActions(editing);
  });
}

interface AutomationList {
  summaries: readonly Summary[];
  /** Where the next page goes on; null where this is the last. */
  next: number | null;
  search: string;
  state: (typeof AUTOMATION_STATES)[number] | undefined;
  isLater: boolean;
  canChange: boolean;
}

function NewAutomation() {
  return <LinkButton href="/automations/new">{useLanguage().say('automations.new')}</LinkButton>;
}

function Automations({ summaries, next, search, state, isLater, canChange }: AutomationList) {
  const language = useLanguage();
  const href = (before?: number) => withQuery('/automations', { search, state, before });
  if (summaries.length === 0 && search === '' && state === undefined && !isLater) {
    return (
      <Empty
        icon="path"
        title={language.say('automations.empty.title')}
        {...(canChange && { action: <NewAutomation /> })}
      >
        {language.say('automations.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      <SearchForm
        name="search"
        label={language.say('automations.search')}
        find={language.say('automations.find')}
        value={search}
      >
        <StateChoice
          states={AUTOMATION_STATES}
          chosen={state}
          label={language.say('automations.state')}
          any={language.say('automations.state.any')}
        />
      </SearchForm>
      {summaries.length === 0 ? (
        <p>{language.say(next === null ? 'automations.none' : 'automations.noneHere')}</p>
      ) : (
        <AutomationTable summaries={summaries} />
      )}
      <Pager first={isLater ? href() : null} next={next === null ? null : href(next)} />
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
        { heading: language.say('automations.state'), cell: ({ state }) => <StateBadge state={state} /> },
        {
          heading: language.say('automations.mails'),
          isNumber: true,
          cell: ({ mails }) => language.number(mails),
        },
        {
          heading: language.say('automations.people.waiting'),
          isNumber: true,
          cell: ({ waiting }) => language.number(waiting),
        },
        ...resultColumns<Summary>(language, ['delivered', 'opened', 'clicked', 'left']),
      ]}
    />
  );
}
