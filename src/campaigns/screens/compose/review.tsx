/** The review of a campaign before it is sent: the mail, its line in an inbox, its sender and its audience, each with a link to change it. */
import type { ComponentChildren } from 'preact';
import { plainSubject } from '../../../ui/components/subject.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { type Language, useLanguage } from '../../../ui/words/index.ts';
import type { Draft } from '../../operations/drafts.ts';
import { type Choices, stepPath } from './step.tsx';

export function Review({ draft, choices }: { draft: Draft; choices: Choices }) {
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
        </dl>
      </div>
    </Card>
  );
}

/** A property of the campaign. `href` is the path of the step that changes it. */
function Row({ label, href, children }: { label: string; href: string; children: ComponentChildren }) {
  const language = useLanguage();
  return (
    <>
      <dt>{label}</dt>
      <dd>
        <span>{children}</span>
        <a href={href} aria-label={`${language.say('compose.review.change')}: ${label}`}>
          {language.say('compose.review.change')}
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
