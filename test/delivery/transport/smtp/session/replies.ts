/** Transactions that are told replies, and what they do as short texts. */
import type { Outcome } from '../../../../../src/delivery/transport/smtp/outcome.ts';
import type { Action } from '../../../../../src/delivery/transport/smtp/session/transactions.ts';
import { Transactions } from '../../../../../src/delivery/transport/smtp/session/transactions.ts';

export interface Mail {
  from: string;
  to: string;
  size: number;
}

export const ANN = mailTo('ann');

export const BEN = mailTo('ben');

export const ENVELOPE_OF_BEN = 'MAIL FROM:<news@example.com>|RCPT TO:<ben@example.com>|DATA|';

function mailTo(name: string): Mail {
  return { from: 'news@example.com', to: `${name}@example.com`, size: 21 };
}

/** Transactions with a relay that offers PIPELINING. */
export function startPipelined(): Transactions<Mail> {
  return new Transactions<Mail>({ pipelining: true, size: null }, 'relay.example:25');
}

/** Commands with a bar for each line end. */
export function shown(commands: string): string {
  return commands.replaceAll('\r\n', '|');
}

function brief({ kind, stage, code }: Outcome): string {
  return `${kind} ${stage} ${code}`;
}

/** What is to be done, in one line. */
function told(action: Action<Mail>, { state }: Transactions<Mail>): string {
  switch (action.do) {
    case 'wait':
      return `wait for ${state}`;
    case 'write':
      return `write ${shown(action.commands)}`;
    case 'complete':
      return `${action.mail.to}: ${brief(action.outcome)}, then ${action.next}`;
    case 'abort': {
      const again = action.canRepeat ? ', send it again' : '';
      const other = action.pipelined === null ? '' : `, send ${action.pipelined.to} again`;
      const blame = action.isPipeliningRejected ? ', pipeline no more' : action.isSessionEnd ? ', session limit' : '';
      return `close; ${action.mail.to}: ${brief(action.outcome)}${again}${other}${blame}`;
    }
    case 'close':
      return `close: ${action.why}`;
    default:
      return action.do;
  }
}

/** Gives the replies, one after the other, and says what is to be done after each. */
export function answer(transactions: Transactions<Mail>, ...replies: string[]): string[] {
  return replies.map((line) =>
    told(transactions.reply({ code: Number(line.slice(0, 3)), text: line.slice(4) }), transactions),
  );
}

/** A transaction whose message and end of data are written and flushed; `next` is pipelined after them. */
export function untilEnd(transactions: Transactions<Mail>, next: Mail | null = null): string {
  transactions.begin(ANN);
  answer(transactions, '250 ok', '250 ok', '354 go');
  if (next !== null) transactions.pipeline(next);
  const after = transactions.endOfDataWritten();
  transactions.endOfDataFlushed();
  return shown(after);
}
