/** How often mail leaves: the limits of mails per person. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MAX_CAPS } from '../../../delivery/timing/mail-caps.ts';
import { READ } from '../../../http/pages/layout.ts';
import { ApiClient, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { TextField } from '../../components/field.tsx';
import { Card } from '../../components/surface.tsx';
import { field } from '../../sign-in/fields.ts';
import { requireOwner } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

const NUMBERS = Array.from({ length: MAX_CAPS }, (_, at) => at + 1);

/** A limit as it is in the form. */
interface CapFields {
  mails: string;
  days: string;
}

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
    const answer = await new ApiClient(app, request).send('POST', '/sending/caps/save', {
      caps: caps.map(({ mails, days }) => `${mails}/${days}`),
    });
    if (answer.message !== undefined) return backTo(reply, 'times', 'settings.done.capsSaved');
    const problem =
      typeof answer.errors === 'object' ? Object.values(answer.errors).flat().join(' ') : refusalText(answer);
    return show(request, reply.code(answer.status), given, problem);
  });

  async function show(request: FastifyRequest, reply: FastifyReply, given?: readonly CapFields[], problem = '') {
    const { caps } = await new ApiClient(app, request).get<{ caps: { mails: number; days: number }[] }>(
      '/sending/caps',
    );
    const stored = caps.map(({ mails, days }) => ({ mails: String(mails), days: String(days) }));
    return sendSettings(request, reply, 'times', <Caps caps={given ?? stored} />, problem);
  }
}

function Caps({ caps }: { caps: readonly CapFields[] }) {
  const language = useLanguage();
  return (
    <Card title={language.say('caps.title')}>
      <p class="quiet-text">{language.say('caps.about')}</p>
      <form method="post" action="/settings/times/caps">
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
