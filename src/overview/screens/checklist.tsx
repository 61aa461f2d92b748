/** What is left to do until the first campaign is out. Each step finds out by itself whether it is done. */

import { Meter } from '../../dashboard/components/figures.tsx';
import { Icon } from '../../dashboard/components/icon.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import type { Viewer } from '../../dashboard/viewer.ts';
import { type Language, useLanguage } from '../../dashboard/words/index.ts';
import type { Overview } from '../operations.ts';

interface Step {
  name: 'people' | 'design' | 'outbox' | 'address' | 'relay' | 'dns';
  isDone: boolean;
  href: string;
  /** Whether only owners may open it. */
  isForOwners?: boolean;
  /** Whether only operators may open it. */
  isForOperators?: boolean;
  /** What is to be done, or what is known; null where the title says it all. */
  text: string | null;
}

/** The steps in their order. */
function stepsOf({ setup }: Overview, language: Language, now: Date): Step[] {
  const { contacts, has_design: hasDesign, has_sent: hasSent, public_url: hasAddress, relay, dns } = setup;
  const before = (at: string | null) => {
    const time = recordTime(at);
    return time === null ? '' : language.relative(time, now);
  };
  const todo = (name: 'design' | 'outbox' | 'address', isDone: boolean) =>
    isDone ? null : language.say(`home.step.${name}.text`);
  return [
    {
      name: 'people',
      isDone: contacts > 0,
      href: '/people/import',
      text:
        contacts > 0
          ? language.say('home.step.people.done', { count: contacts })
          : language.say('home.step.people.text'),
    },
    {
      name: 'design',
      isDone: hasDesign === 1,
      href: hasDesign === 1 ? '/mailings' : '/mailings/new',
      text: todo('design', hasDesign === 1),
    },
    { name: 'outbox', isDone: hasSent === 1, href: '/outbox', text: todo('outbox', hasSent === 1) },
    {
      name: 'address',
      isDone: hasAddress === 1,
      href: '/settings/sending#address',
      isForOperators: true,
      text: todo('address', hasAddress === 1),
    },
    {
      name: 'relay',
      isDone: ['works', 'answers', 'nodes'].includes(relay.state),
      href: '/settings/sending',
      isForOperators: true,
      text: language.fill(`home.step.relay.${relay.state}`, { time: before(relay.seen_at) }),
    },
    {
      name: 'dns',
      isDone: dns.state === 'passed',
      href: '/settings/senders',
      isForOwners: true,
      text: language.fill(`home.step.dns.${dns.state}`, {
        time: before(dns.seen_at),
        domain: dns.domain ?? '',
        checks: dns.checks.map((check) => language.say(`home.dns.check.${check}`)).join(', '),
      }),
    },
  ];
}

/** Whether the checklist is still of use: nothing has been sent, or nothing has left the machine. */
export function needsChecklist({ setup }: Overview): boolean {
  const { has_sent: hasSent, courier, relay } = setup;
  return hasSent === 0 || courier === 'outbox' || (courier === 'smtp' && relay.has_worked === 0);
}

function mayOpen({ isForOwners, isForOperators }: Step, { role, isOperator }: Viewer): boolean {
  return isForOperators ? isOperator : !isForOwners || role === 'owner';
}

/** The steps. Those lead on that the viewer may open. */
export function Checklist({ overview, now, viewer }: { overview: Overview; now: Date; viewer: Viewer }) {
  const language = useLanguage();
  const steps = stepsOf(overview, language, now);
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone }) => !isDone);
  const progress = language.say('home.steps.done', { done, count: steps.length });
  return (
    <Card title={language.say('home.steps.title')} action={<small class="quiet-text">{progress}</small>}>
      <Meter label={progress} value={done} max={steps.length} />
      <ol class="steps">
        {steps.map((step) => (
          <li key={step.name} class={step.isDone ? 'done' : step === next ? 'next' : undefined}>
            <span class="tick">
              <Icon name={step.isDone ? 'check' : 'next'} />
              <span class="visually-hidden">
                {language.say(step.isDone ? 'home.steps.isDone' : 'home.steps.isOpen')}
              </span>
            </span>
            <div>
              <h3>
                {mayOpen(step, viewer) ? (
                  <a href={step.href}>{language.say(`home.step.${step.name}.title`)}</a>
                ) : (
                  language.say(`home.step.${step.name}.title`)
                )}
              </h3>
              {step.text !== null && <p>{step.text}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
