/** What one person gets from an automation, and when: a form for an address, and a timeline. */
import { Button } from '../../components/button.tsx';
import { type Problems, TextField } from '../../components/field.tsx';
import { Time } from '../../components/figures.tsx';
import { Badge, Card, type Tone } from '../../components/surface.tsx';
import { useLanguage } from '../../words/index.ts';
import type { Forecast } from './records.ts';

type Asked = { forecast: Forecast; problems?: never } | { problems: Problems; forecast?: never };

const TONES: Readonly<Record<Forecast['state'], Tone>> = {
  waiting: 'busy',
  finished: 'good',
  left: 'warn',
  outside: 'plain',
};

export function PersonForecast({ email, asked, now }: { email: string; asked: Asked | null; now: Date }) {
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
          required
          problems={asked?.problems}
        />
        <Button look="plain">{language.say('automations.forecast.show')}</Button>
      </form>
      {asked?.forecast && <Timeline forecast={asked.forecast} now={now} />}
    </Card>
  );
}

function Timeline({ forecast: { state, reason, entered_at, mails }, now }: { forecast: Forecast; now: Date }) {
  const language = useLanguage();
  return (
    <>
      <p>
        <Badge tone={TONES[state]}>{language.say(`automations.forecast.${state}`)}</Badge>{' '}
        {reason !== null && language.sentence(reason)}
      </p>
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
