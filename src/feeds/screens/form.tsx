/** The form of a feed: its URL, when its mails are made, their recipients and their template. */
import type { FastifyRequest } from 'fastify';
import { chosenFirst, senderOptions, Targets } from '../../campaigns/screens/compose/audience.tsx';
import type { Choices } from '../../campaigns/screens/compose/step.tsx';
import type { ListedTemplate } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { type FormValues, form } from '../../ui/components/form.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { useLanguage } from '../../ui/words/index.ts';
import { texts } from '../../users/screens/sign-in/fields.ts';
import { saveFeed } from '../operations.ts';

const WEEKDAYS = [1, 2, 3, 4, 5, 6, 7] as const;
/** A Monday, from which the names of the weekdays are made. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

const SOURCE = form(saveFeed.input, [
  { name: 'feed_name', label: 'feeds.field.feed_name', hint: 'feeds.hint.feed_name' },
  {
    name: 'url',
    label: 'feeds.field.url',
    hint: 'feeds.hint.url',
    attributes: { type: 'url', autocapitalize: 'none', spellcheck: false },
  },
  {
    name: 'rhythm',
    label: 'feeds.field.rhythm',
    option: (language, rhythm) => language.say(`feeds.rhythm.${rhythm}`),
  },
  { name: 'weekday', label: 'feeds.field.weekday' },
  { name: 'time_of_day', label: 'feeds.field.time_of_day', attributes: { type: 'time' } },
  { name: 'time_zone', label: 'feeds.field.time_zone', hint: 'feeds.hint.time_zone' },
]);
const AUDIENCE = form(saveFeed.input, [
  { name: 'recipient_id', label: 'compose.audience.to' },
  { name: 'exclude_specific_recipient_id', label: 'compose.audience.not' },
]);
const MAIL = form(saveFeed.input, [
  { name: 'sender_id', label: 'compose.sender' },
  { name: 'unsubscribe_group_id', label: 'compose.group', hint: 'compose.group.hint' },
  { name: 'subject', label: 'feeds.field.subject', hint: 'feeds.hint.subject' },
  { name: 'template_id', label: 'feeds.field.template_id', hint: 'feeds.hint.template_id' },
]);

/** Reads the form. */
export function readFeedForm(request: FastifyRequest): FormValues {
  return { ...SOURCE.read(request), ...AUDIENCE.read(request), ...MAIL.read(request) };
}

interface FormProps {
  /** The id of the feed to change; null: a new one. */
  id: number | null;
  values: Readonly<Record<string, unknown>>;
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
  const day = new Intl.DateTimeFormat(language.locale, { weekday: 'long', timeZone: 'UTC' });
  const weekday = WEEKDAYS.map((number) => ({
    value: String(number),
    label: day.format(MONDAY + (number - 1) * DAY_MS),
  }));
  const mail = {
    sender_id: senderOptions(language, senders),
    unsubscribe_group_id: groups.map(({ id: group, group_name: label }) => ({ value: String(group), label })),
    template_id: [
      { value: '0', label: language.say('feeds.template.usual') },
      ...templates.map(({ id: template, template_name: label }) => ({ value: String(template), label })),
    ],
  };
  const time_zone = zoneOptions(String(values.time_zone ?? ''));
  return (
    <Card title={language.say(id === null ? 'feeds.add' : 'feeds.change')}>
      <form method="post" action={`/feeds/${id ?? 'new'}`} class="stack">
        <div class="narrow stack">
          <SOURCE.Fields {...{ values, problems }} options={{ weekday, time_zone }} />
        </div>
        <Targets targets={chosenFirst(targets, chosen)} given={chosen} problems={problems} />
        <div class="narrow stack">
          <MAIL.Fields {...{ values, problems }} options={mail} />
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

/** Every time zone by its city below its part of the world, where typing the name of the city finds it; before them UTC and the chosen one. */
function zoneOptions(chosen: string) {
  const first = [...new Set(['UTC', chosen])].filter((zone) => zone !== '');
  const others = Intl.supportedValuesOf('timeZone').filter((zone) => zone.includes('/') && !first.includes(zone));
  return [
    ...first.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
    ...others.map((zone) => {
      const [group = '', ...city] = zone.split('/');
      return { value: zone, label: city.join(', ').replaceAll('_', ' '), group };
    }),
  ];
}
