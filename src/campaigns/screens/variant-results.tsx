/** The results of an A/B test in the report of a campaign, and the buttons with which a user chooses the winner. */
import type { FastifyInstance } from 'fastify';
import { variantName } from '../../delivery/queue/variant-groups.ts';
import type { ByUtr } from '../../http/pages/layout.ts';
import { Confirm } from '../../ui/components/confirm.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { setFlash } from '../../ui/flash.ts';
import { attempt } from '../../ui/operations.ts';
import { field } from '../../ui/submitted.ts';
import { type Language, useLanguage } from '../../ui/words/index.ts';
import type { Report } from '../operations/reports.ts';
import { chooseWinner } from '../operations/variants.ts';

type ReportedTest = NonNullable<Report['ab_test']>;

/** Registers the route that chooses the winner of an A/B test. */
export async function variantChoice(app: FastifyInstance): Promise<void> {
  app.post<ByUtr>('/campaigns/:utr/variant', async (request, reply) => {
    const { utr } = request.params;
    const variant = field(request, 'variant');
    const chosen = await attempt(request, chooseWinner, { utr, variant });
    if ('problems' in chosen) setFlash(reply, 'bad', 'campaigns.refused', { reason: chosen.text });
    else setFlash(reply, 'good', 'variants.isChosen', { name: variantName(Number(variant)) });
    return reply.redirect(`/campaigns/${encodeURIComponent(utr)}`, 303);
  });
}

/** The results of the variants of an A/B test. If the user may choose the winner, each variant has a button. */
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

/** The badge of the variant that the other recipients get; nothing if the test found no difference. */
function WinnerBadge({ verdict }: Pick<ReportedTest, 'verdict'>) {
  const language = useLanguage();
  if (verdict === 'winner') return <Badge tone="good">{language.say('variants.isWinner')}</Badge>;
  return verdict === 'chosen' ? <Badge>{language.say('variants.isChoice')}</Badge> : null;
}

const BEHIND = { opens: 'variants.behind.opens', clicks: 'variants.behind.clicks' } as const;

/** How many percentage points a rate is below the highest rate, with its interval. */
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

/** Returns in words which variants are clearly worse, and between which it is too early to choose, for a user who chooses the winner. */
function standing(language: Language, { variants, worse, measured_by }: ReportedTest): string {
  const names = (numbers: readonly number[]) => numbers.map(variantName).join(', ');
  const others = variants.flatMap(({ variant }) => (worse.includes(variant) ? [] : [variant]));
  const by = language.say(BY[measured_by]);
  if (worse.length === 0) return language.say('variants.tooEarly', { by });
  if (others.length === 1) return language.say('variants.isClear', { by, name: names(others), others: names(worse) });
  return language.say('variants.someWorse', { by, worse: names(worse), names: names(others) });
}

const BY = { opens: 'variants.by.opens', clicks: 'variants.by.clicks' } as const;

/** Returns the state of the test in words: what it waits for, or the decision. */
function outcome(
  language: Language,
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
