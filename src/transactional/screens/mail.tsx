/** One transactional mail: to whom it went, what became of it and why. Its text is not kept. */

import type { FastifyInstance } from 'fastify';
import { type ComponentChildren, Fragment } from 'preact';
import { DeliveryBadge } from '../../dashboard/components/campaign-state.tsx';
import { Time } from '../../dashboard/components/figures.tsx';
import { ask } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { viewerOf } from '../../dashboard/signed-in.ts';
import { type PlainKey, useLanguage } from '../../dashboard/words/index.ts';
import { shownDeliveryState } from '../../delivery/reporting/kept-mails.ts';
import { READ } from '../../http/pages/layout.ts';
import { type Mail, readMail } from '../operations.ts';

/** Registers the page of one mail. */
export async function transactionalMailScreen(app: FastifyInstance): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/transactional/:utr',
    handler: async (request, reply) => {
      const viewer = viewerOf(request);
      const { mail } = await ask(request, readMail, request.params);
      const title = mail.subject || languageOf(request, viewer).say('outbox.noSubject');
      return sendPage(request, reply, viewer, { title, section: 'mailings' }, <OneMail mail={mail} />);
    },
  });
}

function OneMail({ mail }: { mail: Mail }) {
  const language = useLanguage();
  const at = (time: string) => <Time at={new Date(time)} />;
  const facts: (readonly [PlainKey, ComponentChildren])[] = [
    ['mailings.state', <DeliveryBadge key="state" state={shownDeliveryState(mail.state, mail.reply)} />],
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
