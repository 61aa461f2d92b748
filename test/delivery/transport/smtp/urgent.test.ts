/** Which hand-off is next: urgent ones, but not only these. */
import t from 'tap';
import { type PendingHandoff, PendingHandoffs } from '../../../../src/delivery/transport/smtp/pending-handoffs.ts';

const pendingTo = (to: string, isUrgent: boolean): PendingHandoff => ({
  handoff: { from: '', to, isUrgent, start: () => null },
  resolve: () => undefined,
  reject: () => undefined,
  only: null,
  requeues: 0,
  refusedBy: [],
  refusal: null,
  next: null,
});

t.test('urgent hand-offs go first, in their order; every ninth is another one', async (t) => {
  const queue = new PendingHandoffs();
  for (const at of [0, 1, 2]) queue.push(pendingTo(`c${at}`, false));
  for (let at = 0; at < 10; at++) queue.push(pendingTo(`u${at}`, true));
  t.equal(queue.length, 13);
  const order: string[] = [];
  for (;;) {
    const first = queue.first;
    const pending = queue.shift();
    t.equal(pending, first, 'the first is the next');
    if (pending === null) break;
    order.push(pending.handoff.to);
  }
  t.equal(order.join(' '), 'u0 u1 u2 u3 u4 u5 u6 u7 c0 u8 u9 c1 c2');
});
