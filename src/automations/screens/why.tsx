/** The page that explains why one contact gets the mails of an automation or not. */
import type { FastifyInstance } from 'fastify';
import { Fragment } from 'preact';
import { Rules, WhyForm } from '../../campaigns/screens/why.tsx';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { DeliveryBadge } from '../../ui/components/campaign-state.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Subject } from '../../ui/components/subject.tsx';
import { Badge, Card } from '../../ui/components/surface.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { texts } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readSeries, type SeriesStep } from '../operations/automations.ts';
import { explainAutomation, type Why } from '../operations/why.ts';
import { sendAutomationPage } from './changing.tsx';
import { stepText } from './path.tsx';

/** Registers the page that explains an automation for one contact. */
export async function whyScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr & { Querystring: { email?: string } }>(app, '/automations/:utr/why', async (request, reply) => {
    const { utr } = request.params;
    const [email = ''] = texts(request.query.email);
    const { series } = await ask(request, readSeries, { utr });
    const asked = email.trim() === '' ? null : await attempt(request, explainAutomation, { utr, email });
    const content = (
      <>
        <WhyForm email={email} problems={asked !== null && 'problems' in asked ? asked.problems : {}} />
        {asked !== null && 'output' in asked && (
          <>
            <Path {...asked.output.why} known={series.steps} />
            <Rules rules={asked.output.why.rules} />
          </>
        )}
      </>
    );
    return sendAutomationPage(request, reply, { utr, title: series.automation_name }, content);
  });
}

/** The steps of the contact: those taken and those to come. `known` are all steps of the automation. */
function Path({ state, reason, entered_at, steps, known }: Why & { known: readonly SeriesStep[] }) {
  const language = useLanguage();
  const nameOf = ({ utr, kind }: Why['steps'][number]) => {
    const step = known.find((candidate) => candidate.utr === utr);
    return step === undefined ? language.say(`automations.step.${kind}`) : stepText(language, step);
  };
  return (
    <Card title={language.say('why.path')}>
      <p>
        <Badge tone="plain">{language.say(`automations.forecast.${state}`)}</Badge>{' '}
        {reason !== null && <span class="capitalized">{language.fullSentence(reason)}</span>}
      </p>
      <ol class="timeline">
        {entered_at !== null && (
          <li>
            <Time at={new Date(entered_at)} /> {language.say('automations.forecast.entered')}
          </li>
        )}
        {steps.map((step) => (
          <li key={step.utr} class={step.taken_at === null ? 'future' : undefined}>
            <When step={step} hasEnded={state === 'finished' || state === 'left'} />
            <br />
            {step.kind === 'mail' ? <Subject text={step.subject} /> : <bdi>{nameOf(step)}</bdi>}{' '}
            {step.delivery_state !== null && <DeliveryBadge state={step.delivery_state} />}
            {step.used.map((used) => (
              <Fragment key={String(used)}>
                <br />
                <bdi class="small">{language.sentence(used)}</bdi>
              </Fragment>
            ))}
            {step.awaits !== null && (
              <>
                <br />
                <bdi>{language.sentence(step.awaits)}</bdi>
              </>
            )}
            {step.change !== null && (
              <>
                <br />
                <bdi class="small">{language.sentence(step.change)}</bdi>
              </>
            )}
            {step.reply !== null && (
              <>
                <br />
                <bdi class="small capitalized">{language.sentence(step.reply)}</bdi>
              </>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}

/** When the contact took a step or will take it, or why the step has no time. */
function When({
  step: { taken_at, due_at, code, is_elsewhere, awaits },
  hasEnded,
}: {
  step: Why['steps'][number];
  hasEnded: boolean;
}) {
  const language = useLanguage();
  if (taken_at !== null)
    return (
      <>
        <Time at={new Date(taken_at)} /> {code !== null && language.say(`automations.log.${code}`)}
      </>
    );
  if (due_at !== null)
    return (
      <>
        {language.say(awaits === null ? 'automations.forecast.due' : 'why.atLatest')} <Time at={new Date(due_at)} />
      </>
    );
  if (is_elsewhere === 1) return <>{language.say('why.elsewhere')}</>;
  return <>{language.say(hasEnded ? 'why.ended' : 'why.open')}</>;
}
