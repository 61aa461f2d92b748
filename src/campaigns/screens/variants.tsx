/**
 * The A/B test of a campaign: composing its variants, what a test of its size can find, the results of the variants, and
 * choosing one by hand.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { SINGLE_SEND_STATUS, WINNER_BY } from '../../database/schema/index.ts';
import { variantName } from '../../delivery/queue/variant-groups.ts';
import { pageRoute } from '../../http/pages/layout.ts';
import { type ListedTemplate, listTemplates } from '../../templates/operations.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Confirm } from '../../ui/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../ui/components/field.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { field } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import { languageNamer } from '../../ui/words/known.ts';
import { type Draft, readDraft } from '../operations/drafts.ts';
import type { Report } from '../operations/reports.ts';
import { chooseWinner, readVariants, saveVariants, type TestPlan, USUAL_TEST } from '../operations/variants.ts';
import { sendStep, stepPath } from './compose/step.tsx';

interface ByUtr {
  Params: { utr: string };
}

const CONFLICT = 409;
const UNPROCESSABLE = 422;
const SEE_OTHER = 303;

/** Registers the pages of an A/B test. */
export async function variantsScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr>(app, '/campaigns/:utr/edit/variants', show);

  app.post<ByUtr>('/campaigns/:utr/edit/variants', async (request, reply) => {
    const values = submittedTest(request);
    if (values.variants.length > 0) return save(request, reply, values);
    const problem = languageOf(request, viewerOf(request)).say('compose.variants.empty');
    return show(request, reply.code(UNPROCESSABLE), { values, problem });
  });

  app.post<ByUtr>('/campaigns/:utr/edit/variants/remove', (request, reply) => save(request, reply, null));

  /** Saves a test, which replaces a canary; null removes the test. */
  async function save(request: FastifyRequest<ByUtr>, reply: FastifyReply, values: SubmittedTest | null) {
    const { utr } = request.params;
    const hadFirstPart = values !== null && (await ask(request, readDraft, { utr })).draft.canary_percent > 0;
    const of = (own: (typeof OWN_FIELDS)[number]) => values?.variants.map((variant) => variant[own]);
    const saved = await attempt(request, saveVariants, {
      utr,
      unchanged_since: field(request, 'unchanged_since'),
      ...(values !== null && {
        subjects: of('subject'),
        preheaders: of('preheader'),
        sender_names: of('sender_name'),
        template_ids: of('template_id'),
        share: values.share,
        winner_by: values.winner_by,
        hours: values.hours,
        canary_percent: 0,
      }),
    });
    if (!('problems' in saved)) {
      const text = hadFirstPart ? 'compose.variants.savedWhole' : 'compose.saved';
      setFlash(reply, 'good', values === null ? 'compose.variants.removed' : text);
      return reply.redirect(stepPath(utr, values === null ? 'content' : 'variants'), SEE_OTHER);
    }
    if (
      saved.status === CONFLICT &&
      (await ask(request, readDraft, { utr })).draft.status > SINGLE_SEND_STATUS.queued
    ) {
      setFlash(reply, 'bad', 'compose.locked');
      return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, SEE_OTHER);
    }
    const language = languageOf(request, viewerOf(request));
    // The page has a place for the problems of these fields.
    const isPlaced = Object.keys(saved.problems).every((name) => ['share', 'winner_by', 'hours'].includes(name));
    const problem =
      saved.status === CONFLICT ? language.say('compose.variants.changed') : isPlaced ? saved.problem : saved.text;
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

/** Returns the submitted test, without variants that do not differ. */
function submittedTest(request: FastifyRequest): SubmittedTest {
  const variants = Array.from({ length: MAX_VARIANTS }, (_, at) => {
    const read = (own: (typeof OWN_FIELDS)[number]) => field(request, `${own}_${at + 1}`).trim();
    return {
      subject: read('subject'),
      preheader: read('preheader'),
      sender_name: read('sender_name'),
      template_id: read('template_id'),
    };
  });
  return {
    variants: variants.filter((variant) => OWN_FIELDS.some((own) => variant[own] !== '')),
    share: field(request, 'share'),
    winner_by: field(request, 'winner_by'),
    hours: field(request, 'hours'),
  };
}

const NEW_TEST: SubmittedTest = {
  variants: [],
  share: String(USUAL_TEST.share),
  winner_by: USUAL_TEST.winner_by,
  hours: String(USUAL_TEST.hours),
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
  const shown = values ?? (test === null ? NEW_TEST : asGiven(test));
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

/** Returns a stored test in the form of the form's fields. */
function asGiven({ variants, share, winner_by, hours }: NonNullable<StoredTest['ab_test']>): SubmittedTest {
  return {
    variants: variants.map((variant) => ({ ...variant, template_id: String(variant.template_id || '') })),
    share: String(share),
    winner_by,
    hours: String(hours),
  };
}

interface VariantProps {
  number: number;
  own: SubmittedTest['variants'][number] | undefined;
  /** True if the variant is open from the start: existing variants, and the next one. */
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

type StoredTest = Static<typeof readVariants.output>;

/** The maximum number of variants in addition to A: B, C and D. */
const MAX_VARIANTS = 3;
/** The fields in which a variant can differ. */
const OWN_FIELDS = ['subject', 'preheader', 'sender_name', 'template_id'] as const;

/** A test as the form has it: all fields are texts, and an empty one means that the variant does not differ from A. */
interface SubmittedTest {
  variants: Record<(typeof OWN_FIELDS)[number], string>[];
  share: string;
  winner_by: string;
  hours: string;
}

/** The card in composing that leads to the A/B test of a campaign. */
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
  /** The number of variants, A included, or of versions; with one there is nothing to choose. */
  variants: number;
  /** The languages of versions; empty for a test. */
  languages: readonly string[];
  /** The number of the selected one. */
  value: string;
  problems?: Problems;
}

/** Returns the name of the variant or version with this number. */
export function nameOfVariant(language: Language, languages: readonly string[], number: number): string {
  if (languages.length === 0) return variantName(number);
  return number === 0 ? language.say('languages.main') : languageNamer(language)(languages[number - 1] ?? '');
}

/** The choice of a variant, or of a version in another language. */
export function VariantField({ variants, languages, ...chosen }: VariantFieldProps) {
  const language = useLanguage();
  if (variants === 1) return null;
  const options = Array.from({ length: variants }, (_, number) => ({
    value: String(number),
    label: nameOfVariant(language, languages, number),
  }));
  const label = language.say(languages.length === 0 ? 'variants.variant' : 'languages.version');
  return <SelectField label={label} options={options} {...chosen} />;
}

/** What a test of this size can find. */
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

/** The smallest difference that the test can find: from which rate of A to which other rate, and where the rate of A is from. */
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

type ReportedTest = NonNullable<Report['ab_test']>;

/** Registers the form that chooses a variant. */
export async function variantChoice(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { utr: string } }>('/campaigns/:utr/variant', async (request, reply) => {
    const { utr } = request.params;
    const variant = field(request, 'variant');
    const chosen = await attempt(request, chooseWinner, { utr, variant });
    if ('problems' in chosen) setFlash(reply, 'bad', 'campaigns.refused', { reason: chosen.text });
    else setFlash(reply, 'good', 'variants.isChosen', { name: variantName(Number(variant)) });
    return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, 303);
  });
}

/** The results of the variants, with a button to choose one if the user may. */
export function Variants({ utr, test, mayChoose }: { utr: string; test: ReportedTest; mayChoose: boolean }) {
  const language = useLanguage();
  const title = language.say('variants.title');
  const isOpen = test.winner === null && test.state !== 'cancelled';
  const rate = ({ people, rate: share, low, high }: ReportedTest['variants'][number]['opens']) => (
    <span class="named">
      <span>
        {language.percent(share)} ({language.number(people)})
      </span>
      <span class="small quiet-text">
        {language.percent(low)} – {language.percent(high)}
      </span>
    </span>
  );
  return (
    <div class="stack">
      <Card title={title} isList>
        <Notice tone={test.verdict === 'winner' ? 'good' : 'plain'}>{outcome(language, test)}</Notice>
        <Table
          caption={title}
          rows={test.variants}
          keyOf={({ variant }) => variant}
          columns={[
            {
              heading: language.say('variants.variant'),
              cell: ({ variant, subject, preheader, sender_name }) => (
                <span class="named">
                  <span>
                    {variantName(variant)} <bdi>{subject}</bdi>{' '}
                    {variant === test.winner && <WinnerBadge verdict={test.verdict} />}
                    {test.worse.includes(variant) && <Badge>{language.say('variants.isWorse')}</Badge>}
                  </span>
                  <span class="small quiet-text">
                    <bdi>{preheader}</bdi> {sender_name !== '' && <bdi>({sender_name})</bdi>}
                  </span>
                </span>
              ),
            },
            {
              heading: language.say('campaigns.delivered'),
              isNumber: true,
              cell: ({ delivered, kept }) => language.number(delivered - kept),
            },
            ...(test.variants.some(({ kept }) => kept > 0) ? [numberColumn(language, 'delivery.kept', 'kept')] : []),
            { heading: language.say('campaigns.opened'), isNumber: true, cell: ({ opens }) => rate(opens) },
            { heading: language.say('campaigns.clicked'), isNumber: true, cell: ({ clicks }) => rate(clicks) },
            {
              heading: language.say(BEHIND[test.measured_by]),
              isNumber: true,
              cell: ({ behind }) => (behind === null ? '–' : <Behind {...behind} />),
            },
          ]}
        />
      </Card>
      <p class="small quiet-text">{language.say('variants.about')}</p>
      {isOpen && <p>{standing(language, test)}</p>}
      {isOpen && mayChoose && (
        <div class="buttons">
          {test.variants.map(({ variant }) => (
            <Confirm
              key={variant}
              id={`variant-${variant}`}
              action={`/campaigns/${utr}/variant`}
              look="plain"
              label={language.say('variants.choose', { name: variantName(variant) })}
              title={language.say('variants.choose.title', { name: variantName(variant) })}
            >
              <input type="hidden" name="variant" value={variant} />
              <p>{language.say('variants.choose.text', { count: test.rest })}</p>
              <p>{standing(language, test)}</p>
            </Confirm>
          ))}
        </div>
      )}
    </div>
  );
}

/** The badge of the variant that was chosen for the other recipients; none if the test found no difference. */
function WinnerBadge({ verdict }: Pick<ReportedTest, 'verdict'>) {
  const language = useLanguage();
  if (verdict === 'winner') return <Badge tone="good">{language.say('variants.isWinner')}</Badge>;
  return verdict === 'chosen' ? <Badge>{language.say('variants.isChoice')}</Badge> : null;
}

const BEHIND = { opens: 'variants.behind.opens', clicks: 'variants.behind.clicks' } as const;

/** How many points a rate is behind the highest one, with its interval. */
function Behind({ difference, low, high }: NonNullable<ReportedTest['variants'][number]['behind']>) {
  const language = useLanguage();
  const points = (share: number) => Math.round(share * 1000) / 10 || 0;
  return (
    <span class="named">
      <span>{language.say('variants.points', { count: points(difference) })}</span>
      <span class="small quiet-text">
        {language.say('variants.points.range', { low: points(low), high: points(high) })}
      </span>
    </span>
  );
}

/**
 * Returns what is known now, for somebody who chooses the winner by hand: which variants are clearly worse, and between
 * which it is too early to choose.
 */
function standing(language: ReturnType<typeof useLanguage>, { variants, worse, measured_by }: ReportedTest): string {
  const names = (numbers: readonly number[]) => numbers.map(variantName).join(', ');
  const others = variants.flatMap(({ variant }) => (worse.includes(variant) ? [] : [variant]));
  const by = language.say(BY[measured_by]);
  if (worse.length === 0) return language.say('variants.tooEarly', { by });
  if (others.length === 1) return language.say('variants.isClear', { by, name: names(others), others: names(worse) });
  return language.say('variants.someWorse', { by, worse: names(worse), names: names(others) });
}

const BY = { opens: 'variants.by.opens', clicks: 'variants.by.clicks' } as const;

/** Returns a sentence about the state of the test: what it waits for, or the decision. */
function outcome(
  language: ReturnType<typeof useLanguage>,
  { state, winner_by, hours, decides_at, verdict, winner, better_than, worse, rest }: ReportedTest,
): string {
  const count = rest;
  if (state === 'cancelled') return language.say('variants.cancelled');
  if (verdict === 'no_difference')
    return worse.length === 0
      ? language.say('variants.noDifference', { count })
      : language.say('variants.noDifference.worse', { count, worse: worse.map(variantName).join(', ') });
  const name = variantName(winner ?? 0);
  if (verdict === 'chosen') return language.say('variants.chosen', { name, count });
  if (verdict === 'winner')
    return language.say('variants.winner', { name, others: better_than.map(variantName).join(', '), count });
  if (winner_by === 'hand') return language.say('variants.byHand', { count });
  if (decides_at === null) return language.say('variants.sending', { hours, count });
  const time = `${language.dateTime(new Date(decides_at))} ${language.zone}`;
  return language.say('variants.waiting', { time, count });
}
