/** Whether the installation is well (addition): its facts, and what the doctor finds without leaving the machine. */

import { stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import Type from 'typebox';
import { isoTimestamp } from '../clock.ts';
import { lastBackupAt } from '../database/backups.ts';
import { parseRelays, relayName } from '../delivery/transport/smtp/relay-urls.ts';
import type { Deps } from '../deps.ts';
import { filesCheck } from '../health-checks/files.ts';
import { localChecks } from '../health-checks/local.ts';
import { serviceChecks } from '../health-checks/service.ts';
import { choice, integer, isoTimestampSchema, nullable, successWith } from '../http/requests/schemas.ts';
import { sentenceCode } from '../sentences.ts';
import { VERSION } from '../version.ts';

const Finding = Type.Object({
  name: Type.String({ description: 'What was looked at.' }),
  state: {
    ...choice('ok', 'warn', 'fail'),
    description: 'warn: mail leaves, but something is weak; fail: mail or the service is in danger.',
  },
  found: Type.String({ description: 'What was found.' }),
  code: nullable(Type.String({ description: 'What was found, for programs.' })),
  advice: Type.Array(Type.String(), { description: 'What to do, in lines.' }),
});
const Health = Type.Object({
  version: Type.String(),
  node: Type.String({ description: 'The release of Node it runs on.' }),
  now: Type.String({ ...isoTimestampSchema(), description: 'The clock of the machine, UTC.' }),
  courier: choice('outbox', 'smtp'),
  relays: Type.Array(Type.String(), { description: 'Host and port of each relay, in order of preference.' }),
  database_bytes: integer({ description: 'Size of the database with its write-ahead log.' }),
  free_bytes: integer(),
  last_backup_at: nullable(Type.String()),
  findings: Type.Array(Finding, { description: 'What was checked, the worst first.' }),
});

const ORDER = ['fail', 'warn', 'ok'];

export const healthRoutes: FastifyPluginAsyncTypebox<Deps> = async (app, { db, config, clock }) => {
  const path = resolve(config.DATABASE_PATH);
  const relays = config.SMTP_URL === '' ? [] : parseRelays(config.SMTP_URL).map(relayName);

  app.get(
    '/health',
    {
      schema: {
        tags: ['Overview'],
        summary: 'Read whether the installation is well, and what to do where it is not (addition)',
        description:
          'Nothing outside the machine is asked: sendlark doctor also asks relays, DNS and the public address.',
        response: successWith({
          health: Type.Object(Health.properties, { description: 'The state of the installation.' }),
        }),
      },
      config: { role: 'owner' },
    },
    async () => {
      const client = db.$client;
      const now = clock.now();
      const { bavail, bsize } = await statfs(dirname(path));
      const findings = [
        ...localChecks(client, config, now.getTime()),
        ...serviceChecks(client, config, now.getTime()),
        filesCheck(config),
      ];
      const health = {
        version: VERSION,
        node: process.versions.node,
        now: isoTimestamp(now),
        courier: config.SMTP_URL === '' ? 'outbox' : 'smtp',
        relays,
        database_bytes: (await sizeOf(path)) + (await sizeOf(`${path}-wal`)),
        free_bytes: bavail * bsize,
        last_backup_at: lastBackupAt(client),
        findings: findings
          .map((finding) => ({ advice: [], ...finding, code: sentenceCode(finding.found) }))
          .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state)),
      };
      return { status: 'success' as const, message: { health } };
    },
  );
};

/** The size of a file; 0 if it does not exist, such as a write-ahead log that was merged into the database. */
async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found?.size ?? 0;
}
