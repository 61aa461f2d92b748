/** The page on which the A/B test of a campaign is composed, and what it needs: the variants, and what a test of this size can find. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { SINGLE_SEND_STATUS, WINNER_BY } from '../../database/schema/index.ts';
import { variantName } from '../../delivery/queue/variant-groups.ts';
import { MAX_LINE_CHARACTERS } from '../../errors/field-errors.ts';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { type ListedTemplate, listTemplates } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Card, Notice } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { languageNamer, templateName } from '../../ui/words/known.ts';
import { type Draft, MAX_VARIANTS, readDraft } from '../operations/drafts.ts';
import { DEFAULT_TEST, MAX_TEST_HOURS, readVariants, saveVariants, type TestPlan } from '../operations/variants.ts';
import { leaveSteps, sendStep, stepPath } from './compose/step.tsx';

/** Registers the page of an A/B test, and the routes that save and remove the test. */
export async function variantsScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr/edit/variants', show);

  app.post<ByUtr>('/campaigns/:utr/edit/variants', async (request, reply) => {
    const values = submittedTest(request);
    if (values.variants.length > 0) return save(request, reply, values);
    const problem = languageOf(request, viewerOf(request)).say('compose.variants.empty');
    return show(request, reply.code(422), { values, problem });
  });

  app.post<ByUtr>('/campaigns/:utr/edit/variants/remove', (request, reply) => save(request, reply, null));

  /** Saves a test, which replaces a canary; null removes the test. */
  async function save(request: FastifyRequest<ByUtr>, reply: FastifyReply, values: SubmittedTest | null) {
    const { utr } = request.params;
    const hadFirstBatch = values !== null && (await ask(request, readDraft, { utr })).draft.canary_percent > 0;
    const listOf = (name: (typeof OWN_FIELDS)[number]) => values?.variants.map((variant) => variant[name]);
    const saved = await attempt(request, saveVariants, {
      utr,
      unchanged_since: field(request, 'unchanged_since'),
      ...(values !== null && {
        subjects: listOf('subject'),
        preheaders: listOf('preheader'),
        sender_names: listOf('sender_name'),
        template_ids: listOf('template_id'),
        share: values.share,
        winner_by: values.winner_by,
        hours: values.hours,
        canary_percent: 0,
      }),
    });
    if (!('problems' in saved)) {
      const savedMessage = hadFirstBatch ? 'compose.variants.savedWhole' : 'compose.saved';
      setFlash(reply, 'good', values === null ? 'compose.variants.removed' : savedMessage);
      return reply.redirect(stepPath(utr, values === null ? 'content' : 'variants'), 303);
    }
    if (saved.status === 409 && (await ask(request, readDraft, { utr })).draft.status > SINGLE_SEND_STATUS.queued)
      return leaveSteps(reply, utr);
    const language = languageOf(request, viewerOf(request));
    // The form shows the problems of these fields beside them; all others must be shown above the form.
    const areBesideFields = Object.keys(saved.problems).every((name) => ['share', 'winner_by', 'hours'].includes(name));
    const otherProblem = areBesideFields ? saved.problem : saved.text;
    const problem = saved.status === 409 ? language.say('compose.variants.changed') : otherProblem;
    const sent = { ...(values && { values }), problems: saved.problems, problem };
    return show(request, reply.code(saved.status), sent);
  }

  async function show(
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    { problem, ...sent }: { values?: SubmittedTest; problems?: Problems; problem?: string } = {},
  ) {
    const { utr } = request.params;
    const [{ draft }, stored, templates] = await Promise.all([
      ask(request, readDraft, { utr }),
      ask(request, readVariants, { utr }),
      ask(request, listTemplates, { built_in: 1 }),
    ]);
    const content = <VariantsPage {...{ draft, stored, templates, ...sent }} />;
    return sendStep(request, reply, draft, 'content', content, problem);
  }
}

/** Returns the submitted test, without variants that do not differ from A. */
function submittedTest(request: FastifyRequest): SubmittedTest {
  const variants = Array.from({ length: MAX_VARIANTS }, (_, at) => {
    const read = (name: (typeof OWN_FIELDS)[number]) => field(request, `${name}_${at + 1}`).trim();
    return {
      subject: read('subject'),
      preheader: read('preheader'),
      sender_name: read('sender_name'),
      template_id: read('template_id'),
    };
  });
  return {
    variants: variants.filter((variant) => OWN_FIELDS.some((name) => variant[name] !== '')),
    share: field(request, 'share'),
    winner_by: field(request, 'winner_by'),
    hours: field(request, 'hours'),
  };
}

/** The values that the form for a new test proposes. */
const NEW_TEST: SubmittedTest = {
  variants: [],
  share: String(DEFAULT_TEST.share),
  winner_by: DEFAULT_TEST.winner_by,
  hours: String(DEFAULT_TEST.hours),
};

interface PageProps {
  draft: Draft;
  stored: StoredTest;
  templates: readonly ListedTemplate[];
  values?: SubmittedTest;
  problems?: Problems;
}

function VariantsPage({ draft, stored: { ab_test: test, plan }, templates, values, problems = {} }: PageProps) {
  const language = useLanguage();
  const shown = values ?? (test === null ? NEW_TEST : formValues(test));
  const numbers = Array.from({ length: MAX_VARIANTS }, (_, at) => at + 1);
  return (
    <div class="compose">
      <div class="stack">
        <h2>{language.say('variants.title')}</h2>
        <p class="quiet-text">{language.say('compose.variants.about')}</p>
        {draft.canary_percent > 0 && <Notice>{language.say('compose.variants.firstPart')}</Notice>}
        <form method="post" action={stepPath(draft.utr, 'variants')} class="stack">
          <Card title={language.say('compose.variants.a')}>
            <p>
              <bdi>{draft.subject || language.say('compose.none')}</bdi>
            </p>
          </Card>
          {numbers.map((number) => (
            <Variant
              key={number}
              number={number}
              values={shown.variants[number - 1]}
              isOpen={number <= shown.variants.length + 1}
              templates={templates}
            />
          ))}
          <TestSettings values={shown} problems={problems} />
          <input type="hidden" name="unchanged_since" value={draft.updated_at} />
          <div class="buttons">
            <Button label={language.say('compose.variants.save')} />
            <LinkButton
              look="quiet"
              href={stepPath(draft.utr, 'content')}
              label={language.say('compose.design.back')}
            />
          </div>
        </form>
      </div>
      {plan !== null && (
        <div class="stack compose-beside">
          <Plan plan={plan} />
          <Confirm
            id="remove-test"
            action={stepPath(draft.utr, 'variants/remove')}
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

/** The form fields for the size of the groups, what is measured, and how long. */
function TestSettings({ values, problems }: { values: SubmittedTest; problems: Problems }) {
  const language = useLanguage();
  const number = (name: 'share' | 'hours', max: number) => (
    <TextField
      name={name}
      type="number"
      min={1}
      max={max}
      required
      label={language.say(`compose.variants.${name}`)}
      hint={language.say(`compose.variants.${name}.hint`)}
      value={values[name]}
      problems={problems}
    />
  );
  return (
    <Card title={language.say('compose.variants.how')}>
      {number('share', 100)}
      <SelectField
        name="winner_by"
        label={language.say('compose.variants.by')}
        value={values.winner_by}
        options={WINNER_BY.map((value) => ({ value, label: language.say(`compose.variants.by.${value}`) }))}
        problems={problems}
      />
      {number('hours', MAX_TEST_HOURS)}
    </Card>
  );
}

/** Returns the values of the form for a stored test. */
function formValues({ variants, share, winner_by, hours }: NonNullable<StoredTest['ab_test']>): SubmittedTest {
  return {
    variants: variants.map((variant) => ({ ...variant, template_id: String(variant.template_id || '') })),
    share: String(share),
    winner_by,
    hours: String(hours),
  };
}

interface VariantProps {
  number: number;
  /** The values of the variant; undefined if it does not exist yet. */
  values: SubmittedTest['variants'][number] | undefined;
  /** True if the variant is unfolded, as existing variants and the next new one are. */
  isOpen: boolean;
  templates: readonly ListedTemplate[];
}

/** The form fields of a variant. */
function Variant({ number, values, isOpen, templates }: VariantProps) {
  const language = useLanguage();
  const name = variantName(number);
  const text = (field: 'subject' | 'preheader' | 'sender_name', label: string) => (
    <TextField
      name={`${field}_${number}`}
      label={label}
      value={values?.[field] ?? ''}
      placeholder={language.say('compose.variants.asA')}
      maxLength={MAX_LINE_CHARACTERS}
      autocomplete="off"
    />
  );
  return (
    <details class="card variant" open={isOpen}>
      <summary>{language.say('compose.variants.one', { name })}</summary>
      <div class="stack">
        {text('subject', language.say('compose.subject'))}
        {text('preheader', language.say('compose.preheader'))}
        {text('sender_name', language.say('compose.variants.sender'))}
        <SelectField
          name={`template_id_${number}`}
          label={language.say('compose.variants.content')}
          value={values?.template_id ?? ''}
          options={[
            { value: '', label: language.say('compose.variants.asA') },
            ...templates.map((template) => ({ value: String(template.id), label: templateName(language, template) })),
          ]}
        />
      </div>
    </details>
  );
}

type StoredTest = Static<typeof readVariants.output>;

/** The fields in which a variant can differ. */
const OWN_FIELDS = ['subject', 'preheader', 'sender_name', 'template_id'] as const;

/** The values of the form: all are texts, and an empty text means that the variant does not differ from A in this field. */
interface SubmittedTest {
  variants: Record<(typeof OWN_FIELDS)[number], string>[];
  share: string;
  winner_by: string;
  hours: string;
}

/** The card that links to the A/B test of a campaign. */
export function TestCard({ draft: { utr, variants, languages } }: { draft: Draft }) {
  const language = useLanguage();
  const isTested = variants > 1 && languages.length === 0;
  return (
    <Card title={language.say('variants.title')}>
      <p>
        {isTested
          ? language.say('compose.variants.is', { name: variantName(variants - 1) })
          : language.say('compose.variants.none')}
      </p>
      <div class="buttons">
        <LinkButton
          look="plain"
          href={stepPath(utr, 'variants')}
          label={language.say(isTested ? 'compose.variants.change' : 'compose.variants.open')}
        />
      </div>
    </Card>
  );
}

interface VariantFieldProps {
  name: string;
  /** The number of variants or versions, the mail itself included. If it is 1, there is nothing to choose. */
  variants: number;
  /** The languages of the versions; empty if the mail has variants of an A/B test. */
  languages: readonly string[];
  /** The number of the selected variant or version. */
  value: string;
  problems?: Problems;
}

/** Returns the name of the variant or version with this number. */
export function nameOfVariant(language: Language, languages: readonly string[], number: number): string {
  if (languages.length === 0) return variantName(number);
  return number === 0 ? language.say('languages.main') : languageNamer(language)(languages[number - 1] ?? '');
}

/** The field in which a variant, or a version in another language, is chosen; nothing if there is only the mail itself. */
export function VariantField({ variants, languages, ...fieldProps }: VariantFieldProps) {
  const language = useLanguage();
  if (variants === 1) return null;
  const options = Array.from({ length: variants }, (_, number) => ({
    value: String(number),
    label: nameOfVariant(language, languages, number),
  }));
  const label = language.say(languages.length === 0 ? 'variants.variant' : 'languages.version');
  return <SelectField label={label} options={options} {...fieldProps} />;
}

/** The sizes of the groups of a test, and the smallest differences that it can find. */
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
          {language.say('campaigns.opened')}: <Difference expected={opens} />
        </li>
        <li>
          {language.say('campaigns.clicked')}: <Difference expected={clicks} />
        </li>
      </ul>
      <p class="small quiet-text">{language.say('compose.variants.plan.power')}</p>
    </Card>
  );
}

/** The smallest difference that the test can find, as the rate of A and the higher rate, and whether the rate of A is measured or assumed. */
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
