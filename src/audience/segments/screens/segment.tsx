/** One segment: its rules, its members, adding and removing members by hand, and deleting it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Said } from '../../../errors/sentences.ts';
import { type ById, pageRoute } from '../../../http/pages/layout.ts';
import { LinkButton } from '../../../ui/components/button.tsx';
import { Confirm } from '../../../ui/components/confirm.tsx';
import type { Problems } from '../../../ui/components/field.tsx';
import { type FormValues, form, SentForm } from '../../../ui/components/form.tsx';
import { PeopleTabs } from '../../../ui/components/people-tabs.tsx';
import { Card, Empty, Notice } from '../../../ui/components/surface.tsx';
import { type Column, Pager, Table } from '../../../ui/components/table.tsx';
import { setFlash, setFlashWithUndo } from '../../../ui/flash.ts';
import { ask, attempt, problemsAt } from '../../../ui/operations.ts';
import { languageOf, sendPage } from '../../../ui/page.tsx';
import { requireEditor, viewerOf } from '../../../ui/signed-in.ts';
import { withQuery } from '../../../ui/with-query.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { countUsesOfSegment, listFeedsUsing, type SegmentUses, type UsingFeed } from '../../uses/operations.ts';
import { CampaignsUsing } from '../../uses/screens/campaigns.tsx';
import { FeedsUsing } from '../../uses/screens/feeds.tsx';
import {
  addRecipientByHand,
  deleteSegment,
  listRecipients,
  type Recipient,
  readSegment,
  readSegmentProblem,
  removeRecipientByHand,
  type Segment,
  undeleteSegment,
} from '../operations.ts';
import { type RuleChoices, readRuleChoices } from './choices.ts';
import { rulesInWords } from './rule-words.ts';
import { draftOf } from './rules.ts';

const ROWS_PER_PAGE = 50;
const PERSON_FORM = form(addRecipientByHand.input, [
  { name: 'email', label: 'contacts.email', attributes: { type: 'email' } },
  { name: 'first_name', label: 'field.first_name' },
  { name: 'last_name', label: 'field.last_name' },
]);

interface Call extends ById {
  Querystring: { after?: string };
}

/** The submitted form for a new member, and its problems. */
interface SubmittedMember {
  person?: FormValues;
  problems?: Problems;
}

/** Registers the page of a segment, with its contacts. */
export async function segmentScreen(app: FastifyInstance): Promise<void> {
  pageRoute<Call>(app, '/contacts/segments/:id', (request, reply) => show(request, reply));

  app.post<Call>('/contacts/segments/:id/add', async (request, reply) => {
    const segment = await readEditable(request);
    const person = PERSON_FORM.read(request);
    const added = await attempt(request, addRecipientByHand, { segment_id: segment.id, ...person });
    if ('problems' in added)
      return show(request, reply.code(added.status), { person, problems: problemsAt(added, 'email') });
    setFlash(reply, 'good', 'segments.added', { email: String(person.email) });
    return reply.redirect(`/contacts/segments/${segment.id}`, 303);
  });

  app.post<{ Params: { id: string; recipient: string } }>(
    '/contacts/segments/:id/remove/:recipient',
    async (request, reply) => {
      const segment = await readEditable(request);
      await ask(request, removeRecipientByHand, { segment_recipient_id: request.params.recipient });
      setFlash(reply, 'good', 'segments.removed');
      return reply.redirect(`/contacts/segments/${segment.id}`, 303);
    },
  );

  app.post<ById>('/contacts/segments/:id/delete', async (request, reply) => {
    const segment = await readEditable(request);
    await ask(request, deleteSegment, { segment_id: segment.id });
    const undo = `/contacts/segments/${segment.id}/undelete`;
    setFlashWithUndo(reply, undo, 'segments.deleted', { name: segment.segment_name });
    return reply.redirect('/contacts/segments', 303);
  });

  app.post<ById>('/contacts/segments/:id/undelete', async (request, reply) => {
    requireEditor(request);
    await ask(request, undeleteSegment, { segment_id: request.params.id });
    const { id, segment_name } = await ask(request, readSegment, { segment_id: request.params.id });
    setFlash(reply, 'good', 'segments.undeleted', { name: segment_name });
    return reply.redirect(`/contacts/segments/${id}`, 303);
  });

  async function readEditable(request: FastifyRequest<ById>) {
    requireEditor(request);
    return ask(request, readSegment, { segment_id: request.params.id });
  }

  async function show(request: FastifyRequest<Call>, reply: FastifyReply, values: SubmittedMember = {}) {
    const viewer = viewerOf(request);
    const language = languageOf(request, viewer);
    const segment = await ask(request, readSegment, { segment_id: request.params.id });
    const { after } = request.query;
    const segment_id = segment.id;
    const [choices, { problem }, { uses }, feeds, recipients] = await Promise.all([
      readRuleChoices(request),
      ask(request, readSegmentProblem, { segment_id }),
      ask(request, countUsesOfSegment, { segment_id }),
      ask(request, listFeedsUsing, { kind: 'segment', id: segment_id }),
      ask(request, listRecipients, {
        segment_id,
        limit: ROWS_PER_PAGE + 1,
        ...(after && /^\d{1,15}$/.test(after) && { after_id: after }),
      }),
    ]);
    const canChange = viewer.role !== 'viewer';
    const frame = {
      title: segment.segment_name,
      section: 'contacts',
      back: { href: '/contacts/segments', label: 'segments.title' },
      ...(canChange && {
        action: <LinkButton href={`/contacts/segments/${segment.id}/edit`} label={language.say('segments.change')} />,
      }),
    } as const;
    const content = (
      <SegmentView
        {...{ segment, problem, choices, uses, feeds, canChange }}
        {...values}
        members={recipients.slice(0, ROWS_PER_PAGE)}
        hasMore={recipients.length > ROWS_PER_PAGE}
        isLater={after !== undefined}
      />
    );
    return sendPage(request, reply, viewer, frame, content);
  }
}

interface Props extends SubmittedMember {
  segment: Segment;
  problem: Said | null;
  choices: RuleChoices;
  uses: SegmentUses;
  feeds: readonly UsingFeed[];
  canChange: boolean;
  members: readonly Recipient[];
  hasMore: boolean;
  /** True for every page but the first. */
  isLater: boolean;
}

function SegmentView(props: Props) {
  const language = useLanguage();
  const { segment, problem, choices, uses, feeds, canChange } = props;
  return (
    <>
      <PeopleTabs current="segments" />
      {problem !== null && <Notice tone="bad">{language.fullSentence(problem)}</Notice>}
      <Card>
        <p>
          <bdi>{rulesInWords(language, draftOf(segment), choices)}</bdi>
        </p>
        <p>
          <b>{language.say('segments.count', { count: uses.people })}</b>{' '}
          <a href={`/contacts?segment_id=${segment.id}`}>{language.say('segments.inPeople')}</a>
        </p>
      </Card>
      <Members {...props} />
      {canChange && (
        <>
          <AddPerson {...props} />
          <div class="buttons below">
            {uses.people > 0 && (
              <LinkButton
                look="plain"
                href={withQuery('/automations/enter', { segment_id: String(segment.id) })}
                label={language.say('segments.enter')}
              />
            )}
            <Confirm
              id="delete-segment"
              action={`/contacts/segments/${segment.id}/delete`}
              label={language.say('segments.delete')}
              title={language.say('segments.delete.title', { name: segment.segment_name })}
            >
              <p>{language.say('segments.delete.people', { count: uses.people })}</p>
              <CampaignsUsing kind="segment" uses={uses} />
              <FeedsUsing kind="segment" feeds={feeds} />
            </Confirm>
          </div>
        </>
      )}
    </>
  );
}

function Members({ segment, members, hasMore, isLater, canChange }: Props) {
  const language = useLanguage();
  const path = `/contacts/segments/${segment.id}`;
  if (members.length === 0 && !isLater)
    return (
      <Empty
        pose="looks"
        title={language.say('segments.empty.title')}
        action={canChange && <LinkButton look="plain" href={`${path}/edit`} label={language.say('segments.change')} />}
      >
        {language.say('segments.empty.text')}
      </Empty>
    );
  const columns: Column<Recipient>[] = [
    {
      heading: language.say('contacts.name'),
      cell: ({ contact_id: id, fullname, email }) =>
        id === null ? (
          <bdi>{fullname || email}</bdi>
        ) : (
          <a href={`/contacts/${id}`}>
            <bdi>{fullname || email}</bdi>
          </a>
        ),
    },
    { heading: language.say('contacts.email'), cell: ({ email }) => <bdi>{email}</bdi> },
  ];
  if (canChange)
    columns.push({
      heading: language.say('unsubscribes.action'),
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
      <SentForm
        form={PERSON_FORM}
        action={`/contacts/segments/${segment.id}/add`}
        values={person ?? {}}
        problems={problems}
        look="plain"
        submit={language.say('segments.addPerson')}
        icon="plus"
      />
    </Card>
  );
}
