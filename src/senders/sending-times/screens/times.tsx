/** The settings page for frequency caps and sending hours. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_CAPS } from '../../../delivery/timing/mail-caps.ts';
import { pageRoute } from '../../../http/pages/layout.ts';
import { Button } from '../../../ui/components/button.tsx';
import { CheckField, SelectField, TextField } from '../../../ui/components/field.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask, attempt } from '../../../ui/operations.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOwner } from '../../../ui/signed-in.ts';
import { field, fieldList } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { WEEKDAYS, weekdayName } from '../../../ui/words/weekdays.ts';
import { changeCaps, changeWindow, readCaps, readWindow } from '../operations.ts';

/** The numbers of the caps in the form, from 1 on. */
const NUMBERS = Array.from({ length: MAX_CAPS }, (_, at) => at + 1);

interface CapFields {
  mails: string;
  days: string;
}

/** The values that a user entered and the API rejected, and the reason. */
interface SubmittedTimes {
  caps?: readonly CapFields[];
  window?: WindowFields;
  problem?: string;
}

/** The values in the form while mail is sent at any time. */
const NO_WINDOW = { days: [], opens: '08:00', closes: '20:00' };

/** Registers the settings page for frequency caps and sending hours. */
export async function timesScreen(app: FastifyInstance): Promise<void> {
  pageRoute(app, '/settings/times', (request, reply) => {
    requireOwner(request);
    return show(request, reply);
  });

  app.post('/settings/times/caps', async (request, reply) => {
    requireOwner(request);
    const values = NUMBERS.map((number) => ({
      mails: field(request, `mails_${number}`).trim(),
      days: field(request, `days_${number}`).trim(),
    }));
    const caps = values.filter(({ mails, days }) => mails !== '' || days !== '');
    const changed = await attempt(request, changeCaps, { caps: caps.map(({ mails, days }) => `${mails}/${days}`) });
    if ('output' in changed) return backTo(reply, 'times', 'settings.done.capsSaved');
    return show(request, reply.code(changed.status), { caps: values, problem: changed.text });
  });

  app.post('/settings/times/window', async (request, reply) => {
    requireOwner(request);
    const days = fieldList(request, 'days').filter((day) => day !== '');
    const values = { days, opens: field(request, 'opens').trim(), closes: field(request, 'closes').trim() };
    const changed = await attempt(request, changeWindow, values);
    if ('output' in changed) return backTo(reply, 'times', 'settings.done.windowSaved');
    return show(request, reply.code(changed.status), { window: values, problem: changed.text });
  });

  async function show(request: FastifyRequest, reply: FastifyReply, { caps, window, problem }: SubmittedTimes = {}) {
    const [limits, times] = await Promise.all([ask(request, readCaps, {}), ask(request, readWindow, {})]);
    const storedCaps = limits.caps.map(({ mails, days }) => ({ mails: String(mails), days: String(days) }));
    const { days, opens, closes } = times.window ?? NO_WINDOW;
    const content = (
      <div class="stack">
        <CapsCard caps={caps ?? storedCaps} />
        <WindowCard values={window ?? { days: days.map(String), opens, closes }} zone={times.time_zone} />
      </div>
    );
    return sendSettings(request, reply, 'times', content, problem);
  }
}

function CapsCard({ caps }: { caps: readonly CapFields[] }) {
  const language = useLanguage();
  return (
    <Card title={language.say('caps.title')}>
      <p class="quiet-text">{language.say('caps.about')}</p>
      <form method="post" action="/settings/times/caps" class="stack">
        {NUMBERS.map((number) => (
          <fieldset key={number} class="bare-fieldset">
            <legend>{language.say('caps.number', { number })}</legend>
            <div class="fields-in-row">
              <TextField
                name={`mails_${number}`}
                label={language.say('caps.mails')}
                value={caps[number - 1]?.mails ?? ''}
                inputMode="numeric"
                maxLength={3}
                autocomplete="off"
              />
              <TextField
                name={`days_${number}`}
                label={language.say('caps.days')}
                value={caps[number - 1]?.days ?? ''}
                inputMode="numeric"
                maxLength={3}
                autocomplete="off"
              />
            </div>
          </fieldset>
        ))}
        <p class="hint">{language.say('caps.hint')}</p>
        <Button label={language.say('caps.save')} />
      </form>
    </Card>
  );
}

interface WindowFields {
  days: string[];
  opens: string;
  closes: string;
}

function WindowCard({ values, zone }: { values: WindowFields; zone: string }) {
  const language = useLanguage();
  return (
    <Card title={language.say('window.title')}>
      <p class="quiet-text">{language.say('window.about', { zone })}</p>
      <form method="post" action="/settings/times/window">
        <fieldset class="bare-fieldset">
          <legend>{language.say('window.days')}</legend>
          <div class="choices-in-row">
            {WEEKDAYS.map((day) => (
              <CheckField
                key={day}
                name="days"
                value={String(day)}
                label={weekdayName(language, day)}
                checked={values.days.includes(String(day))}
              />
            ))}
          </div>
        </fieldset>
        <div class="fields-in-row">
          <TextField
            name="opens"
            label={language.say('window.from')}
            value={values.opens}
            maxLength={5}
            inputMode="numeric"
          />
          <TextField
            name="closes"
            label={language.say('window.to')}
            value={values.closes}
            maxLength={5}
            inputMode="numeric"
          />
        </div>
        <Button look="plain" label={language.say('window.save')} />
      </form>
    </Card>
  );
}

/** Returns true if the account has frequency caps. */
export async function readHasCaps(request: FastifyRequest): Promise<boolean> {
  return (await ask(request, readCaps, {})).caps.length > 0;
}

/** The field of a campaign or an automation that says if its mails ignore the frequency caps. */
export function CapField({ name, kind, value }: { name: string; kind: 'campaign' | 'automation'; value: string }) {
  const language = useLanguage();
  const isCampaign = kind === 'campaign';
  return (
    <SelectField
      name={name}
      label={language.say('caps.field')}
      value={value}
      options={[
        { value: '0', label: language.say(isCampaign ? 'caps.holds' : 'caps.holds.automation') },
        { value: '1', label: language.say(isCampaign ? 'caps.ignored' : 'caps.ignored.automation') },
      ]}
    />
  );
}
