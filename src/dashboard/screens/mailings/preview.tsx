/** The mail of a mailing as somebody of its audience sees it: on a desk, on a phone, and as plain text. */
import type { FastifyInstance } from 'fastify';
import type { Clock } from '../../../clock.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient } from '../../api-client.ts';
import { MailFrames } from '../../components/mail-frames.tsx';
import { Card, Notice } from '../../components/surface.tsx';
import { sendMailFrame } from '../../mail-frame.ts';
import { useLanguage } from '../../words/index.ts';
import { sendPart } from './head.tsx';
import { readSummary, type ShownMail } from './records.ts';

/** Registers the preview and the mail for the frames in it. */
export async function previewScreen(app: FastifyInstance, { clock }: { clock: Clock }): Promise<void> {
  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/preview',
    handler: async (request, reply) => {
      const api = new ApiClient(app, request);
      const { utr } = request.params;
      const summary = await readSummary(api, utr);
      const { mail } = await api.get<{ mail: ShownMail }>('/single-send/mail', { utr });
      const content = <Preview utr={utr} mail={mail} />;
      return sendPart(request, reply, { summary, now: clock.now(), current: 'preview' }, content);
    },
  });

  app.route<{ Params: { utr: string } }>({
    method: READ,
    url: '/mailings/:utr/preview/mail',
    handler: async (request, reply) => {
      const { utr } = request.params;
      const { mail } = await new ApiClient(app, request).get<{ mail: ShownMail }>('/single-send/mail', { utr });
      return sendMailFrame(reply, mail.html);
    },
  });
}

function Preview({ utr, mail: { subject, text, problem } }: { utr: string; mail: ShownMail }) {
  const language = useLanguage();
  if (problem !== null)
    return <Notice tone="warn">{language.say('preview.problem', { problem: language.sentence(problem) })}</Notice>;
  return (
    <>
      <p class="quiet-text">
        {language.say('preview.about')} {language.say('mail.note')}
      </p>
      <p>
        <span class="quiet-text">{language.say('preview.subject')}</span> <bdi>{subject}</bdi>
      </p>
      <MailFrames source={`/mailings/${utr}/preview/mail`} />
      <Card title={language.say('mail.plainText')}>
        <pre class="source">{text || language.say('mail.noText')}</pre>
      </Card>
    </>
  );
}
