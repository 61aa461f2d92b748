/** Says what a change would do to the people in an automation, and asks whether to make it. The API computes it by making the change. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Button, LinkButton } from '../../../components/button.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { languageOf, sendPage } from '../../../page.tsx';
import { viewerOf } from '../../../signed-in.ts';
import { type Language, useLanguage } from '../../../words/index.ts';
import { editAddress } from './addresses.ts';
import type { Effects, Series } from './series.ts';

export interface Question {
  series: Series;
  effects: Effects;
  /** The mails as they are after the change, for their subjects and waits; those of the series unless it is given. */
  after?: Series['mails'];
  /** Where the form is sent that makes the change, what it says, and what its button says. */
  action: string;
  fields: Readonly<Record<string, string>>;
  submit: string;
  /** What is removed, if something is. */
  what?: string;
}

/** Whether a change concerns anybody, so that it is asked about. */
export function concernsPeople({ people, leaving }: Effects): boolean {
  return people.length > 0 || leaving > 0;
}

export function sendQuestion(request: FastifyRequest, reply: FastifyReply, question: Question) {
  const viewer = viewerOf(request);
  const title = languageOf(request, viewer).say('automations.question.title');
  return sendPage(request, reply, viewer, { title, section: 'automations' }, <Asking {...question} />);
}

function Asking({ series, effects, after = series.mails, action, fields, submit, what }: Question) {
  const language = useLanguage();
  return (
    <Card>
      <div class="effects">
        {what !== undefined && <p>{what}</p>}
        <ul class="stack">
          {effects.people.map((effect) => (
            <li key={`${effect.from} ${effect.to} ${effect.is_queued}`}>
              {effectText(language, series, after, effect)}
            </li>
          ))}
          {effects.leaving > 0 && <li>{language.say('automations.effect.leaving', { count: effects.leaving })}</li>}
        </ul>
        {effects.people.length === 0 && effects.leaving === 0 && <p>{language.say('automations.effect.nobody')}</p>}
      </div>
      {series.is_live === 0 && effects.people.length > 0 && (
        <Notice>{language.say('automations.effect.paused')}</Notice>
      )}
      <form method="post" action={action}>
        <div class="buttons">
          <Button look={what === undefined ? 'primary' : 'danger'}>{submit}</Button>
          <LinkButton look="quiet" href={editAddress(series.utr)}>
            {language.say('confirm.cancel')}
          </LinkButton>
        </div>
        {Object.entries(fields).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <input type="hidden" name="sure" value="1" />
      </form>
    </Card>
  );
}

function effectText(
  language: Language,
  series: Series,
  after: Series['mails'],
  { from, to, is_queued, people: count, moved, due_now, first_due_at, last_due_at }: Effects['people'][number],
): string {
  const subjectOf = (utr: string | null) =>
    [...after, ...series.mails].find((mail) => mail.utr === utr)?.subject ?? language.say('automations.effect.newMail');
  const next = after.find((mail) => mail.utr === to);
  const subjects = { count, from: subjectOf(from), to: subjectOf(to) };
  if (is_queued === 1) {
    const isGone = !after.some((mail) => mail.utr === from);
    return language.say(isGone ? 'automations.effect.cancelled' : 'automations.effect.queued', subjects);
  }
  if (to === null)
    return language.say(from === null ? 'automations.effect.atEnd' : 'automations.effect.finished', subjects);
  const parts = [language.say(from === to ? 'automations.effect.wait' : 'automations.effect.other', subjects)];
  if (next !== undefined && moved > 0) parts.push(waitText(language, next, after[0]?.utr === to));
  if (moved === 0) parts.push(language.say('automations.effect.unmoved'));
  if (due_now > 0) parts.push(language.say('automations.effect.now', { count: due_now }));
  if (first_due_at !== null && last_due_at !== null && due_now < count) {
    const [first, last] = [first_due_at, last_due_at].map((at) => language.dateTime(new Date(at)));
    parts.push(language.say('automations.effect.times', { first: first ?? '', last: last ?? '' }));
  }
  return parts.join(' ');
}

/** How long one waits for a mail, counted from what. */
function waitText(
  language: Language,
  { waiting_type: unit, waiting_period: period }: Series['mails'][number],
  isFirst: boolean,
): string {
  const since = language.say(isFirst ? 'automations.effect.sinceEntry' : 'automations.effect.sinceMail');
  if (unit === 'instantly' || period === 0) return language.say('automations.effect.atOnce', { since });
  return language.say(unit === 'days' ? 'automations.effect.days' : 'automations.effect.hours', {
    count: period,
    since,
  });
}
