/** Warming up sender domains: the plans with their progress, and the form that starts or changes a plan. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_PLAN } from '../../delivery/warm-up/plans.ts';
import { Confirm } from '../../ui/components/confirm.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { type FormValues, form, SentForm } from '../../ui/components/form.tsx';
import { Badge, Card } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { attempt } from '../../ui/operations.ts';
import { backTo } from '../../ui/settings/frame.tsx';
import { field } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { changeWarmUp, stopWarmUp, type WarmUp } from '../operations/warm-ups.ts';

const PLAN_FORM = form(changeWarmUp.input, [
  { name: 'domain', label: 'warmUp.domain' },
  { name: 'volume', label: 'warmUp.volume', hint: 'warmUp.volume.hint', attributes: { type: 'text', required: true } },
  { name: 'growth', label: 'warmUp.growth', hint: 'warmUp.growth.hint', attributes: { type: 'text', required: true } },
  { name: 'until_volume', label: 'warmUp.until', hint: 'warmUp.until.hint' },
  { name: 'starts_on', label: 'warmUp.start', attributes: { type: 'date', required: true } },
]);
const TONES = { waiting: 'plain', on: 'busy', over: 'good' } as const;

/** The submitted values of the form, and the problems of its fields. */
export interface WarmUpForm {
  values?: FormValues;
  problems?: Problems;
}

/** Sends the page of the senders with a message about a failed action. */
type Show = (request: FastifyRequest, reply: FastifyReply, problem: string, form: WarmUpForm) => Promise<unknown>;

/** Registers the forms that begin and end a warm-up. `show` sends the page of senders. */
export function warmUpForms(app: FastifyInstance, show: Show): void {
  app.post('/settings/senders/warm-up', async (request, reply) => {
    const values = PLAN_FORM.read(request);
    const saved = await attempt(request, changeWarmUp, values);
    if ('output' in saved) return backTo(reply, 'senders', 'settings.done.warmUp');
    return show(request, reply.code(saved.status), saved.problem, { values, problems: saved.problems });
  });

  app.post('/settings/senders/warm-up/stop', async (request, reply) => {
    const stopped = await attempt(request, stopWarmUp, { domain: field(request, 'domain') });
    if ('output' in stopped) return backTo(reply, 'senders', 'settings.done.warmUpStopped');
    return show(request, reply.code(stopped.status), stopped.text, {});
  });
}

/** The plans and the form. `today` is the default start date of the form, YYYY-MM-DD. */
export function WarmUps({
  warmUps,
  domains,
  form: typed,
  today,
}: {
  warmUps: readonly WarmUp[];
  domains: readonly string[];
  form: WarmUpForm;
  today: string;
}) {
  const language = useLanguage();
  return (
    <section class="stack" id="warm-up">
      <h2>{language.say('warmUp.title')}</h2>
      <p class="quiet-text">{language.say('warmUp.text')}</p>
      {warmUps.length > 0 && <Plans warmUps={warmUps} />}
      <Card title={language.say('warmUp.form')}>
        <SentForm
          form={PLAN_FORM}
          action="/settings/senders/warm-up"
          values={{ ...DEFAULT_PLAN, starts_on: today, ...typed.values }}
          problems={typed.problems}
          options={{ domain: domains.map((domain) => ({ value: domain, label: domain })) }}
          look="plain"
          submit={language.say('warmUp.save')}
        />
      </Card>
    </section>
  );
}

function Plans({ warmUps }: { warmUps: readonly WarmUp[] }) {
  const language = useLanguage();
  return (
    <Table
      caption={language.say('warmUp.plans')}
      rows={warmUps}
      keyOf={({ domain }) => domain}
      columns={[
        { heading: language.say('warmUp.domain'), cell: ({ domain }) => <bdi>{domain}</bdi> },
        {
          heading: language.say('warmUp.state'),
          cell: (warmUp) => (
            <div>
              <Badge tone={TONES[warmUp.state]}>{language.say(`warmUp.${warmUp.state}`)}</Badge>
              <span class="second-line quiet-text">{stateText(language, warmUp)}</span>
            </div>
          ),
        },
        {
          heading: language.say('warmUp.today'),
          isNumber: true,
          cell: ({ state, sent_today: sent, today }) =>
            state === 'on' ? `${language.number(sent)} / ${language.number(today)}` : '–',
        },
        numberColumn(language, 'warmUp.until', 'until_volume'),
        {
          heading: language.say('warmUp.change'),
          cell: ({ domain, state }) => (
            <Confirm
              id={`stop-${domain}`}
              action="/settings/senders/warm-up/stop"
              label={language.say(state === 'over' ? 'warmUp.remove' : 'warmUp.stop')}
              title={language.say('warmUp.stop.title', { domain })}
            >
              <input type="hidden" name="domain" value={domain} />
              <p>{language.say('warmUp.stop.text')}</p>
            </Confirm>
          ),
        },
      ]}
    />
  );
}

function stateText(language: Language, { state, starts_on: start, ends_on: end }: WarmUp) {
  const day = language.calendarDate(state === 'waiting' ? start : end);
  return language.say(`warmUp.${state}.day`, { day });
}
