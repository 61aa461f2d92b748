/** The parts of the application that routes, pages and operations use. */
import type { Resolver } from 'node:dns/promises';
import type { Importer, ImportJobs } from '../audience/import/uploads.ts';
import type { Config } from '../config.ts';
import type { Db } from '../database/open.ts';
import type { WriteLock } from '../database/write-lock.ts';
import type { HitBuffer } from '../delivery/feedback/opens-and-clicks.ts';
import type { Choice } from '../delivery/feedback/preference-choice.ts';
import type { Download } from '../delivery/feedback/providers/amazon.ts';
import type { RecipientIds, Tokens } from '../delivery/links/tokens.ts';
import type { Backups } from '../installation/backups/backups.ts';
import type { Clock } from '../time/clock.ts';

export interface Deps {
  db: Db;
  /** The queue in which requests wait for the write lock of `db`, because `db` itself never waits. */
  lock: WriteLock;
  config: Config;
  clock: Clock;
  tokens: Tokens;
  /** The opens and clicks that are not on disk yet. */
  hits: HitBuffer;
  /** Returns the origin of links, without a trailing slash. It is known only once the service listens on its port. */
  publicUrl(): string;
  /** Tells the background thread that there is work. */
  wake(): void;
  /** Tells the webhooks thread that endpoints, tests or replays were added or changed. Starts the thread with the first endpoint. */
  wakeWebhooks(): void;
  /** Returns a new DNS resolver, whose queries can be cancelled. */
  resolver(): Resolver;
  /** Downloads from a URL of Amazon SNS: the certificate for a signature, or the link that confirms a subscription. */
  fetchFromAmazon: Download;
  /** Imports contacts in the import thread. */
  importer: Importer;
  /** The uploaded files that wait for their import. */
  imports: ImportJobs;
  /**
   * Stores a recipient's choice in JetStream, so that a restored backup gets the choice again, and resolves once it is carried out. Throws
   * 503 if that is not possible now. Absent if there are no sender nodes.
   */
  keepChoice?: (token: string, ids: RecipientIds, choice: Choice) => Promise<void>;
  backups: Backups;
  /** Restarts the service once open requests are answered. */
  restart(): void;
}
