/** Whether every mailing is held when its results are bad, or only those with a first part: the limits, and the switch. */
import type { FastifyInstance } from 'fastify';
import type { LIMITS } from '../../../../delivery/watch/limits.ts';
import { ApiClient, refusalText } from '../../../api-client.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/surface.tsx';
import { setFlash } from '../../../flash.ts';
import { field } from '../../../sign-in/fields.ts';
import { useLanguage } from '../../../words/index.ts';

const SEE_OTHER = 303;
const THOUSAND = 1000;

/** What the API says about holding mailings because of their results. */
export interface ResultLimits {
  auto_hold: 0 | 1;
  least_results: number;
  limits: { measure: (typeof LIMITS)[number]['measure']; per_thousand: number; least: number }[];
}

export async function readResultLimits(api: ApiClient): Promise<ResultLimits> {
  return (await api.get<{ limits: ResultLimits }>('/sending/limits')).limits;
}

/** Registers the switch. It leads back to the mailing that is being composed, where it stands too. */
export async function holdSwitch(app: FastifyInstance): Promise<void> {
  app.post('/settings/returns/hold', async (request, reply) => {
    const isOn = field(request, 'auto_hold') === '1';
    const utr = field(request, 'utr');
    const answer = await new ApiClient(app, request).send('POST', '/sending/limits/save', { auto_hold: isOn ? 1 : 0 });
    if (answer.message === undefined) setFlash(reply, 'bad', 'holding.refused', { reason: refusalText(answer) });
    else setFlash(reply, 'good', isOn ? 'holding.isOn' : 'holding.isOff');
    const back = utr === '' ? '/settings/returns' : `/mailings/${encodeURIComponent(utr)}/edit/schedule`;
    return reply.redirect(back, SEE_OTHER);
  });
}

interface HoldCardProps {
  limits: ResultLimits;
  /** Of the mailing that is being composed. */
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
