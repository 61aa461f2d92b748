/** Whether a webhook is on, and what changes that: switching, another secret, deleting. */
import { Button } from '../../../components/button.tsx';
import { Confirm } from '../../../components/confirm.tsx';
import { Facts, Time } from '../../../components/figures.tsx';
import { Island } from '../../../components/island.tsx';
import { Card, Notice } from '../../../components/surface.tsx';
import { recordTime } from '../../../record-time.ts';
import { useLanguage } from '../../../words/index.ts';
import { type Webhook, waitingText } from './records.ts';
import { State } from './webhooks.tsx';

/** A secret that was just made: it is not shown again. */
export function Secret({ secret }: { secret: string }) {
  const language = useLanguage();
  return (
    <Notice tone="good" isNews>
      <p>{language.say('webhooks.secret.made')}</p>
      <Island name="copy" data={{ label: language.say('webhooks.secret.copy'), done: language.say('domains.copied') }}>
        <code class="once">{secret}</code>
      </Island>
    </Notice>
  );
}

export function StateCard({ webhook, now }: { webhook: Webhook; now: Date }) {
  const language = useLanguage();
  const { id, url, note, state, succeeded_at: succeededAt, previous_until: until } = webhook;
  const previousUntil = recordTime(until);
  return (
    <Card title={note === '' ? new URL(url).host : note}>
      <p class="browser">{url}</p>
      <State webhook={webhook} now={now} />
      <Facts
        facts={[
          { label: language.say('webhooks.waits'), value: waitingText(language, webhook) },
          { label: language.say('webhooks.takenAt'), value: <Time at={recordTime(succeededAt)} now={now} /> },
        ]}
      />
      {previousUntil !== null && (
        <p class="quiet-text">{language.say('webhooks.secret.both', { time: language.dateTime(previousUntil) })}</p>
      )}
      <div class="buttons">
        {state === 'disabled' ? (
          <form method="post" action={`/settings/webhooks/${id}/switch`}>
            <Button name="is_enabled" value="1">
              {language.say('webhooks.switchOn')}
            </Button>
          </form>
        ) : (
          <Confirm
            id="switch-off"
            action={`/settings/webhooks/${id}/switch`}
            label={language.say('webhooks.switchOff')}
            look="plain"
            title={language.say('webhooks.switchOff.title')}
          >
            <input type="hidden" name="is_enabled" value="0" />
            <p>{language.say('webhooks.switchOff.text')}</p>
          </Confirm>
        )}
        <Confirm
          id="rotate"
          action={`/settings/webhooks/${id}/rotate`}
          label={language.say('webhooks.rotate')}
          look="plain"
          title={language.say('webhooks.rotate.title')}
        >
          <p>{language.say('webhooks.rotate.text')}</p>
        </Confirm>
      </div>
    </Card>
  );
}

/** The button that asks before it deletes. */
export function Danger({ webhook }: { webhook: Webhook }) {
  const language = useLanguage();
  return (
    <p>
      <Confirm
        id="delete"
        action={`/settings/webhooks/${webhook.id}/delete`}
        label={language.say('webhooks.delete')}
        title={language.say('webhooks.delete.title')}
      >
        <p>{waitingText(language, webhook)}</p>
        <p>{language.say('webhooks.delete.text')}</p>
      </Confirm>
    </p>
  );
}
