/** A network between a process and NATS servers that can be cut: TCP proxies on loopback. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `dropped`: connections end, and new ones are refused. `frozen`: nothing goes through, as where a cable was pulled. */
export type Cut = 'dropped' | 'frozen';

export class Link {
  /** The text of NATS_URL that leads through it. */
  readonly urls: string;
  readonly #open = new Set<Socket>();
  #state: 'whole' | Cut = 'whole';

  private constructor(urls: string) {
    this.urls = urls;
  }

  /** Opens a way to each of these servers. */
  static async to(t: { teardown(end: () => Promise<void>): void }, serverUrls: string): Promise<Link> {
    const servers = await Promise.all(
      serverUrls.split(',').map(async (url) => {
        const server = createServer().listen(0, '127.0.0.1');
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        return { server, port, far: Number(new URL(url).port) };
      }),
    );
    const link = new Link(servers.map(({ port }) => `nats://127.0.0.1:${port}`).join(','));
    for (const { server, far } of servers) server.on('connection', (socket) => link.#take(socket, far));
    t.teardown(async () => {
      link.cut('dropped');
      for (const { server } of servers) server.close();
    });
    return link;
  }

  cut(how: Cut): void {
    this.#state = how;
    for (const socket of this.#open) {
      if (how === 'dropped') socket.destroy();
      else socket.pause();
    }
  }

  /** Lets through what waited, and what is new. */
  mend(): void {
    this.#state = 'whole';
    for (const socket of this.#open) socket.resume();
  }

  #take(near: Socket, port: number): void {
    if (this.#state === 'dropped') {
      near.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#open.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#open.delete(from);
        to.destroy();
      });
      if (this.#state === 'frozen') from.pause();
    }
  }
}
