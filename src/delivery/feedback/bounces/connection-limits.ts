/** Who is connected to the bounce listener, and what one of them may take of it: anybody on the internet can connect. */

export interface VisitorLimits {
  /** Connections from one address at a time; addresses of IPv6 count by their first 64 bits, which one customer has. */
  perAddress: number;
  /** Commands on one connection. */
  commands: number;
  /** Milliseconds from the connection, or the mail before, to the next mail's content. */
  patienceMs: number;
  /** Milliseconds that a connection lasts, whatever it does. */
  lifetimeMs: number;
}

/** What the limits need of a connection; both numbers are those of RFC 5321 replies. */
interface Connection {
  id: string;
  remoteAddress: string;
  send(code: number, text: string): void;
}

interface Visitor {
  connection: Connection;
  network: string;
  commands: number;
  patience: NodeJS.Timeout | undefined;
  lifetime: NodeJS.Timeout;
}

/** Keeps the limits: the reply 421, which ends the connection, is the answer to whoever passes one (RFC 5321 §3.8). */
export class Visitors {
  readonly #limits: VisitorLimits;
  readonly #visitors = new Map<string, Visitor>();
  readonly #perNetwork = new Map<string, number>();

  constructor(limits: VisitorLimits) {
    this.#limits = limits;
  }

  /** Takes note of a connection; false when its address has too many already. */
  enter(connection: Connection): boolean {
    const network = networkOf(connection.remoteAddress);
    const present = this.#perNetwork.get(network) ?? 0;
    if (present >= this.#limits.perAddress) return false;
    this.#perNetwork.set(network, present + 1);
    const lifetime = setTimeout(() => connection.send(421, 'Connected for too long'), this.#limits.lifetimeMs).unref();
    const visitor = { connection, network, commands: 0, patience: undefined, lifetime };
    this.#visitors.set(connection.id, visitor);
    this.#wait(visitor);
    return true;
  }

  /** A command has come. */
  speak(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor !== undefined && ++visitor.commands > this.#limits.commands)
      visitor.connection.send(421, 'Too many commands');
  }

  /** A mail's content begins: from here to its end only the lifetime counts. */
  deliver(id: string): void {
    clearTimeout(this.#visitors.get(id)?.patience);
  }

  /** The mail is answered. */
  delivered(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor !== undefined) this.#wait(visitor);
  }

  /** The connection has ended. */
  leave(id: string): void {
    const visitor = this.#visitors.get(id);
    if (visitor === undefined) return;
    this.#visitors.delete(id);
    clearTimeout(visitor.patience);
    clearTimeout(visitor.lifetime);
    const left = (this.#perNetwork.get(visitor.network) ?? 1) - 1;
    if (left > 0) this.#perNetwork.set(visitor.network, left);
    else this.#perNetwork.delete(visitor.network);
  }

  #wait(visitor: Visitor): void {
    const { connection } = visitor;
    visitor.patience = setTimeout(() => connection.send(421, 'No mail for too long'), this.#limits.patienceMs).unref();
  }
}

/** The address, of IPv6 its first 64 bits; IPv4 written as IPv6 is IPv4. */
function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:/i, '');
  if (!plain.includes(':')) return plain;
  const [head = ''] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  return [...groups, '0', '0', '0', '0'].slice(0, 4).join(':');
}
