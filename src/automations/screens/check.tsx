/** The page that checks all mails of an automation for all contacts whom the mails would reach now. */
import type { FastifyInstance } from 'fastify';
import { AudienceFindings, Findings } from '../../campaigns/screens/findings.tsx';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Button } from '../../ui/components/button.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { ask } from '../../ui/operations.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type CheckedMails, checkAutomationMails } from '../operations/check.ts';
import { readSummary } from '../operations/reports.ts';
import { checkAddress, mailAddress, sendAutomationPage } from './changing.tsx';

interface Call extends ByUtr {
  Querystring: { all?: string };
}

/** Registers the page that checks all mails of an automation. The check starts when the user submits the form of the page. */
export async function checkScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/automations/:utr/check', async (request, reply) => {
    const { utr } = request.params;
    const { automation_name: title } = await ask(request, readSummary, { utr });
    const content =
      request.query.all === undefined ? (
        <Start utr={utr} />
      ) : (
        <Checked utr={utr} {...(await ask(request, checkAutomationMails, { utr }))} />
      );
    return sendAutomationPage(request, reply, { utr, title }, content);
  });
}

function Start({ utr }: { utr: string }) {
  const language = useLanguage();
  return (
    <Card title={language.say('automations.check')}>
      <form method="get" action={checkAddress(utr)}>
        <p class="quiet-text">{language.say('automations.check.about')}</p>
        <Button look="plain" name="all" value="1" label={language.say('automations.check.start')} />
      </form>
    </Card>
  );
}

function Checked({ utr: automation, mails }: CheckedMails & { utr: string }) {
  const language = useLanguage();
  if (mails.length === 0) return <p>{language.say('automations.noMails')}</p>;
  return (
    <div class="stack">
      {mails.map(({ utr, subject, check: { findings, recipients, problem } }) => (
        <section key={utr} class="card">
          <h2>
            <a href={mailAddress(automation, utr, 'check')}>
              <Subject text={subject} />
            </a>
          </h2>
          {problem !== null && (
            <Notice tone="warn">{language.say('preview.problem', { problem: language.fullSentence(problem) })}</Notice>
          )}
          <Findings findings={findings} />
          {problem === null && <AudienceFindings checked={recipients} />}
        </section>
      ))}
    </div>
  );
}
