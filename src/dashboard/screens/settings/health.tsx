/** Whether the installation is well: each finding with why it matters and what to do, and the facts. */
import type { FastifyInstance } from 'fastify';
import { ApiClient } from '../../api-client.ts';
import { Facts, Time } from '../../components/figures.tsx';
import { Badge, Card, Notice } from '../../components/surface.tsx';
import { recordTime } from '../../record-time.ts';
import { useLanguage } from '../../words/index.ts';
import { sendSettings } from './frame.tsx';

interface Finding {
  name: string;
  state: 'ok' | 'warn' | 'fail';
  found: string;
  advice: readonly string[];
}

interface InstallationHealth {
  version: string;
  node: string;
  now: string;
  relays: readonly string[];
  database_bytes: number;
  free_bytes: number;
  last_backup_at: string | null;
  findings: readonly Finding[];
}

const TONES = { ok: 'good', warn: 'warn', fail: 'bad' } as const;
/** The findings with a text that says why they matter. */
const EXPLAINED = ['Settings', 'Disk', 'Clock', 'Sending', 'Background', 'Relay', 'Backup', 'Files'] as const;

export async function healthScreen(app: FastifyInstance): Promise<void> {
  app.get('/settings/health', async (request, reply) => {
    const { health } = await new ApiClient(app, request).get<{ health: InstallationHealth }>('/health');
    return sendSettings(request, reply, 'health', <InstallationState health={health} />);
  });
}

function InstallationState({ health }: { health: InstallationHealth }) {
  const language = useLanguage();
  const problems = health.findings.filter(({ state }) => state !== 'ok');
  const isBroken = problems.some(({ state }) => state === 'fail');
  const backup = recordTime(health.last_backup_at);
  return (
    <>
      <Notice tone={isBroken ? 'bad' : problems.length > 0 ? 'warn' : 'good'}>
        {problems.length === 0
          ? language.say('health.well')
          : language.say('health.problems', { count: problems.length })}
      </Notice>
      <div class="two-thirds">
        <Card>
          <ul class="findings">
            {health.findings.map((finding) => (
              <FindingItem key={finding.name} {...finding} />
            ))}
          </ul>
          <p class="quiet-text">{language.say('health.more')}</p>
          <pre class="command">sendlark doctor</pre>
        </Card>
        <Card title={language.say('health.facts')}>
          <Facts
            facts={[
              { label: language.say('health.version'), value: health.version },
              { label: language.say('health.node'), value: health.node },
              { label: language.say('health.clock'), value: <Time at={new Date(health.now)} /> },
              {
                label: language.say('health.courier'),
                value: health.relays.join(', ') || language.say('health.outbox'),
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
    </>
  );
}

function FindingItem({ name, state, found, advice }: Finding) {
  const language = useLanguage();
  const explained = EXPLAINED.find((one) => one === name);
  return (
    <li>
      <h2>
        {explained ? language.say(`health.name.${explained}`) : name}{' '}
        <Badge tone={TONES[state]}>{language.say(`health.${state}`)}</Badge>
      </h2>
      <p class="found">{language.sentence(found)}</p>
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
    </li>
  );
}
