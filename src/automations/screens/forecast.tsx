/** What one person gets from an automation, and when: a form for an address, and a timeline. */
import type { FastifyRequest } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { TextField } from '../../dashboard/components/field.tsx';
import { Time } from '../../dashboard/components/figures.tsx';
import { Badge, Card, type Tone } from '../../dashboard/components/surface.tsx';
import { attempt } from '../../dashboard/operations.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { type Forecast, previewAutomation } from '../operations/forecast.ts';

const TONES: Readonly<Record<Forecast['state'], Tone>> = {
  waiting: 'busy',
  finished: 'good',
  left: 'warn',
  outside: 'plain',
};

/** Reads the forecast for an address, as if the automation was live; for anybody who enters now where it is empty. */
export function readForecast(request: FastifyRequest, utr: string, email: string) {
  return attempt(request, previewAutomation, { utr, if_live: 1, ...(email.trim() !== '' && { email }) });
}

interface PersonForecastProps {
  email: string;
  asked: Awaited<ReturnType<typeof readForecast>>;
  now: Date;
  /** Whether the automation is not live, so that it is what would be. */
  isTrial: boolean;
}

export function PersonForecast({ email, asked, now, isTrial }: PersonForecastProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('automations.forecast.title')}>
      <p class="quiet-text">{language.say('automations.forecast.about')}</p>
      <form method="get" class="narrow">
        <TextField
          name="email"
          label={language.say('automations.forecast.email')}
          type="email"
          value={email}
          autocomplete="off"
          problems={'problems' in asked ? asked.problems : {}}
        />
        <Button look="plain">{language.say('automations.forecast.show')}</Button>
      </form>
      {isTrial && <p>{language.say('automations.forecast.trial')}</p>}
      {email === '' && <p>{language.say('automations.forecast.anybody')}</p>}
      {'output' in asked && <Timeline forecast={asked.output.preview} now={now} isAnybody={email === ''} />}
    </Card>
  );
}

function Timeline({
  forecast: { state, reason, entered_at, mails },
  now,
  isAnybody,
}: {
  forecast: Forecast;
  now: Date;
  isAnybody: boolean;
}) {
  const language = useLanguage();
  return (
    <>
      {!isAnybody && (
        <p>
          <Badge tone={TONES[state]}>{language.say(`automations.forecast.${state}`)}</Badge>{' '}
          {reason !== null && language.sentence(reason)}
        </p>
      )}
      <ol class="timeline">
        {entered_at !== null && (
          <li>
            <Time at={new Date(entered_at)} /> {language.say('automations.forecast.entered')}
          </li>
        )}
        {mails.map(({ utr, subject, sent_at, due_at }) => (
          <li key={utr} class={sent_at === null ? 'future' : undefined}>
            {sent_at !== null ? (
              <>
                <Time at={new Date(sent_at)} /> {language.say('automations.forecast.sent')}
              </>
            ) : due_at !== null ? (
              <>
                <Time at={new Date(due_at)} /> {language.say('automations.forecast.due')} (
                <Time at={new Date(due_at)} now={now} />)
              </>
            ) : (
              language.say('automations.forecast.never')
            )}
            <br />
            <bdi>{subject}</bdi>
          </li>
        ))}
      </ol>
    </>
  );
}
