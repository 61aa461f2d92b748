/** What a mailing has of an A/B test, with the way to its page. */

import { LinkButton } from '../../../dashboard/components/button.tsx';
import { type Problems, SelectField } from '../../../dashboard/components/field.tsx';
import { Card } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { variantName } from '../../../delivery/variants/variant-name.ts';
import type { Draft } from '../../operations/drafts.ts';
import { stepAddress } from './frame.tsx';

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
        <LinkButton look="plain" href={stepAddress(utr, 'variants')}>
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
