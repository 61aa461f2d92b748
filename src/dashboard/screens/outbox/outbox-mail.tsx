/** One mail of the outbox: as it looks, its text, headers and source, its links, and what may keep people from reading it. */
import type { FastifyInstance } from 'fastify';
import { checkMail, type MailParts } from '../../../delivery/checks/mail-checks.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { Time } from '../../components/figures.tsx';
import { MailFrames } from '../../components/mail-frames.tsx';
import { Badge, Card, Notice, Tabs } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { sendMailFrame } from '../../mail-frame.ts';
import { languageOf, sendPage } from '../../page.tsx';
import { viewerOf } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { type OutboxMail, takeApart } from './mail.ts';

const VIEWS = ['look', 'text', 'headers', 'source', 'links', 'check'] as const;
type View = (typeof VIEWS)[number];

/** Registers the page of a mail and the mail's HTML for the frame in it. */
export async function outboxMailScreen(app: FastifyInstance): Promise<void> {
  app.route<{ Params: { id: string }; Querystring: { view?: string } }>({
    method: READ,
    url: '/outbox/:id',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { mail } = await new ApiClient(app, request).get<{ mail: OutboxMail }>('/outbox/details', request.params);
      const view = VIEWS.find((name) => name === request.query.view) ?? 'look';
      const title = mail.subject || languageOf(request, viewer).say('outbox.noSubject');
      const content = (
        <Mail mail={mail} parts={await takeApart(mail.raw)} view={view} isHidden={viewer.role === 'viewer'} />
      );
      return sendPage(request, reply, viewer, { title, section: 'outbox' }, content);
    },
  });

  app.route<{ Params: { id: string } }>({
    method: READ,
    url: '/outbox/:id/html',
    handler: async (request, reply) => {
      const { mail } = await new ApiClient(app, request).get<{ mail: OutboxMail }>('/outbox/details', request.params);
      const { html } = await takeApart(mail.raw);
      return sendMailFrame(reply, html ?? '', viewerOf(request).accountId);
    },
  });
}

interface MailProps {
  mail: OutboxMail;
  parts: MailParts;
  view: View;
  /** Whether the tokens in its links were left out for this user. */
  isHidden: boolean;
}

function Mail({ mail, parts, view, isHidden }: MailProps) {
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
      <Content mail={mail} parts={parts} view={view} />
    </>
  );
}

function Content({ mail, parts, view }: { mail: OutboxMail; parts: MailParts; view: View }) {
  const language = useLanguage();
  switch (view) {
    case 'look':
      return <Looks mail={mail} />;
    case 'text':
      return <pre class="source">{parts.text ?? language.say('mail.noText')}</pre>;
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
      return <Links parts={parts} />;
    case 'check':
      return <Checks parts={parts} />;
  }
}

function Looks({ mail }: { mail: OutboxMail }) {
  const language = useLanguage();
  return (
    <>
      <p class="quiet-text">
        {language.say('mail.note')}{' '}
        {mail.web_copy && (
          <a href={mail.web_copy} target="_blank" rel="noreferrer">
            {language.say('outbox.webCopy')}
          </a>
        )}
      </p>
      <MailFrames source={`/outbox/${mail.id}/html`} />
    </>
  );
}

function Links({ parts }: { parts: MailParts }) {
  const language = useLanguage();
  const { links } = checkMail(parts);
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
        { heading: language.say('outbox.linkUrl'), cell: ({ url }) => <code>{url}</code> },
      ]}
    />
  );
}

function Checks({ parts }: { parts: MailParts }) {
  const language = useLanguage();
  return (
    <Card>
      <ul class="checks">
        {checkMail(parts).findings.map(({ check, isGood, values: { count, limit } }) => (
          <li key={check}>
            <Badge tone={isGood ? 'good' : 'warn'}>
              {language.say(isGood ? 'outbox.check.good' : 'outbox.check.look')}
            </Badge>
            <span>
              {check === 'size'
                ? language.say('outbox.check.size', { size: language.bytes(count), limit: language.bytes(limit) })
                : language.fill(`outbox.check.${check}.${isGood ? 'good' : 'bad'}`, { count })}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
