/** The form of a feed: where it is, when its mails are made, to whom they go and what they look like. */
import { Button, LinkButton } from '../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { texts } from '../../dashboard/sign-in/fields.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { FEED_RHYTHMS } from '../../database/schema/index.ts';
import { chosenFirst, Targets } from '../../single-sends/screens/compose/audience.tsx';
import type { Choices } from '../../single-sends/screens/compose/step.tsx';
import type { ListedTemplate } from '../../templates/operations.ts';
import { saveFeed } from '../operations.ts';

const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
/** A Monday, from which the names of the days are made. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

/** What an owner chooses about a feed. */
type Chosen = Exclude<keyof typeof saveFeed.input.properties, 'id'>;
type Values = { readonly [Name in Chosen]?: unknown };

/** The fields of the form. */
export const TYPED = Object.keys(saveFeed.input.properties)
  .filter((name): name is Chosen => name !== 'id')
  .map((name) => ({ name }));

interface FormProps {
  /** That of the feed which is changed; null: a new one. */
  id: number | null;
  values: Values;
  choices: Choices;
  templates: readonly Pick<ListedTemplate, 'id' | 'template_name'>[];
  problems: Problems;
}

export function FeedForm({ id, values, choices: { targets, senders, groups }, templates, problems }: FormProps) {
  const language = useLanguage();
  const chosen = {
    recipient_id: texts(values.recipient_id),
    exclude_specific_recipient_id: texts(values.exclude_specific_recipient_id),
  };
  const value = (name: Chosen) => String(values[name] ?? '');
  const text = (name: 'feed_name' | 'url' | 'subject' | 'time_zone', more: object = {}) => (
    <TextField
      name={name}
      label={language.say(`feeds.field.${name}`)}
      hint={language.say(`feeds.hint.${name}`)}
      value={value(name)}
      maxLength={255}
      autocomplete="off"
      required
      problems={problems}
      {...more}
    />
  );
  const day = new Intl.DateTimeFormat(language.locale, { weekday: 'long', timeZone: 'UTC' });
  return (
    <Card title={language.say(id === null ? 'feeds.add' : 'feeds.change')}>
      <form method="post" action={`/feeds/${id ?? 'new'}`} class="stack">
        <div class="narrow">
          {text('feed_name')}
          {text('url', { type: 'url', maxLength: 2000, autocapitalize: 'none', spellcheck: false })}
          <SelectField
            name="rhythm"
            label={language.say('feeds.field.rhythm')}
            options={FEED_RHYTHMS.map((rhythm) => ({ value: rhythm, label: language.say(`feeds.rhythm.${rhythm}`) }))}
            value={value('rhythm')}
            problems={problems}
          />
          <SelectField
            name="weekday"
            label={language.say('feeds.field.weekday')}
            options={WEEKDAYS.map((number) => ({
              value: String(number),
              label: day.format(MONDAY + (number - 1) * DAY_MS),
            }))}
            value={value('weekday')}
            problems={problems}
          />
          <TextField
            name="time_of_day"
            type="time"
            label={language.say('feeds.field.time_of_day')}
            value={value('time_of_day')}
            problems={problems}
          />
          {text('time_zone', { required: false })}
        </div>
        <Targets targets={chosenFirst(targets, chosen)} given={chosen} problems={problems} />
        <div class="narrow">
          <SelectField
            name="sender_id"
            label={language.say('compose.sender')}
            options={senders.map(({ id: sender, from_name: name, from_email: email }) => ({
              value: String(sender),
              label: `${name} <${email}>`,
            }))}
            value={value('sender_id')}
            problems={problems}
          />
          <SelectField
            name="unsubscribe_group_id"
            label={language.say('compose.group')}
            hint={language.say('compose.group.hint')}
            options={groups.map(({ id: group, group_name: label }) => ({ value: String(group), label }))}
            value={value('unsubscribe_group_id')}
            problems={problems}
          />
          {text('subject')}
          <SelectField
            name="template_id"
            label={language.say('feeds.field.template_id')}
            hint={language.say('feeds.hint.template_id')}
            options={[
              { value: '0', label: language.say('feeds.template.usual') },
              ...templates.map(({ id: template, template_name: label }) => ({ value: String(template), label })),
            ]}
            value={value('template_id')}
            problems={problems}
          />
          <div class="buttons">
            <Button>{language.say(id === null ? 'feeds.add.submit' : 'feeds.save')}</Button>
            <LinkButton look="plain" href="/feeds">
              {language.say(id === null ? 'confirm.cancel' : 'feeds.back')}
            </LinkButton>
          </div>
        </div>
      </form>
    </Card>
  );
}
