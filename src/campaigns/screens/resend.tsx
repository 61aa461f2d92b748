/** The pages that send a completed campaign again: to contacts who did not open it, and to contacts who joined its audience later. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import type { Versions } from '../../templates/languages/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt, type Refusal } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { languageNamer } from '../../ui/words/known.ts';
import { listLanguages } from '../operations/languages.ts';
import { readSummary, type Summary } from '../operations/reports.ts';
import { countUnopened, resendToUnopened } from '../operations/resend.ts';
import { countJoined, sendToJoined } from '../operations/send-to-joined.ts';
import { stepPath } from './compose/step.tsx';

/** Registers the page that sends a campaign again to contacts who did not open it, and the page that sends it to contacts who joined later. */
export async function resendScreen(app: FastifyInstance): Promise<void> {
  app.addHook('onRequest', async (request) => requireEditor(request));

  pageRoute<ByUtr>(app, '/campaigns/:utr/again', show);

  app.post<ByUtr>('/campaigns/:utr/again', async (request, reply) => {
    const subject = field(request, 'subject');
    const { languages } = await ask(request, listLanguages, request.params);
    const subjects = languages.map(({ language }) => field(request, `subject-${language}`).trim());
    const created = await attempt(request, resendToUnopened, { utr: request.params.utr, subject, subjects });
    if (!('problems' in created)) return reply.redirect(stepPath(created.output.utr, 'audience'), 303);
    const { status, problems } = created;
    if (problems.subject !== undefined || problems.subjects !== undefined)
      return show(request, reply.code(status), { subject, subjects, problems });
    return refuse(request, reply, created);
  });

  async function show(
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    submitted: { subject?: string; subjects?: readonly string[]; problems?: Problems } = {},
  ) {
    const { utr } = request.params;
    const summary = await ask(request, readSummary, { utr });
    const counted = await attempt(request, countUnopened, { utr });
    if ('problems' in counted) return refuse(request, reply, counted);
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('campaigns.again');
    const { languages } = await ask(request, listLanguages, { utr });
    const content = <Resend {...{ summary, languages }} count={counted.output.count} {...submitted} />;
    return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
  }

  pageRoute<ByUtr>(app, '/campaigns/:utr/joined', async (request, reply) => {
    const { utr } = request.params;
    const counted = await attempt(request, countJoined, { utr });
    if ('problems' in counted) return refuse(request, reply, counted);
    const viewer = viewerOf(request);
    const title = languageOf(request, viewer).say('campaigns.joined');
    const content = <Joined utr={utr} count={counted.output.count} />;
    return sendPage(request, reply, viewer, { title, section: 'campaigns' }, content);
  });

  app.post<ByUtr>('/campaigns/:utr/joined', async (request, reply) => {
    const { utr } = request.params;
    const sent = await attempt(request, sendToJoined, { utr });
    if ('problems' in sent) return refuse(request, reply, sent);
    setFlash(reply, 'good', 'joined.done');
    return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, 303);
  });

  function refuse(request: FastifyRequest<ByUtr>, reply: FastifyReply, refusal: Refusal) {
    setFlash(reply, 'bad', 'campaigns.refused', { reason: refusal.text });
    return reply.redirect(`/campaigns/${encodeURIComponent(request.params.utr)}`, 303);
  }
}

/** The number of contacts who joined the audience after the campaign was sent, and the button that sends the campaign to them. */
function Joined({ utr, count }: { utr: string; count: number }) {
  const language = useLanguage();
  return (
    <Card>
      <p>
        <b>{count === 0 ? language.say('joined.nobody') : language.say('joined.count', { count })}</b>
      </p>
      {count > 0 && <p class="quiet-text">{language.say('joined.about')}</p>}
      <form method="post" action={`/campaigns/${utr}/joined`} class="buttons">
        {count > 0 && <Button label={language.say('joined.send')} />}
        <LinkButton look="quiet" href={`/campaigns/${utr}`} label={language.say('confirm.cancel')} />
      </form>
    </Card>
  );
}

/** The form with the new subjects of a campaign that is sent again to contacts who did not open it. */
function Resend({
  summary,
  languages,
  count,
  subject = '',
  subjects = [],
  problems,
}: {
  summary: Summary;
  /** The versions of the campaign in other languages. */
  languages: Versions['languages'];
  count: number;
  subject?: string;
  subjects?: readonly string[];
  problems?: Problems;
}) {
  const language = useLanguage();
  const nameOf = languageNamer(language);
  const back = <LinkButton look="quiet" href={`/campaigns/${summary.utr}`} label={language.say('confirm.cancel')} />;
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
      <form method="post" action={`/campaigns/${summary.utr}/again`} class="narrow">
        <TextField
          name="subject"
          label={language.say('resend.subject')}
          hint={language.say('resend.subject.hint', { subject: summary.subject })}
          value={subject}
          maxLength={MAX_LINE_CHARACTERS}
          autocomplete="off"
          required
          problems={problems ?? {}}
        />
        {languages.map((version, at) => (
          <TextField
            key={version.language}
            name={`subject-${version.language}`}
            label={language.say('resend.subject.in', { name: nameOf(version.language) })}
            hint={language.say('resend.subject.hint', { subject: version.subject || summary.subject })}
            value={subjects[at] ?? ''}
            maxLength={MAX_LINE_CHARACTERS}
            autocomplete="off"
            required={version.subject !== ''}
            problems={subjects[at] === '' ? { [`subject-${version.language}`]: problems?.subjects ?? [] } : {}}
          />
        ))}
        <div class="buttons">
          <Button label={language.say('compose.create')} />
          {back}
        </div>
      </form>
    </Card>
  );
}
