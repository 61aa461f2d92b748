/** Says who changed what while a form was open. */
import { recordTime } from '../../../record-time.ts';
import type { Language } from '../../../words/index.ts';

/** `fields`: the name of each, what the form has and what is stored by now. */
export function changedMeanwhile(
  language: Language,
  { updated_at, changed_by }: { updated_at: string; changed_by: string | null },
  fields: readonly (readonly [label: string, given: string, stored: string])[],
): string {
  const at = recordTime(updated_at);
  const time = at === null ? '' : language.dateTime(at);
  const parts = [
    changed_by === null
      ? language.say('automations.changed', { time })
      : language.say('automations.changed.by', { time, name: changed_by }),
    ...fields
      .filter(([, given, stored]) => given !== stored)
      .map(([label, , stored]) => language.say('automations.changed.field', { label, value: stored || '–' })),
    language.say('automations.changed.again'),
  ];
  return parts.join(' ');
}
