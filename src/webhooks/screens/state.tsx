/** The state of a webhook, and the buttons that switch it off and on, rotate its secret and delete it. */
import { Button } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Facts, Time } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Badge, Card, Notice, type Tone } from '../../ui/components/surface.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { MAX_COUNTED_EVENTS } from '../log.ts';
import type { Webhook } from '../operations/webhooks.ts';

/** A new secret, which is shown only once. */
export function Secret({ id, secret }: { id: number; secret: string }) {
  const language = useLanguage();
  return (
    <Notice tone="good" isNews reloads={`/settings/webhooks/${id}`}>
      <p>{language.say('webhooks.secret.made')}</p>
      <Island name="copy" data={{ label: language.say('webhooks.secret.copy'), done: language.say('domains.copied') }}>
        <code class="once">{secret}</code>
      </Island>
    </Notice>
  );
}

/** The card with the state of a webhook, the number of its waiting events, and the buttons that switch it and rotate its secret. */
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
          { label: language.say('webhooks.waits'), value: waitingCount(language, webhook) },
          { label: language.say('webhooks.takenAt'), value: <Time at={recordTime(succeededAt)} now={now} /> },
        ]}
      />
      {previousUntil !== null && (
        <p class="quiet-text">{language.say('webhooks.secret.both', { time: language.dateTime(previousUntil) })}</p>
      )}
      <div class="buttons">
        {state === 'disabled' ? (
          <form method="post" action={`/settings/webhooks/${id}/switch`}>
            <Button name="is_enabled" value="1" label={language.say('webhooks.switchOn')} />
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

/** The button that deletes a webhook after a confirmation. */
export function DeleteButton({ webhook }: { webhook: Webhook }) {
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

/** The state of a webhook, the reason if it is disabled, and its last error if its last attempt failed. */
export function State({ webhook, now }: { webhook: Webhook; now: Date }) {
  const language = useLanguage();
  const { tone, text } = webhookState(language, webhook);
  const { disabled_reason: reason, failed_at: failedAt, failure, failures } = webhook;
  const at = recordTime(failedAt);
  return (
    <div>
      <Badge tone={tone}>{text}</Badge>
      {reason !== null && <span class="second-line">{language.fullSentence(reason)}</span>}
      {failures > 0 && failure !== '' && (
        <span class="second-line quiet-text browser">
          <Time at={at} now={now} />: {language.sentence(failure)}
        </span>
      )}
    </div>
  );
}

/** Returns the number of waiting events as a text: `1,000+` for a thousand or more. */
export function waitingCount(language: Language, { waiting }: Webhook): string {
  return waiting < MAX_COUNTED_EVENTS ? language.number(waiting) : `${language.number(MAX_COUNTED_EVENTS)}+`;
}

function waitingText(language: Language, { waiting }: Webhook): string {
  return waiting < MAX_COUNTED_EVENTS
    ? language.say('webhooks.waiting', { count: waiting })
    : language.say('webhooks.waiting.many', { count: MAX_COUNTED_EVENTS });
}

function webhookState(
  language: Language,
  { state, disabled_code: code, failures }: Webhook,
): { tone: Tone; text: string } {
  if (state === 'disabled') return { tone: code === 'by_owner' ? 'plain' : 'bad', text: language.say('webhooks.off') };
  if (failures > 0) return { tone: 'warn', text: language.say('webhooks.fails') };
  return { tone: 'good', text: language.say('webhooks.on') };
}
