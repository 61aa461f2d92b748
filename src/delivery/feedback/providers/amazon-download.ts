/**
 * Downloads certificates of Amazon SNS, and the links that confirm its subscriptions. No other address is requested because of a provider's
 * event.
 */
import { Agent, get } from 'node:https';
import { Failure } from '../../../errors/failure.ts';
import type { Download } from './amazon.ts';

const TIMEOUT_MS = 8000;
const MAX_BYTES = 64 * 1024;
/** The maximum number of simultaneous downloads. Certificates are cached, so only requests that name non-existent URLs would need more. */
const MAX_AT_ONCE = 4;

/** Downloads over TLS, without following redirects. Throws 503 on failure, so that Amazon repeats its request. */
export function amazonDownload(agent: Agent = new Agent()): Download {
  let underWay = 0;
  return async (url) => {
    if (underWay >= MAX_AT_ONCE) throw unreachable();
    underWay++;
    try {
      return await download(url, agent);
    } catch {
      throw unreachable();
    } finally {
      underWay--;
    }
  };
}

function unreachable(): Failure {
  return new Failure(503, 'Amazon SNS cannot be reached at the moment');
}

function download(url: URL, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      if (response.statusCode !== 200) request.destroy(new Error(`answered ${response.statusCode}`));
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > MAX_BYTES) request.destroy(new Error('answered too much'));
        else chunks.push(chunk);
      });
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}
