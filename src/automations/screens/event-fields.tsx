/** The fields for an event in a form, which triggers and steps that wait for an event have in common. */

import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { useLanguage } from '../../ui/words/index.ts';

/** Two texts, for the field with the name of the event and for the field with its filter. */
type EventAndFilter = readonly [event: string, filter: string];

/** The fields for the name of an event, and for the filter by its properties. `events` are the names that the form proposes. */
export function EventFields({
  names: [event, filter],
  values,
  events,
  hint,
  problems,
}: {
  names: EventAndFilter;
  values: EventAndFilter;
  events: readonly string[];
  hint: string;
  problems: Problems;
}) {
  const language = useLanguage();
  return (
    <>
      <TextField
        name={event}
        label={language.say('automations.event')}
        hint={hint}
        value={values[0]}
        maxLength={64}
        autocomplete="off"
        list="event-names"
        problems={problems}
      />
      <datalist id="event-names">
        {events.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <TextField
        name={filter}
        label={language.say('segments.filter')}
        hint={language.say('segments.filter.hint')}
        value={values[1]}
        maxLength={MAX_LINE_CHARACTERS}
        autocomplete="off"
        problems={problems}
      />
    </>
  );
}
