/** The A/B test of a campaign: its variants side by side, the decision, and the form to choose the winner by hand. */
import type { FastifyInstance } from 'fastify';
import { Confirm } from '../../dashboard/components/confirm.tsx';
import { Badge, Notice } from '../../dashboard/components/surface.tsx';
import { Table } from '../../dashboard/components/table.tsx';
import { setFlash } from '../../dashboard/flash.ts';
import { attempt, sentenceOf } from '../../dashboard/operations.ts';
import { field } from '../../dashboard/sign-in/fields.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import { variantName } from '../../delivery/variants/groups.ts';
import type { Report } from '../operations/reports.ts';
import { chooseWinner } from '../operations/variants.ts';

type ReportedTest = NonNullable<Report['ab_test']>;

/** Registers the form that chooses a variant. */
export async function variantChoice(app: FastifyInstance): Promise<void> {
  app.post<{ Params: { utr: string } }>('/mailings/:utr/variant', async (request, reply) => {
    const { utr } = request.params;
    const variant = field(request, 'variant');
    const chosen = await attempt(request, chooseWinner, { utr, variant });
    if ('problems' in chosen) setFlash(reply, 'bad', 'mailings.refused', { reason: sentenceOf(chosen) });
    else setFlash(reply, 'good', 'variants.isChosen', { name: variantName(Number(variant)) });
    return reply.redirect(`/mailings/${encodeURIComponent(utr)}`, 303);
  });
}

export function Variants({ utr, test, mayChoose }: { utr: string; test: ReportedTest; mayChoose: boolean }) {
  const language = useLanguage();
  const title = language.say('variants.title');
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
      <section class="list">
        <header class="card-head">
          <h2>{title}</h2>
        </header>
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
                  </span>
                  <span class="small quiet-text">
                    <bdi>{preheader}</bdi> {sender_name !== '' && <bdi>({sender_name})</bdi>}
                  </span>
                </span>
              ),
            },
            {
              heading: language.say('mailings.delivered'),
              isNumber: true,
              cell: ({ delivered, kept }) => language.number(delivered - kept),
            },
            ...(test.variants.some(({ kept }) => kept > 0)
              ? [
                  {
                    heading: language.say('delivery.kept'),
                    isNumber: true,
                    cell: ({ kept }: ReportedTest['variants'][number]) => language.number(kept),
                  },
                ]
              : []),
            { heading: language.say('mailings.opened'), isNumber: true, cell: ({ opens }) => rate(opens) },
            { heading: language.say('mailings.clicked'), isNumber: true, cell: ({ clicks }) => rate(clicks) },
          ]}
        />
      </section>
      <p class="small quiet-text">{language.say('variants.about')}</p>
      {mayChoose && test.winner === null && test.state !== 'cancelled' && (
        <div class="buttons">
          {test.variants.map(({ variant }) => (
            <Confirm
              key={variant}
              id={`variant-${variant}`}
              action={`/mailings/${utr}/variant`}
              look="plain"
              label={language.say('variants.choose', { name: variantName(variant) })}
              title={language.say('variants.choose.title', { name: variantName(variant) })}
            >
              <input type="hidden" name="variant" value={variant} />
              <p>{language.say('variants.choose.text', { count: test.rest })}</p>
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

/** A sentence about the state of the test: what it waits for, or what was decided. */
function outcome(
  language: ReturnType<typeof useLanguage>,
  { state, winner_by, hours, decides_at, verdict, winner, better_than, rest }: ReportedTest,
): string {
  const count = rest;
  if (state === 'cancelled') return language.say('variants.cancelled');
  if (verdict === 'no_difference') return language.say('variants.noDifference', { count });
  const name = variantName(winner ?? 0);
  if (verdict === 'chosen') return language.say('variants.chosen', { name, count });
  if (verdict === 'winner')
    return language.say('variants.winner', { name, others: better_than.map(variantName).join(', '), count });
  if (winner_by === 'hand') return language.say('variants.byHand', { count });
  if (decides_at === null) return language.say('variants.sending', { hours, count });
  const time = `${language.dateTime(new Date(decides_at))} ${language.zone}`;
  return language.say('variants.waiting', { time, count });
}
