/** Checks that protect cookies: whether a request came from a page of this server, and whether its connection was safe. */
import type { FastifyRequest } from 'fastify';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Returns true if a request comes from a page of this server. Browsers indicate this in Sec-Fetch-Site, which pages cannot set (W3C Fetch
 * Metadata); older ones send only the Origin, which must then name our host. A request with neither is not trusted.
 */
export function isSameOrigin({ headers, host }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
}

/** Returns true if the browser's own connection is encrypted, according to the request, a trusted proxy or the public URL. */
export function isEncrypted({ protocol, host }: FastifyRequest, publicUrl: string): boolean {
  return protocol === 'https' || (publicUrl.startsWith('https:') && new URL(publicUrl).host === host);
}

/**
 * Returns true if a browser reaches this server without leaving its machine. The requested host decides, not the address of the connection, which
 * differs with a tunnel or a container's port.
 */
export function isLoopback({ hostname }: FastifyRequest): boolean {
  return LOOPBACK.test(hostname);
}
