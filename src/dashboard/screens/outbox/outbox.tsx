/** The outbox: the mails that are kept here because no relay is configured, newest first. */

import type { FastifyInstance } from 'fastify';
import { courierInUse } from '../../../delivery/transport/relays/in-use.ts';
import type { Deps } from '../../../deps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { Time } from '../../components/figures.tsx';
import { SearchForm } from '../../components/search.tsx';
import { Empty, Notice } from '../../components/surface.tsx';
import { Pager, Table } from '../../components/table.tsx';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { withQuery } from '../../with-query.ts';
import { useLanguage } from '../../words/index.ts';
import type { OutboxEntry } from './mail.ts';
import { outboxMailScreen } from './outbox-mail.tsx';

const ROWS = 50;
/** How many mails the outbox keeps. */
const KEPT = 1000;

/** Registers the list and the page of one mail. */
export async function outboxScreens(app: FastifyInstance, { db, config, clock }: Deps): Promise<void> {
  app.route<{ Querystring: { search?: string; before?: string } }>({
    method: READ,
    url: '/outbox',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { search = '', before } = request.query;
      const query = {
        order: 'newest',
        limit: String(ROWS + 1),
        search,
        ...(before !== undefined && { before_id: before }),
      };
      const { mails } = await new ApiClient(app, request).get<{ mails: OutboxEntry[] }>('/outbox/list', query);
      const frame = { title: languageOf(request, viewer).say('nav.outbox'), section: 'outbox' } as const;
      const list = {
        mails,
        search,
        isLater: before !== undefined,
        leaves: courierInUse(db.$client, config) !== 'outbox',
      };
      return sendPage(request, reply, viewer, frame, <Outbox {...list} now={clock.now()} />);
    },
  });
  await outboxMailScreen(app);
}

interface OutboxList {
  /** One more than a page shows where there is a further page. */
  mails: OutboxEntry[];
  search: string;
  isLater: boolean;
  /** Whether mail leaves this machine now. */
  leaves: boolean;
  now: Date;
}

function Outbox({ mails, search, isLater, leaves, now }: OutboxList) {
  const language = useLanguage();
  const shown = mails.slice(0, ROWS);
  const href = (before?: number) => withQuery('/outbox', { search, before });
  if (shown.length === 0 && search === '' && !isLater) {
    return (
      <Empty icon="tray" title={language.say(leaves ? 'outbox.relay.title' : 'outbox.empty.title')}>
        {language.say(leaves ? 'outbox.relay.text' : 'outbox.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      {leaves ? (
        <Notice>{language.say('outbox.relay.text')}</Notice>
      ) : (
        <p class="quiet-text">{language.say('outbox.about', { count: KEPT })}</p>
      )}
      <SearchForm
        name="search"
        label={language.say('outbox.search')}
        find={language.say('outbox.find')}
        value={search}
      />
      {shown.length === 0 ? (
        <p>{language.say('outbox.none')}</p>
      ) : (
        <Table
          caption={language.say('nav.outbox')}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('outbox.subject'),
              cell: ({ id, subject }) => (
                <a href={`/outbox/${id}`}>
                  <bdi>{subject || language.say('outbox.noSubject')}</bdi>
                </a>
              ),
            },
            { heading: language.say('outbox.to'), cell: ({ to }) => <bdi>{to}</bdi> },
            { heading: language.say('outbox.from'), cell: ({ from }) => <bdi>{from}</bdi> },
            {
              heading: language.say('outbox.time'),
              cell: ({ created_at: at }) => <Time at={new Date(at)} now={now} />,
            },
          ]}
        />
      )}
      <Pager first={isLater ? href() : null} next={mails.length > ROWS ? href(shown.at(-1)?.id) : null} />
    </>
  );
}
