/** The DNS of the domains that senders write from: what was found there, and the records to publish. */
import { Button } from '../../../components/button.tsx';
import { Island } from '../../../components/island.tsx';
import { Badge, Card } from '../../../components/surface.tsx';
import { recordTime } from '../../../record-time.ts';
import { useLanguage } from '../../../words/index.ts';
import type { DnsCheck, SenderDomain, TxtRecord } from './records.ts';

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;
const NAMES = ['SPF', 'DKIM', 'DMARC', 'Alignment'] as const;

/** A card for each domain, and the button that asks the DNS about all of them. */
export function Domains({ domains, now }: { domains: readonly SenderDomain[]; now: Date }) {
  const language = useLanguage();
  const isAsked = domains.every(({ checked_at: at }) => at !== null);
  return (
    <section class="dns">
      <h2>{language.say('domains.title')}</h2>
      <p class="quiet-text">{language.say('domains.text')}</p>
      <form method="post" action="/settings/senders/check">
        <Button look="plain">{language.say(isAsked ? 'domains.again' : 'domains.now')}</Button>
      </form>
      {domains.map((domain) => (
        <DomainCard key={domain.domain} domain={domain} now={now} />
      ))}
    </section>
  );
}

function DomainCard({ domain, now }: { domain: SenderDomain; now: Date }) {
  const language = useLanguage();
  const at = recordTime(domain.checked_at);
  return (
    <Card title={domain.domain}>
      <p class="quiet-text">
        {at === null
          ? language.say('domains.unasked')
          : language.say('domains.asked', { time: language.relative(at, now) })}
      </p>
      <ul class="findings">
        {NAMES.map((name) => (
          <Check key={name} name={name} domain={domain} check={domain.checks.find((one) => one.name === name)} />
        ))}
      </ul>
    </Card>
  );
}

function Check({
  name,
  domain: { domain, return_path: returnPath, dkim },
  check,
}: {
  name: DnsCheck['name'];
  domain: SenderDomain;
  check: DnsCheck | undefined;
}) {
  const language = useLanguage();
  const records = name === 'DKIM' ? dkim : check?.record ? [check.record] : [];
  const isUnsigned = name === 'DKIM' && dkim.length === 0;
  // A record to copy says the same as the lines of advice, in a form that fits the forms of DNS providers.
  const advice = check?.record ? [] : (check?.advice ?? []);
  return (
    <li>
      <div class="dns-name">
        <h3>{language.say(`domains.name.${name}`)}</h3>
        {check ? (
          <Badge tone={TONES[check.state]}>{language.say(`health.${check.state}`)}</Badge>
        ) : (
          <Badge>{language.say('domains.unknown')}</Badge>
        )}
      </div>
      <p class="quiet-text">{language.say(`domains.why.${name}`, { domain, returnPath })}</p>
      {check && <p class="found">{language.sentence(check.found)}</p>}
      {advice.map((line) => (
        <p key={line} class="advice">
          {language.sentence(line)}
        </p>
      ))}
      {isUnsigned && <p>{language.say('domains.unsigned')}</p>}
      {isUnsigned && <pre class="command">sendlark dkim create {domain}</pre>}
      {records.length > 0 && check?.state !== 'ok' && <p>{language.say('domains.publish')}</p>}
      {records.map((record) => (
        <RecordToCopy key={record.name} {...record} />
      ))}
      {name === 'SPF' && records.length > 0 && <p class="quiet-text">{language.say('domains.spf.relay')}</p>}
    </li>
  );
}

function RecordToCopy({ name, value }: TxtRecord) {
  const language = useLanguage();
  return (
    <dl class="record">
      <dt>{language.say('domains.record.type')}</dt>
      <dd>TXT</dd>
      <dt>{language.say('domains.record.name')}</dt>
      <dd>
        <Copied text={name} label={language.say('domains.copy.name')} />
      </dd>
      <dt>{language.say('domains.record.value')}</dt>
      <dd>
        <Copied text={value} label={language.say('domains.copy.value')} />
      </dd>
    </dl>
  );
}

/** A text beside which a script puts a button that copies it. */
function Copied({ text, label }: { text: string; label: string }) {
  return (
    <Island name="copy" data={{ label, done: useLanguage().say('domains.copied') }}>
      <code class="once">{text}</code>
    </Island>
  );
}
