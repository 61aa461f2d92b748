/** Backups of the installation, for its operators: when the last one was made. */
import type { FastifyInstance } from 'fastify';
import { ApiClient } from '../../../api-client.ts';
import { Facts, Time } from '../../../components/figures.tsx';
import { Card } from '../../../components/surface.tsx';
import { recordTime } from '../../../record-time.ts';
import { requireOperator } from '../../../signed-in.ts';
import { useLanguage } from '../../../words/index.ts';
import { sendSettings } from '../frame.tsx';

interface BackupState {
  last_backup_at: string | null;
  database_bytes: number;
  free_bytes: number;
}

export async function backupScreen(app: FastifyInstance): Promise<void> {
  app.get('/settings/backup', { onRequest: async (request) => requireOperator(request) }, async (request, reply) => {
    const { backups } = await new ApiClient(app, request).get<{ backups: BackupState }>('/backups');
    return sendSettings(request, reply, 'backup', <Backups {...backups} />);
  });
}

function Backups({ last_backup_at, database_bytes, free_bytes }: BackupState) {
  const language = useLanguage();
  const last = recordTime(last_backup_at);
  return (
    <Card>
      <Facts
        facts={[
          {
            label: language.say('health.backup'),
            value: last === null ? language.say('health.noBackup') : <Time at={last} />,
          },
          { label: language.say('health.database'), value: language.bytes(database_bytes) },
          { label: language.say('health.disk'), value: language.bytes(free_bytes) },
        ]}
      />
    </Card>
  );
}
