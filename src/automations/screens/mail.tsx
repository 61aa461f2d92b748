/** A mail of an automation, as the pages for the content and its checks compose it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import { LinkButton } from '../../dashboard/components/button.tsx';
import { Notice, Problem, Tabs } from '../../dashboard/components/surface.tsx';
import { ask, attempt } from '../../dashboard/operations.ts';
import { sendPage } from '../../dashboard/page.tsx';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { notFound } from '../../errors/failure.ts';
import type { Composed, ComposedKind, ComposedParams } from '../../single-sends/screens/compose/composed.tsx';
import { changeMail } from '../operations/changes.ts';
import { readSeries, type Series, type SeriesMail } from '../operations/series.ts';
import {
  checkAutomationMail,
  readAutomationMailCode,
  showAutomationMailHtml,
  testAutomationMail,
} from '../operations/shown-mails.ts';
import { editAddress, mailAddress } from './changing.tsx';

export const AUTOMATION_MAIL: ComposedKind = {
  route: '/automations/:automation/mails/:utr',
  section: 'automations',
  read: async (request, params) => {
    const { series, mail } = await readMail(request, params);
    return composedMail(request, series, mail);
  },
};

/** The mail of an automation with this utr; throws where there is none. */
export async function readMail(request: FastifyRequest, { automation = '', utr }: ComposedParams) {
  const { series } = await ask(request, readSeries, { utr: automation });
  const mail = series.mails.find((one) => one.utr === utr.toLowerCase());
  if (mail === undefined) throw notFound();
  return { series, mail };
}

export function composedMail(request: FastifyRequest, series: Series, mail: SeriesMail): Composed {
  const address = (step: string) => mailAddress(series.utr, mail.utr, step);
  return {
    ...mail,
    name: mail.subject,
    variants: 1,
    async save(content, unchanged_since) {
      const saved = await attempt(request, changeMail, { ...content, utr: mail.utr, unchanged_since });
      return 'problems' in saved ? saved : null;
    },
    code: () => ask(request, readAutomationMailCode, { utr: mail.utr }),
    html: ({ email }) => ask(request, showAutomationMailHtml, { utr: mail.utr, ...(email && { email }) }),
    check: ({ email }) => attempt(request, checkAutomationMail, { utr: mail.utr, ...(email && { email }) }),
    test: (given) => attempt(request, testAutomationMail, { utr: mail.utr, ...given }),
    address,
    missing: async () => (mail.content === 'none' ? <NoContent /> : null),
    readDesignUrl: async () => mail.design_url,
    send: (request, reply, { step, content, problem }) =>
      sendMailPage(request, reply, { series, mail, step, content, problem }),
  };
}

interface MailPage {
  series: Series;
  mail: SeriesMail;
  step: string;
  content: VNode;
  problem?: string | undefined;
}

/** Sends one of the pages of a mail, with what leads to the others. */
export function sendMailPage(request: FastifyRequest, reply: FastifyReply, page: MailPage) {
  const { series, mail, step, content, problem } = page;
  const frame = { title: mail.subject, section: 'automations', action: <Back utr={series.utr} /> } as const;
  const current = step === 'check' ? 'check' : 'content';
  return sendPage(
    request,
    reply,
    viewerOf(request),
    frame,
    <>
      <Steps series={series} mail={mail} current={current} />
      <Problem>{problem}</Problem>
      {content}
    </>,
  );
}

function Steps({ series, mail, current }: { series: Series; mail: SeriesMail; current: 'content' | 'check' }) {
  const language = useLanguage();
  return (
    <>
      <Tabs
        label={language.say('automations.mail.pages')}
        tabs={(['content', 'check'] as const).map((step) => ({
          href: mailAddress(series.utr, mail.utr, step),
          label: language.say(`compose.step.${step}`),
          isCurrent: step === current,
        }))}
      />
      {series.is_live === 1 && <Notice>{language.say('automations.mail.isLive')}</Notice>}
    </>
  );
}

function Back({ utr }: { utr: string }) {
  return (
    <LinkButton look="plain" href={editAddress(utr)}>
      {useLanguage().say('automations.mail.back')}
    </LinkButton>
  );
}

function NoContent() {
  return <Notice tone="warn">{useLanguage().say('compose.content.none')}</Notice>;
}
