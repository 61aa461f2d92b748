/** The page that explains why one contact gets a campaign or not. The page of an automation uses its form and its table of rules, too. */
import type { FastifyInstance } from 'fastify';
import type { Static } from 'typebox';
import { type ByUtr, pageRoute } from '../../http/pages/layout.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { DeliveryBadge } from '../../ui/components/campaign-state.tsx';
import { type Problems, TextField } from '../../ui/components/field.tsx';
import { Time } from '../../ui/components/figures.tsx';
import { Badge, Card } from '../../ui/components/surface.tsx';
import { Table } from '../../ui/components/table.tsx';
import { ask, attempt } from '../../ui/operations.ts';
import { languageOf, sendPage } from '../../ui/page.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { texts } from '../../ui/submitted.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { readSummary } from '../operations/reports.ts';
import { type CheckedRules, explainSingleSend, type Why } from '../operations/why.ts';

/** Registers the page that explains a campaign for one contact. */
export async function whyScreen(app: FastifyInstance): Promise<void> {
  pageRoute<ByUtr & { Querystring: { email?: string } }>(app, '/campaigns/:utr/why', async (request, reply) => {
    const { utr } = request.params;
    const [email = ''] = texts(request.query.email);
    const summary = await ask(request, readSummary, { utr });
    const asked = email.trim() === '' ? null : await attempt(request, explainSingleSend, { utr, email });
    const viewer = viewerOf(request);
    const label = languageOf(request, viewer).say('campaigns.recipients');
    const back = <LinkButton look="plain" href={`/campaigns/${encodeURIComponent(utr)}/recipients`} label={label} />;
    const frame = { title: summary.single_send_name, section: 'campaigns', action: back } as const;
    const content = (
      <>
        <WhyForm email={email} problems={asked !== null && 'problems' in asked ? asked.problems : {}} />
        {asked !== null && 'output' in asked && (
          <>
            <Outcome {...asked.output.why} />
            <Rules rules={asked.output.why.rules} />
          </>
        )}
      </>
    );
    return sendPage(request, reply, viewer, frame, content);
  });
}

/** The card that asks for the address of the contact. */
export function WhyForm(address: AddressProps) {
  return (
    <Card title={useLanguage().say('why.title')}>
      <AddressForm {...address} />
    </Card>
  );
}

interface AddressProps {
  email: string;
  problems: Problems;
}

/** The form that asks for the address of a contact, of whom the same page then shows more. */
export function AddressForm({ email, problems }: AddressProps) {
  const language = useLanguage();
  return (
    <form method="get" class="narrow">
      <TextField
        name="email"
        label={language.say('word.email')}
        type="email"
        value={email}
        autocomplete="off"
        problems={problems}
      />
      <Button look="plain" label={language.say('compose.check.see')} />
    </form>
  );
}

/** The state of the contact's mail. */
function Outcome({ delivery }: Why) {
  const language = useLanguage();
  return (
    <Card title={language.say('why.outcome')}>
      {delivery === null ? (
        <p>{language.say('why.noMail')}</p>
      ) : (
        <>
          <p>
            <DeliveryBadge state={delivery.state} />{' '}
            {delivery.happened_at !== null && <Time at={new Date(delivery.happened_at)} />}
          </p>
          {delivery.reply !== null && (
            <p>
              <bdi class="capitalized">{language.sentence(delivery.reply)}</bdi>
            </p>
          )}
          {delivery.due_at !== null && (
            <p>
              {language.say('why.nextTry')} <Time at={new Date(delivery.due_at)} />
            </p>
          )}
        </>
      )}
    </Card>
  );
}

/** The table of rules with their current values, and what would let a rule allow the mail. */
export function Rules({ rules }: { rules: Static<typeof CheckedRules> }) {
  const language = useLanguage();
  return (
    <Card title={language.say('why.rules')}>
      <Table
        caption={language.say('why.rules')}
        rows={rules.map((rule, at) => ({ ...rule, at }))}
        keyOf={({ at }) => at}
        columns={[
          { heading: language.say('why.rule'), cell: ({ rule }) => language.say(`why.rule.${rule}`) },
          {
            heading: language.say('why.now'),
            cell: ({ is_met: isMet, value, counted_mails: counted = [] }) => (
              <>
                <Badge tone={isMet === 1 ? 'good' : 'warn'}>
                  {language.say(isMet === 1 ? 'why.met' : 'why.notMet')}
                </Badge>{' '}
                <bdi>{language.sentence(value)}</bdi>
                {counted.length > 0 && (
                  <ul class="small" aria-label={language.say('why.counted')}>
                    {counted.map(({ name, sent_at }) => (
                      <li key={sent_at}>
                        <Time at={new Date(sent_at)} /> <bdi>{name}</bdi>
                      </li>
                    ))}
                  </ul>
                )}
              </>
            ),
          },
          {
            heading: language.say('why.change'),
            cell: ({ change }) => (change === null ? '' : language.sentence(change)),
          },
        ]}
      />
    </Card>
  );
}
