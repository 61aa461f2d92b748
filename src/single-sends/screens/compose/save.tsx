/** Saves what a step's form sent, unless somebody else changed the same fields meanwhile: then both versions are shown, to choose from. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Problems } from '../../../dashboard/components/field.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt } from '../../../dashboard/operations.ts';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { type Draft, readDraft, saveDraft } from '../../operations/drafts.ts';
import { QUEUED } from './choices.ts';
import { sendConflict } from './conflict.tsx';
import { STEPS, type Step, stepAddress } from './frame.tsx';
import { type Fields, seenValue } from './seen.ts';

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
    if (draft.status > QUEUED) {
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
  return reply.redirect(stepAddress(utr, next), SEE_OTHER);
}
