/** Tells the webhooks of a test's application, step by step. */
import { setTimeout } from 'node:timers/promises';
import type { Test } from 'tap';
import { connect } from '../../../src/database/open.ts';
import { Dispatcher, type DispatcherDeps } from '../../../src/webhooks/dispatcher.ts';
import type { Caller, TestApp } from '../app.ts';

/** The settings with which endpoints of a test are reached. */
export const ON_THIS_MACHINE = { WEBHOOK_PRIVATE_ADDRESSES: 'allow' };

export interface Dispatching {
  dispatcher: Dispatcher;
  /** Steps until nothing is under way and nothing is due. */
  untilIdle(): Promise<void>;
  /** Steps until the condition holds. */
  until(holds: () => boolean): Promise<void>;
}

/** Starts a dispatcher with a connection of its own. */
export function startDispatcher(t: Test, app: TestApp, deps: Partial<DispatcherDeps> = {}): Dispatching {
  const { $client: client } = connect(app.path);
  const dispatcher = new Dispatcher({ client, clock: app.clock, allowPrivate: true, ...deps });
  t.teardown(async () => {
    await dispatcher.close();
    client.close();
  });
  const until = async (holds: () => boolean) => {
    do {
      dispatcher.changed();
      dispatcher.step();
      await setTimeout(2);
    } while (!holds());
  };
  return {
    dispatcher,
    until,
    async untilIdle() {
      let idle = 0;
      await until(() => {
        idle = dispatcher.step() ? 0 : idle + 1;
        return idle === 2;
      });
    },
  };
}

/** Adds a webhook; gives its id and secret. */
export async function addWebhook(
  caller: Caller,
  url: string,
  events: readonly string[],
): Promise<{ id: number; secret: string }> {
  const { status, text, body } = await caller.call('POST', '/webhooks/save', { form: { url, events: [...events] } });
  if (status !== 200) throw new Error(`the webhook was not added: ${text}`);
  return body.message;
}
