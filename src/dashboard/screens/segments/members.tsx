/** What the page of a segment shows: its rules in words, its people, and the forms to add, remove and delete. */
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/confirm.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Card, Empty, Notice } from '../../components/surface.tsx';
import { type Column, Pager, Table } from '../../components/table.tsx';
import { useLanguage } from '../../words/index.ts';
import { PeopleTabs } from './people-tabs.tsx';
import type { Choices, Segment, Uses } from './records.ts';
import { rulesInWords } from './rule-words.ts';
import { draftOf } from './rules.ts';

/** Somebody in a segment; `contact_id` is null for an address that was added by hand and is no contact. */
export interface Member {
  id: number;
  contact_id: number | null;
  fullname: string;
  email: string;
}

export interface PersonFields {
  email: string;
  first_name: string;
  last_name: string;
}

interface Props {
  segment: Segment;
  problem: string | null;
  choices: Choices;
  uses: Uses;
  canChange: boolean;
  members: readonly Member[];
  hasMore: boolean;
  isLater: boolean;
  person?: PersonFields;
  problems?: Problems;
}

export function SegmentView(props: Props) {
  const language = useLanguage();
  const { segment, problem, choices, uses, canChange } = props;
  return (
    <>
      <PeopleTabs current="segments" />
      {problem !== null && <Notice tone="bad">{language.sentence(problem)}</Notice>}
      <Card>
        <p>
          <bdi>{rulesInWords(language, draftOf(segment), choices)}</bdi>
        </p>
        <p>
          <b>{language.say('segments.count', { count: uses.people })}</b>{' '}
          <a href={`/people?segment_id=${segment.id}`}>{language.say('segments.inPeople')}</a>
        </p>
      </Card>
      <Members {...props} />
      {canChange && (
        <>
          <AddPerson {...props} />
          <p class="below">
            <Confirm
              id="delete-segment"
              action={`/people/segments/${segment.id}/delete`}
              label={language.say('segments.delete')}
              title={language.say('segments.delete.title', { name: segment.segment_name })}
            >
              <p>{language.say('segments.delete.people', { count: uses.people })}</p>
              <Campaigns uses={uses} />
            </Confirm>
          </p>
        </>
      )}
    </>
  );
}

/** The campaigns that use what is about to be deleted, in numbers. */
export function Campaigns({ uses }: { uses: Omit<Uses, 'people'> }) {
  const language = useLanguage();
  const { single_sends: sends, queued_single_sends: queued, automations, live_automations: live } = uses;
  if (sends + automations === 0) return <p>{language.say('segments.uses.none')}</p>;
  return (
    <>
      {sends > 0 && <p>{language.say('segments.uses.sends', { count: sends })}</p>}
      {queued > 0 && <p>{language.say('segments.uses.queued', { count: queued })}</p>}
      {automations > 0 && <p>{language.say('segments.uses.automations', { count: automations })}</p>}
      {live > 0 && <p>{language.say('segments.uses.live', { count: live })}</p>}
    </>
  );
}

function Members({ segment, members, hasMore, isLater, canChange }: Props) {
  const language = useLanguage();
  const path = `/people/segments/${segment.id}`;
  if (members.length === 0 && !isLater)
    return (
      <Empty icon="people" title={language.say('segments.empty.title')}>
        {language.say('segments.empty.text')}
      </Empty>
    );
  const columns: Column<Member>[] = [
    {
      heading: language.say('people.name'),
      cell: ({ contact_id: id, fullname, email }) =>
        id === null ? (
          <bdi>{fullname || email}</bdi>
        ) : (
          <a href={`/people/${id}`}>
            <bdi>{fullname || email}</bdi>
          </a>
        ),
    },
    { heading: language.say('people.email'), cell: ({ email }) => <bdi>{email}</bdi> },
  ];
  if (canChange)
    columns.push({
      heading: language.say('left.action'),
      cell: ({ id, email }) => (
        <Confirm
          id={`remove-${id}`}
          action={`${path}/remove/${id}`}
          label={language.say('segments.takeOut')}
          title={language.say('segments.takeOut.title', { email })}
        >
          <p>{language.say('segments.takeOut.text')}</p>
        </Confirm>
      ),
    });
  return (
    <>
      <Table caption={language.say('segments.people')} rows={members} keyOf={({ id }) => id} columns={columns} />
      <Pager first={isLater ? path : null} next={hasMore ? `${path}?after=${members.at(-1)?.id}` : null} />
    </>
  );
}

function AddPerson({ segment, person, problems }: Props) {
  const language = useLanguage();
  return (
    <Card title={language.say('segments.addPerson')}>
      <p class="quiet-text">{language.say('segments.addPerson.about')}</p>
      <form method="post" action={`/people/segments/${segment.id}/add`} class="narrow">
        <TextField
          name="email"
          type="email"
          label={language.say('people.email')}
          value={person?.email ?? ''}
          autocomplete="off"
          required
          problems={problems}
        />
        {(['first_name', 'last_name'] as const).map((name) => (
          <TextField
            key={name}
            name={name}
            label={language.say(`field.${name}`)}
            value={person?.[name] ?? ''}
            maxLength={255}
            autocomplete="off"
            required
            problems={problems}
          />
        ))}
        <Button icon="plus">{language.say('segments.addPerson')}</Button>
      </form>
    </Card>
  );
}
