/** Transactional mail: single mails that programs send to one person, newest first, found by state and address. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { DeliveryBadge } from '../../dashboard/components/campaign-state.tsx';
import { Time } from '../../dashboard/components/figures.tsx';
import { Empty } from '../../dashboard/components/surface.tsx';
import { Pager, SearchForm, Table } from '../../dashboard/components/table.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { texts } from '../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { withQuery } from '../../dashboard/with-query.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { DELIVERY_STATE_NAMES, type DeliveryState } from '../../database/schema/index.ts';
import { shownDeliveryState } from '../../delivery/reporting/kept-mails.ts';
import { READ } from '../../http/pages/layout.ts';
import { listMails } from '../operations.ts';
import { transactionalMailScreen } from './mail.tsx';

type Found = Static<typeof listMails.output>;

/** Registers the list and the page of one mail. */
export async function transactionalScreens(app: FastifyInstance): Promise<void> {
  app.route<{ Querystring: { email?: string; state?: string; before?: string } }>({
    method: READ,
    url: '/transactional',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { before } = request.query;
      const [email = ''] = texts(request.query.email);
      const state = DELIVERY_STATE_NAMES.find((name) => name === request.query.state);
      const query = { ...(email && { email }), ...(state && { state }), ...(before && { before_id: before }) };
      // What is no address has no mails.
      const isAddress = email === '' || parseAddress(email) !== null;
      const found: Found = isAddress ? await ask(request, listMails, query) : { mails: [], next_before_id: null };
      const frame = { title: languageOf(request, viewer).say('transactional.title'), section: 'mailings' } as const;
      const list = { ...found, email, state, isLater: before !== undefined, now: app.deps.clock.now() };
      return sendPage(request, reply, viewer, frame, <Mails {...list} />);
    },
  });
  await transactionalMailScreen(app);
}

interface MailList extends Found {
  email: string;
  state: DeliveryState | undefined;
  isLater: boolean;
  now: Date;
}

function Mails({ mails, next_before_id: next, email, state, isLater, now }: MailList) {
  const language = useLanguage();
  const href = (before?: number) => withQuery('/transactional', { email, state, before });
  if (mails.length === 0 && email === '' && state === undefined && !isLater) {
    return (
      <Empty icon="mail" title={language.say('transactional.empty.title')}>
        {language.say('transactional.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      <SearchForm
        name="email"
        label={language.say('transactional.search')}
        find={language.say('mailings.find')}
        value={email}
      >
        <select name="state" aria-label={language.say('mailings.state')}>
          <option value="">{language.say('mailings.state.any')}</option>
          {DELIVERY_STATE_NAMES.map((name) => (
            <option key={name} value={name} selected={name === state}>
              {language.say(`delivery.${name}`)}
            </option>
          ))}
        </select>
      </SearchForm>
      {mails.length === 0 ? (
        <p>{language.say(next === null ? 'transactional.none' : 'transactional.noneHere')}</p>
      ) : (
        <Table
          caption={language.say('transactional.title')}
          rows={mails}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('outbox.subject'),
              cell: ({ utr, subject }) => (
                <a href={`/transactional/${utr}`}>
                  <bdi>{subject || language.say('outbox.noSubject')}</bdi>
                </a>
              ),
            },
            { heading: language.say('outbox.to'), cell: ({ email: to }) => <bdi>{to}</bdi> },
            {
              heading: language.say('mailings.state'),
              cell: (mail) => <DeliveryBadge state={shownDeliveryState(mail.state, mail.reply)} />,
            },
            {
              heading: language.say('recipients.why'),
              cell: ({ reply }) => <bdi class="small">{language.sentence(reply ?? '')}</bdi>,
            },
            {
              heading: language.say('outbox.time'),
              cell: ({ created_at: at }) => <Time at={new Date(at)} now={now} />,
            },
          ]}
        />
      )}
      <Pager first={isLater ? href() : null} next={next === null ? null : href(next)} />
    </>
  );
}
