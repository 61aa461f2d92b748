/** A page with every component in every state, to be looked at and checked; it is part of the tests only. */
import type { FastifyInstance } from 'fastify';
import { conflict, invalid } from '../../../src/errors/failure.ts';
import { Button, LinkButton } from '../../../src/ui/components/button.tsx';
import { Chart } from '../../../src/ui/components/chart.tsx';
import { Confirm } from '../../../src/ui/components/confirm.tsx';
import { CheckField, SelectField, TextField } from '../../../src/ui/components/field.tsx';
import { Meter, Stats, Time } from '../../../src/ui/components/figures.tsx';
import { Badge, Card, Empty, Notice, Tabs } from '../../../src/ui/components/surface.tsx';
import { Pager, Table } from '../../../src/ui/components/table.tsx';
import { answerError, sendErrorPage } from '../../../src/ui/error-pages.tsx';
import { setFlash } from '../../../src/ui/flash.ts';
import { sendBarePage, sendPage } from '../../../src/ui/page.tsx';
import type { Viewer } from '../../../src/ui/viewer.ts';

export const VIEWER: Viewer = {
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  role: 'owner',
  isOperator: true,
  accountId: 1,
  language: null,
  shortcuts: true,
  colourScheme: 'system',
};

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

const DAYS = Array.from({ length: 30 }, (_, at) => at + 1);

function Gallery() {
  return (
    <>
      <Notice tone="good" isNews>
        “Autumn reading list” is paused. <a href="/campaigns">Resume it</a>
      </Notice>
      <Notice tone="warn">The relay refuses mail: 454 4.7.0 Temporary authentication failure.</Notice>
      <Notice tone="bad">The database could not be written: the disk is full.</Notice>
      <Notice>Mail stays in the outbox, because no relay is configured.</Notice>
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
            <Button icon="check">Save</Button>
            <Button look="plain">Cancel</Button>
            <Button look="quiet">Reset</Button>
            <Button look="danger">Delete 12,431 contacts</Button>
            <Button disabled>Not now</Button>
          </div>
        </form>
      </Card>
      <Confirm id="delete" action="/gallery" label="Delete 12,431 contacts" title="Delete 12,431 contacts?">
        <p>They get no more mail, and their history is deleted. You can undo this until tomorrow.</p>
      </Confirm>
      <Empty pose="flies" title="No campaigns yet" action={<LinkButton href="#new">Write the first</LinkButton>}>
        What you send appears here with its progress and its results.
      </Empty>
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

/** Registers the gallery at `/gallery`, and error pages at `/gallery/errors/:status`. */
export async function gallery(app: FastifyInstance): Promise<void> {
  app.get('/gallery', (request, reply) =>
    sendPage(
      request,
      reply,
      VIEWER,
      {
        title: 'Components',
        section: 'campaigns',
        action: (
          <LinkButton href="#new" icon="plus">
            New campaign
          </LinkButton>
        ),
      },
      <Gallery />,
    ),
  );
  app.get('/gallery/bare', (request, reply) => sendBarePage(request, reply, 'Sign in', <h1>Sign in</h1>));
  app.setErrorHandler<Error>((error, request, reply) => answerError(error, request, reply, VIEWER));
  app.addContentTypeParser('application/x-www-form-urlencoded', (_request, body, done) => {
    body.resume();
    done(null);
  });
  app.post('/gallery', (_request, reply) => {
    setFlash(reply, 'good', 'home.step.people.done', { count: 1200 });
    return reply.code(303).redirect('/gallery');
  });
  app.get('/gallery/conflict', () => {
    throw conflict('It is in use');
  });
  app.get('/gallery/invalid', () => {
    throw invalid('a', 'A <b>.');
  });
  app.get<{ Params: { status: number } }>('/gallery/errors/:status', (request, reply) =>
    sendErrorPage(request, reply, VIEWER, Number(request.params.status)),
  );
}
