/** The form of a webhook: its address, the events that are sent there, and a note. */
import { Button, LinkButton } from '../../../components/button.tsx';
import { type Problems, TextField } from '../../../components/field.tsx';
import { Card } from '../../../components/surface.tsx';
import { useLanguage } from '../../../words/index.ts';
import { EVENT_GROUPS } from './records.ts';

export interface Values {
  url: string;
  note: string;
  events: readonly string[];
}

export const NEW_WEBHOOK: Values = { url: '', note: '', events: [] };

/** `id` is that of the webhook which is changed; null: a new one. */
export function WebhookForm({ id, values, problems }: { id: number | null; values: Values; problems: Problems }) {
  const language = useLanguage();
  return (
    <Card title={language.say(id === null ? 'webhooks.add' : 'webhooks.change')}>
      <form method="post" action={`/settings/webhooks/${id ?? 'new'}`} class="narrow">
        <TextField
          name="url"
          type="url"
          label={language.say('webhooks.field.url')}
          hint={language.say('webhooks.hint.url')}
          value={values.url}
          maxLength={2000}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
          problems={problems}
        />
        <Events chosen={values.events} problems={problems} />
        <TextField
          name="note"
          label={language.say('webhooks.field.note')}
          hint={language.say('webhooks.hint.note')}
          value={values.note}
          maxLength={255}
          autocomplete="off"
          problems={problems}
        />
        <div class="buttons">
          <Button>{language.say(id === null ? 'webhooks.add.submit' : 'webhooks.save')}</Button>
          <LinkButton look="plain" href="/settings/webhooks">
            {language.say(id === null ? 'confirm.cancel' : 'webhooks.back')}
          </LinkButton>
        </div>
      </form>
    </Card>
  );
}

function Events({ chosen, problems }: { chosen: readonly string[]; problems: Problems }) {
  const language = useLanguage();
  const problem = problems.events?.join(' ');
  return (
    <fieldset {...(problem !== undefined && { 'aria-describedby': 'events-problem' })}>
      <legend>{language.say('webhooks.field.events')}</legend>
      {problem !== undefined && (
        <p class="field">
          <span class="problem" id="events-problem">
            {problem}
          </span>
        </p>
      )}
      {EVENT_GROUPS.map(({ name, events }) => (
        <fieldset key={name} class="webhook-events">
          <legend>{language.say(`webhooks.events.${name}`)}</legend>
          {events.map((event) => (
            <label key={event} class="choice">
              <input type="checkbox" name="events" value={event} checked={chosen.includes(event)} />
              <span>
                {language.say(`webhooks.event.${event}`)} <code class="quiet-text">{event}</code>
              </span>
            </label>
          ))}
        </fieldset>
      ))}
    </fieldset>
  );
}
