/** Unsubscribes and suppressions: who has unsubscribed from all mail or from a group, and which addresses bounced or complained. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Time } from '../../../ui/components/figures.tsx';
import { Badge, Empty, NothingFound } from '../../../ui/components/surface.tsx';
import { type Column, Pager, SearchForm, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { readSunset, type Sunset } from '../../sunset/operations.ts';
import { RuleInWords, sunsetScreen } from '../../sunset/screens/rule.tsx';
import { readGroup } from '../groups.ts';
import { groupScreens } from './groups.tsx';
import { type Entry, type ListName, pageOf, readEntries, UnsubscribesTabs } from './kinds.tsx';
import { liftScreen } from './lift.tsx';

const ROWS_PER_PAGE = 20;

interface Call {
  /** The id of the topic, for its list. */
  Params: { id?: string };
  Querystring: { email?: string; before?: string };
}

/** Registers the lists, the groups, the sunset rule, and the page that removes an address from a list. */
export async function unsubscribeScreens(app: FastifyInstance): Promise<void> {
  const list = (url: string, name: ListName) =>
    pageRoute<Call>(app, url, async (request, reply) => {
      const viewer = viewerOf(request);
      const { title, content } = await readList(request, name);
      const frame = {
        title: title ?? languageOf(request, viewer).say('nav.unsubscribes'),
        section: 'unsubscribes',
      } as const;
      return sendPage(request, reply, viewer, frame, content);
    });
  list('/unsubscribes', 'all');
  list('/unsubscribes/topics/:id', 'topic');
  list('/unsubscribes/suppressions', 'suppressions');
  list('/unsubscribes/inactive', 'inactive');
  await groupScreens(app);
  await liftScreen(app);
  await sunsetScreen(app);

  async function readList(
    request: FastifyRequest<Call>,
    name: ListName,
  ): Promise<{ title: string | null; content: VNode }> {
    const { email = '', before } = request.query;
    const { id: groupId } = request.params;
    const entries = await readEntries(request, name, { limit: ROWS_PER_PAGE + 1, email, before, groupId });
    const title = name === 'topic' ? (await ask(request, readGroup, { id: groupId })).group_name : null;
    const sunset = name === 'inactive' ? (await ask(request, readSunset, {})).sunset : null;
    const props = { name, entries, sunset, email, groupId, isLater: before !== undefined, now: app.deps.clock.now() };
    return { title, content: <List {...props} canLift={viewerOf(request).role !== 'viewer'} /> };
  }
}

interface ListProps {
  name: ListName;
  /** One more than a page shows if there is a further page. */
  entries: Entry[];
  /** The sunset rule, for the list of inactive contacts; null for other lists. */
  sunset: Sunset | null;
  email: string;
  groupId: string | undefined;
  isLater: boolean;
  canLift: boolean;
  now: Date;
}

function List({ name, entries, sunset, email, groupId, isLater, canLift, now }: ListProps) {
  const language = useLanguage();
  const shown = entries.slice(0, ROWS_PER_PAGE);
  const href = (before?: number) => withQuery(pageOf(name, groupId), { email, before });
  const isEmpty = shown.length === 0 && email === '' && !isLater;
  return (
    <>
      <UnsubscribesTabs current={name} />
      {sunset !== null && <RuleInWords sunset={sunset} />}
      {isEmpty ? (
        <Empty
          title={language.say(`unsubscribes.${name}.empty.title`)}
          action={<LinkButton look="plain" href="/contacts" label={language.say('nav.contacts')} />}
        >
          {language.say(`unsubscribes.${name}.empty.text`)}
        </Empty>
      ) : (
        <>
          <p class="quiet-text">{language.say(`unsubscribes.${name}.about`)}</p>
          <SearchForm
            name="email"
            label={language.say('unsubscribes.search')}
            find={language.say('unsubscribes.find')}
            value={email}
          />
          {shown.length === 0 ? (
            <NothingFound title={language.say('unsubscribes.none', { email })} all={pageOf(name, groupId)} />
          ) : (
            <Table
              isBrief
              caption={language.say(`unsubscribes.${name}`)}
              rows={shown}
              keyOf={({ id }) => id}
              columns={columns({ name, groupId, canLift, now })}
            />
          )}
          <Pager
            first={isLater ? href() : null}
            next={entries.length > ROWS_PER_PAGE ? href(shown.at(-1)?.id) : null}
          />
        </>
      )}
    </>
  );
}

function columns({ name, groupId, canLift, now }: Pick<ListProps, 'name' | 'groupId' | 'canLift' | 'now'>) {
  const language = useLanguage();
  const shown: Column<Entry>[] = [
    { heading: language.say('unsubscribes.address'), cell: ({ email_address: email }) => <bdi>{email}</bdi> },
  ];
  if (name === 'suppressions') {
    shown.push(
      {
        heading: language.say('unsubscribes.reason'),
        cell: ({ kind = 'bounce' }) => (
          <Badge tone={kind === 'complaint' ? 'bad' : 'warn'}>{language.say(`unsubscribes.kind.${kind}`)}</Badge>
        ),
      },
      {
        heading: language.say('unsubscribes.diagnostic'),
        cell: ({ diagnostic }) => <span class="small">{language.sentence(diagnostic ?? '')}</span>,
      },
    );
  }
  if (name === 'inactive') {
    shown.push({
      heading: language.say('unsubscribes.did'),
      cell: ({ action = 'stop' }) => language.say(`inactive.${action}`),
    });
  }
  shown.push({
    heading: language.say('unsubscribes.since'),
    cell: ({ created_at: at }) => <Time at={new Date(at)} now={now} />,
  });
  if (canLift) {
    shown.push({
      heading: language.say('unsubscribes.action'),
      cell: ({ email_address: email }) => {
        const query = new URLSearchParams({ list: name, email, ...(groupId && { group: groupId }) });
        const action = language.say(`unsubscribes.lift.${name}.do`);
        return (
          <a href={`/unsubscribes/lift?${query}`} aria-label={language.say('unsubscribes.lift.of', { action, email })}>
            {action}
          </a>
        );
      },
    });
  }
  return shown;
}
