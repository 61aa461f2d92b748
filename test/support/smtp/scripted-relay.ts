/** A scripted relay for tests: it gives the replies it is told to, however wrong, and records what it receives. */
import { createServer, type Socket } from 'node:net';
import { Conversation, type Received, type Script, type ScriptedRelay } from './scripted-connection.ts';

export { type Answer, DROP, type Script } from './scripted-connection.ts';

export class Sink implements ScriptedRelay {
  /** The script of the replies, which may be changed while the sink runs. */
  script: Script;
  readonly received: Received[] = [];
  /** Every command line, in order of arrival, all connections together. */
  readonly commands: string[] = [];
  /** How often a client sent a command before the reply to the previous one, although the sink offers no PIPELINING. */
  impatient = 0;
  connections = 0;
  open = 0;
  peak = 0;
  /** How many connections ended with QUIT. */
  quits = 0;
  readonly #server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket));
  readonly #sockets = new Set<Socket>();

  constructor(script: Script) {
    this.script = script;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  async listen(port = 0): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    return this;
  }

  /** Closes every connection and the port. */
  async close(): Promise<void> {
    this.dropAll();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  dropAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Sends an unrequested reply on every connection. */
  sayToAll(text: string): void {
    for (const socket of this.#sockets) socket.write(text);
  }

  #accept(socket: Socket): void {
    this.connections++;
    this.open++;
    this.peak = Math.max(this.peak, this.open);
    this.#sockets.add(socket);
    socket.on('end', () => {
      if (this.script.quit !== null) socket.end();
    });
    socket.on('close', () => {
      this.open--;
      this.#sockets.delete(socket);
    });
    new Conversation(this, socket, this.connections).run();
  }
}

/** Starts a sink and closes it when the test ends. */
export async function startSink(t: { teardown(end: () => Promise<void>): void }, script: Script = {}): Promise<Sink> {
  const sink = await new Sink(script).listen();
  t.teardown(() => sink.close());
  return sink;
}
