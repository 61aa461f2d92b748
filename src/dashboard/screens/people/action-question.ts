/** What an action on many people does, in words: its name, and the question that is asked before it changes people. */
import type { Language } from '../../words/index.ts';
import type { Choices, Job } from './records.ts';

/** The name of an action with the contact type, segment or group it is about, as long as there is one. */
export function actionTitle(
  language: Language,
  { action, target_id: id }: Pick<Job, 'action' | 'target_id'>,
  choices: Choices,
): string {
  const name = {
    move: choices.types.find((one) => one.id === id)?.name,
    segment: choices.segments.find((one) => one.id === id)?.segment_name,
    unsubscribe: id === null ? language.say('person.allMail') : choices.groups.find((one) => one.id === id)?.group_name,
    delete: undefined,
  }[action];
  if (action === 'delete' || name === undefined) return language.say(`people.job.${action}`);
  return language.say(`people.job.${action}.named`, { name });
}

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
