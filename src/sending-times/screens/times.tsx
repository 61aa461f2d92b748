/** How often and when mail leaves: the limits of mails per person, and the days and hours. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { TextField } from '../../dashboard/components/field.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { ask, attempt, sentenceOf } from '../../dashboard/operations.ts';
import { backTo, sendSettings } from '../../dashboard/screens/settings/frame.tsx';
import { field, fieldList } from '../../dashboard/sign-in/fields.ts';
import { requireOwner } from '../../dashboard/signed-in.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { MAX_CAPS } from '../../delivery/timing/mail-caps.ts';
import { READ } from '../../http/pages/layout.ts';
import { changeCaps, changeWindow, readCaps, readWindow } from '../operations.ts';
import { WindowCard, type WindowFields } from './window-card.tsx';

const NUMBERS = Array.from({ length: MAX_CAPS }, (_, at) => at + 1);

/** A limit as it is in the form. */
interface CapFields {
  mails: string;
  days: string;
}

/** What was typed and refused, and why. */
interface Shown {
  caps?: readonly CapFields[];
  window?: WindowFields;
  problem?: string;
}

/** What the form offers where mail leaves at any time. */
const NO_WINDOW = { days: [], opens: '08:00', closes: '20:00' };

export async function timesScreen(app: FastifyInstance): Promise<void> {
  app.route({
    method: READ,
    url: '/settings/times',
    handler: (request, reply) => {
      requireOwner(request);
      return show(request, reply);
    },
  });

  app.post('/settings/times/caps', async (request, reply) => {
    requireOwner(request);
    const given = NUMBERS.map((number) => ({
      mails: field(request, `mails_${number}`).trim(),
      days: field(request, `days_${number}`).trim(),
    }));
    const caps = given.filter(({ mails, days }) => mails !== '' || days !== '');
    const changed = await attempt(request, changeCaps, { caps: caps.map(({ mails, days }) => `${mails}/${days}`) });
    if ('output' in changed) return backTo(reply, 'times', 'settings.done.capsSaved');
    return show(request, reply.code(changed.status), { caps: given, problem: sentenceOf(changed) });
  });

  app.post('/settings/times/window', async (request, reply) => {
    requireOwner(request);
    const days = fieldList(request, 'days').filter((day) => day !== '');
    const given = { days, opens: field(request, 'opens').trim(), closes: field(request, 'closes').trim() };
    const changed = await attempt(request, changeWindow, given);
    if ('output' in changed) return backTo(reply, 'times', 'settings.done.windowSaved');
    return show(request, reply.code(changed.status), { window: given, problem: sentenceOf(changed) });
  });

  async function show(request: FastifyRequest, reply: FastifyReply, { caps, window, problem }: Shown = {}) {
    const [limits, times] = await Promise.all([ask(request, readCaps, {}), ask(request, readWindow, {})]);
    const storedCaps = limits.caps.map(({ mails, days }) => ({ mails: String(mails), days: String(days) }));
    const { days, opens, closes } = times.window ?? NO_WINDOW;
    const content = (
      <div class="stack">
        <Caps caps={caps ?? storedCaps} />
        <WindowCard given={window ?? { days: days.map(String), opens, closes }} zone={times.time_zone} />
      </div>
    );
    return sendSettings(request, reply, 'times', content, problem);
  }
}

function Caps({ caps }: { caps: readonly CapFields[] }) {
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
        <Button>{language.say('caps.save')}</Button>
      </form>
    </Card>
  );
}
