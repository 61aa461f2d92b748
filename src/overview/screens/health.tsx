/** Whether the service is well: what is wrong at the top of the page, and the facts in a card. */
import type { ComponentChildren } from 'preact';
import { Facts, Time } from '../../dashboard/components/figures.tsx';
import { Badge, Card, Notice, type Tone } from '../../dashboard/components/surface.tsx';
import { recordTime } from '../../dashboard/record-time.ts';
import { useLanguage } from '../../dashboard/words/index.ts';
import type { Overview } from '../operations.ts';

/** With less free space, an import or a large mailing could fill the disk. */
const LITTLE_SPACE = 1_000_000_000;
const WEEK_MS = 7 * 24 * 3_600_000;

const RELAY_TONES = {
  none: 'plain',
  nodes: 'good',
  untried: 'plain',
  answers: 'good',
  works: 'good',
  fails: 'warn',
} as const;
const DNS_TONES = { none: 'plain', unknown: 'plain', passed: 'good', weak: 'warn', failed: 'bad' } as const;

/** The problems, each with what to do about it; none when all is well. That all sending is held, every page says by itself. */
export function Alerts({ health }: Pick<Overview, 'health'>) {
  const language = useLanguage();
  const alerts = [
    health.background === 'stalled' && language.say('home.alert.stalled'),
    health.clock === 'wrong' && language.say('home.alert.clock'),
    health.free_bytes < LITTLE_SPACE && language.say('home.alert.disk', { free: language.bytes(health.free_bytes) }),
  ].filter((text) => text !== false);
  return alerts.map((text) => (
    <Notice key={text} tone="bad">
      {text}
    </Notice>
  ));
}

/** The facts; `isOwner`: whether they lead to the page that says more, which is for owners. */
export function Health({
  health,
  setup,
  now,
  isOwner,
}: Pick<Overview, 'health' | 'setup'> & { now: Date; isOwner: boolean }) {
  const language = useLanguage();
  const backup = recordTime(health.last_backup_at);
  const isBackupFresh = backup !== null && now.getTime() - backup.getTime() < WEEK_MS;
  const sending = health.background === 'stalled' ? 'stalled' : health.sending;
  const facts: { label: string; value: ComponentChildren; tone?: Tone }[] = [
    {
      label: language.say('home.health.sending'),
      value: language.say(`home.health.${sending}`),
      tone: sending === 'on' ? 'good' : 'bad',
    },
    {
      label: language.say('home.health.courier'),
      value: language.say(`home.health.relay.${setup.relay.state}`),
      tone: RELAY_TONES[setup.relay.state],
    },
    {
      label: language.say('home.health.dns'),
      value: language.say(`home.health.dns.${setup.dns.state}`),
      tone: DNS_TONES[setup.dns.state],
    },
    {
      label: language.say('home.health.disk'),
      value: language.bytes(health.free_bytes),
      tone: health.free_bytes < LITTLE_SPACE ? 'bad' : 'good',
    },
    {
      label: language.say('home.health.clock'),
      value: language.say(`home.health.${health.clock}`),
      tone: health.clock === 'right' ? 'good' : 'bad',
    },
    {
      label: language.say('home.health.backup'),
      value: backup === null ? language.say('home.health.never') : <Time at={backup} now={now} />,
      tone: isBackupFresh ? 'good' : 'warn',
    },
    { label: language.say('home.health.version'), value: health.version },
  ];
  return (
    <Card
      title={language.say('home.health.title')}
      action={isOwner && <a href="/settings/health">{language.say('home.health.more')}</a>}
    >
      <Facts
        facts={facts.map(({ label, value, tone }) => ({
          label,
          value: tone ? <Badge tone={tone}>{value}</Badge> : value,
        }))}
      />
    </Card>
  );
}
