/** The name of a sender node. */
import { hostname } from 'node:os';
import type { Config } from '../../config.ts';

/** NODE_NAME, or the name of the machine. It is part of subjects. */
export function nodeName({ NODE_NAME }: Config): string {
  return (
    NODE_NAME ||
    hostname()
      .replace(/[^A-Za-z0-9_-]+/g, '-')
      .slice(0, 63) ||
    'node'
  );
}
