/** The tasks of the import thread. */
import type { ImportJob } from '../audience/import/import-job.ts';
import type { ExportJob } from '../audience/migrate/read-export.ts';

export type ImportMessage = { task: 'import' | 'preview'; job: ImportJob } | { task: 'read'; job: ExportJob };
