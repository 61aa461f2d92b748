/** The form of a feed: its URL, when its mails are made, their recipients and their template. */
import type { FastifyRequest } from 'fastify';
import { chosenFirst, senderOptions, Targets } from '../../campaigns/screens/compose/audience.tsx';
import { Placeholders } from '../../campaigns/screens/compose/content.tsx';
import type { Choices } from '../../campaigns/screens/compose/step.tsx';
import type { ListedTemplate } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import type { Problems } from '../../ui/components/field.tsx';
import { type FormValues, form } from '../../ui/components/form.tsx';
import { Card } from '../../ui/components/surface.tsx';
import { texts } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { WEEKDAYS, weekdayName } from '../../ui/words/weekdays.ts';
import { saveFeed } from '../operations.ts';

const SOURCE_FORM = form(saveFeed.input, [
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
const AUDIENCE_FORM = form(saveFeed.input, [
  { name: 'recipient_id', label: 'compose.audience.to' },
  { name: 'exclude_specific_recipient_id', label: 'compose.audience.not' },
]);
const MAIL_FORM = form(saveFeed.input, [
  { name: 'sender_id', label: 'compose.sender' },
  { name: 'unsubscribe_group_id', label: 'compose.group', hint: 'compose.group.hint' },
  {
    name: 'subject',
    label: 'feeds.field.subject',
    attributes: { type: 'text', 'data-takes-placeholders': true },
  },
]);
const TEMPLATE_FORM = form(saveFeed.input, [{ name: 'template_id', label: 'feeds.field.template_id' }]);

const SUBJECT_TAGS = ['item_title', 'feed_title', 'items_count'] as const;
/** The merge tags of a feed's template. The first and the last one enclose the part that is repeated for each item. */
const TEMPLATE_TAGS = [
  'items',
  'item_title',
  'item_link',
  'item_summary',
  'item_image',
  'item_date',
  'item_author',
  'items_end',
] as const;

/** Reads the form. */
export function readFeedForm(request: FastifyRequest): FormValues {
  return {
    ...SOURCE_FORM.read(request),
    ...AUDIENCE_FORM.read(request),
    ...MAIL_FORM.read(request),
    ...TEMPLATE_FORM.read(request),
  };
}

interface FormProps {
  /** The id of the feed to change; null: a new one. */
  id: number | null;
  values: Readonly<Record<string, unknown>>;
  choices: Choices;
  templates: readonly Pick<ListedTemplate, 'id' | 'template_name'>[];
  /** The merge tags of contacts. */
  placeholders: readonly string[];
  problems: Problems;
}

/** The form of a new feed, or of the feed with this id. */
export function FeedForm({ id, values, choices, templates, placeholders, problems }: FormProps) {
  const { targets, senders, groups } = choices;
  const language = useLanguage();
  const chosen = {
    recipient_id: texts(values.recipient_id),
    exclude_specific_recipient_id: texts(values.exclude_specific_recipient_id),
  };
  const weekday = WEEKDAYS.map((day) => ({ value: String(day), label: weekdayName(language, day) }));
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
        <div class="narrow stack feed-source">
          <SOURCE_FORM.Fields {...{ values, problems }} options={{ weekday, time_zone }} />
        </div>
        <Targets targets={chosenFirst(targets, chosen)} values={chosen} problems={problems} />
        <div class="narrow stack">
          <MAIL_FORM.Fields {...{ values, problems }} options={mail} />
          <Placeholders names={[...SUBJECT_TAGS, ...placeholders]} labels={tagLabels(language)} />
          <TEMPLATE_FORM.Fields {...{ values, problems }} options={mail} />
          <TemplateTags />
          <div class="buttons">
            <Button label={language.say(id === null ? 'feeds.add.submit' : 'feeds.save')} />
            <LinkButton
              look="plain"
              href="/feeds"
              label={language.say(id === null ? 'confirm.cancel' : 'feeds.back')}
            />
          </div>
        </div>
      </form>
    </Card>
  );
}

/** What each merge tag of a feed stands for. */
function tagLabels(language: Language): Record<string, string> {
  return Object.fromEntries(
    [...SUBJECT_TAGS, ...TEMPLATE_TAGS].map((name): [string, string] => [name, language.say(`feeds.tag.${name}`)]),
  );
}

/** Explains how a template of the account shows the items. */
function TemplateTags() {
  const language = useLanguage();
  return (
    <details class="placeholders">
      <summary>{language.say('feeds.own')}</summary>
      <p class="small quiet-text">{language.say('feeds.own.about')}</p>
      <ul>
        {TEMPLATE_TAGS.map((name) => (
          <li key={name}>
            {language.say(`feeds.tag.${name}`)} <code>{`((${name}))`}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}

/**
 * Returns every time zone as an option, by its city in the group of its part of the world, so that typing the city finds
 * the zone. UTC and the chosen zone come first.
 */
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
