/** The question that is asked before an action changes people. */
import type { Language } from '../../words/index.ts';
import type { Choices, Job } from './records.ts';

/** What is about to happen, in a sentence with the number of people. */
export function actionQuestion(
  language: Language,
  { action, target_id: id, whole }: Pick<Job, 'action' | 'target_id' | 'whole'>,
  choices: Choices,
): string {
  const people = language.say('people.count', { count: whole });
  switch (action) {
    case 'move': {
      const name = choices.types.find((one) => one.id === id)?.name ?? '';
      return language.say('people.confirm.move', { people, name });
    }
    case 'segment': {
      const name = choices.segments.find((one) => one.id === id)?.segment_name ?? '';
      return language.say('people.confirm.segment', { people, name });
    }
    case 'unsubscribe': {
      const name = choices.groups.find((one) => one.id === id)?.group_name;
      return name === undefined
        ? language.say('people.confirm.unsubscribeAll', { people })
        : language.say('people.confirm.unsubscribe', { people, name });
    }
    case 'delete':
      return language.say('people.confirm.delete', { people });
  }
}
