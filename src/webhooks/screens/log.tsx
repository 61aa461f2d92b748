/** Two cards of a webhook's page: the log, with a button that sends an event again, and the button for a test, with its result. */
import { Button } from '../../ui/components/button.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Island, LiveNotes } from '../../ui/components/island.tsx';
import { Badge, Card, Notice, type Tone } from '../../ui/components/surface.tsx';
import { Pager, Table } from '../../ui/components/table.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import type { LogEntry } from '../operations/webhooks.ts';

/** The selector of the parts of the page that are updated while the result of a test or replay is awaited. */
const LIVE = '.webhook-live';
const UPDATE_EVERY_MS = 1000;

/** The test or replay that was last requested on this page. */
export interface Requested {
  eventId: number;
  /** Null while the result is awaited. */
  attempt: LogEntry | null;
}

export interface Log {
  attempts: readonly LogEntry[];
  /** True if the list has only failed attempts. */
  onlyFailed: boolean;
  /** The link to the first page; null on the first page. */
  first: string | null;
  /** The link to the next page; null on the last page. */
  next: string | null;
}

/** The button for a test, and the result of the test or replay that was requested; null if nothing was requested. */
export function TestCard({ id, requested }: { id: number; requested: Requested | null }) {
  const language = useLanguage();
  return (
    <Card title={language.say('webhooks.test.title')}>
      {requested !== null && <RequestResult requested={requested} />}
      {requested?.attempt === null && (
        <Island name="live" data={{ results: LIVE, every: UPDATE_EVERY_MS }}>
          <LiveNotes />
        </Island>
      )}
      <p class="quiet-text">{language.say('webhooks.test.text')}</p>
      <form method="post" action={`/settings/webhooks/${id}/test`}>
        <Button look="plain" label={language.say('webhooks.test.submit')} />
      </form>
    </Card>
  );
}

function RequestResult({ requested }: { requested: Requested }) {
  const { tone, text } = requestResult(useLanguage(), requested);
  const isAwaited = requested.attempt === null;
  return (
    <div
      id="answer"
      class="webhook-live browser"
      data-active={isAwaited ? 'yes' : 'no'}
      data-news={isAwaited ? '' : text}
    >
      <Notice tone={tone}>{text}</Notice>
    </div>
  );
}

function requestResult(language: Language, { eventId, attempt }: Requested): { tone: Tone; text: string } {
  if (attempt === null) return { tone: 'busy', text: language.say('webhooks.answer.none', { id: String(eventId) }) };
  const { is_success, status, took_ms: ms } = attempt;
  if (is_success === 1) return { tone: 'good', text: language.say('webhooks.answer.good', { status, ms }) };
  return { tone: 'bad', text: language.say('webhooks.answer.bad', { answer: attemptText(language, attempt) }) };
}

/** The attempts of a webhook, with a filter and paging. */
export function LogCard({ id, log, now }: { id: number; log: Log; now: Date }) {
  const language = useLanguage();
  const { attempts, onlyFailed, first, next } = log;
  const path = `/settings/webhooks/${id}`;
  return (
    <Card title={language.say('webhooks.log')}>
      <p>
        {onlyFailed ? (
          <a href={`${path}#log`}>{language.say('webhooks.log.all')}</a>
        ) : (
          <a href={`${path}?result=failed#log`}>{language.say('webhooks.log.failed')}</a>
        )}
      </p>
      <div id="log" class="webhook-live">
        {attempts.length === 0 ? (
          <p class="quiet-text">{language.say(onlyFailed ? 'webhooks.log.noneFailed' : 'webhooks.log.none')}</p>
        ) : (
          <Table
            caption={language.say('webhooks.log')}
            rows={attempts}
            keyOf={(attempt) => attempt.id}
            columns={[
              { heading: language.say('webhooks.log.at'), cell: ({ at }) => <Time at={recordTime(at)} now={now} /> },
              {
                heading: language.say('webhooks.log.event'),
                cell: ({ type, event_id }) => (
                  <code>
                    {type} {event_id}
                  </code>
                ),
              },
              { heading: language.say('webhooks.log.answer'), cell: (attempt) => <AttemptResult attempt={attempt} /> },
              {
                heading: language.say('webhooks.log.took'),
                isNumber: true,
                cell: ({ took_ms }) => language.say('webhooks.log.ms', { ms: took_ms }),
              },
              {
                heading: language.say('webhooks.log.again'),
                cell: ({ event_id, is_kept }) =>
                  is_kept === 0 ? (
                    <span class="quiet-text">{language.say('webhooks.log.gone')}</span>
                  ) : (
                    <form method="post" action={`${path}/replay`}>
                      <Button
                        look="quiet"
                        name="event_id"
                        value={String(event_id)}
                        label={language.say('webhooks.log.again')}
                      />
                    </form>
                  ),
              },
            ]}
          />
        )}
        <Pager first={first} next={next} />
      </div>
    </Card>
  );
}

function AttemptResult({ attempt }: { attempt: LogEntry }) {
  const language = useLanguage();
  const isTaken = attempt.is_success === 1;
  return (
    <span class="browser">
      <Badge tone={isTaken ? 'good' : 'bad'}>{language.say(isTaken ? 'webhooks.taken' : 'webhooks.refused')}</Badge>{' '}
      {attemptText(language, attempt)}
      {attempt.attempt > 1 && (
        <span class="quiet-text"> {language.say('webhooks.log.attempt', { number: attempt.attempt })}</span>
      )}
    </span>
  );
}

/** Returns the status and the error of an attempt; only the status after a success. */
function attemptText(language: Language, { status, reply }: LogEntry): string {
  return [status === 0 ? '' : `HTTP ${status}`, language.sentence(reply)].filter((part) => part !== '').join(': ');
}
