/** The A/B test of a campaign: what its variants have of their own, on how many people they are tried, and how the winner is found. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Button, LinkButton } from '../../../dashboard/components/button.tsx';
import { Confirm } from '../../../dashboard/components/confirm.tsx';
import { type Problems, SelectField, TextField } from '../../../dashboard/components/field.tsx';
import { Card, Notice } from '../../../dashboard/components/surface.tsx';
import { setFlash } from '../../../dashboard/flash.ts';
import { ask, attempt, sentenceOf } from '../../../dashboard/operations.ts';
import { languageOf } from '../../../dashboard/page.tsx';
import { field } from '../../../dashboard/sign-in/fields.ts';
import { viewerOf } from '../../../dashboard/signed-in.ts';
import { useLanguage } from '../../../dashboard/words/index.ts';
import { SINGLE_SEND_STATUS, WINNER_BY } from '../../../database/schema/index.ts';
import { variantName } from '../../../delivery/variants/groups.ts';
import { READ } from '../../../http/pages/layout.ts';
import { type ListedTemplate, listTemplates } from '../../../templates/operations.ts';
import { type Draft, readDraft } from '../../operations/drafts.ts';
import { readVariants, saveVariants } from '../../operations/variants.ts';
import { sendStep, stepPath } from './frame.tsx';
import { Plan } from './test-parts.tsx';

interface ByUtr {
  Params: { utr: string };
}

const CONFLICT = 409;
const UNPROCESSABLE = 422;
const SEE_OTHER = 303;

export async function variantsScreen(app: FastifyInstance): Promise<void> {
  app.route<ByUtr>({
    method: READ,
    url: '/mailings/:utr/edit/variants',
    handler: (request, reply) => show(request, reply),
  });

  app.post<ByUtr>('/mailings/:utr/edit/variants', async (request, reply) => {
    const given = givenTest(request);
    if (given.variants.length > 0) return save(request, reply, given);
    const problem = languageOf(request, viewerOf(request)).say('compose.variants.empty');
    return show(request, reply.code(UNPROCESSABLE), { given, problem });
  });

  app.post<ByUtr>('/mailings/:utr/edit/variants/remove', (request, reply) => save(request, reply, null));

  /** Saves a test, which takes the place of a first part of the recipients, or with null takes it away. */
  async function save(request: FastifyRequest<ByUtr>, reply: FastifyReply, given: GivenTest | null) {
    const { utr } = request.params;
    const hadFirstPart = given !== null && (await ask(request, readDraft, { utr })).draft.canary_percent > 0;
    const of = (own: (typeof OWN_FIELDS)[number]) => given?.variants.map((variant) => variant[own]);
    const saved = await attempt(request, saveVariants, {
      utr,
      unchanged_since: field(request, 'unchanged_since'),
      ...(given !== null && {
        subjects: of('subject'),
        preheaders: of('preheader'),
        sender_names: of('sender_name'),
        template_ids: of('template_id'),
        share: given.share,
        winner_by: given.winner_by,
        hours: given.hours,
        canary_percent: 0,
      }),
    });
    if (!('problems' in saved)) {
      const text = hadFirstPart ? 'compose.variants.savedWhole' : 'compose.saved';
      setFlash(reply, 'good', given === null ? 'compose.variants.removed' : text);
      return reply.redirect(stepPath(utr, given === null ? 'content' : 'variants'), SEE_OTHER);
    }
    if (
      saved.status === CONFLICT &&
      (await ask(request, readDraft, { utr })).draft.status > SINGLE_SEND_STATUS.queued
    ) {
      setFlash(reply, 'bad', 'compose.locked');
      return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, SEE_OTHER);
    }
    const language = languageOf(request, viewerOf(request));
    const problem = saved.status === CONFLICT ? language.say('compose.variants.changed') : sentenceOf(saved);
    const sent = { ...(given && { given }), problems: saved.problems, problem };
    return show(request, reply.code(saved.status), sent);
  }

  async function show(
    request: FastifyRequest<ByUtr>,
    reply: FastifyReply,
    { problem, ...sent }: { given?: GivenTest; problems?: Problems; problem?: string } = {},
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

/** What the form has; variants without anything of their own are left out. */
function givenTest(request: FastifyRequest): GivenTest {
  const variants = Array.from({ length: MOST_VARIANTS }, (_, at) => {
    const given = (own: (typeof OWN_FIELDS)[number]) => field(request, `${own}_${at + 1}`).trim();
    return {
      subject: given('subject'),
      preheader: given('preheader'),
      sender_name: given('sender_name'),
      template_id: given('template_id'),
    };
  });
  return {
    variants: variants.filter((variant) => OWN_FIELDS.some((own) => variant[own] !== '')),
    share: field(request, 'share'),
    winner_by: field(request, 'winner_by'),
    hours: field(request, 'hours'),
  };
}

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
            <Button>{language.say('compose.variants.save')}</Button>
            <LinkButton look="quiet" href={stepPath(draft.utr, 'content')}>
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

export type StoredTest = Static<typeof readVariants.output>;

/** Besides A: B, C and D. */
export const MOST_VARIANTS = 3;
/** What a variant may have of its own. */
export const OWN_FIELDS = ['subject', 'preheader', 'sender_name', 'template_id'] as const;

/** A test as a form has it: all of it is text, and an empty one means as in A. */
export interface GivenTest {
  variants: Record<(typeof OWN_FIELDS)[number], string>[];
  share: string;
  winner_by: string;
  hours: string;
}
