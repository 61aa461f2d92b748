/** The log of a webhook, with a button to send each event again, and the result of a test. */
import { Button } from '../../ui/components/button.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Island, LiveNotes } from '../../ui/components/island.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { Pager, Table } from '../../ui/components/table.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import type { LogEntry } from '../operations/webhooks.ts';

/** The parts of the page that are updated while a result is awaited. */
const LIVE = '.webhook-live';
const LOOK_EVERY_MS = 1000;

/** The last test or replay requested on this page: its event, and its attempt once there is one. */
export interface Requested {
  eventId: number;
  attempt: LogEntry | null;
}

export interface Log {
  attempts: readonly LogEntry[];
  onlyFailed: boolean;
  /** The links to the first page, if another one is shown, and to the next page. */
  first: string | null;
  next: string | null;
}

/** The button for a test, and the result of the last one. */
export function TestCard({ id, asked }: { id: number; asked: Requested | null }) {
  const language = useLanguage();
  return (
    <Card title={language.say('webhooks.test.title')}>
      {asked !== null && <Answer asked={asked} />}
      {asked?.attempt === null && (
        <Island name="live" data={{ results: LIVE, every: LOOK_EVERY_MS }}>
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

function Answer({ asked: { eventId, attempt } }: { asked: Requested }) {
  const language = useLanguage();
  const text =
    attempt === null
      ? language.say('webhooks.answer.none', { id: String(eventId) })
      : attempt.is_success === 1
        ? language.say('webhooks.answer.good', { status: attempt.status, ms: attempt.took_ms })
        : language.say('webhooks.answer.bad', { answer: attemptText(language, attempt) });
  return (
    <div
      id="answer"
      class="webhook-live browser"
      data-active={attempt === null ? 'yes' : 'no'}
      data-news={attempt === null ? '' : text}
    >
      <Notice tone={attempt === null ? 'busy' : attempt.is_success === 1 ? 'good' : 'bad'}>{text}</Notice>
    </div>
  );
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
              { heading: language.say('webhooks.log.answer'), cell: (attempt) => <Result attempt={attempt} /> },
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

function Result({ attempt }: { attempt: LogEntry }) {
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

/** Returns the result of an attempt as a sentence. */
function attemptText(language: Language, { status, reply }: LogEntry): string {
  return [status === 0 ? '' : `HTTP ${status}`, language.sentence(reply)].filter((part) => part !== '').join(': ');
}
