/** `/metrics` of a sender node: its hand-offs, its connection to NATS and its SMTP servers, without names of people. */
import { Counter, Gauge } from 'prom-client';
import type { Outcome } from '../../delivery/transport/courier.ts';
import { processMetrics } from '../../http/process-metrics.ts';

/** The state of a node that its gauges show. */
export interface NodeStatus {
  /** True if the node may start mails: the controller has renewed its lease lately. */
  isSending: boolean;
  /** True if an SMTP server of the node failed and has taken no mail since. */
  isRelayFailing: boolean;
  /** The number of outcomes that NATS has not acknowledged. */
  unreported: number;
}

/** The status before the node has started. */
const NOT_STARTED: NodeStatus = { isSending: false, isRelayFailing: false, unreported: 0 };

export class NodeMetrics {
  readonly #process = processMetrics();
  readonly #handOffs: Counter<'result'>;
  #status = () => NOT_STARTED;
  #isConnected = () => false;

  constructor() {
    const { registry } = this.#process;
    const options = (name: string, help: string) => ({ name: `sendlark_${name}`, help, registers: [registry] });
    this.#handOffs = new Counter({
      ...options('node_hand_offs_total', 'Hand-offs of this node by what its SMTP servers said.'),
      labelNames: ['result'],
    });
    for (const result of ['accepted', 'deferred', 'refused', 'held']) this.#handOffs.inc({ result }, 0);
    const gauge = (name: string, help: string, read: () => number | boolean) =>
      new Gauge({
        ...options(name, help),
        collect() {
          this.set(Number(read()));
        },
      });
    gauge('nats_connected', '1 while there is a connection to NATS.', () => this.#isConnected());
    gauge('node_sending', '1 while the service lets this node send.', () => this.#status().isSending);
    gauge(
      'relay_failing',
      '1 while SMTP servers fail and none has taken a mail since.',
      () => this.#status().isRelayFailing,
    );
    gauge('node_unreported', 'Results that NATS has not acknowledged.', () => this.#status().unreported);
  }

  /** Sets where the gauges read the state of the node. */
  follow(status: () => NodeStatus): void {
    this.#status = status;
  }

  /** Sets where the gauge of the connection reads whether NATS is connected. */
  followConnection(isConnected: () => boolean): void {
    this.#isConnected = isConnected;
  }

  /** Counts the outcome of a hand-off. */
  count({ kind }: Pick<Outcome, 'kind'>): void {
    this.#handOffs.inc({ result: kind });
  }

  get contentType(): string {
    return this.#process.registry.contentType;
  }

  /** The metrics in Prometheus' text form. */
  text(): Promise<string> {
    return this.#process.registry.metrics();
  }

  close(): void {
    this.#process.close();
  }
}
