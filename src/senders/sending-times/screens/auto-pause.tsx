/** The auto-pause of campaigns with bad results: the card with its limits, and the switch in it. */
import type { FastifyInstance } from 'fastify';
import { Button } from '../../../ui/components/button.tsx';
import { Card } from '../../../ui/components/surface.tsx';
import { setFlash } from '../../../ui/flash.ts';
import { attempt } from '../../../ui/operations.ts';
import { field } from '../../../ui/submitted.ts';
import { useLanguage } from '../../../ui/words/index.ts';
import { changeAutoHold, type ResultLimits } from '../operations.ts';

/**
 * Registers the switch of auto-pause. It redirects to the page on which it was used: the settings, or the step of a single send that is being
 * edited.
 */
export async function autoPauseSwitch(app: FastifyInstance): Promise<void> {
  app.post('/settings/returns/hold', async (request, reply) => {
    const isOn = field(request, 'auto_hold') === '1';
    const utr = field(request, 'utr');
    const changed = await attempt(request, changeAutoHold, { auto_hold: isOn ? 1 : 0 });
    if ('problem' in changed) setFlash(reply, 'bad', 'holding.refused', { reason: changed.text });
    else setFlash(reply, 'good', isOn ? 'holding.isOn' : 'holding.isOff');
    const back = utr === '' ? '/settings/returns' : `/campaigns/${encodeURIComponent(utr)}/edit/schedule`;
    return reply.redirect(back, 303);
  });
}

interface AutoPauseCardProps {
  limits: ResultLimits;
  /** The utr of the single send that is being edited; empty in the settings. */
  utr?: string;
  mayChange: boolean;
}

/** Says whether campaigns pause because of their results, and at which limits. Has a switch if the user may change that. */
export function AutoPauseCard({
  limits: { auto_hold, least_results, limits },
  utr = '',
  mayChange,
}: AutoPauseCardProps) {
  const language = useLanguage();
  return (
    <Card title={language.say('holding.title')}>
      <p>{language.say(auto_hold === 1 ? 'holding.on' : 'holding.off')}</p>
      <div class="quiet-text">
        <p>{language.say('holding.about')}</p>
        <ul class="bullets">
          {limits.map(({ measure, per_thousand, least }) => (
            <li key={measure}>
              {language.say(`holding.${measure}`, {
                share: language.percent(per_thousand / 1000),
                least: language.number(least),
              })}
            </li>
          ))}
        </ul>
        <p>{language.say('holding.chance', { least: language.number(least_results) })}</p>
      </div>
      {mayChange && (
        <form method="post" action="/settings/returns/hold">
          <input type="hidden" name="utr" value={utr} />
          <Button
            look="plain"
            name="auto_hold"
            value={auto_hold === 1 ? '0' : '1'}
            label={language.say(auto_hold === 1 ? 'holding.switchOff' : 'holding.switchOn')}
          />
        </form>
      )}
    </Card>
  );
}
