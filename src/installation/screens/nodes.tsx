/** The sender nodes, for operators: their state, their rate and their problems. */
import type { FastifyInstance } from 'fastify';
import type { NodeState } from '../../database/schema/index.ts';
import type { Deps } from '../../operations/deps.ts';
import { LinkButton } from '../../ui/components/button.tsx';
import { Meter } from '../../ui/components/figures.tsx';
import { Island } from '../../ui/components/island.tsx';
import { Badge, Empty, type Tone } from '../../ui/components/surface.tsx';
import { numberColumn, Table } from '../../ui/components/table.tsx';
import { ask } from '../../ui/operations.ts';
import { recordTime } from '../../ui/record-time.ts';
import { sendSettings } from '../../ui/settings/frame.tsx';
import { requireOperator } from '../../ui/signed-in.ts';
import { useLanguage } from '../../ui/words/index.ts';
import { type Fleet, listNodes, type Node } from '../operations.ts';

/** How often the list is updated. */
const UPDATE_MS = 5000;

interface Nodes {
  nodes: readonly Node[];
  fleet: Fleet;
}

const TONES: Readonly<Record<NodeState, Tone>> = {
  sending: 'good',
  waiting: 'busy',
  draining: 'busy',
  refused: 'bad',
  silent: 'bad',
};

/** Registers the page of sender nodes. */
export async function nodeScreen(app: FastifyInstance, { clock }: Deps): Promise<void> {
  app.get('/settings/nodes', async (request, reply) => {
    requireOperator(request);
    const answer = await ask(request, listNodes, {});
    return sendSettings(request, reply, 'nodes', <NodeList {...answer} now={clock.now()} />);
  });
}

function NodeList({ nodes, fleet, now }: Nodes & { now: Date }) {
  const language = useLanguage();
  if (fleet.is_used === 0) {
    const action = <LinkButton look="plain" href="/settings/sending" label={language.say('settings.sending')} />;
    return (
      <Empty title={language.say('nodes.off.title')} action={action}>
        {language.say('nodes.off.text')}
      </Empty>
    );
  }
  return (
    <Island name="live" data={{ every: UPDATE_MS, results: '#nodes' }}>
      <div id="nodes" data-active="yes" class="stack">
        {nodes.length === 0 ? (
          <Empty title={language.say('nodes.none.title')}>{language.say('nodes.none.text')}</Empty>
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
        numberColumn(language, 'nodes.rate', 'rate'),
        {
          heading: language.say('nodes.has'),
          isNumber: true,
          cell: ({ recipients, room }) => language.say('word.of', { finished: recipients, count: recipients + room }),
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

/** Shows how much of today's ceiling a node has used. */
function WarmUp({ warmUp }: { warmUp: Node['warm_up'] }) {
  const language = useLanguage();
  if (warmUp === null) return '–';
  const text = language.say('word.of', { finished: warmUp.given, count: warmUp.ceiling });
  return (
    <span class="named">
      <span>{text}</span>
      <Meter label={text} value={warmUp.given} max={warmUp.ceiling} />
    </span>
  );
}
