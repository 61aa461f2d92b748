/** The list of campaigns, with filters and orders, a menu for each campaign, and actions on several selected campaigns. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pageRoute } from '../../http/pages/layout.ts';
import type { Deps } from '../../operations/deps.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { StateBadge } from '../../ui/components/campaign-state.tsx';
import { Meter, Time } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { RowMenu } from '../../ui/components/row-menu.tsx';
import { type ListQuery, measured, readListQuery, SearchList } from '../../ui/components/search-list.tsx';
import { plainSubject, Subject } from '../../ui/components/subject.tsx';
import { Card, Empty } from '../../ui/components/surface.tsx';
import { ScrollRegion } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { field, fieldList } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { deleteDrafts, hideSingleSends } from '../operations/actions.ts';
import { listSummaries, ORDERS, readUsualRates, type Summary, type UsualRates } from '../operations/reports.ts';
import { SHOWN_STATES } from '../status.ts';
import { stepPath } from './compose/step.tsx';
import { readTargets, type Target } from './compose/targets.ts';
import { sketchAddress } from './mail.tsx';
import { CampaignViews } from './views.tsx';

/** The number of rows of a page, which is at most two windows high. */
const ROWS = 20;
/** The states by which the list is filtered. `archived` shows the hidden campaigns. */
const STATES = [...SHOWN_STATES, 'archived'] as const;

interface CampaignQuery extends ListQuery {
  list?: string;
  order?: string;
}
type Order = (typeof ORDERS)[number];

/**
 * Reads the filters and the order in the URL of the page. `chosen` is the input of the operation, and `kept` are the parameters that the links
 * of the page keep.
 */
function readQuery(query: CampaignQuery) {
  const { listSearch, input } = readListQuery(query, STATES);
  const { state, ...otherInput } = input;
  const order: Order = ORDERS.find((name) => name === query.order) ?? 'newest';
  const list = query.list ?? '';
  const kept = { search: listSearch.search, state, list, order: order === 'newest' ? '' : order };
  const chosen = {
    ...otherInput,
    ...(state !== undefined && state !== 'archived' && { state }),
    ...(list && { target: list }),
    order,
    is_hidden: state === 'archived' ? 1 : 0,
    limit: ROWS,
  };
  const isAll = Object.values(kept).every((value) => !value) && !listSearch.isLater;
  return { listSearch, chosen, kept, order, isAll };
}
type KeptQuery = ReturnType<typeof readQuery>['kept'];

/** Registers the list, and the route of the actions on selected campaigns. */
export async function campaignList(app: FastifyInstance, { clock }: Pick<Deps, 'clock'>): Promise<void> {
  pageRoute<{ Querystring: CampaignQuery }>(app, '/campaigns', async (request, reply) => {
    const viewer = viewerOf(request);
    const { listSearch, chosen, kept, order, isAll } = readQuery(request.query);
    const [{ summaries, next_before_id: next }, usual, targets] = await Promise.all([
      ask(request, listSummaries, chosen),
      ask(request, readUsualRates, {}),
      readTargets(request),
    ]);
    const mayChange = viewer.role !== 'viewer';
    const language = languageOf(request, viewer);
    const frame = {
      title: language.say('nav.campaigns'),
      section: 'campaigns',
      action: (
        <div class="buttons">
          <LinkButton look="plain" href="/transactional" label={language.say('transactional.all')} />
          {mayChange && <LinkButton icon="plus" href="/campaigns/new" label={language.say('compose.new')} />}
        </div>
      ),
    } as const;
    const tableProps = { summaries, usual, targets, kept, order, mayChange, now: clock.now() };
    const table = summaries.length === 0 ? null : <Campaigns {...tableProps} />;
    const isEmpty = isAll && table === null && (await hasNoCampaign(request));
    const content = isEmpty ? (
      <NoCampaign mayAdd={mayChange} />
    ) : (
      <>
        <CampaignViews current="list" />
        <SearchList kind="campaigns" states={STATES} {...{ listSearch, next, table }} query={kept}>
          <MoreFilters targets={targets} list={kept.list} order={order} />
        </SearchList>
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });

  app.post<{ Querystring: CampaignQuery }>('/campaigns/actions', async (request, reply) => {
    const { kept } = readQuery(request.query);
    const toList = () => reply.redirect(withQuery('/campaigns', kept), 303);
    const strIds = fieldList(request, 'ids');
    if (strIds.length === 0) {
      setFlash(reply, 'warn', 'campaigns.chosen.none');
      return toList();
    }
    const action = field(request, 'action');
    if (action === 'delete') {
      if (field(request, 'sure') === '') return askToDelete(request, reply, strIds, kept);
      const { deleted } = await ask(request, deleteDrafts, { strIds });
      setFlash(reply, 'good', 'campaigns.deleted', { count: deleted });
      return toList();
    }
    const is_hidden = action === 'archive' ? 1 : 0;
    const { changed, kept: stays } = await ask(request, hideSingleSends, { strIds, is_hidden });
    if (is_hidden === 0) setFlash(reply, 'good', 'campaigns.unarchived', { count: changed });
    else if (stays === 0) setFlash(reply, 'good', 'campaigns.archived', { count: changed });
    else setFlash(reply, 'warn', 'campaigns.archived.some', { done: changed, count: stays });
    return toList();
  });
}

/** Sends the page that asks whether the drafts among the selected campaigns are to be deleted. */
async function askToDelete(request: FastifyRequest, reply: FastifyReply, ids: readonly string[], kept: KeptQuery) {
  const viewer = viewerOf(request);
  const counted = await ask(request, deleteDrafts, { strIds: [...ids], dry_run: 1 });
  const title = languageOf(request, viewer).say('campaigns.delete.title', { count: counted.deleted });
  const content = <DeleteDrafts ids={ids} kept={kept} drafts={counted.deleted} others={counted.kept} />;
  return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
}

/** Returns true if the account has no campaign at all, not even an archived one. */
async function hasNoCampaign(request: FastifyRequest): Promise<boolean> {
  return (await ask(request, listSummaries, { limit: 1 })).summaries.length === 0;
}

function NoCampaign({ mayAdd }: { mayAdd: boolean }) {
  const language = useLanguage();
  return (
    <Empty
      pose="flies"
      title={language.say('campaigns.empty.title')}
      action={mayAdd && <LinkButton look="plain" href="/campaigns/new" label={language.say('compose.new')} />}
    >
      {language.say('campaigns.empty.text')}
    </Empty>
  );
}

/** The filter by the list or segment of campaigns, and the choice of the order for windows that are too narrow for the sorting headings. */
function MoreFilters({ targets, list, order }: { targets: readonly Target[]; list: string; order: Order }) {
  const language = useLanguage();
  return (
    <>
      <select name="list" aria-label={language.say('campaigns.audience')}>
        <option value="">{language.say('campaigns.audience.any')}</option>
        {targets.map(({ value, name }) => (
          <option key={value} value={value} selected={value === list}>
            {name}
          </option>
        ))}
      </select>
      <select name="order" class="campaigns-order" aria-label={language.say('campaigns.order')}>
        {ORDERS.map((name) => (
          <option key={name} value={name} selected={name === order}>
            {language.say(`campaigns.order.${name}`)}
          </option>
        ))}
      </select>
    </>
  );
}

interface TableProps {
  summaries: readonly Summary[];
  usual: UsualRates;
  targets: readonly Target[];
  kept: KeptQuery;
  order: Order;
  mayChange: boolean;
  now: Date;
}

function Campaigns({ summaries, usual, targets, kept, order, mayChange, now }: TableProps) {
  const language = useLanguage();
  const names = new Map(targets.map(({ value, name }) => [value, name]));
  const sorted = (by: Order, label: string) => (
    <a href={withQuery('/campaigns', { ...kept, order: by === 'newest' ? '' : by })}>{label}</a>
  );
  const ariaSort = (by: Order) =>
    by === order && { 'aria-sort': by === 'name' ? ('ascending' as const) : ('descending' as const) };
  const usualShare = (share: number | null) =>
    share === null ? undefined : language.say('campaigns.usual', { share: language.percent(share) });
  return (
    <Island name="choose-all">
      {/* The mark of the average is drawn once for all bars. */}
      <svg class="visually-hidden" aria-hidden="true">
        <rect id="usual" class="usual" x="49" width="2" height="6" />
      </svg>
      <ScrollRegion label={language.say('nav.campaigns')}>
        <table class="campaigns">
          <caption class="visually-hidden">{language.say('nav.campaigns')}</caption>
          <thead>
            <tr>
              {mayChange && (
                <th scope="col" class="choose">
                  <span class="visually-hidden">{language.say('campaigns.choose')}</span>
                  <input type="checkbox" data-choose-all hidden aria-label={language.say('campaigns.chooseAll')} />
                </th>
              )}
              <th scope="col" class="sketch">
                <span class="visually-hidden">{language.say('campaigns.sketch')}</span>
              </th>
              <th scope="col" {...ariaSort('name')}>
                {sorted('name', language.say('campaigns.name'))}
              </th>
              <th scope="col" class="state">
                {language.say('word.status')}
              </th>
              <th scope="col" class="audience">
                {language.say('campaigns.audience')}
              </th>
              <th scope="col" class="start" {...ariaSort('newest')}>
                {sorted('newest', language.say('campaigns.start'))}
              </th>
              <th scope="col" class="num delivered">
                {language.say('campaigns.delivered')}
              </th>
              <th scope="col" class="num rate" {...ariaSort('opens')} title={usualShare(usual.opened)}>
                {sorted('opens', language.say('campaigns.opened'))}
                <span class="visually-hidden">{usualShare(usual.opened)}</span>
              </th>
              <th scope="col" class="num rate" {...ariaSort('clicks')} title={usualShare(usual.clicked)}>
                {sorted('clicks', language.say('campaigns.clicked'))}
                <span class="visually-hidden">{usualShare(usual.clicked)}</span>
              </th>
              {mayChange && (
                <th scope="col" class="menu">
                  <span class="visually-hidden">{language.say('campaigns.menu.heading')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {summaries.map((summary) => (
              <Row key={summary.id} {...{ summary, usual, names, kept, mayChange, now }} />
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      {mayChange && <ChosenBar kept={kept} />}
    </Island>
  );
}

interface RowProps extends Pick<TableProps, 'usual' | 'kept' | 'mayChange' | 'now'> {
  summary: Summary;
  /** The names of lists and segments by target. */
  names: ReadonlyMap<string, string>;
}

/** The id of the form to which the checkboxes of the rows belong. It is outside the table, because each row has a form of its own. */
const CHOSEN = 'chosen-campaigns';

function Row({ summary, usual, names, kept, mayChange, now }: RowProps) {
  const language = useLanguage();
  const { utr, single_send_name: name, subject, starts_at: at, recipient_id: audience } = summary;
  const address = mayChange && isUnsent(summary) ? stepPath(utr, 'audience') : `/campaigns/${utr}`;
  const lists = audience
    .map((value) => names.get(value))
    .filter(Boolean)
    .join(', ');
  return (
    <tr>
      {mayChange && (
        <td class="choose">
          <input
            type="checkbox"
            name="ids"
            value={utr}
            form={CHOSEN}
            aria-label={language.say('campaigns.chooseOne', { name })}
          />
        </td>
      )}
      <td class="sketch">
        <img src={sketchAddress(summary)} alt="" loading="lazy" />
      </td>
      <th scope="row" title={`${name}\n${plainSubject(language, subject)}`.trim()}>
        <a href={address}>
          <bdi>{name}</bdi>
        </a>
        {subject !== name && subject !== '' && (
          <span class="small quiet-text">
            <Subject text={subject} />
          </span>
        )}
      </th>
      <td class="state">
        <State summary={summary} />
      </td>
      <td class="audience" title={lists}>
        {lists || '–'}
      </td>
      <td class="start">{isUnsent(summary) ? '–' : <Time at={recordTime(at)} now={now} />}</td>
      <td class="num delivered">{isUnsent(summary) ? '–' : language.number(summary.delivered - summary.kept)}</td>
      <Rate summary={summary} count={summary.people_opens} usual={usual.opened} />
      <Rate summary={summary} count={summary.people_clicks} usual={usual.clicked} />
      {mayChange && (
        <td class="menu">
          <CampaignMenu summary={summary} kept={kept} />
        </td>
      )}
    </tr>
  );
}

/** Returns true if the campaign is still being composed: a draft, or held before any recipient got it. */
function isUnsent({ state, recipients }: Summary): boolean {
  return state === 'draft' || (state === 'held' && recipients === 0);
}

/** The state of a campaign, with its progress until all recipients are finished. */
function State({ summary: { state, recipients, finished } }: { summary: Summary }) {
  const language = useLanguage();
  return (
    <span class="progress-cell">
      <StateBadge state={state} />
      {finished < recipients && (
        <Meter
          label={language.say('campaigns.progress', { finished, count: recipients })}
          value={finished}
          max={recipients}
        />
      )}
    </span>
  );
}

interface RateProps {
  summary: Summary;
  count: number;
  /** The average of the last campaigns, from 0 to 1; null if no campaign was measured. */
  usual: number | null;
}

/** A share of the measured recipients, with a bar whose middle is the average of the last campaigns. */
function Rate({ summary, count, usual }: RateProps) {
  const language = useLanguage();
  const whole = measured(summary);
  const width = usual === null || usual === 0 || whole <= 0 ? 0 : Math.min(100, (50 * count) / whole / usual);
  return (
    <td class="num rate">
      {language.share(count, whole)}
      {whole > 0 && usual !== null && usual > 0 && (
        <svg class="rate-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect class="value" width={width} height="6" />
          <use href="#usual" />
        </svg>
      )}
    </td>
  );
}

/** The menu with the actions on one campaign. */
function CampaignMenu({ summary, kept }: { summary: Summary; kept: KeptQuery }) {
  const language = useLanguage();
  const { id, utr, state, single_send_name: name, is_hidden: isHidden } = summary;
  const isWaiting = state === 'scheduled';
  const isAtRest = isUnsent(summary) || ['done', 'kept', 'cancelled'].includes(state);
  const button = (action: 'archive' | 'unarchive' | 'delete') => (
    <Button look="quiet" name="action" value={action} label={language.say(`campaigns.menu.${action}`)} />
  );
  const campaignButton = (action: 'duplicate' | 'cancel', text: string) => (
    <Button look="quiet" formaction={`/campaigns/${utr}/${action}`} label={text} />
  );
  return (
    <RowMenu id={`campaign-${id}`} label={language.say('campaigns.menu', { name })}>
      {isUnsent(summary) || isWaiting ? (
        <a href={stepPath(utr, 'audience')}>{language.say('compose.edit')}</a>
      ) : (
        <a href={`/campaigns/${utr}`}>{language.say('campaigns.menu.report')}</a>
      )}
      <form method="post" action={withQuery('/campaigns/actions', kept)}>
        <input type="hidden" name="ids" value={utr} />
        {campaignButton('duplicate', language.say('campaigns.duplicate'))}
        {isWaiting && campaignButton('cancel', language.say('campaigns.cancelStart'))}
        {isHidden === 1 ? button('unarchive') : isAtRest && button('archive')}
        {isUnsent(summary) && button('delete')}
      </form>
    </RowMenu>
  );
}

/** The actions on the selected campaigns. The style sheet shows them while any are selected. */
function ChosenBar({ kept }: { kept: KeptQuery }) {
  const language = useLanguage();
  const action = kept.state === 'archived' ? 'unarchive' : 'archive';
  return (
    <form id={CHOSEN} method="post" action={withQuery('/campaigns/actions', kept)} class="chosen-bar">
      <span class="chosen-count">{language.say('campaigns.chosen')}</span>
      <Button look="plain" name="action" value={action} label={language.say(`campaigns.menu.${action}`)} />
      <Button look="plain" name="action" value="delete" label={language.say('campaigns.deleteDrafts')} />
    </form>
  );
}

interface DeleteProps {
  ids: readonly string[];
  kept: KeptQuery;
  drafts: number;
  others: number;
}

/** Asks whether the selected drafts are to be deleted, and says how many of the selected campaigns stay. */
function DeleteDrafts({ ids, kept, drafts, others }: DeleteProps) {
  const language = useLanguage();
  return (
    <Card>
      {drafts > 0 && <p>{language.say('campaigns.delete.text')}</p>}
      {others > 0 && <p>{language.say('campaigns.delete.others', { count: others })}</p>}
      <form method="post" action={withQuery('/campaigns/actions', kept)}>
        {ids.map((id) => (
          <input key={id} type="hidden" name="ids" value={id} />
        ))}
        <input type="hidden" name="sure" value="1" />
        <div class="buttons">
          {drafts > 0 && (
            <Button
              look="danger"
              name="action"
              value="delete"
              label={language.say('campaigns.delete', { count: drafts })}
            />
          )}
          <LinkButton look="plain" href={withQuery('/campaigns', kept)} label={language.say('confirm.cancel')} />
        </div>
      </form>
    </Card>
  );
}
