/** How pages show the steps of an automation: each step in words, and all steps in a flow whose paths are indented. */
import { BRANCHES } from '../../database/schema/index.ts';
import type { FlowStep } from '../../ui/components/flow.tsx';
import type { IconName } from '../../ui/components/icon.tsx';
import { plainSubject } from '../../ui/components/subject.tsx';
import type { Language } from '../../ui/words/index.ts';
import { fieldLabel } from '../../ui/words/known.ts';
import { weekdayName } from '../../ui/words/weekdays.ts';
import type { Series, SeriesStep } from '../operations/automations.ts';
import { isDeciding } from '../path.ts';

export const STEP_ICONS: Readonly<Record<SeriesStep['kind'], IconName>> = {
  mail: 'mail',
  if: 'path',
  split: 'path',
  exit: 'exit',
  set_field: 'sliders',
  move: 'people',
  segment_add: 'plus',
  segment_remove: 'leave',
  wait_until: 'clock',
  webhook: 'next',
};

/** Returns a step in words: the subject of a mail without the codes of merge tags, or what the step does. */
export function stepText(language: Language, step: SeriesStep): string {
  const { kind, subject, segment_name, contact_type_name, field, value, share } = step;
  switch (kind) {
    case 'mail':
      return plainSubject(language, subject);
    case 'if':
      return segment_name === null
        ? language.say('automations.step.ifDeleted')
        : language.say('automations.step.ifIn', { name: segment_name });
    case 'split':
      return language.say('automations.step.split.text', { share: share ?? 0 });
    case 'exit':
      return language.say('automations.step.exit.text');
    case 'set_field': {
      if (field === null) return language.say('automations.step.deleted');
      const name = fieldLabel(language, field);
      return value
        ? language.say('automations.step.set_field.text', { name, value })
        : language.say('automations.step.set_field.clear', { name });
    }
    case 'wait_until':
      return waitText(language, step);
    case 'webhook':
      return value
        ? language.say('automations.step.webhook.noted', { value })
        : language.say('automations.step.webhook.text');
    default: {
      const name = kind === 'move' ? contact_type_name : segment_name;
      return language.say(name === null ? 'automations.step.deleted' : `automations.step.${kind}.text`, {
        name: name ?? '',
      });
    }
  }
}

/** Returns in words what contacts wait for at a step. */
function waitText(language: Language, step: SeriesStep): string {
  const { until, event, event_filter: filter, field, weekday, hour, timeout_hours } = step;
  const time = `${hour ?? 0}:00`;
  switch (until) {
    case 'event':
      return eventWaitText(language, { event: event ?? '', event_filter: filter, timeout_hours: timeout_hours ?? 0 });
    case 'date':
      if (field === null) return language.say('automations.step.until.deleted');
      return `${language.say('automations.step.until.date.text', { name: fieldLabel(language, field), time })}, ${atMost(language, timeout_hours ?? 0)}`;
    case 'weekday':
      return language.say('automations.step.until.weekday.text', { day: weekdayName(language, weekday ?? 1), time });
    default:
      return language.say('automations.step.until.hour.text', { time });
  }
}

/** Returns in words for which event contacts wait, and how long at most. */
export function eventWaitText(
  language: Language,
  wait: { event: string; event_filter?: string | null; timeout_hours: number },
): string {
  const { event, event_filter: filter, timeout_hours } = wait;
  const awaited = filter
    ? language.say('automations.step.until.filtered', { event, filter })
    : language.say('automations.step.until.event.text', { event });
  return `${awaited}, ${atMost(language, timeout_hours)}`;
}

function atMost(language: Language, hours: number): string {
  return language.say('automations.step.atMost', { count: hours });
}

/** Returns the label of a path: yes or no for a condition, in time or too late for a wait, and the percentage for a split. */
export function branchText(language: Language, { kind, share }: SeriesStep, branch: 'yes' | 'no'): string {
  if (kind === 'if') return language.say(`automations.path.${branch}`);
  if (kind === 'wait_until') return language.say(`automations.path.wait.${branch}`);
  return language.say('automations.path.share', { share: branch === 'yes' ? (share ?? 0) : 100 - (share ?? 0) });
}

/**
 * Returns the boxes of a path for the flow, by default of the main path. The boxes of deciding steps contain those of their paths. `show`
 * returns the box of one step.
 */
export function pathSteps(
  language: Language,
  series: Series,
  show: (step: SeriesStep) => FlowStep,
  [parent, branch]: readonly [string | null, SeriesStep['branch']] = [null, null],
): FlowStep[] {
  return series.steps
    .filter((step) => step.parent === parent && step.branch === branch)
    .map((step) => {
      if (!isDeciding(step)) return show(step);
      const branches = BRANCHES.map((name) => ({
        label: branchText(language, step, name),
        steps: pathSteps(language, series, show, [step.utr, name]),
      }));
      return { ...show(step), branches: branches.filter(({ steps }) => steps.length > 0) };
    });
}
