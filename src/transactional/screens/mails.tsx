/** Transactional mails: the list of accepted ones, newest first, and one of them. */
import type { FastifyInstance } from 'fastify';
import { type ComponentChildren, Fragment } from 'preact';
import type { Static } from 'typebox';
import { parseAddress } from '../../audience/contacts/addresses.ts';
import { DELIVERY_STATE_NAMES, type DeliveryState } from '../../database/schema/index.ts';
import { shownDeliveryState } from '../../delivery/reporting/mailing-report.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { DeliveryBadge } from '../../ui/components/campaign-state.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Empty, NothingFound } from '../../ui/components/surface.tsx';
import { Pager, SearchForm, Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { texts } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type PlainKey, useLanguage } from '../../ui/words/index.ts';
import { listMails, type Mail, readMail } from '../operations.ts';

type FoundMails = Static<typeof listMails.output>;

/** Registers the list and the page of one mail. */
export async function transactionalScreens(app: FastifyInstance): Promise<void> {
  pageRoute<{ Querystring: { email?: string; state?: string; before?: string } }>(
    app,
    '/transactional',
    async (request, reply) => {
      const viewer = viewerOf(request);
      const { before } = request.query;
      const [email = ''] = texts(request.query.email);
      const state = DELIVERY_STATE_NAMES.find((name) => name === request.query.state);
      const query = { ...(email && { email }), ...(state && { state }), ...(before && { before_id: before }) };
      // An invalid address has no mails.
      const isAddress = email === '' || parseAddress(email) !== null;
      const page: FoundMails = isAddress ? await ask(request, listMails, query) : { mails: [], next_before_id: null };
      const frame = { title: languageOf(request, viewer).say('transactional.title'), section: 'campaigns' } as const;
      const list = { ...page, email, state, isLater: before !== undefined, now: app.deps.clock.now() };
      return sendPage(request, reply, viewer, frame, <Mails {...list} />);
    },
  );
  await transactionalMailScreen(app);
}

interface MailList extends FoundMails {
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
      <Empty
        pose="flies"
        title={language.say('transactional.empty.title')}
        action={<LinkButton look="plain" href="/settings/keys" label={language.say('settings.keys')} />}
      >
        {language.say('transactional.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      <SearchForm
        name="email"
        label={language.say('transactional.search')}
        find={language.say('word.find')}
        value={email}
      >
        <select name="state" aria-label={language.say('word.status')}>
          <option value="">{language.say('word.status.any')}</option>
          {DELIVERY_STATE_NAMES.map((name) => (
            <option key={name} value={name} selected={name === state}>
              {language.say(`delivery.${name}`)}
            </option>
          ))}
        </select>
      </SearchForm>
      {mails.length === 0 ? (
        next === null ? (
          <NothingFound title={language.say('outbox.none')} all="/transactional" />
        ) : (
          <p>{language.say('transactional.noneHere')}</p>
        )
      ) : (
        <Table
          isBrief
          caption={language.say('transactional.title')}
          rows={mails}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('compose.subject'),
              cell: ({ utr, subject }) => (
                <a href={`/transactional/${utr}`}>
                  <bdi>{subject || language.say('outbox.noSubject')}</bdi>
                </a>
              ),
            },
            { heading: language.say('outbox.to'), cell: ({ email: to }) => <bdi>{to}</bdi> },
            {
              heading: language.say('word.status'),
              cell: (mail) => <DeliveryBadge state={shownDeliveryState(mail.state, mail.reply)} />,
            },
            {
              heading: language.say('recipients.why'),
              cell: ({ reply }) => <bdi class="small capitalized">{language.sentence(reply ?? '')}</bdi>,
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

async function transactionalMailScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr>(app, '/transactional/:utr', async (request, reply) => {
    const viewer = viewerOf(request);
    const { mail } = await ask(request, readMail, request.params);
    const title = mail.subject || languageOf(request, viewer).say('outbox.noSubject');
    return sendPage(
      request,
      reply,
      viewer,
      { title, section: 'campaigns' },
      <OneMail mail={mail} canRead={viewer.role !== 'viewer'} />,
    );
  });
}

function OneMail({ mail, canRead }: { mail: Mail; canRead: boolean }) {
  const language = useLanguage();
  const at = (time: string) => <Time at={new Date(time)} />;
  const facts: (readonly [PlainKey, ComponentChildren])[] = [
    ['word.status', <DeliveryBadge key="state" state={shownDeliveryState(mail.state, mail.reply)} />],
    ...(mail.reply ? [['recipients.why', <bdi key="reply">{language.sentence(mail.reply)}</bdi>] as const] : []),
    ['outbox.to', <bdi key="to">{mail.name === '' ? mail.email : `${mail.name} <${mail.email}>`}</bdi>],
    ['transactional.attempts', language.number(mail.attempts)],
    ...(mail.next_try_at === null ? [] : [['transactional.next', at(mail.next_try_at)] as const]),
    ['transactional.asked', at(mail.created_at)],
    ['transactional.changed', at(mail.updated_at)],
    ...(mail.complained_at === null ? [] : [['transactional.complained', at(mail.complained_at)] as const]),
    ...(mail.attachments.length === 0
      ? []
      : [['transactional.files', <Files key="files" files={mail.attachments} />] as const]),
    ['transactional.id', <bdi key="id">{mail.message_id}</bdi>],
  ];
  return (
    <>
      <p>
        <a href="/transactional">{language.say('transactional.all')}</a>
      </p>
      <dl class="mail-facts">
        {facts.map(([label, value]) => (
          <Fragment key={label}>
            <dt>{language.say(label)}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
      </dl>
      {mail.is_kept === 1 && canRead && (
        <p>
          <a href={`/transactional/${mail.utr}/sent`}>{language.say('sentMails.title')}</a>
        </p>
      )}
      <p class="quiet-text">{language.say('transactional.kept')}</p>
    </>
  );
}

function Files({ files }: { files: Mail['attachments'] }) {
  const language = useLanguage();
  return (
    <>
      {files.map(({ file_name: name, size }, at) => (
        <Fragment key={`${at} ${name}`}>
          {at > 0 && ', '}
          <bdi>{name}</bdi> ({language.bytes(size)})
        </Fragment>
      ))}
    </>
  );
}
