/** The bar below the list of people, in which an action and the people for it are chosen. The next page tells their number and asks for confirmation. */
import type { ComponentChildren } from 'preact';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/field.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Choices } from './records.ts';

/** `whom` is the choice of the people. */
export function ActionBar({ choices, whom }: { choices: Choices; whom: ComponentChildren }) {
  const language = useLanguage();
  const options = [
    { value: '', label: language.say('people.action.choose') },
    { value: 'delete', label: language.say('people.action.delete') },
    { value: 'unsubscribe:0', label: language.say('people.action.unsubscribeAll') },
    ...choices.groups.map(({ id, group_name: name }) => ({
      value: `unsubscribe:${id}`,
      label: language.say('people.action.unsubscribe', { name }),
    })),
    ...choices.types.map(({ id, name }) => ({
      value: `move:${id}`,
      label: language.say('people.action.move', { name }),
    })),
    ...choices.segments.map(({ id, segment_name: name }) => ({
      value: `segment:${id}`,
      label: language.say('people.action.segment', { name }),
    })),
  ];
  return (
    <fieldset class="action-bar">
      <legend class="visually-hidden">{language.say('people.action')}</legend>
      {whom}
      <SelectField name="action" label={language.say('people.action')} options={options} required />
      <Button look="plain">{language.say('people.action.next')}</Button>
    </fieldset>
  );
}
