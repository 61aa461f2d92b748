/** The review of a campaign before it is sent. */
import type { FastifyRequest } from 'fastify';
import type { ComponentChildren } from 'preact';
import { LinkButton } from '../../../ui/components/button.tsx';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { Card, Notice } from '../../../ui/components/surface.tsx';
import { attempt } from '../../../ui/operations.ts';
import { languageOf } from '../../../ui/page.tsx';
import { viewerOf } from '../../../ui/signed-in.ts';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import { type CheckedForAll, checkSingleSend } from '../../operations/check.ts';
import type { Draft } from '../../operations/drafts.ts';
import type { LastTest } from '../../test-mail.ts';
import { Findings } from '../findings.tsx';
import { lastTestText } from './last-test.ts';
import { type Choices, stepPath } from './step.tsx';

/**
 * What the checks found in the mail of a campaign and its variants or versions. `problem` says why there was no check; empty if there was
 * one.
 */
interface Checked {
  findings: CheckedForAll['findings'];
  problem: string;
}

/**
 * Checks the mail of a campaign. Its most severe findings come first. Merge tags without a value are left out, because this finding is about the
 * contact for whom the mail was checked, and the review shows no contact.
 */
export async function checkMail(request: FastifyRequest, utr: string): Promise<Checked> {
  const checked = await attempt(request, checkSingleSend, { utr });
  if ('problems' in checked) return { findings: [], problem: checked.text };
  const { findings, problem } = checked.output.check;
  return {
    findings: SEVERITIES.flatMap((severity) =>
      findings.filter((finding) => finding.severity === severity && finding.code !== 'values'),
    ),
    problem: problem === null ? '' : languageOf(request, viewerOf(request)).fullSentence(problem),
  };
}

const SEVERITIES = ['error', 'warning', 'note'] as const;

/** What the checks found, with a link to the step that shows where to fix it. */
export function CheckSummary({ utr, checked: { findings, problem } }: { utr: string; checked: Checked }) {
  const language = useLanguage();
  const hasFindings = findings.length > 0;
  return (
    <>
      {problem !== '' && <Notice tone="warn">{language.say('compose.review.unchecked', { reason: problem })}</Notice>}
      {problem === '' && !hasFindings && <Notice tone="good">{language.say('compose.check.allGood')}</Notice>}
      {hasFindings && (
        <Card
          title={language.say('compose.check.toFix', { count: findings.length })}
          action={
            <LinkButton look="plain" href={stepPath(utr, 'check')} label={language.say('compose.review.toCheck')} />
          }
        >
          <Findings findings={findings} />
        </Card>
      )}
    </>
  );
}

/** The content of a campaign, its line in an inbox, its sender, its audience and its last test, each with a link to the step that changes it. */
export function Review({ draft, choices, lastTest }: { draft: Draft; choices: Choices; lastTest: LastTest | null }) {
  const language = useLanguage();
  const sender = choices.senders.find(({ id }) => id === draft.sender_id);
  const topic = choices.groups.find(({ id }) => id === draft.unsubscribe_group_id);
  return (
    <Card title={language.say('compose.review')}>
      <div class="review">
        {draft.content !== 'none' && (
          <div class="review-mail" inert>
            <iframe sandbox="" src={stepPath(draft.utr, 'mail')} title={language.say('compose.content.mail')} />
          </div>
        )}
        <dl>
          <Row label={language.say('compose.review.inbox')} href={stepPath(draft.utr, 'content')}>
            <b>
              <bdi>{sender?.from_name ?? language.say('compose.none')}</bdi>
            </b>{' '}
            <bdi>{plainSubject(language, draft.subject) || language.say('compose.none')}</bdi>{' '}
            <span class="quiet-text">
              <bdi>{plainSubject(language, draft.preheader)}</bdi>
            </span>
          </Row>
          <Row label={language.say('compose.review.from')} href={stepPath(draft.utr, 'audience')}>
            <bdi>
              {sender === undefined ? language.say('compose.none') : `${sender.from_name} <${sender.from_email}>`}
            </bdi>
          </Row>
          <Row label={language.say('compose.review.to')} href={stepPath(draft.utr, 'audience')}>
            {audienceSentence(language, draft, choices)}
          </Row>
          {topic !== undefined && (
            <Row label={language.say('compose.group')} href={stepPath(draft.utr, 'audience')}>
              <bdi>{topic.group_name}</bdi>
            </Row>
          )}
          {draft.content !== 'none' && (
            <Row
              label={language.say('compose.test.title')}
              href={`${stepPath(draft.utr, 'check')}#test`}
              action={language.say('compose.review.test')}
            >
              {lastTestText(language, lastTest, draft)}
            </Row>
          )}
        </dl>
      </div>
    </Card>
  );
}

interface RowProps {
  label: string;
  /** The path of the step that changes the property. */
  href: string;
  /** The text of the link to that step; by default “Change”. */
  action?: string;
  children: ComponentChildren;
}

/** A property of the campaign. */
function Row({ label, href, action, children }: RowProps) {
  const language = useLanguage();
  const linkText = action ?? language.say('compose.review.change');
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <span>{children}</span>
        <a href={href} aria-label={`${linkText}: ${label}`}>
          {linkText}
        </a>
      </dd>
    </>
  );
}

/** Returns the audience in a sentence, such as “Readers and Customers, without Staff”. */
function audienceSentence(language: Language, draft: Draft, { targets }: Choices): string {
  const names = (values: readonly string[]) =>
    new Intl.ListFormat(language.code, { type: 'conjunction' }).format(
      targets.filter(({ value }) => values.includes(value)).map(({ name }) => name),
    );
  const to = names(draft.recipient_id);
  const without = names(draft.exclude_specific_recipient_id);
  if (to === '') return language.say('compose.none');
  return without === '' ? to : language.say('compose.review.without', { to, without });
}
