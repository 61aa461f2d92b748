/** The DNS of the senders' domains: the records found, and the records to publish. */

import { isMailboxProvider } from '../../delivery/checks/header-checks.ts';
import { DOMAIN_CHECKS } from '../../installation/health-checks/doctor-findings.ts';
import { Button } from '../../ui/components/button.tsx';
import { Island, LiveNotes } from '../../ui/components/island.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { recordTime } from '../../ui/record-time.ts';
import { useLanguage } from '../../ui/words/index.ts';
import type { CheckedDomain, DnsCheck } from '../operations/checks.ts';
import { Keys } from './keys.tsx';
import { RecordToCopy } from './record-to-copy.tsx';
import { isWell, WATCH_EVERY_MS, type Watch, watchPath } from './watch-domain.ts';

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;

interface DomainsProps {
  now: Date;
  isOperator: boolean;
  watch: Watch | null;
}

/** A card for each domain, and the button that checks the DNS of all of them. */
export function Domains({ domains, ...shown }: DomainsProps & { domains: readonly CheckedDomain[] }) {
  const language = useLanguage();
  const areChecked = domains.every(({ checked_at: at }) => at !== null);
  return (
    <section class="dns" id="dns">
      <h2>{language.say('domains.title')}</h2>
      {!domains.every(isProviders) && <p class="quiet-text">{language.say('domains.text')}</p>}
      {domains.length > 1 && (
        <form method="post" action="/settings/senders/check">
          <Button look="plain" label={language.say(areChecked ? 'domains.again' : 'domains.now')} />
        </form>
      )}
      {domains.map((domain, at) => (
        <DomainCard key={domain.domain} domain={domain} at={at} {...shown} />
      ))}
    </section>
  );
}

/**
 * Returns true if a domain is shown without records, because only a mailbox provider can add them. With a key the records are shown,
 * because only there the key can be removed.
 */
function isProviders({ domain, dkim }: CheckedDomain): boolean {
  return isMailboxProvider(domain) && dkim.length === 0;
}

function DomainCard({ domain, at, ...shown }: DomainsProps & { domain: CheckedDomain; at: number }) {
  const language = useLanguage();
  const isWatched = shown.watch?.domain === domain.domain;
  if (isProviders(domain))
    return (
      <Card title={domain.domain}>
        <Notice tone="warn">{language.say('domains.provider', { domain: domain.domain })}</Notice>
      </Card>
    );
  return (
    <div id={`dns-${at}`}>
      <Card title={domain.domain}>
        <CheckedAt domain={domain} at={at} {...shown} />
        {domain.checks.some(({ is_waiting }) => is_waiting === 1) && (
          <Notice tone="warn">{language.say('domains.waiting.text')}</Notice>
        )}
        {isWatched && (
          <Island name="live" data={{ results: `#dns-${at} .dns-live`, every: WATCH_EVERY_MS }}>
            <LiveNotes />
          </Island>
        )}
        <ul class="findings">
          {DOMAIN_CHECKS.map((name) => (
            <Check key={name} name={name} domain={domain} at={at} isOperator={shown.isOperator} />
          ))}
        </ul>
      </Card>
    </div>
  );
}

/** When the DNS was checked, and how to check it again: a button, or a link while the page checks automatically. */
function CheckedAt({
  domain: { domain, checks, checked_at: checkedAt },
  at,
  watch,
  now,
}: DomainsProps & { domain: CheckedDomain; at: number }) {
  const language = useLanguage();
  const time = recordTime(checkedAt);
  const isActive = watch?.domain === domain && watch.isActive;
  return (
    <div
      id={`dns-${at}-asked`}
      class="dns-live"
      data-active={isActive ? 'yes' : 'no'}
      data-news={isWell({ checks }) ? language.say('domains.well') : ''}
    >
      <p class="quiet-text">
        {time === null
          ? language.say('domains.unasked')
          : language.say('domains.asked', { time: language.relative(time, now) })}
      </p>
      {isActive ? (
        <p>
          {language.say('domains.watching')} <a href={watchPath(domain, now)}>{language.say('domains.look')}</a>
        </p>
      ) : (
        <form method="post" action="/settings/senders/check">
          <input type="hidden" name="domain" value={domain} />
          <Button look="plain" label={language.say(time === null ? 'domains.now' : 'domains.again')} />
        </form>
      )}
    </div>
  );
}

function Check({
  name,
  domain,
  at,
  isOperator,
}: {
  name: DnsCheck['name'];
  domain: CheckedDomain;
  at: number;
  isOperator: boolean;
}) {
  const language = useLanguage();
  const check = domain.checks.find((known) => known.name === name);
  const record = name === 'DKIM' ? null : check?.record;
  const isUnsigned = name === 'DKIM' && domain.dkim.length === 0;
  // The advice is left out where the record to copy, or the button that makes a key, says the same.
  const advice = check?.record || isUnsigned ? [] : (check?.advice ?? []);
  return (
    <li>
      <div id={`dns-${at}-${name}`} class="dns-live">
        <div class="dns-name">
          <h3>{language.say(`domains.name.${name}`)}</h3>
          {check ? (
            <Badge tone={TONES[check.state]}>
              {language.say(check.is_waiting === 1 ? 'domains.waiting' : `health.${check.state}`)}
            </Badge>
          ) : (
            <Badge>{language.say('domains.unknown')}</Badge>
          )}
        </div>
        <p class="quiet-text">
          {language.say(`domains.why.${name}`, { domain: domain.domain, returnPath: domain.return_path })}
        </p>
        {check && <p class="found">{language.sentence(check.found)}</p>}
        {advice.map((line) => (
          <p key={line} class="advice">
            {language.sentence(line)}
          </p>
        ))}
        {record && <p>{language.say('domains.publish')}</p>}
      </div>
      {record && <RecordToCopy {...record} />}
      {name === 'DKIM' && <Keys domain={domain} isOperator={isOperator} />}
      {name === 'SPF' && record && <p class="quiet-text">{language.say('domains.spf.relay')}</p>}
    </li>
  );
}
