/** What is left to do until the first campaign is out. Each step finds out by itself whether it is done. */

import { Meter } from '../../components/figures.tsx';
import { Icon } from '../../components/icon.tsx';
import { Card } from '../../components/surface.tsx';
import { type PlainKey, useLanguage } from '../../words/index.ts';
import type { Overview } from './overview.ts';

interface Step {
  name: 'people' | 'design' | 'outbox' | 'relay' | 'dns';
  isDone: boolean;
  href: string;
  /** Whether only owners may open it. */
  isForOwners?: boolean;
}

/** The steps in their order. */
function stepsOf({ setup }: Overview): Step[] {
  const { contacts, has_design: hasDesign, has_sent: hasSent, courier } = setup;
  return [
    { name: 'people', isDone: contacts > 0, href: '/people/import' },
    { name: 'design', isDone: hasDesign === 1, href: '/mailings' },
    { name: 'outbox', isDone: hasSent === 1, href: '/outbox' },
    { name: 'relay', isDone: courier === 'smtp', href: '/settings/health', isForOwners: true },
    {
      name: 'dns',
      isDone: setup.signed_domains > 0 && setup.unsigned_domains === 0,
      href: '/settings/senders',
      isForOwners: true,
    },
  ];
}

/** Whether the checklist is still of use: nothing has been sent, or it stayed in the outbox. */
export function needsChecklist({ setup }: Overview): boolean {
  return setup.has_sent === 0 || setup.courier === 'outbox';
}

/** The steps; `isOwner`: whether those lead on that only owners can do. */
export function Checklist({ overview, isOwner }: { overview: Overview; isOwner: boolean }) {
  const language = useLanguage();
  const steps = stepsOf(overview);
  const done = steps.filter(({ isDone }) => isDone).length;
  const next = steps.find(({ isDone }) => !isDone);
  const progress = language.say('home.steps.done', { done, count: steps.length });
  const textOf = ({ name, isDone }: Step) => {
    if (name === 'people' && isDone) return language.say('home.step.people.done', { count: overview.setup.contacts });
    const key: PlainKey = `home.step.${name}.text`;
    return isDone ? null : language.say(key);
  };
  return (
    <Card title={language.say('home.steps.title')} action={<small class="quiet-text">{progress}</small>}>
      <Meter label={progress} value={done} max={steps.length} />
      <ol class="steps">
        {steps.map((step) => {
          const text = textOf(step);
          return (
            <li key={step.name} class={step.isDone ? 'done' : step === next ? 'next' : undefined}>
              <span class="tick">
                <Icon name={step.isDone ? 'check' : 'next'} />
                <span class="visually-hidden">
                  {language.say(step.isDone ? 'home.steps.isDone' : 'home.steps.isOpen')}
                </span>
              </span>
              <div>
                <h3>
                  {step.isForOwners && !isOwner ? (
                    language.say(`home.step.${step.name}.title`)
                  ) : (
                    <a href={step.href}>{language.say(`home.step.${step.name}.title`)}</a>
                  )}
                </h3>
                {text && <p>{text}</p>}
              </div>
            </li>
          );
        })}
      </ol>
    </Card>
  );
}
