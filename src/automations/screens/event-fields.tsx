/** The fields in which an event is named: of a trigger, and of a step that waits for one. */
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { useLanguage } from '../../ui/words/index.ts';

/** The names of the fields of the event and its filter. */
type Names = readonly [event: string, filter: string];

/** The fields of an event and the filter of its properties. `events` are the names that are proposed. */
export function EventFields({
  names: [event, filter],
  values,
  events,
  hint,
  problems,
}: {
  names: Names;
  values: Names;
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
        maxLength={255}
        autocomplete="off"
        problems={problems}
      />
    </>
  );
}
