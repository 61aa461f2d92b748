/** The steps of an automation as pages show them: in a flow whose paths are indented, and each in words. */
import type { Target } from '../../campaigns/screens/compose/targets.ts';
import { BRANCHES } from '../../database/schema/index.ts';
import type { FlowStep } from '../../ui/components/flow.tsx';
import type { IconName } from '../../ui/components/icon.tsx';
import type { Language } from '../../ui/words/index.ts';
import type { Series, SeriesStep } from '../operations/automations.ts';
import { isDeciding } from '../path.ts';

export const STEP_ICONS: Readonly<Record<SeriesStep['kind'], IconName>> = {
  mail: 'mail',
  exit: 'exit',
  if: 'path',
  split: 'path',
};

/** Returns the segments among the choices of targets, as options of a field. */
export function segmentOptions(targets: readonly Target[]): { value: string; label: string }[] {
  return targets
    .filter(({ kind }) => kind === 'segment')
    .map(({ value, name: label }) => ({ value: value.split('_').at(-1) ?? '', label }));
}

/** Returns a step in words: the subject of a mail, or what the step does. */
export function stepText(language: Language, { kind, subject, segment_name: name, share }: SeriesStep): string {
  if (kind === 'mail') return subject;
  if (kind === 'if')
    return name === null ? language.say('automations.step.ifDeleted') : language.say('automations.step.ifIn', { name });
  return language.say(`automations.step.${kind}.text`, { share: share ?? 0 });
}

/** Returns the name of a path of a deciding step: yes or no, or of a split its share. */
export function branchText(language: Language, { kind, share }: SeriesStep, branch: 'yes' | 'no'): string {
  if (kind === 'if') return language.say(`automations.path.${branch}`);
  return language.say('automations.path.share', { share: branch === 'yes' ? (share ?? 0) : 100 - (share ?? 0) });
}

/** Returns the steps of a path, those of further paths within them. `show` gives the step itself. */
export function pathSteps(
  language: Language,
  series: Series,
  show: (step: SeriesStep) => FlowStep,
  [parent, branch]: readonly [string | null, SeriesStep['branch']] = [null, null],
): FlowStep[] {
  return series.steps
    .filter((step) => step.parent === parent && step.branch === branch)
    .map((step) => {
      if (!isDeciding(step.kind)) return show(step);
      const branches = BRANCHES.map((one) => ({
        label: branchText(language, step, one),
        steps: pathSteps(language, series, show, [step.utr, one]),
      }));
      return { ...show(step), branches: branches.filter(({ steps }) => steps.length > 0) };
    });
}
