/** The state of a feed: the result of the last read, the waiting items, and the buttons that pause, release and delete it. */
import type { ComponentChildren } from 'preact';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { Feed } from '../operations.ts';

const TONES = { active: 'good', paused: 'plain', held: 'warn' } as const;

/** The state of a feed as a badge. */
export function FeedState({ state }: Pick<Feed, 'state'>) {
  return <Badge tone={TONES[state]}>{useLanguage().say(`feeds.state.${state}`)}</Badge>;
}

/** The state of a feed in detail, with its buttons if the user may change it. */
export function StateCard({ feed, now, mayChange }: { feed: Feed; now: Date; mayChange: boolean }) {
  const language = useLanguage();
  const { id, url, state, held_reason: heldReason, failure, waiting, read_at: readAt, next_mail_at: nextAt } = feed;
  const actionForm = (path: string, fields: Record<string, string>, button: ComponentChildren) => (
    <form method="post" action={`/feeds/${id}/${path}`}>
      {Object.entries(fields).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
      {button}
    </form>
  );
  const read = recordTime(readAt);
  const next = recordTime(nextAt);
  return (
    <Card>
      <p>
        <FeedState state={state} /> <a href={url}>{feed.feed_title || url}</a>
      </p>
      {heldReason !== null && <Notice tone="warn">{language.fullSentence(heldReason)}</Notice>}
      {failure !== '' && (
        <Notice tone="warn">{language.say('feeds.failed', { reason: language.fullSentence(failure) })}</Notice>
      )}
      <p class="quiet-text">
        {read === null ? (
          language.say('feeds.unread')
        ) : (
          <>
            {language.say('feeds.read')} <Time at={read} now={now} />
          </>
        )}
        {' · '}
        {language.say('feeds.waiting', { count: waiting })}
        {next !== null && (
          <>
            {' · '}
            {language.say('feeds.next')} <Time at={next} now={now} />
          </>
        )}
      </p>
      {mayChange && (
        <div class="buttons">
          {state === 'held' && (
            <Confirm
              id="send-items"
              action={`/feeds/${id}/decide`}
              label={language.say('feeds.send')}
              look="plain"
              title={language.say('feeds.send.title')}
            >
              <input type="hidden" name="what" value="send" />
              <p>
                {language.say(feed.rhythm === 'item' ? 'feeds.send.each' : 'feeds.send.digest', { count: waiting })}
              </p>
            </Confirm>
          )}
          {state === 'held' &&
            actionForm(
              'decide',
              { what: 'skip' },
              <Button look="plain" label={language.say('feeds.skip', { count: waiting })} />,
            )}
          <LinkButton look="plain" href={`/feeds/${id}/preview`} label={language.say('feeds.preview')} />
          {state === 'active' &&
            actionForm(
              'switch',
              { is_active: '0' },
              <Button look="plain" icon="pause" label={language.say('feeds.pause')} />,
            )}
          {state === 'paused' &&
            actionForm(
              'switch',
              { is_active: '1' },
              <Button look="plain" icon="play" label={language.say('feeds.resume')} />,
            )}
          <Confirm
            id="delete-feed"
            action={`/feeds/${id}/delete`}
            label={language.say('feeds.delete')}
            title={language.say('feeds.delete.title', { name: feed.feed_name })}
          >
            <p>{language.say('feeds.delete.text', { count: waiting })}</p>
          </Confirm>
        </div>
      )}
    </Card>
  );
}
