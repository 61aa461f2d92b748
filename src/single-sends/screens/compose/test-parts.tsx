/** What several pages show of the A/B test of a campaign: how large it is and what it finds, the way to its page, and the choice of a variant. */
import { LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField } from '../../../dashboard/components/field.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { variantName } from '../../../delivery/variants/groups.ts';
import type { Draft } from '../../operations/drafts.ts';
import type { TestPlan } from '../../operations/variants.ts';
import { stepPath } from './frame.tsx';

export function TestCard({ draft: { utr, variants } }: { draft: Draft }) {
  const language = useLanguage();
  const isTested = variants > 1;
  return (
    <Card title={language.say('compose.variants.title')}>
      <p>
        {isTested
          ? language.say('compose.variants.is', { name: variantName(variants - 1) })
          : language.say('compose.variants.none')}
      </p>
      <div class="buttons">
        <LinkButton look="plain" href={stepPath(utr, 'variants')}>
          {language.say(isTested ? 'compose.variants.change' : 'compose.variants.open')}
        </LinkButton>
      </div>
    </Card>
  );
}

interface VariantFieldProps {
  name: string;
  /** How many there are, A included; without a test there is nothing to choose. */
  variants: number;
  /** The number of the one that is chosen. */
  value: string;
  problems?: Problems;
}

/** The choice of a variant. */
export function VariantField({ variants, ...chosen }: VariantFieldProps) {
  const language = useLanguage();
  if (variants === 1) return null;
  const options = Array.from({ length: variants }, (_, number) => ({
    value: String(number),
    label: variantName(number),
  }));
  return <SelectField label={language.say('variants.variant')} options={options} {...chosen} />;
}

export function Plan({ plan }: { plan: TestPlan }) {
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
  expected: TestPlan['opens'];
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
