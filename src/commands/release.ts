/** `sendlark release`: resumes sending that is held after a restore or a leap of the clock. */

import { releaseSending, sendingHeldReason } from '../delivery/queue/holds.ts';
import { systemClock } from '../time/clock.ts';
import { type Command, requireWords } from './command.ts';
import { withDatabase } from './database.ts';

export const release: Command = {
  forms: ['release'],
  about: 'Resume sending after a restore or a leap of the clock.',
  help: `Everything that is due is sent at once. First cancel what must not be sent. The service may run meanwhile.`,
  options: {},
  async run(call) {
    requireWords(call);
    const { released, reason, left } = await withDatabase(({ $client }) => {
      const reason = sendingHeldReason($client);
      const released = reason !== null && releaseSending($client, systemClock.now().getTime());
      return { released, reason, left: sendingHeldReason($client) };
    });
    const resumed = reason === null ? 'Sending was not held' : `Sending goes on. It was held: ${reason}`;
    call.answer({ released, reason, left }, [left === null ? resumed : `Sending stays held. ${left}`]);
  },
};
