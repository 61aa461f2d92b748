/** The gallery of components, which `npm run dev` serves at /settings/gallery. */
import type { FastifyInstance } from 'fastify';
import { Button, LinkButton } from './components/button.tsx';
import { Chart } from './components/chart.tsx';
import { Confirm } from './components/confirm.tsx';
import { CheckField, SelectField, TextField } from './components/field.tsx';
import { Meter, Stats, Time } from './components/figures.tsx';
import { Lark } from './components/lark.tsx';
import { RowMenu } from './components/row-menu.tsx';
import { Badge, Card, Empty, NothingFound, Notice, Tabs } from './components/surface.tsx';
import { Pager, SearchForm, Table } from './components/table.tsx';
import { sendPage } from './page.tsx';
import { viewerOf } from './signed-in.ts';

/** The tokens of `styles/tokens.css` by kind. */
const COLOURS =
  'ground raised sunken hover line edge text quiet accent accent-strong accent-soft good good-soft warn warn-soft bad bad-soft info info-soft chart-1 chart-2 chart-3 chart-4';
const SIZES = 'tiny small body large heading title display';
const SPACES = 's1 s2 s3 s4 s5 s6 s7';

const ROWS = [
  { name: 'Autumn reading list', state: 'Sent', tone: 'good', sent: 12431, opened: 0.412 },
  {
    name: '<script>alert(1)</script> “quoted” & long-unbroken-name-'.padEnd(160, 'x'),
    state: 'Sending',
    tone: 'busy',
    sent: 8012,
    opened: 0.08,
  },
  { name: 'Winter sale', state: 'Held', tone: 'warn', sent: 0, opened: 0 },
  { name: 'Notice of changed terms', state: 'Failed', tone: 'bad', sent: 3, opened: 0 },
] as const;

const DAYS = Array.from({ length: 30 }, (_, index) => index + 1);
const FEW_DAYS = DAYS.slice(0, 4);

/** Shows every component in its states, and the tokens of the style sheets. The texts are samples and in English only. */
export function Gallery() {
  return (
    <>
      <Tokens />
      <Notice tone="good" isNews>
        “Autumn reading list” is paused. <a href="/campaigns">Resume it</a>
      </Notice>
      <Notice tone="warn">The SMTP server refuses mail: 454 4.7.0 Temporary authentication failure.</Notice>
      <Notice tone="bad">The database could not be written: the disk is full.</Notice>
      <Notice>Mail stays in the outbox, because there is no SMTP server.</Notice>
      <Tabs
        label="Mailing"
        tabs={[
          { href: '#one', label: 'Report', isCurrent: true },
          { href: '#two', label: 'Recipients', isCurrent: false },
        ]}
      />
      <Card title="Autumn reading list" action={<Badge tone="busy">Sending</Badge>}>
        <Meter label="Progress" value={8012} max={12431} />
        <Stats
          figures={[
            { label: 'Sent', value: '8,012', detail: 'of 12,431' },
            { label: 'Delivered', value: '98.2%', detail: '7,868 contacts' },
            { label: 'Opened', value: '41.2%', detail: '3,240 contacts' },
            { label: 'Clicked', value: '7.1%' },
          ]}
        />
        <p class="quiet-text">
          Started <Time at={new Date('2026-01-15T08:00:00Z')} now={new Date('2026-01-15T09:00:00Z')} />, that is{' '}
          <Time at={new Date('2026-01-15T08:00:00Z')} />
        </p>
      </Card>
      <Table
        caption="Mailings"
        rows={ROWS}
        keyOf={(row) => row.name}
        columns={[
          { heading: 'Name', cell: (row) => <a href="#row">{row.name}</a> },
          { heading: 'State', cell: (row) => <Badge tone={row.tone}>{row.state}</Badge> },
          { heading: 'Sent', isNumber: true, cell: (row) => row.sent },
          { heading: 'Opened', isNumber: true, cell: (row) => `${row.opened * 100}%` },
        ]}
      />
      <Pager first="#first" next="#next" />
      <SearchForm name="search" label="Name" find="Find" value="autumn" />
      <RowMenu id="menu" label="Actions for Autumn reading list">
        <a href="#copy">Duplicate</a>
      </RowMenu>
      <Card title="A form">
        <form method="post">
          <TextField name="name" label="Name" value="Ada" hint="People see it as the sender." />
          <TextField
            name="email"
            label="E-mail"
            type="email"
            value="nonsense"
            problems={{ email: ['The email must be a valid email address.'] }}
          />
          <SelectField
            name="zone"
            label="Zone"
            value="b"
            options={[
              { value: 'a', label: 'Europe/Berlin' },
              { value: 'b', label: 'UTC' },
            ]}
          />
          <CheckField name="news" label="Send me a summary every Monday" checked />
          <div class="buttons">
            <Button icon="check" label="Save" />
            <Button look="plain" label="Cancel" />
            <Button look="quiet" label="Reset" />
            <Button look="danger" label="Delete 12,431 contacts" />
            <Button disabled label="Not now" />
          </div>
        </form>
      </Card>
      <Confirm id="delete" action="/gallery" label="Delete 12,431 contacts" title="Delete 12,431 contacts?">
        <p>They get no more mail, and their history is deleted. You can undo this until tomorrow.</p>
      </Confirm>
      <Empty pose="flies" title="No campaigns yet" action={<LinkButton href="#new" label="Write the first" />}>
        What you send appears here with its progress and its results.
      </Empty>
      <NothingFound title="No campaign matches." all="#all" />
      <Card title="Audience in the last 30 days">
        <Chart
          title="Audience in the last 30 days"
          heading="Day"
          labels={DAYS.map((day) => `${day} Jan`)}
          series={[
            { label: 'Joined', kind: 'bars', colour: 1, values: DAYS.map((day) => (day * 37) % 90) },
            { label: 'Left', kind: 'bars', colour: 2, values: DAYS.map((day) => -((day * 17) % 23)) },
          ]}
        />
      </Card>
      <Card title="Shares with an interval">
        <Chart
          title="Shares with an interval"
          heading="Day"
          isShare
          labels={FEW_DAYS.map((day) => `${day} Jan`)}
          series={[
            { label: 'Treated', kind: 'line', colour: 1, values: FEW_DAYS.map((day) => day / 250) },
            { label: 'Control group', kind: 'line', colour: 2, values: FEW_DAYS.map((day) => day / 500) },
            {
              label: 'Interval',
              kind: 'band',
              colour: 1,
              values: FEW_DAYS.map((day) => Math.max(0, day / 250 - 1 / 8)),
              highs: FEW_DAYS.map((day) => day / 250 + 1 / 8),
            },
          ]}
        />
      </Card>
      <Card title="Results of one hour">
        <Chart
          title="Results of one hour"
          heading="Hour"
          labels={['15 Jan, 09:00']}
          series={[
            { label: 'Opens', kind: 'bars', colour: 1, values: [1000] },
            { label: 'Clicks', kind: 'line', colour: 2, values: [333] },
          ]}
        />
      </Card>
    </>
  );
}

/** Shows the colours, sizes of letters and spaces. They are drawn as SVG, because the policy of pages allows no inline styles. */
function Tokens() {
  const list = (names: string) => names.split(' ');
  return (
    <Card title="Tokens">
      <svg viewBox="0 0 920 150" role="img" aria-label="Colours">
        {list(COLOURS).map((name, index) => (
          <g key={name} transform={`translate(${(index % 12) * 76}, ${Math.floor(index / 12) * 76})`}>
            <rect width="64" height="44" rx="8" fill={`var(--${name})`} stroke="var(--line)" />
            <text y="62" font-size="11" fill="var(--text)">
              {name}
            </text>
          </g>
        ))}
      </svg>
      <svg viewBox="0 0 920 230" role="img" aria-label="Sizes of letters">
        {list(SIZES).map((name, index) => (
          <text key={name} y={[14, 34, 56, 82, 114, 156, 212][index]} font-size={`var(--${name})`} fill="var(--text)">
            {`${name} 0123456789`}
          </text>
        ))}
      </svg>
      <svg viewBox="0 0 920 60" role="img" aria-label="Spaces">
        {list(SPACES).map((name, index) => (
          <g key={name} transform={`translate(${index * 80}, 0)`}>
            <rect height="16" fill="var(--accent)" width={`var(--${name})`} />
            <text y="36" font-size="11" fill="var(--text)">
              {name}
            </text>
          </g>
        ))}
      </svg>
      <div class="buttons">
        <Lark pose="sings" />
        <Lark pose="flies" />
        <Lark pose="looks" />
      </div>
    </Card>
  );
}

/** Registers the page with the gallery. Called only in development, because users do not need the page. */
export async function galleryScreen(app: FastifyInstance): Promise<void> {
  app.get('/settings/gallery', (request, reply) =>
    sendPage(request, reply, viewerOf(request), { title: 'Components', section: 'settings' }, <Gallery />),
  );
}
