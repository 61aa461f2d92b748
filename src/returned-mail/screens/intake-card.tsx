/** One address for the events of a mail provider: whether it works, what to do at the provider, and what arrived. */
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { Facts } from '../../dashboard/components/figures.tsx';
import { Island, LiveNotes } from '../../dashboard/components/island.tsx';
import { Badge, Card, Notice } from '../../dashboard/components/surface.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { type PlainKey, useLanguage } from '../../dashboard/words/index.ts';
import type { MailProvider } from '../../database/schema/index.ts';
import type { Intake } from '../operations.ts';

const TONES = { waits: 'plain', works: 'good', refuses: 'bad' } as const;
/** The page looks for the first event by itself for this long after the address was made. */
const WATCH_MS = 60 * 60_000;
const WATCH_EVERY_MS = 5000;
/** What to do at the provider, after the address was copied. */
const STEPS: Readonly<Record<MailProvider, readonly PlainKey[]>> = {
  ses: ['providers.step.ses.1', 'providers.step.ses.2', 'providers.step.ses.3'],
  mailgun: ['providers.step.mailgun.1', 'providers.step.mailgun.2'],
  postmark: ['providers.step.postmark.1', 'providers.step.postmark.2'],
  sendgrid: ['providers.step.sendgrid.1', 'providers.step.sendgrid.2'],
  brevo: ['providers.step.brevo.1', 'providers.step.brevo.2'],
  sparkpost: ['providers.step.sparkpost.1', 'providers.step.sparkpost.2'],
};
const COUNTS = [
  'permanent',
  'returned',
  'temporary',
  'complaints',
  'unsubscribes',
  'others',
  'unmatched',
  'duplicates',
  'refused',
] as const;

export function IntakeCard({ intake, now }: { intake: Intake; now: Date }) {
  const language = useLanguage();
  const { id, provider, url } = intake;
  const isNew = now.getTime() - (recordTime(intake.created_at)?.getTime() ?? 0) < WATCH_MS;
  const isActive = isNew && intakeState(intake) !== 'works';
  const name = language.say(`providers.name.${provider}`);
  return (
    <div id={`provider-${id}`}>
      <Card title={name}>
        <State intake={intake} now={now} isActive={isActive} />
        {isActive && (
          <Island name="live" data={{ results: `#provider-${id} .provider-live`, every: WATCH_EVERY_MS }}>
            <LiveNotes />
          </Island>
        )}
        <p>{language.say('providers.address')}</p>
        <Island name="copy" data={{ label: language.say('providers.copy'), done: language.say('domains.copied') }}>
          <code class="once">{url}</code>
        </Island>
        <p class="quiet-text">{language.say('providers.secret')}</p>
        <details open={intakeState(intake) !== 'works'}>
          <summary>{language.say('providers.steps', { name })}</summary>
          <ol class="provider-steps">
            {STEPS[provider].map((step) => (
              <li key={step}>{language.say(step)}</li>
            ))}
          </ol>
          {intake.has_secret === 1 && provider !== 'mailgun' && provider !== 'sendgrid' && (
            <p>{language.say('providers.step.password')}</p>
          )}
        </details>
        <Confirm
          id={`delete-${id}`}
          action={`/settings/returns/${id}/delete`}
          label={language.say('providers.delete')}
          title={language.say('providers.delete.title', { name })}
        >
          <p>{language.say('providers.delete.text', { name })}</p>
        </Confirm>
      </Card>
    </div>
  );
}

/** What is known of the address; the page replaces it by itself while the first event is awaited. */
function State({ intake, now, isActive }: { intake: Intake; now: Date; isActive: boolean }) {
  const language = useLanguage();
  const state = intakeState(intake);
  const eventAt = recordTime(intake.last_event_at);
  const refusedAt = recordTime(intake.last_refused_at);
  const counts = COUNTS.filter((name) => intake[name] > 0);
  return (
    <div
      id={`provider-${intake.id}-state`}
      class="provider-live"
      data-active={isActive ? 'yes' : 'no'}
      data-news={state === 'works' ? language.say('providers.state.works') : ''}
    >
      <p>
        <Badge tone={TONES[state]}>{language.say(`providers.state.${state}`)}</Badge>{' '}
        {eventAt !== null && (
          <span class="quiet-text">
            {language.say('providers.last', { event: intake.last_event ?? '', time: language.relative(eventAt, now) })}
          </span>
        )}
      </p>
      {isActive && state === 'waits' && <p class="quiet-text">{language.say('providers.watching')}</p>}
      {refusedAt !== null && intake.last_refusal !== null && (
        <Notice tone={state === 'refuses' ? 'bad' : 'warn'}>
          {language.say('providers.refusedLast', { time: language.relative(refusedAt, now) })}{' '}
          {language.say(`providers.refusal.${intake.last_refusal}`)}
        </Notice>
      )}
      {intake.provider === 'ses' && intake.topic !== null && (
        <p class="quiet-text browser">{language.say('providers.topic', { topic: intake.topic })}</p>
      )}
      {counts.length > 0 && (
        <Facts
          facts={counts.map((name) => ({
            label: language.say(`providers.count.${name}`),
            value: language.number(intake[name]),
          }))}
        />
      )}
    </div>
  );
}

/** What is known of an address: it waits for the first event, works, or refuses what arrived last. */
function intakeState({ last_event_at: eventAt, last_refused_at: refusedAt }: Intake) {
  if (refusedAt !== null && (eventAt === null || refusedAt > eventAt)) return 'refuses';
  return eventAt === null ? 'waits' : 'works';
}
