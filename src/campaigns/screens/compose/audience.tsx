/** The first step of composing: the recipients and exclusions of a campaign with exact numbers, its sender and its topic. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Country } from '../../../audience/places/operations.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { type Problems, SelectField } from '../../../ui/components/field.tsx';
import { Island } from '../../../ui/components/island.tsx';
import { Card, Empty } from '../../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../../ui/components/table.tsx';
import { ask } from '../../../ui/operations.ts';
import { viewerOf } from '../../../ui/signed-in.ts';
import { field, texts } from '../../../ui/submitted.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { type Audience, countAudience, type Draft } from '../../operations/drafts.ts';
import { InPlace, inPlaceForms, type Refused, readCountries } from './in-place.tsx';
import {
  type Choices,
  type Fields,
  readChoices,
  SavedForm,
  type SenderChoice,
  savedStep,
  seenValue,
  sendStep,
} from './step.tsx';
import type { Target } from './targets.ts';

/** Registers the step in which the audience is chosen. */
export function audienceStep(app: FastifyInstance): void {
  savedStep(app, { step: 'audience', submitted: submittedFields, stored: storedFields, content });
  inPlaceForms(app, async (request, reply, draft, refused) =>
    sendStep(request, reply, draft, 'audience', await content(request, draft, storedFields(draft), {}, refused)),
  );
}

/** Returns the values of the submitted form. Fields that the form did not have are absent. */
function submittedFields(request: FastifyRequest): Fields {
  const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
  return {
    recipient_id: texts(values.recipient_id),
    exclude_specific_recipient_id: texts(values.exclude_specific_recipient_id),
    // If the account has no senders or no topics, the form has no field for them.
    ...(values.sender_id !== undefined && { sender_id: field(request, 'sender_id') }),
    ...(values.unsubscribe_group_id !== undefined && {
      unsubscribe_group_id: field(request, 'unsubscribe_group_id'),
    }),
  };
}

const storedFields = (draft: Draft): Fields => ({
  recipient_id: draft.recipient_id,
  exclude_specific_recipient_id: draft.exclude_specific_recipient_id,
  sender_id: idText(draft.sender_id),
  unsubscribe_group_id: idText(draft.unsubscribe_group_id),
});

const idText = (id: number) => (id === 0 ? '' : String(id));

/** Returns the form of the step. */
async function content(request: FastifyRequest, draft: Draft, values: Fields, problems: Problems, refused?: Refused) {
  const [choices, { audience }, countries] = await Promise.all([
    readChoices(request),
    ask(request, countAudience, { utr: draft.utr }),
    readCountries(request, viewerOf(request).role === 'owner'),
  ]);
  return <AudienceForm {...{ draft, values, choices, audience, problems, countries, refused }} />;
}

interface FormProps {
  draft: Draft;
  values: Fields;
  choices: Choices;
  audience: Audience;
  problems: Problems;
  countries: readonly Country[];
  refused: Refused | undefined;
}

function AudienceForm({ draft, values, choices, audience, problems, countries, refused }: FormProps) {
  const language = useLanguage();
  const { targets, senders, groups } = choices;
  const stored = storedFields(draft);
  const fieldNames = [
    'recipient_id',
    'exclude_specific_recipient_id',
    ...(senders.length > 0 ? ['sender_id'] : []),
    ...(groups.length > 0 ? ['unsubscribe_group_id'] : []),
  ];
  const seen = seenValue(Object.fromEntries(fieldNames.map((name) => [name, stored[name] ?? ''])));
  const missing = [
    ...(targets.length === 0 ? (['list'] as const) : []),
    ...(senders.length === 0 ? (['sender'] as const) : []),
    ...(groups.length === 0 ? (['group'] as const) : []),
  ];
  const beside = (
    <>
      <Total audience={audience} />
      <InPlace {...{ utr: draft.utr, missing, countries, refused }} />
    </>
  );
  return (
    <SavedForm draft={draft} step="audience" seen={seen} beside={beside}>
      <div class="fields-in-row">
        {/* Without a sender there is no link to the settings, because a form beside this one adds a sender. */}
        {senders.length === 0 ? (
          <p>{language.say('compose.sender.none')}</p>
        ) : (
          <SenderField senders={senders} value={values.sender_id} problems={problems} />
        )}
        {groups.length > 0 && (
          <SelectField
            name="unsubscribe_group_id"
            label={language.say('compose.group')}
            hint={language.say('compose.group.hint')}
            value={String(values.unsubscribe_group_id ?? '')}
            options={withEmptyChoice(
              language,
              values.unsubscribe_group_id,
              groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
            )}
            problems={problems}
          />
        )}
      </div>
      {targets.length === 0 ? (
        <Empty
          title={language.say('compose.audience.empty.title')}
          action={<LinkButton look="plain" href="/contacts/import" label={language.say('contacts.import')} />}
        >
          {language.say('compose.audience.empty.text')}
        </Empty>
      ) : (
        <Targets targets={chosenFirst(targets, values)} values={values} problems={problems} />
      )}
    </SavedForm>
  );
}

/** The field in which the sender is chosen; if the account has no sender, the link to the page that adds one. */
export function SenderField({
  senders,
  value,
  problems,
}: {
  senders: readonly SenderChoice[];
  value: Fields[string] | undefined;
  problems: Problems;
}) {
  const language = useLanguage();
  if (senders.length === 0)
    return (
      <p>
        {language.say('compose.sender.none')} <a href="/settings/senders">{language.say('compose.sender.add')}</a>
      </p>
    );
  return (
    <SelectField
      name="sender_id"
      label={language.say('compose.sender')}
      value={String(value ?? '')}
      options={withEmptyChoice(language, value, senderOptions(language, senders))}
      problems={problems}
    />
  );
}

/** Returns the options for the sender. Unverified senders are marked. */
export function senderOptions(language: Language, senders: readonly SenderChoice[]) {
  return senders.map(({ id, from_name: name, from_email: email, is_verified: isVerified }) => {
    const sender = `${name} <${email}>`;
    return {
      value: String(id),
      label: isVerified === 1 ? sender : language.say('compose.sender.unverified', { sender }),
    };
  });
}

/** Returns the options. If there are several and none of them is chosen, an empty option comes first. */
function withEmptyChoice(
  language: Language,
  value: Fields[string] | undefined,
  options: { value: string; label: string }[],
) {
  const isChosen = options.some((option) => option.value === value);
  return isChosen || options.length === 1 ? options : [{ value: '', label: language.say('word.choose') }, ...options];
}

/** Returns the targets with the chosen ones first, so that a user sees them in a long list. */
export function chosenFirst(targets: readonly Target[], values: Fields): Target[] {
  const chosen = [values.recipient_id, values.exclude_specific_recipient_id].flat();
  const isChosen = ({ value }: Target) => chosen.includes(value);
  return [...targets.filter(isChosen), ...targets.filter((target) => !isChosen(target))];
}

/** The number of lists and segments above which the table has a search field. */
const MANY_TARGETS = 8;

/** The lists and segments, each with a checkbox to include it and one to exclude it. */
export function Targets({
  targets,
  values,
  problems,
}: {
  targets: readonly Target[];
  values: Fields;
  problems: Problems;
}) {
  const language = useLanguage();
  const problem = [...(problems.recipient_id ?? []), ...(problems.exclude_specific_recipient_id ?? [])].join(' ');
  const box = (name: 'recipient_id' | 'exclude_specific_recipient_id', { value }: Target, label: string) => (
    <span class="pick">
      <input
        type="checkbox"
        name={name}
        value={value}
        checked={values[name]?.includes(value) ?? false}
        aria-label={label}
      />
    </span>
  );
  return (
    <Island name="find-rows" data={{ text: language.fill('compose.audience.found', {}) }}>
      {problem !== '' && <p class="problem">{problem}</p>}
      {targets.length > MANY_TARGETS && (
        <div class="finder" data-finder hidden>
          <input
            type="search"
            aria-label={language.say('compose.audience.find')}
            placeholder={language.say('compose.audience.find')}
          />
          <span class="small quiet-text" role="status" />
        </div>
      )}
      <div class="targets">
        <Table
          caption={language.say('compose.audience.lists')}
          rows={targets}
          keyOf={({ value }) => value}
          columns={[
            {
              heading: language.say('compose.audience.lists'),
              cell: ({ name, kind }) => (
                <span class="named">
                  <bdi>{name}</bdi>
                  <span class="small quiet-text">{language.say(`compose.audience.${kind}`)}</span>
                </span>
              ),
            },
            numberColumn(language, 'campaigns.people', 'people'),
            {
              heading: language.say('compose.audience.to'),
              cell: (target) =>
                box('recipient_id', target, language.say('compose.audience.toOne', { name: target.name })),
            },
            {
              heading: language.say('compose.audience.not'),
              cell: (target) =>
                box(
                  'exclude_specific_recipient_id',
                  target,
                  language.say('compose.audience.notOne', { name: target.name }),
                ),
            },
          ]}
        />
      </div>
    </Island>
  );
}

/** The number of recipients, and of skipped contacts by reason. */
export function Total({ audience: { recipients, left_out: leftOut } }: { audience: Audience }) {
  const language = useLanguage();
  const count = leftOut.reduce((sum, reason) => sum + reason.count, 0);
  return (
    <div id="compose-total" data-fresh>
      <Card>
        <p aria-live="polite">
          <b>
            {recipients + count === 0
              ? language.say('compose.audience.nobody')
              : language.say('compose.audience.total', { count: recipients })}
          </b>
        </p>
        {count > 0 && (
          <>
            <p>{language.say('compose.audience.leftOut', { count })}</p>
            <ul class="small">
              {leftOut.map(({ reason, count: people }) => (
                <li key={String(reason)}>
                  {language.number(people)}: {language.sentence(reason)}
                </li>
              ))}
            </ul>
          </>
        )}
        <p class="small quiet-text">{language.say('compose.audience.once')}</p>
      </Card>
    </div>
  );
}
