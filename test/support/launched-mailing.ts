/** For tests of delivery: a mailing on a real ledger, a background that sends it, and a fake courier or a scripted relay. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import { launchMailing } from '../../fixtures/mailing.ts';
import { readConfig } from '../../src/config.ts';
import { connect, type Db } from '../../src/database/open.ts';
import { mailings } from '../../src/database/schema/index.ts';
import { openTokens } from '../../src/delivery/links/tokens.ts';
import { enqueueStatement } from '../../src/delivery/queue/ledger/enqueue.ts';
import { createMailing } from '../../src/delivery/queue/mailing-state.ts';
import type { Courier, Handoff, Outcome } from '../../src/delivery/transport/courier.ts';
import { SmtpPool } from '../../src/delivery/transport/smtp/pool.ts';
import { parseRelays } from '../../src/delivery/transport/smtp/relay-urls.ts';
import { Background } from '../../src/threads/background.ts';
import { FakeClock } from './app.ts';
import { seededCopy } from './seeded-copy.ts';
import { type Script, startSink } from './smtp/scripted-relay.ts';
import { until } from './until.ts';

export const ACCEPTED: Outcome = {
  kind: 'accepted',
  stage: 'body',
  code: 250,
  enhanced: '2.0.0',
  reply: '250 2.0.0 ok',
};

/** A fake courier that gives the outcome at once, or when `answer` resolves. */
export class Relay implements Courier {
  readonly started: string[] = [];
  readonly #answer: (to: string) => Outcome | Promise<Outcome>;
  #open = 0;

  constructor(answer: (to: string) => Outcome | Promise<Outcome>) {
    this.#answer = answer;
  }

  room(): number {
    return 20 - this.#open;
  }

  async send({ to, start }: Handoff): Promise<Outcome | 'withdrawn'> {
    this.#open++;
    await pause(0);
    try {
      if (start() === null) return 'withdrawn';
      this.started.push(to);
      return await this.#answer(to);
    } finally {
      this.#open--;
    }
  }

  async close(): Promise<void> {}
}

interface Row {
  id: number;
  state: number;
  attempt: number;
  due_at: number;
  reply: string | null;
}

/** A mailing to so many recipients or to these addresses, and a background that sends it with this courier. */
export async function launch(
  t: Test,
  people: number | readonly string[],
  courier: Courier,
  settings: Record<string, string> = {},
  folder = mkdtempSync(join(tmpdir(), 'sendlark-worker-')),
) {
  const path = join(folder, 'test.db');
  seededCopy(path);
  const db = connect(path);
  const client = db.$client;
  await launchMailing(db, people, '<p>Hello ((first_name))</p>');
  const clock = new FakeClock();
  const start = (next: Courier) =>
    new Background({
      db,
      config: readConfig({ DATABASE_PATH: path, ...settings }),
      clock,
      courier: next,
      tokens: openTokens(client),
      publicUrl: () => 'http://localhost',
      log: () => undefined,
    });
  const background = start(courier);
  t.teardown(async () => {
    await background.close(100);
    client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    db,
    clock,
    background,
    start,
    rows: () =>
      client
        .prepare<[], Row>('SELECT id, state, attempt, due_at, english(reply) AS reply FROM deliveries ORDER BY id')
        .all(),
    mailing: () =>
      client
        .prepare<[], Record<string, unknown>>(
          'SELECT *, english(held_reason) AS held_reason FROM mailings WHERE id = 1',
        )
        .get() ?? {},
    suppressions: () => Number(client.prepare('SELECT count(*) FROM suppressions').pluck().get()),
    async until(reached: () => boolean) {
      await until(reached, () => background.step());
    },
  };
}

/** Another mailing with the content of the first, laid out to so many of the first one's people; gives its id. */
export function addMailing(db: Db, people: number, given: Partial<Parameters<typeof createMailing>[1]> = {}): number {
  const [first] = db.select().from(mailings).all();
  if (first === undefined) throw new Error('there is no mailing');
  const { user_id, content, created_at } = first;
  const mailing = createMailing(db, { user_id, owner_kind: 'test', owner_id: 2, content, created_at, ...given });
  const some = `SELECT address_id, id AS contact_id, NULL AS segment_recipient_id, NULL AS reason FROM contacts ORDER BY id LIMIT ${people}`;
  enqueueStatement(db.$client, some).run({ mailing });
  return mailing;
}

/** The same with our SMTP client and a scripted relay. */
export async function launchToSink(t: Test, people: number | readonly string[], script: Script, user = '') {
  const sink = await startSink(t, script);
  const courier = () =>
    new SmtpPool(parseRelays(sink.url.replace('//', `//${user}`)), { connections: 2, onRelayFailure: () => undefined });
  const pool = courier();
  return { sink, courier, pool, ...(await launch(t, people, pool)) };
}
