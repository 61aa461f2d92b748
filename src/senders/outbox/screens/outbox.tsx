/**
 * The test outbox: the list of stored mails, newest first, and the page of one mail with its text, headers, source, links and checks, and with the
 * actions that its recipient would have.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { findingText } from '../../../campaigns/screens/finding-text.ts';
import type { CheckedBuiltMail } from '../../../delivery/checks/built-mail.ts';
import type { MailParts } from '../../../delivery/checks/mail-checks.ts';
import { checkParts, takeApart } from '../../../delivery/compiling/show.ts';
import { pathHere } from '../../../delivery/shown/mail-frame.ts';
import { MAX_MAILS } from '../../../delivery/transport/outbox.ts';
import { isTestMode } from '../../../delivery/transport/relays/in-use.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import type { Deps } from '../../../operations/deps.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Time } from '../../../ui/components/figures.tsx';
import { MailFrames } from '../../../ui/components/mail-frames.tsx';
import { Badge, Card, Empty, NothingFound, Notice, Tabs } from '../../../ui/components/surface.tsx';
import { Pager, SearchForm, Table } from '../../../ui/components/table.tsx';
import { LINKS_ALLOWED, sendMailFrame } from '../../../ui/mail-frame.ts';
import { ask } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { type ListedMail, listMails, type Mail, readMail } from '../operations.ts';

const ROWS = 20;

/** Registers the list and the page of one mail. */
export async function outboxScreens(app: FastifyInstance, { db, config, clock }: Deps): Promise<void> {
  pageRoute<{ Querystring: { search?: string; before?: string } }>(app, '/outbox', async (request, reply) => {
    const viewer = viewerOf(request);
    const { search = '', before } = request.query;
    const part = { order: 'newest', limit: ROWS + 1, search, ...(before !== undefined && { before_id: before }) };
    const mails = await ask(request, listMails, part);
    const frame = { title: languageOf(request, viewer).say('nav.outbox'), section: 'outbox' } as const;
    const list = {
      mails,
      search,
      isLater: before !== undefined,
      leaves: !isTestMode(db.$client, config),
    };
    return sendPage(request, reply, viewer, frame, <Outbox {...list} now={clock.now()} />);
  });
  await mailScreen(app);
}

interface OutboxList {
  /** The mails of the page, and one more if there is a further page. */
  mails: readonly ListedMail[];
  search: string;
  /** True if this is not the first page. */
  isLater: boolean;
  /** True if mail leaves this machine now. */
  leaves: boolean;
  now: Date;
}

function Outbox({ mails, search, isLater, leaves, now }: OutboxList) {
  const language = useLanguage();
  const shown = mails.slice(0, ROWS);
  const href = (before?: number) => withQuery('/outbox', { search, before });
  if (shown.length === 0 && search === '' && !isLater) {
    return (
      <Empty
        pose="flies"
        title={language.say(leaves ? 'outbox.relay.title' : 'outbox.empty.title')}
        action={<LinkButton look="plain" href="/campaigns" label={language.say('nav.campaigns')} />}
      >
        {language.say(leaves ? 'outbox.relay.text' : 'outbox.empty.text')}
      </Empty>
    );
  }
  return (
    <>
      {leaves ? (
        <Notice>{language.say('outbox.relay.text')}</Notice>
      ) : (
        <p class="quiet-text">{language.say('outbox.about', { count: MAX_MAILS })}</p>
      )}
      <SearchForm name="search" label={language.say('outbox.search')} find={language.say('word.find')} value={search} />
      {shown.length === 0 ? (
        <NothingFound title={language.say('outbox.none')} all="/outbox" />
      ) : (
        <Table
          isBrief
          caption={language.say('nav.outbox')}
          rows={shown}
          keyOf={({ id }) => id}
          columns={[
            {
              heading: language.say('compose.subject'),
              cell: ({ id, subject }) => (
                <a href={`/outbox/${id}`}>
                  <bdi>{subject || language.say('outbox.noSubject')}</bdi>
                </a>
              ),
            },
            { heading: language.say('outbox.to'), cell: ({ to }) => <bdi>{to}</bdi> },
            { heading: language.say('outbox.from'), cell: ({ from }) => <bdi class="wide-only">{from}</bdi> },
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

const VIEWS = ['look', 'text', 'headers', 'source', 'links', 'check'] as const;
type View = (typeof VIEWS)[number];

/** Registers the page of a mail, and the mail's HTML for its iframe. */
async function mailScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/outbox/:id', async (request, reply) => {
    const viewer = viewerOf(request);
    const mail = await ask(request, readMail, request.params);
    const view = VIEWS.find((name) => name === request.query.view) ?? 'look';
    const title = mail.subject || languageOf(request, viewer).say('outbox.noSubject');
    const parts = await takeApart(viewer.accountId, mail.raw);
    const content = {
      mail,
      parts,
      checked: view === 'links' || view === 'check' ? await checkParts(viewer.accountId, parts) : null,
      view,
      isHidden: viewer.role === 'viewer',
      isOpened: isOpened(request),
      origins: app.pictureOrigins(),
    };
    return sendPage(request, reply, viewer, { title, section: 'outbox', back: LIST }, <MailPage {...content} />);
  });

  pageRoute<Call>(app, '/outbox/:id/html', async (request, reply) => {
    const mail = await ask(request, readMail, request.params);
    const viewer = viewerOf(request);
    const { html } = await takeApart(viewer.accountId, mail.raw);
    const look = isOpened(request)
      ? { hasLinks: true, images: 'counted' as const }
      : { hasLinks: viewer.role !== 'viewer' };
    return sendMailFrame(reply, html ?? '', viewer.accountId, look);
  });
}

interface Call extends ById {
  /** `open`: the mail is opened as its recipient, whose open counts. */
  Querystring: { view?: string; open?: string };
}

/** Returns true if the user opens the mail as its recipient. Users with read access only may not do that. */
const isOpened = (request: FastifyRequest<Call>) => request.query.open === '1' && viewerOf(request).role !== 'viewer';

const LIST = { href: '/outbox', label: 'nav.outbox' } as const;

interface MailProps {
  mail: Mail;
  parts: MailParts;
  /** The links and findings; null in views without them. */
  checked: CheckedBuiltMail | null;
  view: View;
  /** True if the tokens in the mail's links were removed for this user. */
  isHidden: boolean;
  isOpened: boolean;
  /** The origins of this service's links. */
  origins: readonly string[];
}

function MailPage(props: MailProps) {
  const { mail, view, isHidden } = props;
  const language = useLanguage();
  return (
    <>
      <dl class="mail-facts">
        <dt>{language.say('outbox.from')}</dt>
        <dd>
          <bdi>{mail.from}</bdi>
        </dd>
        <dt>{language.say('outbox.to')}</dt>
        <dd>
          <bdi>{mail.to}</bdi>
        </dd>
        <dt>{language.say('outbox.time')}</dt>
        <dd>
          <Time at={new Date(mail.created_at)} />
        </dd>
      </dl>
      <Tabs
        label={language.say('outbox.views')}
        tabs={VIEWS.map((name) => ({
          href: name === 'look' ? `/outbox/${mail.id}` : `/outbox/${mail.id}?view=${name}`,
          label: language.say(`outbox.view.${name}`),
          isCurrent: name === view,
        }))}
      />
      {isHidden && ['text', 'headers', 'source', 'links'].includes(view) && (
        <Notice>{language.say('outbox.hidden')}</Notice>
      )}
      <Content {...props} />
    </>
  );
}

function Content(props: MailProps) {
  const { mail, parts, checked, view } = props;
  const language = useLanguage();
  switch (view) {
    case 'look':
      return <Looks {...props} />;
    case 'text':
      return <pre class="source">{parts.text === null ? language.say('mail.noText') : <LinkedText {...props} />}</pre>;
    case 'headers':
      return (
        <Table
          caption={language.say('outbox.view.headers')}
          rows={parts.headers.map((header, at) => ({ ...header, at }))}
          keyOf={({ at }) => at}
          columns={[
            { heading: language.say('outbox.header'), cell: ({ name }) => name },
            { heading: language.say('outbox.value'), cell: ({ value }) => <code>{value}</code> },
          ]}
        />
      );
    case 'source':
      return <pre class="source">{mail.raw}</pre>;
    case 'links':
      return <Links {...props} />;
    case 'check':
      return <Checks findings={checked?.findings ?? []} />;
  }
}

function Looks(props: MailProps) {
  const { mail, isHidden, isOpened } = props;
  const language = useLanguage();
  if (isHidden)
    return (
      <>
        <p class="quiet-text">{language.say('mail.note')}</p>
        <MailFrames source={`/outbox/${mail.id}/html`} />
      </>
    );
  return (
    <>
      <Recipient {...props} />
      {isOpened ? (
        <div class="mail-sheet">
          <iframe
            sandbox={LINKS_ALLOWED}
            src={`/outbox/${mail.id}/html?open=1`}
            title={language.say('outbox.be.title')}
          />
        </div>
      ) : (
        <MailFrames source={`/outbox/${mail.id}/html`} hasLinks />
      )}
    </>
  );
}

/** The actions of a recipient who received the mail, and links to the pages that show their effect. */
function Recipient({ mail, parts, isOpened, origins }: MailProps) {
  const language = useLanguage();
  const { contact_id: contact, single_send_utr: send, automation_utr: automation } = mail;
  const unsubscribe = unsubscribeUrl(parts);
  // A mail without a campaign, such as a sender's verification mail, is not counted anywhere.
  if (unsubscribe === null) return <p class="quiet-text">{language.say('outbox.note')}</p>;
  const automationPath = automation === null ? null : `/automations/${automation}`;
  const report = send === null ? automationPath : `/campaigns/${send}`;
  return (
    <Card title={language.say('outbox.be.title')}>
      <p class="quiet-text">
        {language.say(isOpened ? 'outbox.be.opened' : 'outbox.be.text', { to: mail.envelope_to })}{' '}
        {language.say('outbox.note')}
      </p>
      <div class="buttons">
        <LinkButton href={`/outbox/${mail.id}?open=1`} label={language.say('outbox.be.open')} />
        <NewTab look="button plain" url={pathHere(unsubscribe, origins)}>
          {language.say('outbox.be.leave')}
        </NewTab>
        {report !== null && <LinkButton look="plain" href={report} label={language.say('outbox.be.report')} />}
        {contact !== null && (
          <LinkButton look="plain" href={`/contacts/${contact}`} label={language.say('outbox.be.contact')} />
        )}
        {mail.web_copy && (
          <NewTab look="button quiet" url={pathHere(mail.web_copy, origins)}>
            {language.say('outbox.webCopy')}
          </NewTab>
        )}
      </div>
    </Card>
  );
}

/** The URL at which the recipient unsubscribes (RFC 2369, 3.2); null if the mail has no such URL. */
function unsubscribeUrl({ headers }: MailParts): string | null {
  const header = headers.find(({ name }) => name.toLowerCase() === 'list-unsubscribe');
  return /<(https?:[^<>]+)>/.exec(header?.value ?? '')?.[1] ?? null;
}

/** A link in the mail, which opens in a new tab. */
function NewTab({ url, look, children }: { url: string; look?: string; children: ComponentChildren }) {
  return (
    <a href={url} class={look} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** The text part, in which URLs are links, unless their tokens were removed. */
function LinkedText({ parts: { text }, isHidden, origins }: MailProps) {
  if (isHidden) return text;
  return (text ?? '').split(/(https?:\/\/[^\s<>"]+)/).map((piece, at) =>
    at % 2 === 0 ? (
      piece
    ) : (
      <NewTab key={at} url={pathHere(piece, origins)}>
        {piece}
      </NewTab>
    ),
  );
}

function Links({ checked, isHidden, origins }: MailProps) {
  const language = useLanguage();
  const links = checked?.links ?? [];
  if (links.length === 0) return <p>{language.say('outbox.noLinks')}</p>;
  return (
    <Table
      caption={language.say('outbox.view.links')}
      rows={links.map((link, at) => ({ ...link, at }))}
      keyOf={({ at }) => at}
      columns={[
        {
          heading: language.say('outbox.linkText'),
          cell: ({ text }) => text || <em>{language.say('outbox.linkBare')}</em>,
        },
        {
          heading: language.say('outbox.linkUrl'),
          cell: ({ url }) => (
            <code>
              {isHidden || !/^https?:/i.test(url) ? url : <NewTab url={pathHere(url, origins)}>{url}</NewTab>}
            </code>
          ),
        },
      ]}
    />
  );
}

function Checks({ findings }: { findings: CheckedBuiltMail['findings'] }) {
  const language = useLanguage();
  return (
    <Card>
      <ul class="checks">
        {findings.map(({ check, isGood, values }) => (
          <li key={check}>
            <Badge tone={isGood ? 'good' : 'warn'}>
              {language.say(isGood ? 'outbox.check.good' : 'outbox.check.look')}
            </Badge>
            <span>{findingText({ check, is_good: isGood ? 1 : 0, limit: 0, names: [], ...values }, language)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
