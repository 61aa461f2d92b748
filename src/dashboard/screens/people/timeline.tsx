/** The timeline of a person: one line for each thing that happened. */
import { Time } from '../../components/figures.tsx';
import { Badge, type Tone } from '../../components/surface.tsx';
import { isWordKey, type Language, useLanguage } from '../../words/index.ts';
import type { Moment } from './records.ts';

const TONES: Partial<Record<Moment['kind'], Tone>> = {
  opened: 'good',
  clicked: 'good',
  bounced: 'bad',
  complained: 'bad',
  suppressed: 'warn',
  unsubscribed: 'warn',
};
/** The tones of a mail by its state. */
const MAIL_TONES: Readonly<Record<string, Tone>> = {
  accepted: 'good',
  queued: 'busy',
  sending: 'busy',
  bounced: 'bad',
  failed: 'bad',
  suppressed: 'warn',
  cancelled: 'warn',
};

export function Timeline({ moments }: { moments: readonly Moment[] }) {
  const language = useLanguage();
  if (moments.length === 0) return <p class="quiet-text">{language.say('person.timeline.none')}</p>;
  return (
    <ol class="person-timeline">
      {moments.map((moment, at) => (
        <li key={at}>
          <Time at={new Date(moment.happened_at)} />
          <div>
            <Badge tone={TONES[moment.kind] ?? MAIL_TONES[moment.state ?? ''] ?? 'plain'}>
              {language.say(`person.moment.${moment.kind}`)}
            </Badge>{' '}
            {about(language, moment)}
            {moment.reason && <p class="quiet-text">{reason(language, moment)}</p>}
            {moment.is_machine === 1 && <p class="quiet-text">{language.say('person.machine')}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

function about(language: Language, { kind, name, subject, url, state }: Moment): string {
  if (kind === 'clicked') return [url, name].filter(Boolean).join(' · ');
  if (kind === 'mail')
    return [subject ?? name, state && knownWord(language, 'delivery', state)].filter(Boolean).join(' · ');
  if (name === null && (kind === 'unsubscribed' || kind === 'resubscribed')) return language.say('person.allMail');
  const progress = kind === 'automation_entered' && state ? knownWord(language, 'entered', state) : null;
  return [name, progress].filter(Boolean).join(' · ');
}

function reason(language: Language, { kind, reason }: Moment): string {
  const text = reason ?? '';
  return kind === 'unsubscribed' || kind === 'resubscribed'
    ? language.say('person.source', { source: knownWord(language, 'source', text) })
    : language.sentence(text);
}

/** The reader's word for a value of the API, or the value where there is none. */
export function knownWord(
  language: Language,
  kind: 'delivery' | 'source' | 'suppression' | 'entered',
  value: string,
): string {
  const key = `${kind}.${value}`;
  return isWordKey(key) ? language.fill(key, {}) : value;
}
