/** What the routes and pages are given to work with. */
import type { Resolver } from 'node:dns/promises';
import type { Importer, ImportJobs } from '../audience/import/uploads.ts';
import type { Backups } from '../backups/backups.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { WriteLock } from '../database/write-lock.ts';
import type { Choice } from '../delivery/feedback/choice.ts';
import type { Download } from '../delivery/feedback/providers/amazon.ts';
import type { RecipientIds, Tokens } from '../delivery/links/tokens.ts';
import type { Clock } from '../time/clock.ts';

export interface Deps {
  db: Db;
  /** How requests wait for the write lock of `db`, which itself never waits. */
  lock: WriteLock;
  config: Config;
  clock: Clock;
  tokens: Tokens;
  /** Origin of links, without a trailing slash; known once the port is. */
  publicUrl(): string;
  /** Tells the background that there is something to do. */
  wake(): void;
  /** Tells the webhooks' thread that endpoints, tests or replays were added or changed; starts it with the first endpoint. */
  wakeWebhooks(): void;
  /** A new way to ask the DNS, which may be cancelled. */
  resolver(): Resolver;
  /** Gives what is at an address of Amazon SNS, which signs what it sends and asks to be visited once. */
  fetchFromAmazon: Download;
  /** Imports contacts outside this thread. */
  importer: Importer;
  /** The uploaded files that are to be imported. */
  imports: ImportJobs;
  /**
   * With sender nodes: keeps what a recipient chose where a restored backup finds it again, and has carried it out when it resolves.
   * Throws 503 when that is not possible now.
   */
  keepChoice?: (token: string, ids: RecipientIds, choice: Choice) => Promise<void>;
  backups: Backups;
  /** Stops the service when open requests are answered, and starts it anew. */
  restart(): void;
}
