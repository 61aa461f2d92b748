/** Whether every single send is held when its results are bad, or only those with a canary: the limits, and the switch. */
import type { FastifyInstance } from 'fastify';
import { Button } from '../../dashboard/components/button.tsx';
import { Card } from '../../dashboard/components/surface.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { attempt, sentenceOf } from '../../dashboard/operations.ts';
import { field } from '../../dashboard/sign-in/fields.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { changeAutoHold, type ResultLimits } from '../operations.ts';

const SEE_OTHER = 303;
const THOUSAND = 1000;

/** Registers the switch. It leads back to the single send that is being composed, where it stands too. */
export async function holdSwitch(app: FastifyInstance): Promise<void> {
  app.post('/settings/returns/hold', async (request, reply) => {
    const isOn = field(request, 'auto_hold') === '1';
    const utr = field(request, 'utr');
    const changed = await attempt(request, changeAutoHold, { auto_hold: isOn ? 1 : 0 });
    if ('problem' in changed) setFlash(reply, 'bad', 'holding.refused', { reason: sentenceOf(changed) });
    else setFlash(reply, 'good', isOn ? 'holding.isOn' : 'holding.isOff');
    const back = utr === '' ? '/settings/returns' : `/mailings/${encodeURIComponent(utr)}/edit/schedule`;
    return reply.redirect(back, SEE_OTHER);
  });
}

interface HoldCardProps {
  limits: ResultLimits;
  /** Of the single send that is being composed. */
  utr?: string;
  mayChange: boolean;
}

export function HoldCard({ limits: { auto_hold, least_results, limits }, utr = '', mayChange }: HoldCardProps) {
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
                share: language.percent(per_thousand / THOUSAND),
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
          <Button look="plain" name="auto_hold" value={auto_hold === 1 ? '0' : '1'}>
            {language.say(auto_hold === 1 ? 'holding.switchOff' : 'holding.switchOn')}
          </Button>
        </form>
      )}
    </Card>
  );
}
