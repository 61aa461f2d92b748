/** The choice of how many people get a mailing first, before everybody else. */

import { SelectField } from '../../../dashboard/components/field.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { canarySize, LEAST_AUDIENCE } from '../../../delivery/watch/canary-size.ts';
import type { Draft } from '../../operations/drafts.ts';

const FIRST_PERCENTS = [0, 1, 2, 3, 4, 5];

/** How many get it first. A small audience gets it at once, and an A/B test begins with a part of its own. */
export function FirstPart({ name, draft, count }: { name: string; draft: Draft; count: number }) {
  const language = useLanguage();
  if (count < LEAST_AUDIENCE || draft.variants > 1) return null;
  const label = (percent: number) =>
    percent === 0
      ? language.say('compose.schedule.first.none')
      : language.say('compose.schedule.first.part', {
          count: canarySize(count, percent),
          share: language.percent(percent / 100),
        });
  return (
    <SelectField
      name={name}
      label={language.say('compose.schedule.first')}
      hint={language.say('compose.schedule.first.hint')}
      value={String(draft.canary_percent)}
      options={FIRST_PERCENTS.map((percent) => ({ value: String(percent), label: label(percent) }))}
    />
  );
}
