/** The form of an A/B test, with what a test of this size can find beside it. */

import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Confirm } from '../../../dashboard/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { WINNER_BY } from '../../../database/schema/index.ts';
import { variantName } from '../../../delivery/variants/variant-name.ts';
import type { ListedTemplate } from '../../../templates/operations.ts';
import type { Draft } from '../../operations/drafts.ts';
import { stepAddress } from './frame.tsx';
import { Plan } from './plan.tsx';
import { type GivenTest, MOST_VARIANTS, type StoredTest } from './variants-records.ts';

const NEW_TEST: GivenTest = { variants: [], share: '20', winner_by: 'clicks', hours: '24' };

interface PageProps {
  draft: Draft;
  stored: StoredTest;
  templates: readonly ListedTemplate[];
  given?: GivenTest;
  problems?: Problems;
}

export function VariantsPage({ draft, stored: { ab_test: test, plan }, templates, given, problems = {} }: PageProps) {
  const language = useLanguage();
  const shown = given ?? (test === null ? NEW_TEST : asGiven(test));
  const numbers = Array.from({ length: MOST_VARIANTS }, (_, at) => at + 1);
  return (
    <div class="compose">
      <div class="stack">
        <h2>{language.say('compose.variants.title')}</h2>
        <p class="quiet-text">{language.say('compose.variants.about')}</p>
        {draft.canary_percent > 0 && <Notice>{language.say('compose.variants.firstPart')}</Notice>}
        <form method="post" action={stepAddress(draft.utr, 'variants')} class="stack">
          <Card title={language.say('compose.variants.a')}>
            <p>
              <bdi>{draft.subject || language.say('compose.none')}</bdi>
            </p>
          </Card>
          {numbers.map((number) => (
            <Variant
              key={number}
              number={number}
              own={shown.variants[number - 1]}
              isNext={number <= shown.variants.length + 1}
              templates={templates}
            />
          ))}
          <Card title={language.say('compose.variants.how')}>
            <TextField
              name="share"
              type="number"
              min={1}
              max={100}
              required
              label={language.say('compose.variants.share')}
              hint={language.say('compose.variants.share.hint')}
              value={shown.share}
              problems={problems}
            />
            <SelectField
              name="winner_by"
              label={language.say('compose.variants.by')}
              value={shown.winner_by}
              options={WINNER_BY.map((value) => ({ value, label: language.say(`compose.variants.by.${value}`) }))}
              problems={problems}
            />
            <TextField
              name="hours"
              type="number"
              min={1}
              max={168}
              required
              label={language.say('compose.variants.hours')}
              hint={language.say('compose.variants.hours.hint')}
              value={shown.hours}
              problems={problems}
            />
          </Card>
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
          <div class="buttons">
            <Button>{language.say('compose.variants.save')}</Button>
            <LinkButton look="quiet" href={stepAddress(draft.utr, 'content')}>
              {language.say('compose.design.back')}
            </LinkButton>
          </div>
        </form>
      </div>
      {plan !== null && (
        <div class="stack compose-beside">
          <Plan plan={plan} />
          <Confirm
            id="remove-test"
            action={stepAddress(draft.utr, 'variants/remove')}
            label={language.say('compose.variants.remove')}
            title={language.say('compose.variants.remove.title')}
          >
            <p>{language.say('compose.variants.remove.text', { count: plan.recipients })}</p>
            <input type="hidden" name="unchanged_since" value={draft.updated_at} />
          </Confirm>
        </div>
      )}
    </div>
  );
}

/** A stored test as the form has it. */
function asGiven({ variants, share, winner_by, hours }: NonNullable<StoredTest['ab_test']>): GivenTest {
  return {
    variants: variants.map((variant) => ({ ...variant, template_id: String(variant.template_id || '') })),
    share: String(share),
    winner_by,
    hours: String(hours),
  };
}

interface VariantProps {
  number: number;
  own: GivenTest['variants'][number] | undefined;
  /** Whether it is open from the start: those that exist, and the next one. */
  isNext: boolean;
  templates: readonly ListedTemplate[];
}

function Variant({ number, own, isNext, templates }: VariantProps) {
  const language = useLanguage();
  const name = variantName(number);
  const text = (field: 'subject' | 'preheader' | 'sender_name', label: string) => (
    <TextField
      name={`${field}_${number}`}
      label={label}
      value={own?.[field] ?? ''}
      placeholder={language.say('compose.variants.asA')}
      maxLength={255}
      autocomplete="off"
    />
  );
  return (
    <details class="card variant" open={isNext}>
      <summary>{language.say('compose.variants.one', { name })}</summary>
      <div class="stack">
        {text('subject', language.say('compose.subject'))}
        {text('preheader', language.say('compose.preheader'))}
        {text('sender_name', language.say('compose.variants.sender'))}
        <SelectField
          name={`template_id_${number}`}
          label={language.say('compose.variants.content')}
          value={own?.template_id ?? ''}
          options={[
            { value: '', label: language.say('compose.variants.asA') },
            ...templates.map(({ id, template_name: label }) => ({ value: String(id), label })),
          ]}
        />
      </div>
    </details>
  );
}
