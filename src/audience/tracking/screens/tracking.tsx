/** The tracking mode of the account: what it records about opens and clicks. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { TRACKING_MODES, type TrackingMode } from '../../../database/schema/index.ts';
import { Button } from '../../../ui/components/button.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { ask, attempt } from '../../../ui/operations.ts';
import { backTo, sendSettings } from '../../../ui/settings/frame.tsx';
import { requireOwner } from '../../../ui/signed-in.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { changeTracking, readTracking } from '../operations.ts';

/** Registers the settings page for opens and clicks. */
export async function trackingScreen(app: FastifyInstance): Promise<void> {
  const show = async (request: FastifyRequest, reply: FastifyReply, problem = '') => {
    const { tracking } = await ask(request, readTracking, {});
    return sendSettings(request, reply, 'tracking', <Modes mode={tracking.mode} />, problem);
  };

  app.get('/settings/tracking', (request, reply) => {
    requireOwner(request);
    return show(request, reply);
  });

  app.post('/settings/tracking', async (request, reply) => {
    const changed = await attempt(request, changeTracking, { mode: field(request, 'mode') });
    if ('output' in changed) return backTo(reply, 'tracking', 'settings.done.changed');
    return show(request, reply.code(changed.status), changed.text);
  });
}

function Modes({ mode }: { mode: TrackingMode }) {
  const language = useLanguage();
  return (
    <Card>
      <form method="post" action="/settings/tracking" class="narrow">
        <fieldset class="bare-fieldset">
          <legend>{language.say('tracking.question')}</legend>
          {TRACKING_MODES.map((option) => (
            <label key={option} class="choice">
              <input type="radio" name="mode" value={option} checked={option === mode} />
              <span class="named">
                <span>{language.say(`tracking.${option}`)}</span>
                <span class="small quiet-text">{language.say(`tracking.${option}.text`)}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <p class="quiet-text">{language.say('tracking.about')}</p>
        <Button label={language.say('tracking.save')} />
      </form>
    </Card>
  );
}
