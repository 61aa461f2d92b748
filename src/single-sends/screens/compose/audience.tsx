/** The first step: whom a campaign goes to and whom it leaves out, with exact numbers, its sender and its unsubscribe group. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { addGroup } from '../../../audience/unsubscribed/groups.ts';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { Card, Empty } from '../../../dashboard/components/surface.tsx';
import { numberColumn, Table } from '../../../dashboard/components/table.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt, sentenceOf } from '../../../dashboard/operations.ts';
import { field, texts } from '../../../dashboard/sign-in/fields.ts';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import { type Audience, countAudience, type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import {
  type Choices,
  type Fields,
  readChoices,
  SavedForm,
  type SenderChoice,
  savedStep,
  seenValue,
  stepPath,
} from './step.tsx';
import type { Target } from './targets.ts';

export function audienceStep(app: FastifyInstance): void {
  savedStep(app, { step: 'audience', given: givenFields, stored: storedFields, content });
}

function givenFields(request: FastifyRequest): Fields {
  const values: Record<string, unknown> = Object.assign(Object.create(null), request.body);
  return {
    recipient_id: texts(values.recipient_id),
    exclude_specific_recipient_id: texts(values.exclude_specific_recipient_id),
    // Without senders or groups the form has no field to choose one.
    ...(values.sender_id !== undefined && { sender_id: field(request, 'sender_id') }),
    ...(values.unsubscribe_group_id !== undefined && {
      unsubscribe_group_id: field(request, 'unsubscribe_group_id'),
    }),
  };
}

const storedFields = (draft: Draft): Fields => ({
  recipient_id: draft.recipient_id,
  exclude_specific_recipient_id: draft.exclude_specific_recipient_id,
  sender_id: chosen(draft.sender_id),
  unsubscribe_group_id: chosen(draft.unsubscribe_group_id),
});

const chosen = (id: number) => (id === 0 ? '' : String(id));

async function content(request: FastifyRequest, draft: Draft, given: Fields, problems: Problems) {
  const choices = await readChoices(request);
  const { audience } = await ask(request, countAudience, { utr: draft.utr });
  return <AudienceForm draft={draft} given={given} choices={choices} audience={audience} problems={problems} />;
}

interface FormProps {
  draft: Draft;
  given: Fields;
  choices: Choices;
  audience: Audience;
  problems: Problems;
}

function AudienceForm({ draft, given, choices, audience, problems }: FormProps) {
  const language = useLanguage();
  const { targets, senders, groups } = choices;
  const stored = storedFields(draft);
  const shown = [
    'recipient_id',
    'exclude_specific_recipient_id',
    ...(senders.length > 0 ? ['sender_id'] : []),
    ...(groups.length > 0 ? ['unsubscribe_group_id'] : []),
  ];
  const seen = seenValue(Object.fromEntries(shown.map((name) => [name, stored[name] ?? ''])));
  const beside = (
    <>
      <Total audience={audience} />
      {groups.length === 0 && <FirstGroup utr={draft.utr} />}
    </>
  );
  return (
    <SavedForm draft={draft} step="audience" seen={seen} beside={beside}>
      {targets.length === 0 ? (
        <Empty
          icon="people"
          title={language.say('compose.audience.empty.title')}
          action={<LinkButton href="/contacts/import">{language.say('contacts.import')}</LinkButton>}
        >
          {language.say('compose.audience.empty.text')}
        </Empty>
      ) : (
        <Targets targets={chosenFirst(targets, given)} given={given} problems={problems} />
      )}
      <SenderField senders={senders} value={given.sender_id} problems={problems} />
      {groups.length > 0 && (
        <SelectField
          name="unsubscribe_group_id"
          label={language.say('compose.group')}
          hint={language.say('compose.group.hint')}
          value={String(given.unsubscribe_group_id ?? '')}
          options={withNone(
            language,
            given.unsubscribe_group_id,
            groups.map(({ id, group_name: label }) => ({ value: String(id), label })),
          )}
          problems={problems}
        />
      )}
    </SavedForm>
  );
}

/** The sender, or the way to the first one. */
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
      options={withNone(language, value, senderOptions(language, senders))}
      problems={problems}
    />
  );
}

/** The senders to choose from; it says which are not verified. */
export function senderOptions(language: Language, senders: readonly SenderChoice[]) {
  return senders.map(({ id, from_name: name, from_email: email, is_verified: isVerified }) => {
    const sender = `${name} <${email}>`;
    return {
      value: String(id),
      label: isVerified === 1 ? sender : language.say('compose.sender.unverified', { sender }),
    };
  });
}

/** The options, after an empty one where none of them is chosen. */
function withNone(language: Language, value: Fields[string] | undefined, options: { value: string; label: string }[]) {
  const isChosen = options.some((option) => option.value === value);
  return isChosen ? options : [{ value: '', label: language.say('compose.choose') }, ...options];
}

/** The targets in their order, those that are chosen before the others, so that they are seen in a long list. */
export function chosenFirst(targets: readonly Target[], given: Fields): Target[] {
  const chosen = [given.recipient_id, given.exclude_specific_recipient_id].flat();
  const isChosen = ({ value }: Target) => chosen.includes(value);
  return [...targets.filter(isChosen), ...targets.filter((target) => !isChosen(target))];
}

/** The lists and segments, each with a box to send to it and one to leave it out. */
export function Targets({
  targets,
  given,
  problems,
}: {
  targets: readonly Target[];
  given: Fields;
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
        checked={given[name]?.includes(value) ?? false}
        aria-label={label}
      />
    </span>
  );
  return (
    <>
      {problem !== '' && <p class="problem">{problem}</p>}
      <Table
        caption={language.say('compose.audience.lists')}
        rows={targets}
        keyOf={({ value }) => value}
        columns={[
          {
            heading: language.say('compose.name'),
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
    </>
  );
}

/** How many people it goes to, and how many not and why. */
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
                <li key={reason}>
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

export async function groupForm(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { utr: string } }>('/campaigns/:utr/edit/group', async (request, reply) => {
    const { utr } = request.params;
    const group_name = field(request, 'group_name').trim();
    // Recipients read the description on their preference page.
    const group = { group_name, description: group_name, is_display: 1 };
    // No group is added for a campaign that does not exist.
    await ask(request, readDraft, { utr });
    const added = await attempt(request, addGroup, group);
    const saved =
      'problems' in added ? added : await attempt(request, saveDraft, { utr, unsubscribe_group_id: added.output.id });
    if ('problems' in saved) setFlash(reply, 'bad', 'compose.notSaved', { problem: sentenceOf(saved) });
    return reply.redirect(stepPath(utr, 'audience'), 303);
  });
}

/** Asks for the name of the first group. */
function FirstGroup({ utr }: { utr: string }) {
  const language = useLanguage();
  return (
    <Card title={language.say('compose.group')}>
      <p>{language.say('compose.group.none')}</p>
      <form method="post" action={stepPath(utr, 'group')}>
        <TextField
          name="group_name"
          label={language.say('compose.group.name')}
          hint={language.say('compose.group.name.hint')}
          maxLength={255}
          required
        />
        <Button look="plain">{language.say('compose.group.add')}</Button>
      </form>
    </Card>
  );
}
