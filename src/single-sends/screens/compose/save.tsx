/** Saves what a step's form sent, unless somebody else changed the same fields meanwhile: then both versions are shown, to choose from. */

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { Notice } from '../../../dashboard/components/surface.tsx';
import { Table } from '../../../dashboard/components/table.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt } from '../../../dashboard/operations.ts';
import { languageOf, sendPage } from '../../../dashboard/page.tsx';
import { recordTime } from '../../../dashboard/record-time.ts';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import { type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import { type Choices, readChoices } from './choices.ts';
import { STEPS, type Step, stepPath } from './frame.tsx';

const CONFLICT = 409;
const SEE_OTHER = 303;

interface Saving {
  request: FastifyRequest;
  reply: FastifyReply;
  utr: string;
  step: Step;
  /** What the form sent. */
  given: Fields;
  /** The same fields as they are stored. */
  stored(draft: Draft): Fields;
  /** Answers with the form again, with what is wrong with its fields, or with all of it. */
  again(draft: Draft, problems: Problems, problem: string): Promise<unknown>;
}

/** Saves; answers with a redirect to the next step or the same one, the form again, or the page to choose a version. */
export async function saveStep(saving: Saving): Promise<unknown> {
  const { request, reply, utr, step, given, stored } = saving;
  const save = (since: string) =>
    attempt(request, saveDraft, { ...given, utr, ...(since && { unchanged_since: since }) });
  let saved = await save(field(request, 'unchanged_since'));
  if ('problems' in saved && saved.status === CONFLICT) {
    const { draft } = await ask(request, readDraft, { utr });
    if (draft.status > SINGLE_SEND_STATUS.queued) {
      setFlash(reply, 'bad', 'compose.locked');
      return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, SEE_OTHER);
    }
    const now = stored(draft);
    const seen = field(request, 'seen');
    // Another step, or the same values, were saved meanwhile: nobody's words are lost.
    const isOwn = seen === seenValue(now) || seenValue(given) === seenValue(now);
    if (!isOwn) return sendConflict(request, reply.code(CONFLICT), { draft, step, given, now });
    saved = await save(draft.updated_at);
  }
  if ('problems' in saved) {
    reply.code(saved.status);
    return saving.again((await ask(request, readDraft, { utr })).draft, saved.problems, saved.problem);
  }
  const goesOn = field(request, 'next') !== '';
  const next = goesOn ? (STEPS[STEPS.indexOf(step) + 1] ?? step) : step;
  if (!goesOn && request.headers['x-autosave'] === undefined) setFlash(reply, 'good', 'compose.saved');
  return reply.redirect(stepPath(utr, next), SEE_OTHER);
}

interface Conflict {
  draft: Draft;
  step: Step;
  given: Fields;
  now: Fields;
}

/** Sends the page on which one version is chosen. */
export async function sendConflict(request: FastifyRequest, reply: FastifyReply, conflict: Conflict) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('compose.conflict.title');
  const content = <Versions {...conflict} choices={await readChoices(request)} />;
  return sendPage(request, reply, viewer, { title, section: 'mailings' }, content);
}

function Versions({ draft, step, given, now, choices }: Conflict & { choices: Choices }) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const time = saved === null ? '' : language.dateTime(saved);
  const rows = Object.keys(given).filter((name) => String(given[name]) !== String(now[name]));
  return (
    <>
      <Notice tone="warn" isNews>
        {draft.changed_by === null
          ? language.say('compose.conflict.about', { time })
          : language.say('compose.conflict.by', { time, name: draft.changed_by })}
      </Notice>
      <Table
        caption={language.say('compose.conflict.title')}
        rows={rows}
        keyOf={(name) => name}
        columns={[
          { heading: language.say('compose.conflict.what'), cell: (name) => label(language, name) },
          {
            heading: language.say('compose.conflict.mine'),
            cell: (name) => shown(language, choices, name, given[name]),
          },
          {
            heading: language.say('compose.conflict.theirs'),
            cell: (name) => shown(language, choices, name, now[name]),
          },
        ]}
      />
      <form method="post" action={stepPath(draft.utr, step)} class="buttons">
        <input type="hidden" name="unchanged_since" value={draft.updated_at} />
        <input type="hidden" name="seen" value={seenValue(now)} />
        {Object.entries(given).flatMap(([name, value]) =>
          [value].flat().map((text) => <input key={`${name} ${text}`} type="hidden" name={name} value={text} />),
        )}
        <Button>{language.say('compose.conflict.keepMine')}</Button>
        <LinkButton look="plain" href={stepPath(draft.utr, step)}>
          {language.say('compose.conflict.keepTheirs')}
        </LinkButton>
      </form>
    </>
  );
}

function label(language: Language, name: string): string {
  switch (name) {
    case 'recipient_id':
      return language.say('compose.audience.to');
    case 'exclude_specific_recipient_id':
      return language.say('compose.audience.not');
    case 'sender_id':
      return language.say('compose.sender');
    case 'unsubscribe_group_id':
      return language.say('compose.group');
    case 'subject':
      return language.say('compose.subject');
    case 'preheader':
      return language.say('compose.preheader');
    default:
      return language.say('compose.name');
  }
}

function shown(language: Language, { targets, senders, groups }: Choices, name: string, value: Fields[string] = '') {
  const texts = [value].flat().map((text) => {
    if (name === 'sender_id') return senders.find(({ id }) => String(id) === text)?.from_email ?? '';
    if (name === 'unsubscribe_group_id') return groups.find(({ id }) => String(id) === text)?.group_name ?? '';
    return name.endsWith('recipient_id') ? (targets.find((target) => target.value === text)?.name ?? '') : text;
  });
  return <bdi>{texts.filter(Boolean).join(', ') || language.say('compose.none')}</bdi>;
}

/** The fields that a step changes. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** What a form carries along to tell later whether its fields were changed by somebody else: a digest of their values. */
export function seenValue(fields: Fields): string {
  const ordered = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : [...value].sort(),
  ]);
  return createHash('sha256').update(JSON.stringify(ordered)).digest('base64url').slice(0, 22);
}
