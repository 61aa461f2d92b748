/**
 * Shared parts of the forms that change an automation. A form first makes the change in a dry run, shows the effects on enrolled
 * contacts, and asks for confirmation.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { VNode } from 'preact';
import type { Static, TObject } from 'typebox';
import type { Operation } from '../../operations/operation.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { plainSubject } from '../../ui/components/subject.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { type Attempt, attempt, type Refusal } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { withQuery } from '../../ui/with-query.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import type { Series, SeriesMail } from '../operations/automations.ts';
import type { Effects } from '../operations/effects.ts';
import { stepText } from './path.tsx';

export const automationAddress = (utr: string) => `/automations/${encodeURIComponent(utr)}`;

export const editAddress = (utr: string) => `${automationAddress(utr)}/edit`;

/** Returns the URL of the page that counts who would enter: all contacts of the target or, if `segment` is not empty, of a segment. */
export const enterAddress = (utr: string, segment = '') =>
  withQuery(`${automationAddress(utr)}/enter`, segment === '' ? {} : { segment_id: segment });

export const logAddress = (utr: string) => `${automationAddress(utr)}/log`;

export const replayAddress = (utr: string) => `${automationAddress(utr)}/replay`;

export const checkAddress = (utr: string) => `${automationAddress(utr)}/check`;

export const resultsAddress = (utr: string) => `${automationAddress(utr)}/results`;

export const whyAddress = (utr: string, email: string) => withQuery(`${automationAddress(utr)}/why`, { email });

export const stepAddress = (automation: string, step: string) =>
  `${automationAddress(automation)}/steps/${encodeURIComponent(step)}`;

export const mailAddress = (automation: string, mail: string, step = 'content') =>
  `${automationAddress(automation)}/mails/${encodeURIComponent(mail)}/${step}`;

/** Sends a page about an automation, with the link back to the page of the automation itself. */
export function sendAutomationPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { utr, title }: { utr: string; title: string },
  content: VNode,
) {
  const viewer = viewerOf(request);
  const label = languageOf(request, viewer).say('automations.back');
  const action = <LinkButton look="plain" href={automationAddress(utr)} label={label} />;
  return sendPage(request, reply, viewer, { title, section: 'automations', action }, content);
}

/**
 * Makes the change of a submitted form. If the change affects contacts and the user has not confirmed it yet, returns the effects in
 * `asked` instead. `concerning` selects the effects about which this form asks.
 */
export async function attemptChange<Input extends TObject, Output extends { effects: Effects }>(
  request: FastifyRequest,
  change: Operation<Input, Output>,
  input: { readonly [Name in keyof Static<Input>]?: unknown },
  concerning: (effects: Effects) => Effects,
): Promise<Attempt<Output> | { asked: Effects }> {
  if (field(request, 'sure') !== '1') {
    const tried = await attempt(request, change, { ...input, dry_run: 1 });
    if ('problems' in tried) return tried;
    const asked = concerning(tried.output.effects);
    if (asked.people.length > 0 || asked.leaving > 0 || asked.ahead > 0) return { asked };
  }
  return attempt(request, change, input);
}

/** Returns the effects without the contacts who wait for other steps than this mail or step, and without those who exit. */
export function concerningMail({ people, ...effects }: Effects, utr: string): Effects {
  return { ...effects, people: people.filter(({ from, to }) => from === utr || to === utr), leaving: 0 };
}

/** Returns the effects on the contacts who will wait for a new mail or step, which is not among the `known` ones. */
export function concerningNew({ people, ...effects }: Effects, known: readonly { utr: string }[]): Effects {
  const isNew = (utr: string | null) => utr !== null && known.every((step) => step.utr !== utr);
  return { ...effects, people: people.filter(({ to }) => isNew(to)), leaving: 0 };
}

/**
 * Returns why a change was refused, if the reason is not a fault of a field. If somebody else changed the record while the form was open,
 * says who, when, and which of these `fields` have another value now.
 */
export function refusalText(
  request: FastifyRequest,
  refusal: Refusal,
  { updated_at, changed_by }: { updated_at: string; changed_by: string | null },
  fields: readonly (readonly [label: string, submitted: string, stored: string])[] = [],
): string {
  if (refusal.status !== 409 || field(request, 'unchanged_since') === updated_at) return refusal.problem;
  const language = languageOf(request, viewerOf(request));
  const at = recordTime(updated_at);
  const time = at === null ? '' : language.dateTime(at);
  const parts = [
    changed_by === null
      ? language.say('automations.changed', { time })
      : language.say('automations.changed.by', { time, name: changed_by }),
    ...fields
      .filter(([, submitted, stored]) => submitted !== stored)
      .map(([label, , stored]) => language.say('automations.changed.field', { label, value: stored || '–' })),
    language.say('automations.changed.again'),
  ];
  return parts.join(' ');
}

/** The fields of a mail that a question mentions. */
type NamedMail = Pick<SeriesMail, 'utr' | 'subject' | 'waiting_type' | 'waiting_period'>;

/** The question whether to make a change with these effects. */
interface Question {
  series: Series;
  effects: Effects;
  /** The mails after the change, whose subjects and waits the page shows; the stored mails of the automation by default. */
  after?: readonly NamedMail[];
  /** The URL to which the form of the question is submitted. */
  action: string;
  /** The values of the first form, which the form of the question submits again. */
  fields: Readonly<Record<string, string>>;
  /** The text of the button. */
  submit: string;
  /** The sentence that names the step to be removed; absent if nothing is removed. */
  removal?: string;
}

/** Sends the page with the question. Its form submits the values of the first form again, with a confirmation. */
export function sendQuestion(request: FastifyRequest, reply: FastifyReply, question: Question) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('automations.question.title');
  return sendPage(request, reply, viewer, { title, section: 'automations' }, <QuestionCard {...question} />);
}

function QuestionCard({ series, effects, after = series.mails, action, fields, submit, removal }: Question) {
  const language = useLanguage();
  return (
    <Card>
      <div class="effects">
        {removal !== undefined && <p>{removal}</p>}
        {effects.ahead > 0 && <p>{onWayText(language, effects)}</p>}
        <ul class="stack">
          {effects.people.map((effect) => (
            <li key={`${effect.from} ${effect.to} ${effect.is_queued}`}>
              {effectText(language, series, after, effect)}
            </li>
          ))}
          {effects.leaving > 0 && <li>{language.say('automations.effect.leaving', { count: effects.leaving })}</li>}
        </ul>
        {effects.people.length === 0 && effects.leaving === 0 && effects.ahead === 0 && (
          <p>{language.say('automations.effect.nobody')}</p>
        )}
      </div>
      {series.is_live === 0 && effects.people.length + effects.ahead > 0 && (
        <Notice>{language.say('automations.effect.paused')}</Notice>
      )}
      <form method="post" action={action}>
        <div class="buttons">
          <Button look={removal === undefined ? 'primary' : 'danger'} label={submit} />
          <LinkButton look="quiet" href={editAddress(series.utr)} label={language.say('confirm.cancel')} />
        </div>
        {Object.entries(fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name="sure" value="1" />
      </form>
    </Card>
  );
}

/** Returns in words for how many active contacts a change is still to come, and how many it does not affect. */
function onWayText(language: Language, { ahead, behind }: Effects): string {
  return [
    language.say('automations.effect.onWay', { count: ahead + behind }),
    language.say('automations.effect.ahead', { count: ahead }),
    ...(behind > 0 ? [language.say('automations.effect.behind', { count: behind })] : []),
  ].join(' ');
}

/** Returns in words the effect on the contacts who wait for the same steps before and after the change. */
function effectText(
  language: Language,
  series: Series,
  after: readonly NamedMail[],
  { from, to, is_queued, people: count, moved, due_now, first_due_at, last_due_at }: Effects['people'][number],
): string {
  const steps = [
    ...after.map((mail) => ({ ...mail, subject: plainSubject(language, mail.subject) })),
    ...series.steps.map((step) => ({ ...step, subject: stepText(language, step) })),
  ];
  const subjectOf = (utr: string | null) =>
    steps.find((step) => step.utr === utr)?.subject ?? language.say('automations.effect.newMail');
  const next = steps.find((step) => step.utr === to);
  const subjects = { count, from: subjectOf(from), to: subjectOf(to) };
  if (is_queued === 1) {
    const isGone = !after.some((mail) => mail.utr === from);
    return language.say(isGone ? 'automations.effect.cancelled' : 'automations.effect.queued', subjects);
  }
  if (to === null)
    return language.say(from === null ? 'automations.effect.atEnd' : 'automations.effect.finished', subjects);
  const isMail = series.steps.every(({ utr, kind }) => utr !== to || kind === 'mail');
  const stays = isMail ? 'automations.effect.wait' : 'automations.effect.atStep';
  const parts = [language.say(from === to ? stays : 'automations.effect.other', subjects)];
  if (isMail && next !== undefined && moved > 0) parts.push(waitText(language, next, after[0]?.utr === to));
  if (isMail && moved === 0) parts.push(language.say('automations.effect.unmoved'));
  if (due_now > 0) parts.push(language.say('automations.effect.now', { count: due_now }));
  if (first_due_at !== null && last_due_at !== null && due_now < count) {
    const [first = '', last = ''] = [first_due_at, last_due_at].map((at) => language.dateTime(new Date(at)));
    if (due_now === 0) parts.push(language.say('automations.effect.times', { first, last }));
    else parts.push(language.say('automations.effect.later', { count: count - due_now, last }));
  }
  return parts.join(' ');
}

/** Returns in words the wait before a mail, and from when it counts. */
function waitText(
  language: Language,
  { waiting_type: unit, waiting_period: period }: NamedMail,
  isFirst: boolean,
): string {
  const since = language.say(isFirst ? 'automations.effect.sinceEntry' : 'automations.effect.sinceMail');
  if (unit === 'instantly' || period === 0) return language.say('automations.effect.atOnce', { since });
  return language.say(unit === 'days' ? 'automations.effect.days' : 'automations.effect.hours', {
    count: period,
    since,
  });
}
