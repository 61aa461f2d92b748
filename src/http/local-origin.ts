/** The address of a service on this machine. */

/** The origin at which a browser on this machine reaches a service that listens on this host and port. */
export function localOrigin(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
