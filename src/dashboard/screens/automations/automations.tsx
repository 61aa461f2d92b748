/** The automations of the account, newest first, found by their state or name, with their people and results. */
import type { FastifyInstance } from 'fastify';
import { AUTOMATION_STATES } from '../../../automations/summaries.ts';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { LinkButton } from '../../components/button.tsx';
import { StateBadge, StateChoice } from '../../components/campaign-state.tsx';
import { SearchForm } from '../../components/search.tsx';
import { Empty } from '../../components/surface.tsx';
import { Pager, Table } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { withQuery } from '../../with-query.ts';
import { useLanguage } from '../../words/index.ts';
import { automationScreen } from './automation.tsx';
import { editScreens } from './edit/edit-screens.ts';
import { waitingScreen } from './edit/waiting.tsx';
import type { Summary } from './records.ts';

interface ListQuery {
  search?: string;
  state?: string;
  before?: string;
}

/** Registers the list and the page of one automation. */
export async function automationScreens(app: FastifyInstance, { clock, db, config }: Deps): Promise<void> {
  app.route<{ Querystring: ListQuery }>({
    method: READ,
    url: '/automations',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { search = '', before } = request.query;
      const state = AUTOMATION_STATES.find((name) => name === request.query.state);
      const { summaries, next_before_id: next } = await new ApiClient(app, request).get<{
        summaries: Summary[];
        next_before_id: number | null;
      }>('/automations/summaries', {
        ...(search && { search }),
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
  await app.register(editScreens, { clock, db, config });
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
  const share = (part: number, whole: number) => (whole <= 0 ? '–' : language.percent(part / whole));
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
        {
          heading: language.say('automations.delivered'),
          isNumber: true,
          cell: ({ delivered, kept }) => language.number(delivered - kept),
        },
        {
          heading: language.say('automations.opened'),
          isNumber: true,
          cell: (row) => share(row.people_opens, row.delivered - row.kept - row.unmeasured),
        },
        {
          heading: language.say('automations.clicked'),
          isNumber: true,
          cell: (row) => share(row.people_clicks, row.delivered - row.kept - row.unmeasured),
        },
        {
          heading: language.say('automations.left'),
          isNumber: true,
          cell: (row) => share(row.unsubscribes, row.delivered - row.kept),
        },
      ]}
    />
  );
}
