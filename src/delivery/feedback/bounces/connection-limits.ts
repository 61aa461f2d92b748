/** Limits on each connection and each address at the bounce listener, because anybody on the internet can connect. */

export interface VisitorLimits {
  /** Simultaneous connections from one address; for IPv6, from one /64 network, which belongs to one customer. */
  perAddress: number;
  /** Commands on one connection. */
  commands: number;
  /** The most milliseconds from connecting, or from the last mail, to the content of the next mail. */
  idleMs: number;
  /** The most milliseconds that a connection may last. */
  lifetimeMs: number;
}

/** The part of a connection that the limits need. `send` sends an SMTP reply. */
interface Connection {
  id: string;
  remoteAddress: string;
  send(code: number, text: string): void;
}

interface Visitor {
  connection: Connection;
  network: string;
  commands: number;
  idleTimer: NodeJS.Timeout | undefined;
  lifetimeTimer: NodeJS.Timeout;
}

/** Enforces the limits: a connection that exceeds one is closed with a 421 reply (RFC 5321 §3.8). */
export class Visitors {
  readonly #limits: VisitorLimits;
  readonly #visitors = new Map<string, Visitor>();
  readonly #perNetwork = new Map<string, number>();

  constructor(limits: VisitorLimits) {
    this.#limits = limits;
  }

  /** Registers a connection; false if its address has too many already. */
  connected(connection: Connection): boolean {
    const network = networkKey(connection.remoteAddress);
    const present = this.#perNetwork.get(network) ?? 0;
    if (present >= this.#limits.perAddress) return false;
    this.#perNetwork.set(network, present + 1);
    const lifetimeTimer = setTimeout(
      () => connection.send(421, 'Connected for too long'),
      this.#limits.lifetimeMs,
    ).unref();
    const visitor = { connection, network, commands: 0, idleTimer: undefined, lifetimeTimer };
    this.#visitors.set(connection.id, visitor);
    this.#wait(visitor);
    return true;
  }

  /** Counts a command. */
  command(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor !== undefined && ++visitor.commands > this.#limits.commands)
      visitor.connection.send(421, 'Too many commands');
  }

  /** The content of a mail starts; until its end only the lifetime limits it. */
  dataStarted(id: string): void {
    clearTimeout(this.#visitors.get(id)?.idleTimer);
  }

  /** The mail has its reply. */
  dataEnded(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor !== undefined) this.#wait(visitor);
  }

  /** The connection is closed. */
  disconnected(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor === undefined) return;
    this.#visitors.delete(id);
    clearTimeout(visitor.idleTimer);
    clearTimeout(visitor.lifetimeTimer);
    const left = (this.#perNetwork.get(visitor.network) ?? 1) - 1;
    if (left > 0) this.#perNetwork.set(visitor.network, left);
    else this.#perNetwork.delete(visitor.network);
  }

  #wait(visitor: Visitor): void {
    const { connection } = visitor;
    visitor.idleTimer = setTimeout(() => connection.send(421, 'No mail for too long'), this.#limits.idleMs).unref();
  }
}

/** The address, or for IPv6 its first 64 bits. An IPv4-mapped IPv6 address counts as IPv4. */
function networkKey(address: string): string {
  const plain = address.replace(/^::ffff:/i, '');
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
