/** What one person gets from an automation, and when: a form for an address, and a timeline. */
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge, Card, type Tone } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Asked, Forecast } from './records.ts';

const TONES: Readonly<Record<Forecast['state'], Tone>> = {
  waiting: 'busy',
  finished: 'good',
  left: 'warn',
  outside: 'plain',
};

interface PersonForecastProps {
  email: string;
  asked: Asked;
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
          problems={asked.problems}
        />
        <Button look="plain">{language.say('automations.forecast.show')}</Button>
      </form>
      {isTrial && <p>{language.say('automations.forecast.trial')}</p>}
      {email === '' && <p>{language.say('automations.forecast.anybody')}</p>}
      {asked.forecast && <Timeline forecast={asked.forecast} now={now} isAnybody={email === ''} />}
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
