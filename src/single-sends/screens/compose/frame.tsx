/** The frame around each step of composing: the steps as tabs, and whether all changes are saved. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ComponentChildren, VNode } from 'preact';
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { Island } from '../../../dashboard/components/island.tsx';
import { Notice, Tabs } from '../../../dashboard/components/surface.tsx';
import { sendPage } from '../../../dashboard/page.tsx';
import { recordTime } from '../../../dashboard/record-time.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { SINGLE_SEND_STATUS } from '../../../database/schema/index.ts';
import type { Draft } from '../../operations/drafts.ts';

export const STEPS = ['audience', 'content', 'check', 'schedule'] as const;
export type Step = (typeof STEPS)[number];

/** The path of a step's page. */
export function stepPath(utr: string, step: string): string {
  return `/mailings/${encodeURIComponent(utr)}/edit/${step}`;
}

/** Sends the page of a step. `problem` says why the submitted form was refused. */
export function sendStep(
  request: FastifyRequest,
  reply: FastifyReply,
  draft: Draft,
  current: Step,
  content: VNode,
  problem = '',
) {
  const frame = { title: draft.single_send_name, section: 'mailings', action: <ToCampaign utr={draft.utr} /> } as const;
  const page = (
    <>
      <StepTabs utr={draft.utr} current={current} />
      {draft.status === SINGLE_SEND_STATUS.queued && (
        <Notice>
          <QueuedNote />
        </Notice>
      )}
      {problem !== '' && (
        <Notice tone="bad" isNews>
          {problem}
        </Notice>
      )}
      {content}
    </>
  );
  return sendPage(request, reply, viewerOf(request), frame, page);
}

function QueuedNote() {
  return <>{useLanguage().say('compose.isQueued')}</>;
}

function ToCampaign({ utr }: { utr: string }) {
  return (
    <LinkButton look="plain" href={`/mailings/${utr}`}>
      {useLanguage().say('compose.back')}
    </LinkButton>
  );
}

function StepTabs({ utr, current }: { utr: string; current: Step }) {
  const language = useLanguage();
  return (
    <Tabs
      label={language.say('compose.steps')}
      tabs={STEPS.map((step) => ({
        href: stepPath(utr, step),
        label: language.say(`compose.step.${step}`),
        isCurrent: step === current,
      }))}
    />
  );
}

/**
 * A form that saves itself a few seconds after the last change; without scripts it is saved on submit. `seen` is the result of `seenValue`
 * for its fields. Each save also updates the elements in `children` and `beside` that have an id and `data-fresh`.
 */
export function SavedForm({
  draft,
  step,
  seen,
  children,
  beside,
}: {
  draft: Draft;
  step: Step;
  seen: string;
  children: ComponentChildren;
  beside?: ComponentChildren;
}) {
  const language = useLanguage();
  const saved = recordTime(draft.updated_at);
  const texts = {
    unsaved: language.say('compose.unsaved'),
    saving: language.say('compose.saving'),
    failed: language.say('compose.noNetwork'),
    refused: language.fill('compose.notSaved', {}),
    conflict: language.say('compose.changedElsewhere'),
    signedOut: language.say('compose.signedOut'),
  };
  return (
    <Island name="autosave" data={texts}>
      <div class="compose">
        <form method="post" action={stepPath(draft.utr, step)} class="stack" data-autosave>
          {children}
          <div class="buttons">
            <button type="submit" class="primary" name="next" value="1">
              {language.say('compose.saveAndNext')}
            </button>
            <button type="submit" class="plain">
              {language.say('compose.save')}
            </button>
            <span class="small quiet-text" role="status" id="save-state" data-fresh>
              {saved !== null && language.say('compose.savedAt', { time: language.dateTime(saved) })}
            </span>
          </div>
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
          <input type="hidden" name="seen" value={seen} />
        </form>
        {beside && <div class="stack compose-beside">{beside}</div>}
      </div>
    </Island>
  );
}
