/** The form of the days and hours at which mail leaves. */
import { Button } from '../../dashboard/components/button.tsx';
import { CheckField, TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { useLanguage } from '../../dashboard/words/index.ts';

/** The times as they are in the form. */
export interface WindowFields {
  days: string[];
  opens: string;
  closes: string;
}

/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;
const DAYS = [0, 1, 2, 3, 4, 5, 6];

export function WindowCard({ given, zone }: { given: WindowFields; zone: string }) {
  const language = useLanguage();
  const weekday = new Intl.DateTimeFormat(language.locale, { weekday: 'long', timeZone: 'UTC' });
  return (
    <Card title={language.say('window.title')}>
      <p class="quiet-text">{language.say('window.about', { zone })}</p>
      <form method="post" action="/settings/times/window">
        <fieldset class="bare-fieldset">
          <legend>{language.say('window.days')}</legend>
          <div class="choices-in-row">
            {DAYS.map((day) => (
              <CheckField
                key={day}
                name="days"
                value={String(day + 1)}
                label={weekday.format(MONDAY + day * DAY_MS)}
                checked={given.days.includes(String(day + 1))}
              />
            ))}
          </div>
        </fieldset>
        <div class="fields-in-row">
          <TextField
            name="opens"
            label={language.say('window.from')}
            value={given.opens}
            maxLength={5}
            inputMode="numeric"
          />
          <TextField
            name="closes"
            label={language.say('window.to')}
            value={given.closes}
            maxLength={5}
            inputMode="numeric"
          />
        </div>
        <Button>{language.say('window.save')}</Button>
      </form>
    </Card>
  );
}
