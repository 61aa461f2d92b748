/** What the account learns of opens and clicks. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TRACKING_MODES, type TrackingMode } from '../../../database/schema/index.ts';
import { ApiClient, refusalText } from '../../api-client.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/surface.tsx';
import { field } from '../../sign-in/fields.ts';
import { useLanguage } from '../../words/index.ts';
import { backTo, sendSettings } from './frame.tsx';

export async function trackingScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, problem = '') => {
    const { tracking } = await new ApiClient(app, request).get<{ tracking: { mode: TrackingMode } }>('/tracking');
    return sendSettings(request, reply, 'tracking', <Modes mode={tracking.mode} />, problem);
  };

  app.get('/settings/tracking', (request, reply) => show(request, reply));

  app.post('/settings/tracking', async (request, reply) => {
    const answer = await new ApiClient(app, request).send('POST', '/tracking/save', { mode: field(request, 'mode') });
    if (answer.message !== undefined) return backTo(reply, 'tracking', 'settings.done.changed');
    return show(request, reply.code(answer.status), refusalText(answer));
  });
}

function Modes({ mode }: { mode: TrackingMode }) {
  const language = useLanguage();
  return (
    <Card>
      <form method="post" action="/settings/tracking" class="narrow">
        <fieldset class="bare-fieldset">
          <legend>{language.say('tracking.question')}</legend>
          {TRACKING_MODES.map((one) => (
            <label key={one} class="choice">
              <input type="radio" name="mode" value={one} checked={one === mode} />
              <span class="named">
                <span>{language.say(`tracking.${one}`)}</span>
                <span class="small quiet-text">{language.say(`tracking.${one}.text`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <p class="quiet-text">{language.say('tracking.about')}</p>
        <Button>{language.say('tracking.save')}</Button>
      </form>
    </Card>
  );
}
