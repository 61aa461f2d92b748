/** Left and blocked: who has unsubscribed from all mail or from a group, and which addresses bounced or complained. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { Time } from '../../components/figures.tsx';
import { SearchForm } from '../../components/search.tsx';
import { Badge, Empty } from '../../components/surface.tsx';
import { type Column, Pager, Table } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { withQuery } from '../../with-query.ts';
import { useLanguage } from '../../words/index.ts';
import { leftGroupsScreen } from './groups.tsx';
import { inactiveRuleScreen } from './inactive-rule.tsx';
import { LeftTabs } from './left-tabs.tsx';
import { liftScreen } from './lift.tsx';
import { type Entry, type ListName, pageOf, readEntries, readGroups } from './lists.ts';
import { readSunset, type Sunset } from './sunset.ts';
import { RuleInWords } from './sunset-words.tsx';

const ROWS = 50;

interface LeftQuery {
  email?: string;
  before?: string;
}
type LeftRequest = FastifyRequest<{ Querystring: LeftQuery; Params: { id?: string } }>;

/** Registers the three lists and the page on which an address is taken off one. */
export async function leftScreens(app: FastifyInstance, { clock }: Deps): Promise<void> {
  const list = (url: string, name: ListName) =>
    app.route<{ Querystring: LeftQuery; Params: { id?: string } }>({
      method: READ,
      url,
      handler: async (request, reply) => {
        const viewer = viewerOf(request);
        const { title, content } = await readList(request, name);
        const frame = { title: title ?? languageOf(request, viewer).say('nav.left'), section: 'left' } as const;
        return sendPage(request, reply, viewer, frame, content);
      },
    });
  list('/left', 'all');
  list('/left/groups/:id', 'group');
  list('/left/blocked', 'blocked');
  list('/left/inactive', 'inactive');
  await app.register(leftGroupsScreen);
  await app.register(liftScreen);
  await app.register(inactiveRuleScreen);

  async function readList(request: LeftRequest, name: ListName): Promise<{ title: string | null; content: VNode }> {
    const api = new ApiClient(app, request);
    const { email = '', before } = request.query;
    const { id: groupId } = request.params;
    const entries = await readEntries(api, name, { limit: ROWS + 1, email, before, groupId });
    const groups = name === 'group' ? await readGroups(api) : [];
    const title = groups.find(({ id }) => String(id) === groupId)?.group_name ?? null;
    const sunset = name === 'inactive' ? await readSunset(api) : null;
    const props = { name, entries, sunset, email, groupId, isLater: before !== undefined, now: clock.now() };
    return { title, content: <List {...props} canLift={viewerOf(request).role !== 'viewer'} /> };
  }
}

interface ListProps {
  name: ListName;
  /** One more than a page shows where there is a further page. */
  entries: Entry[];
  /** The rule by which people are inactive, on the list of those. */
  sunset: Sunset | null;
  email: string;
  groupId: string | undefined;
  isLater: boolean;
  canLift: boolean;
  now: Date;
}

function List({ name, entries, sunset, email, groupId, isLater, canLift, now }: ListProps) {
  const language = useLanguage();
  const shown = entries.slice(0, ROWS);
  const href = (before?: number) => withQuery(pageOf(name, groupId), { email, before });
  const isEmpty = shown.length === 0 && email === '' && !isLater;
  return (
    <>
      <LeftTabs current={name} />
      {sunset !== null && <RuleInWords sunset={sunset} />}
      {isEmpty ? (
        <Empty icon="leave" title={language.say(`left.${name}.empty.title`)}>
          {language.say(`left.${name}.empty.text`)}
        </Empty>
      ) : (
        <>
          <p class="quiet-text">{language.say(`left.${name}.about`)}</p>
          <SearchForm name="email" label={language.say('left.search')} find={language.say('left.find')} value={email} />
          {shown.length === 0 ? (
            <p>{language.say('left.none', { email })}</p>
          ) : (
            <Table
              caption={language.say(`left.${name}`)}
              rows={shown}
              keyOf={({ id }) => id}
              columns={columns({ name, groupId, canLift, now })}
            />
          )}
          <Pager first={isLater ? href() : null} next={entries.length > ROWS ? href(shown.at(-1)?.id) : null} />
        </>
      )}
    </>
  );
}

function columns({ name, groupId, canLift, now }: Pick<ListProps, 'name' | 'groupId' | 'canLift' | 'now'>) {
  const language = useLanguage();
  const shown: Column<Entry>[] = [
    { heading: language.say('left.address'), cell: ({ email_address: email }) => <bdi>{email}</bdi> },
  ];
  if (name === 'blocked') {
    shown.push(
      {
        heading: language.say('left.reason'),
        cell: ({ kind = 'bounce' }) => (
          <Badge tone={kind === 'complaint' ? 'bad' : 'warn'}>{language.say(`left.kind.${kind}`)}</Badge>
        ),
      },
      {
        heading: language.say('left.diagnostic'),
        cell: ({ diagnostic }) => <span class="small">{language.sentence(diagnostic ?? '')}</span>,
      },
    );
  }
  if (name === 'inactive') {
    shown.push({
      heading: language.say('left.did'),
      cell: ({ action = 'stop' }) => language.say(`inactive.${action}`),
    });
  }
  shown.push({
    heading: language.say('left.since'),
    cell: ({ created_at: at }) => <Time at={new Date(at)} now={now} />,
  });
  if (canLift) {
    shown.push({
      heading: language.say('left.action'),
      cell: ({ email_address: email }) => {
        const query = new URLSearchParams({ list: name, email, ...(groupId && { group: groupId }) });
        return (
          <a href={`/left/lift?${query}`} aria-label={language.say('left.lift.of', { email })}>
            {language.say('left.lift')}
          </a>
        );
      },
    });
  }
  return shown;
}
