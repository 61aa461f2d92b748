/** The timeline of a person: one line for each thing that happened. */

import { Time } from '../../../dashboard/components/figures.tsx';
import { Badge, type Tone } from '../../../dashboard/components/surface.tsx';
import { type Language, useLanguage } from '../../../dashboard/words/index.ts';
import { knownWord } from '../../../dashboard/words/known.ts';
import { shownDeliveryState } from '../../../delivery/reporting/kept-mails.ts';
import type { Moment } from '../operations.ts';

const TONES: Partial<Record<Moment['kind'], Tone>> = {
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
  unsubscribed: 'warn',
  contact_deleted: 'warn',
  inactive: 'warn',
  active_again: 'good',
};
/** The tones of a mail by its state. */
const MAIL_TONES: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  kept: 'plain',
  queued: 'busy',
  sending: 'busy',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'warn',
  cancelled: 'warn',
};

interface TimelineProps {
  moments: readonly Moment[];
  /** The time before which opens and clicks are no moments any more; null: all are there. */
  removedBefore: string | null;
}

export function Timeline({ moments, removedBefore }: TimelineProps) {
  const language = useLanguage();
  if (moments.length === 0) return <p class="quiet-text">{language.say('person.timeline.none')}</p>;
  const isBefore = ({ happened_at }: Moment) => removedBefore !== null && happened_at < removedBefore;
  return (
    <>
      {removedBefore !== null && moments.some(isBefore) && (
        <p class="quiet-text">
          {language.say('person.eventsRemoved', { day: language.date(new Date(removedBefore)) })}
        </p>
      )}
      <ol class="person-timeline">
        {moments.map((moment, at) => (
          <li key={at}>
            <Time at={new Date(moment.happened_at)} />
            <div>
              <Badge tone={TONES[moment.kind] ?? MAIL_TONES[shownState(moment) ?? ''] ?? 'plain'}>
                {language.say(`person.moment.${moment.kind}`)}
              </Badge>{' '}
              <About moment={moment} />
              {moment.reason && <p class="quiet-text">{reason(language, moment)}</p>}
              {isBefore(moment) && <Counts moment={moment} />}
              {moment.is_machine === 1 && <p class="quiet-text">{language.say('person.machine')}</p>}
              {moment.is_proxied === 1 && <p class="quiet-text">{language.say('person.proxied')}</p>}
            </div>
          </li>
        ))}
      </ol>
    </>
  );
}

/** How often a mail was opened and clicked. */
function Counts({ moment: { opens, clicks } }: { moment: Moment }) {
  const language = useLanguage();
  const counts = [
    opens ? language.say('person.opens', { count: opens }) : '',
    clicks ? language.say('person.clicks', { count: clicks }) : '',
  ].filter(Boolean);
  return counts.length === 0 ? null : <p class="quiet-text">{counts.join(', ')}</p>;
}

/** What the moment is about, as a link to its mailing or automation where there is one. */
function About({ moment }: { moment: Moment }) {
  const language = useLanguage();
  const { kind, name, subject, url } = moment;
  const state = shownState(moment);
  const href = pageOf(moment);
  const what = textOf(language, moment);
  const named = href === null || what === '' ? what : <a href={href}>{what}</a>;
  if (kind === 'clicked') return url === null ? named : [`${url} · `, named];
  const progress =
    (kind === 'mail' || kind === 'transactional') && state
      ? knownWord(language, 'delivery', state)
      : kind === 'automation_entered' && state
        ? knownWord(language, 'entered', state)
        : (kind === 'inactive' || kind === 'active_again') && state && knownWord(language, 'inactive', state);
  return progress ? [named, (name ?? subject) === null ? '' : ' · ', progress] : named;
}

/** The state of a mail as it is shown: what the outbox kept was not delivered. */
function shownState({ state, reason }: Moment): string | null {
  return state === 'accepted' ? shownDeliveryState(state, reason) : state;
}

function textOf(language: Language, { kind, name, from_name, subject }: Moment): string {
  if (kind === 'mail' || kind === 'transactional') return subject ?? name ?? '';
  if (kind === 'contact_moved') return [from_name, name].filter(Boolean).join(' → ');
  if (name === null && (kind === 'unsubscribed' || kind === 'resubscribed')) return language.say('person.allMail');
  return name ?? '';
}

/** The page of the mailing or automation; null where there is none (any more). */
function pageOf({ kind, utr, automation_utr }: Moment): string | null {
  if (kind === 'transactional') return `/transactional/${utr}`;
  if (kind === 'automation_entered') return utr === null ? null : `/automations/${utr}`;
  if (automation_utr !== null) return `/automations/${automation_utr}`;
  return utr === null ? null : `/mailings/${utr}`;
}

function reason(language: Language, { kind, reason }: Moment): string {
  const text = reason ?? '';
  return kind === 'unsubscribed' || kind === 'resubscribed'
    ? language.say('person.source', { source: knownWord(language, 'source', text) })
    : language.sentence(text);
}
