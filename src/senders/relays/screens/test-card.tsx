/** The test of an SMTP relay: the sender used, the stage reached, and the server's replies. */

import { Button } from '../../../ui/components/button.tsx';
import { SelectField } from '../../../ui/components/field.tsx';
import { Badge, Card, Notice } from '../../../ui/components/surface.tsx';
import { useLanguage } from '../../../ui/words/index.ts';
import type { Sender } from '../../operations/senders.ts';
import type { Relay } from '../operations/relays.ts';
import type { RelayTest } from '../operations/test-relay.ts';

export interface TestForm {
  relay: Relay;
  senders: readonly Sender[];
  /** The signed-in user's address. */
  email: string;
  /** The id of the chosen sender; empty: the signed-in user. */
  chosen: string;
  /** The result of the test; null before a test. */
  test: RelayTest | null;
}

/** The form that tests a relay, with the result of the last test. */
export function TestCard({ relay, senders, email, chosen, test }: TestForm) {
  const language = useLanguage();
  const options = senders.map(({ id, from_email }) => ({ value: String(id), label: from_email }));
  const you = { value: '', label: language.say('smtp.test.you', { email }) };
  return (
    <Card title={language.say('smtp.test.title')}>
      {test && <Result relay={relay} test={test} />}
      <p class="quiet-text">{language.say('smtp.test.text', { email })}</p>
      <form method="post" action={`/settings/sending/${relay.id}/test`} class="narrow">
        <SelectField
          name="sender_id"
          label={language.say('smtp.test.sender')}
          options={[...options, you]}
          value={chosen}
        />
        <Button look="plain" label={language.say('smtp.test.submit')} />
      </form>
    </Card>
  );
}

const STAGES = ['connect', 'tls', 'auth', 'mail', 'rcpt'] as const;

function Result({ relay, test }: { relay: Relay; test: RelayTest }) {
  const language = useLanguage();
  const isPassed = test.stage === 'done';
  const stages = STAGES.filter(
    (stage) =>
      stage === test.stage ||
      ((stage !== 'tls' || relay.security !== 'none') && (stage !== 'auth' || relay.username !== '')),
  );
  const failedAt = test.stage === 'done' ? -1 : stages.indexOf(test.stage);
  return (
    <>
      <Notice tone={isPassed ? 'good' : 'bad'} isNews>
        <p>{language.sentence(test.found)}</p>
        {test.advice.map((line) => (
          <p key={line}>{language.sentence(line)}</p>
        ))}
      </Notice>
      <ol class="findings">
        {stages.map((stage, at) => (
          <li key={stage} class="dns-name">
            <span class="browser">{language.fill(`smtp.test.${stage}`, { from: test.from, to: test.to })}</span>
            {(isPassed || at < failedAt) && <Badge tone="good">{language.say('smtp.test.ok')}</Badge>}
            {at === failedAt && <Badge tone="bad">{language.say('smtp.test.failed')}</Badge>}
            {!isPassed && at > failedAt && <Badge>{language.say('smtp.test.skipped')}</Badge>}
          </li>
        ))}
      </ol>
      {test.reply !== null && <p>{language.say('smtp.test.reply')}</p>}
      {test.reply !== null && <pre class="command">{test.reply}</pre>}
    </>
  );
}
