/** Sending a campaign again, with a new subject, to those who did not open it: says how many they are, and makes a draft. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { type Problems, TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { ask, attempt, type Refusal, sentenceOf } from '../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../dashboard/page.tsx';
import { field } from '../../dashboard/sign-in/fields.ts';
import { requireEditor, viewerOf } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { READ } from '../../http/pages/layout.ts';
import { readSummary, type Summary } from '../operations/reports.ts';
import { countUnopened, resendToUnopened } from '../operations/resend.ts';
import { stepPath } from './compose/frame.tsx';

const SEE_OTHER = 303;

interface ByUtr {
  Params: { utr: string };
}

export async function resendScreen(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/again',
    handler: (request, reply) => show(request, reply),
  });

  app.post<ByUtr>('/mailings/:utr/again', async (request, reply) => {
    const subject = field(request, 'subject');
    const made = await attempt(request, resendToUnopened, { utr: request.params.utr, subject });
    if (!('problems' in made)) return reply.redirect(stepPath(made.output.utr, 'audience'), SEE_OTHER);
    const { status, problems } = made;
    if (problems.subject !== undefined) return show(request, reply.code(status), { subject, problems });
    return refuse(request, reply, made);
  });

  async function show(
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    given: { subject?: string; problems?: Problems } = {},
  ) {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const counted = await attempt(request, countUnopened, { utr });
    if ('problems' in counted) return refuse(request, reply, counted);
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('resend.title');
    const content = <Resend summary={summary} count={counted.output.count} {...given} />;
    return sendPage(request, reply, viewer, { title, section: 'mailings' }, content);
  }

  function refuse(request: FastifyRequest<ByUtr>, reply: FastifyReply, refusal: Refusal) {
    setFlash(reply, 'bad', 'mailings.refused', { reason: sentenceOf(refusal) });
    return reply.redirect(`/mailings/${encodeURIComponent(request.params.utr)}`, SEE_OTHER);
  }
}

function Resend({
  summary,
  count,
  subject = '',
  problems,
}: {
  summary: Summary;
  count: number;
  subject?: string;
  problems?: Problems;
}) {
  const language = useLanguage();
  const back = (
    <LinkButton look="quiet" href={`/mailings/${summary.utr}`}>
      {language.say('confirm.cancel')}
    </LinkButton>
  );
  if (count === 0)
    return (
      <Card>
        <p>{language.say('resend.nobody')}</p>
        <div class="buttons">{back}</div>
      </Card>
    );
  return (
    <Card>
      <p>
        <b>{language.say('resend.count', { count })}</b>
      </p>
      <p class="quiet-text">{language.say('resend.about')}</p>
      <form method="post" action={`/mailings/${summary.utr}/again`} class="narrow">
        <TextField
          name="subject"
          label={language.say('resend.subject')}
          hint={language.say('resend.subject.hint', { subject: summary.subject })}
          value={subject}
          maxLength={255}
          autocomplete="off"
          required
          problems={problems ?? {}}
        />
        <div class="buttons">
          <Button>{language.say('resend.make')}</Button>
          {back}
        </div>
      </form>
    </Card>
  );
}
