/** The page of the installation's health, and the route that releases all sending. */
import type { FastifyInstance } from 'fastify';
import type { ComponentChildren } from 'preact';
import type { Deps } from '../../operations/deps.ts';
import { Button, LinkButton } from '../../ui/components/button.tsx';
import { Facts, Time } from '../../ui/components/figures.tsx';
import { Badge, Card, Notice } from '../../ui/components/surface.tsx';
import { setFlash } from '../../ui/flash.ts';
import { ask, attempt } from '../../ui/operations.ts';
import { recordTime } from '../../ui/record-time.ts';
import { sendSettings } from '../../ui/settings/frame.tsx';
import { viewerOf } from '../../ui/signed-in.ts';
import { type PlainKey, useLanguage } from '../../ui/words/index.ts';
import { type Health, lookAtPublicAddress, readHealth, releaseHold, testReturnedMail } from '../operations.ts';

interface HealthProps {
  isOperator: boolean;
  now: Date;
}

interface FindingProps {
  isOperator: boolean;
  freeBytes: number;
}

interface LastResultProps {
  name: string;
  /** When the check was made; null: never. */
  at: string | null;
  health: Health;
  now: Date;
  children: ComponentChildren;
}

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;
/** Findings with an explanation of why they matter. */
const EXPLAINED = [
  ...['Settings', 'Disk', 'Clock', 'Sending', 'Background', 'SMTP server', 'Backup', 'Files', 'DNS', 'Public address'],
  ...['Returned mail', 'Webhooks', 'Nodes', 'Silent nodes', 'Refused nodes', 'Releases of nodes'],
] as const;
/** Findings with a page on which the user can fix them. */
const PAGES: readonly { name: string; href: string; label: PlainKey; isForOperators?: true }[] = [
  { name: 'Backup', href: '/settings/backup', label: 'health.go.Backup', isForOperators: true },
  { name: 'SMTP server', href: '/settings/sending', label: 'health.go.SMTP server', isForOperators: true },
  { name: 'DNS', href: '/settings/senders', label: 'health.go.DNS' },
  { name: 'Webhooks', href: '/settings/webhooks', label: 'health.go.Webhooks' },
  ...['Nodes', 'Silent nodes', 'Refused nodes', 'Releases of nodes'].map(
    (name) => ({ name, href: '/settings/nodes', label: 'health.go.Nodes', isForOperators: true }) as const,
  ),
];

/** Registers the page of the installation's health. */
export async function healthScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.get('/settings/health', async (request, reply) => {
    const { health } = await ask(request, readHealth, {});
    const { isOperator } = viewerOf(request);
    const content = <InstallationState health={health} isOperator={isOperator} now={clock.now()} />;
    return sendSettings(request, reply, 'health', content);
  });

  app.post('/settings/health/public-address', async (request, reply) => {
    await ask(request, lookAtPublicAddress, {});
    return reply.redirect('/settings/health#address', 303);
  });

  app.post('/settings/health/returned-mail', async (request, reply) => {
    await attempt(request, testReturnedMail, {});
    return reply.redirect('/settings/health#returns', 303);
  });
}

function InstallationState({ health, isOperator, now }: HealthProps & { health: Health }) {
  const language = useLanguage();
  const problems = health.findings.filter(({ state }) => state !== 'ok');
  const isBroken = problems.some(({ state }) => state === 'fail');
  const unbrokenTone = problems.length > 0 ? 'warn' : 'good';
  const backup = recordTime(health.last_backup_at);
  return (
    <>
      <Notice tone={isBroken ? 'bad' : unbrokenTone}>
        {problems.length === 0
          ? language.say('health.well')
          : language.say('health.problems', { count: problems.length })}
      </Notice>
      <div class="two-thirds">
        <Card>
          <ul class="findings">
            {health.findings.map((finding) => (
              <FindingItem key={finding.name} {...finding} isOperator={isOperator} freeBytes={health.free_bytes} />
            ))}
          </ul>
        </Card>
        <div class="stack">
          {isOperator && <PublicAddress health={health} now={now} />}
          {isOperator && <ReturnedMail health={health} now={now} />}
          <Card title={language.say('health.facts')}>
            <Facts
              facts={[
                { label: language.say('health.version'), value: health.version },
                { label: language.say('health.node'), value: health.node },
                { label: language.say('health.clock'), value: <Time at={new Date(health.now)} /> },
                {
                  label: language.say('health.courier'),
                  value:
                    health.relays.join(', ') ||
                    language.say(health.courier === 'nodes' ? 'health.nodes' : 'health.outbox'),
                },
                { label: language.say('health.database'), value: language.bytes(health.database_bytes) },
                { label: language.say('health.disk'), value: language.bytes(health.free_bytes) },
                {
                  label: language.say('health.backup'),
                  value: backup === null ? language.say('health.noBackup') : <Time at={backup} />,
                },
              ]}
            />
          </Card>
        </div>
      </div>
    </>
  );
}

/** The findings about the public URL in the links of mails, and the button that checks it from outside. */
function PublicAddress({ health, now }: { health: Health; now: Date }) {
  const language = useLanguage();
  return (
    <div id="address">
      <Card title={language.say('health.name.Public address')}>
        {health.public_url === '' ? (
          <>
            <p>{language.say('health.address.unset')}</p>
            <p>
              <LinkButton look="plain" href="/settings/sending#address" label={language.say('health.address.go')} />
            </p>
          </>
        ) : (
          <>
            <p class="browser">
              <a href={health.public_url}>{health.public_url}</a>
            </p>
            <LastResult name="Public address" at={health.address_seen_at} health={health} now={now}>
              {language.say('health.address.unseen')}
            </LastResult>
            <form method="post" action="/settings/health/public-address">
              <Button look="plain" label={language.say('health.address.look')} />
            </form>
          </>
        )}
      </Card>
    </div>
  );
}

/** The finding of the last check; `children` if no check was made. */
function LastResult({ name, at, health, now, children }: LastResultProps) {
  const language = useLanguage();
  const checkedAt = recordTime(at);
  const finding = checkedAt && health.findings.find((known) => known.name === name);
  if (!finding) return <p class="quiet-text">{children}</p>;
  return (
    <>
      <p class="found">
        <Badge tone={TONES[finding.state]}>{language.say(`health.${finding.state}`)}</Badge>{' '}
        {language.sentence(finding.found)}
      </p>
      <p class="quiet-text">{language.say('health.address.seen', { time: language.relative(checkedAt, now) })}</p>
    </>
  );
}

/** Says whether bounces are received, with the steps that set this up, or the button that tests it. */
function ReturnedMail({ health, now }: { health: Health; now: Date }) {
  const language = useLanguage();
  const { bounce_domain: domain, bounce_listen: listens } = health;
  const stateOfDomain = listens === null ? 'elsewhere' : 'taken';
  const state = domain === '' ? 'unset' : stateOfDomain;
  return (
    <div id="returns">
      <Card title={language.say('bounces.title')}>
        <p>{language.say(`bounces.${state}`, { domain, listens: listens ?? '' })}</p>
        {state === 'unset' && <p class="quiet-text">{language.say('bounces.why')}</p>}
        {state === 'taken' ? (
          <>
            <LastResult name="Returned mail" at={health.returns_seen_at} health={health} now={now}>
              {language.say('bounces.mx', { domain })}
            </LastResult>
            <form method="post" action="/settings/health/returned-mail">
              <Button look="plain" label={language.say('bounces.test')} />
            </form>
          </>
        ) : (
          <ol class="provider-steps">
            {(['domain', 'mx', 'settings', 'firewall'] as const).map((step) => (
              <li key={step}>{language.say(`bounces.step.${step}`, { domain: domain || 'bounces.example.com' })}</li>
            ))}
          </ol>
        )}
      </Card>
    </div>
  );
}

function FindingItem({ name, state, found, advice, isOperator, freeBytes }: Health['findings'][number] & FindingProps) {
  const language = useLanguage();
  const explained = EXPLAINED.find((known) => known === name);
  const page = PAGES.find((known) => known.name === name);
  // The free space is also among the facts of this page, so both places show it in the same unit.
  const text =
    name === 'Disk' ? language.say('health.free', { size: language.bytes(freeBytes) }) : language.sentence(found);
  return (
    <li>
      <h2>
        {explained ? language.say(`health.name.${explained}`) : name}{' '}
        <Badge tone={TONES[state]}>{language.say(`health.${state}`)}</Badge>
      </h2>
      <p class="found capitalized">{text}</p>
      {state !== 'ok' && explained && <p class="quiet-text">{language.say(`health.why.${explained}`)}</p>}
      {advice.length > 0 && (
        <>
          <h3>{language.say('health.cure')}</h3>
          <ul class="advice">
            {advice.map((line) => (
              <li key={line}>{language.sentence(line)}</li>
            ))}
          </ul>
        </>
      )}
      {state !== 'ok' && page && (isOperator || !page.isForOperators) && (
        <div class="buttons">
          <LinkButton look="plain" href={page.href} label={language.say(page.label)} />
        </div>
      )}
    </li>
  );
}

/** Registers the route that releases all sending. */
export async function holdScreens(app: FastifyInstance): Promise<void> {
  app.post('/sending/release', async (request, reply) => {
    const released = await attempt(request, releaseHold, {});
    if ('problem' in released) setFlash(reply, 'warn', 'hold.not', { reason: released.text });
    else setFlash(reply, 'good', 'hold.released');
    return reply.redirect('/', 303);
  });
}
