/** The sender nodes, for operators: which there are, how they do and what is wrong with them. */
import type { FastifyInstance } from 'fastify';
import type { NodeState } from '../../../database/schema/index.ts';
import type { Deps } from '../../../deps.ts';
import { ApiClient } from '../../api-client.ts';
import { Meter } from '../../components/figures.tsx';
import { Island } from '../../components/island.tsx';
import { Badge, Empty, type Tone } from '../../components/surface.tsx';
import { Table } from '../../components/table.tsx';
import { recordTime } from '../../record-time.ts';
import { requireOperator } from '../../signed-in.ts';
import { useLanguage } from '../../words/index.ts';
import { sendSettings } from './frame.tsx';

/** How often the list is looked up. */
const LOOK_MS = 5000;

interface Node {
  run: string;
  name: string;
  version: string;
  state: NodeState;
  refusal: string | null;
  rate: number;
  recipients: number;
  room: number;
  accepted: number;
  refused: number;
  warm_up: { ceiling: number; given: number } | null;
  heard_at: string;
}

interface Nodes {
  nodes: readonly Node[];
  fleet: { is_used: 0 | 1; version: string };
}

const TONES: Readonly<Record<NodeState, Tone>> = {
  sending: 'good',
  waiting: 'busy',
  draining: 'busy',
  refused: 'bad',
  silent: 'bad',
};

export async function nodeScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.get('/settings/nodes', async (request, reply) => {
    requireOperator(request);
    const answer = await new ApiClient(app, request).get<Nodes>('/nodes');
    return sendSettings(request, reply, 'nodes', <NodeList {...answer} now={clock.now()} />);
  });
}

function NodeList({ nodes, fleet, now }: Nodes & { now: Date }) {
  const language = useLanguage();
  if (fleet.is_used === 0) {
    return (
      <Empty icon="info" title={language.say('nodes.off.title')}>
        {language.say('nodes.off.text')}
      </Empty>
    );
  }
  return (
    <Island name="live" data={{ every: LOOK_MS, results: '#nodes' }}>
      <div id="nodes" data-active="yes" class="stack">
        {nodes.length === 0 ? (
          <Empty icon="info" title={language.say('nodes.none.title')}>
            {language.say('nodes.none.text')}
          </Empty>
        ) : (
          <NodeTable nodes={nodes} version={fleet.version} now={now} />
        )}
        <p class="quiet-text">{language.say('nodes.hint')}</p>
      </div>
    </Island>
  );
}

function NodeTable({ nodes, version, now }: Pick<Nodes, 'nodes'> & { version: string; now: Date }) {
  const language = useLanguage();
  return (
    <Table
      caption={language.say('settings.nodes')}
      rows={nodes}
      keyOf={({ run }) => run}
      columns={[
        {
          heading: language.say('nodes.name'),
          cell: (node) => (
            <span class="named">
              <bdi>{node.name}</bdi>
              <span class="small quiet-text">
                {node.version}
                {node.version !== version && ` · ${language.say('nodes.otherRelease', { version })}`}
              </span>
              <span class="small quiet-text">
                {language.say('nodes.heard', { time: language.relative(recordTime(node.heard_at) ?? now, now) })}
              </span>
            </span>
          ),
        },
        {
          heading: language.say('nodes.state'),
          cell: ({ state, refusal }) => (
            <div>
              <Badge tone={TONES[state]}>{language.say(`nodes.state.${state}`)}</Badge>
              {refusal !== null && <bdi class="second-line quiet-text">{refusal}</bdi>}
            </div>
          ),
        },
        {
          heading: language.say('nodes.rate'),
          isNumber: true,
          cell: ({ rate }) => language.number(rate),
        },
        {
          heading: language.say('nodes.has'),
          isNumber: true,
          cell: ({ recipients, room }) =>
            language.say('people.job.of', { finished: recipients, count: recipients + room }),
        },
        {
          heading: language.say('nodes.accepted'),
          isNumber: true,
          cell: ({ accepted, refused }) => (
            <div>
              {language.number(accepted)}
              {refused > 0 && (
                <span class="second-line quiet-text">{language.say('nodes.refused', { count: refused })}</span>
              )}
            </div>
          ),
        },
        { heading: language.say('nodes.warmUp'), cell: ({ warm_up: warmUp }) => <WarmUp warmUp={warmUp} /> },
      ]}
    />
  );
}

/** How much of today's ceiling is used. */
function WarmUp({ warmUp }: { warmUp: Node['warm_up'] }) {
  const language = useLanguage();
  if (warmUp === null) return '–';
  const text = language.say('people.job.of', { finished: warmUp.given, count: warmUp.ceiling });
  return (
    <span class="named">
      <span>{text}</span>
      <Meter label={text} value={warmUp.given} max={warmUp.ceiling} />
    </span>
  );
}
