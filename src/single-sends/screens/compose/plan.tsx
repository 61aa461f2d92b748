/** How many people an A/B test has, and the smallest difference that it can find. */

import { Card } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import type { Plan as AbTestPlan } from '../../operations/variants.ts';

export function Plan({ plan }: { plan: AbTestPlan }) {
  const language = useLanguage();
  const { per_variant: each, measured_per_variant: measured, rest, opens, clicks } = plan;
  return (
    <Card title={language.say('compose.variants.plan')}>
      <ul>
        <li>{language.say('compose.variants.plan.each', { count: each })}</li>
        {measured < each && <li>{language.say('compose.variants.plan.measured', { count: measured })}</li>}
        <li>{language.say('compose.variants.plan.rest', { count: rest })}</li>
      </ul>
      <h3>{language.say('compose.variants.plan.finds')}</h3>
      <ul>
        <li>
          {language.say('mailings.opened')}: <Difference expected={opens} />
        </li>
        <li>
          {language.say('mailings.clicked')}: <Difference expected={clicks} />
        </li>
      </ul>
      <p class="small quiet-text">{language.say('compose.variants.plan.power')}</p>
    </Card>
  );
}

/** From which rate of A to which other rate a difference is found, and where the first is from. */
function Difference({
  expected: { base_rate: base, base_mails: mails, smallest_difference: least },
}: {
  expected: AbTestPlan['opens'];
}) {
  const language = useLanguage();
  return (
    <>
      {least === null
        ? language.say('compose.variants.plan.none')
        : language.say('compose.variants.plan.least', {
            base: language.percent(base),
            rate: language.percent(base + least),
          })}{' '}
      <span class="small quiet-text">
        {mails === 0
          ? language.say('compose.variants.plan.assumed')
          : language.say('compose.variants.plan.own', { count: mails })}
      </span>
    </>
  );
}
