/** A step other than a mail: adding one, and removing it. If contacts wait there, the page shows the effects on them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readChoices } from '../../campaigns/screens/compose/step.tsx';
import type { Target } from '../../campaigns/screens/compose/targets.ts';
import { withAnnouncedWork } from '../../database/write-turns.ts';
import { notFound } from '../../errors/failure.ts';
import { pageRoute } from '../../http/pages/layout.ts';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card, Notice, Problem } from '../../ui/components/surface.tsx';
import { ask, problemsAt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { field, texts } from '../../users/screens/sign-in/fields.ts';
import { readSeries, type Series } from '../operations/automations.ts';
import { addStep, removeStep } from '../operations/changes.ts';
import {
  attemptChange,
  automationAddress,
  concerningMail,
  editAddress,
  refusalText,
  sendQuestion,
} from './changing.tsx';
import { AddingEnd, WaitFields } from './mail.tsx';
import { segmentOptions, stepText } from './path.tsx';

const KINDS = ['if', 'split', 'exit'] as const;

/** Where the new step goes, as in the address of the form. */
interface NewStepCall {
  Params: { utr: string };
  Querystring: { before?: string; parent?: string; branch?: string };
}

interface StepFields {
  kind: string;
  segment_id: string;
  share: string;
  waiting_type: string;
  waiting_period: string;
  before: string;
  parent: string;
  branch: string;
}

/** Returns those fields that have a value, so that a step on the main path names no path. */
function withValues(given: StepFields): Partial<StepFields> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

export async function stepScreens(app: FastifyInstance): Promise<void> {
  const show = async (
    request: FastifyRequest<NewStepCall>,
    reply: FastifyReply,
    sent: { given?: StepFields; problems?: Problems; problem?: string } = {},
  ) => {
    const viewer = viewerOf(request);
    const [{ series }, { targets }] = await Promise.all([
      ask(request, readSeries, request.params),
      readChoices(request),
    ]);
    const at = (name: 'before' | 'parent' | 'branch') => texts(request.query[name])[0] ?? '';
    const given = sent.given ?? {
      kind: 'if',
      segment_id: '',
      share: '50',
      waiting_type: 'instantly',
      waiting_period: '1',
      before: at('before'),
      parent: at('parent'),
      branch: at('branch'),
    };
    const title = languageOf(request, viewer).say('automations.addStep');
    const content = <AddStep {...{ series, targets, ...sent, given }} />;
    return sendPage(request, reply, viewer, { title, section: 'automations' }, content);
  };

  pageRoute<NewStepCall>(app, '/automations/:utr/steps/new', (request, reply) => show(request, reply));

  app.post<NewStepCall>('/automations/:utr/steps/new', async (request, reply) => {
    const { utr } = request.params;
    const kind = field(request, 'kind');
    const given = {
      kind,
      segment_id: kind === 'if' ? field(request, 'segment_id') : '',
      share: kind === 'split' ? field(request, 'share').trim() : '',
      waiting_type: field(request, 'waiting_type'),
      waiting_period: field(request, 'waiting_period').trim() || '1',
      before: field(request, 'before'),
      parent: field(request, 'parent'),
      branch: field(request, 'branch'),
    };
    const { series } = await ask(request, readSeries, { utr });
    const unchanged_since = field(request, 'unchanged_since');
    const known = new Set(series.steps.map((step) => step.utr));
    const added = await attemptChange(
      request,
      addStep,
      { ...withValues(given), utr, unchanged_since },
      ({ people }) => ({
        people: people.filter(({ to }) => to !== null && !known.has(to)),
        leaving: 0,
      }),
    );
    if ('asked' in added)
      return sendQuestion(request, reply, {
        series,
        effects: added.asked,
        action: `${automationAddress(utr)}/steps/new`,
        fields: { ...given, unchanged_since },
        submit: languageOf(request, viewerOf(request)).say('automations.addStep'),
      });
    if ('output' in added) return reply.redirect(`${editAddress(utr)}#mails`, 303);
    const problem = refusalText(request, added, series) || (added.problems.utr ?? []).join(' ');
    return show(request, reply.code(added.status), { given, problems: problemsAt(added, 'kind'), problem });
  });

  const readStep = async (request: FastifyRequest<RemoveCall>) => {
    const { series } = await ask(request, readSeries, { utr: request.params.automation });
    const step = series.steps.find(({ utr, kind }) => utr === request.params.utr.toLowerCase() && kind !== 'mail');
    if (step === undefined) throw notFound();
    return { series, step };
  };

  pageRoute<RemoveCall>(app, '/automations/:automation/steps/:utr/remove', async (request, reply) => {
    const { series, step } = await readStep(request);
    const language = languageOf(request, viewerOf(request));
    const tried = await withAnnouncedWork(() => ask(request, removeStep, { utr: step.utr, dry_run: 1 }));
    return sendQuestion(request, reply, {
      series,
      effects: concerningMail(tried.effects, step.utr),
      action: `${automationAddress(series.utr)}/steps/${step.utr}/remove`,
      fields: {},
      submit: language.say('automations.removeStep'),
      what: language.say('automations.removeStep.what', { step: stepText(language, step) }),
    });
  });

  app.post<RemoveCall>('/automations/:automation/steps/:utr/remove', async (request, reply) => {
    const { series, step } = await readStep(request);
    await ask(request, removeStep, { utr: step.utr });
    return reply.redirect(`${editAddress(series.utr)}#mails`, 303);
  });
}

interface RemoveCall {
  Params: { automation: string; utr: string };
}

interface AddStepProps {
  series: Series;
  targets: readonly Target[];
  given: StepFields;
  problems?: Problems;
  problem?: string;
}

function AddStep({ series, targets, given, problems = {}, problem }: AddStepProps) {
  const language = useLanguage();
  const { before, parent, branch } = given;
  return (
    <>
      <Problem>{problem}</Problem>
      {series.is_live === 1 && <Notice>{language.say('automations.addStep.isLive')}</Notice>}
      <Card>
        <form method="post" action={`${automationAddress(series.utr)}/steps/new`} class="narrow">
          <SelectField
            name="kind"
            label={language.say('automations.step')}
            hint={language.say('automations.step.hint')}
            value={given.kind}
            options={KINDS.map((value) => ({ value, label: language.say(`automations.step.${value}`) }))}
            problems={problems}
          />
          <SelectField
            name="segment_id"
            label={language.say('automations.step.segment')}
            hint={language.say('automations.step.segment.hint')}
            value={given.segment_id}
            options={[{ value: '', label: language.say('compose.choose') }, ...segmentOptions(targets)]}
            problems={problems}
          />
          <TextField
            name="share"
            type="number"
            min={1}
            max={99}
            label={language.say('automations.step.share')}
            hint={language.say('automations.step.share.hint')}
            value={given.share || '50'}
            problems={problems}
          />
          <WaitFields given={given} isFirst={series.steps.length === 0} problems={problems} />
          <AddingEnd series={series} place={{ before, parent, branch }} label={language.say('automations.addStep')} />
        </form>
      </Card>
    </>
  );
}
