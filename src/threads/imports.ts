/** The thread of imports, as the HTTP thread sees it. */
import { once } from 'node:events';
import { type ResourceLimits, Worker } from 'node:worker_threads';
import type { ImportReport } from '../audience/import/import.ts';
import type { ImportJob } from '../audience/import/import-job.ts';
import type { ImportPreview } from '../audience/import/preview.ts';
import { countImport } from '../audience/import/running-imports.ts';
import { Turns } from '../audience/import/turns.ts';
import type { ExportJob, ReadExport } from '../audience/migrate/read-export.ts';
import { threadFile } from '../thread-files.ts';
import type { ImportMessage } from './import-thread.ts';

/** Runs imports and import previews, one at a time, in a thread that starts with the first one. */
export function importThread(resourceLimits: ResourceLimits) {
  let thread: Worker | null = null;
  const turns = new Turns();
  const ask = async <Result>(message: ImportMessage): Promise<Result> => {
    thread ??= new Worker(threadFile('import-thread'), { resourceLimits });
    const worker = thread;
    worker.postMessage(message);
    const waiting = new AbortController();
    const { signal } = waiting;
    try {
      const [answer]: { result?: Result; error?: string }[] = await Promise.race([
        once(worker, 'message', { signal }),
        once(worker, 'exit', { signal }).then(() => [{ error: 'the import thread ended' }]),
      ]);
      if (answer?.result === undefined) throw new Error(answer?.error ?? 'the import gave no answer');
      return answer.result;
    } catch (error) {
      thread = null;
      throw error;
    } finally {
      waiting.abort();
    }
  };
  return {
    run: (job: ImportJob) =>
      turns.run(job.accountId, () => countImport(() => ask<ImportReport>({ task: 'import', job }))),
    preview: (job: ImportJob) => turns.run(job.accountId, () => ask<ImportPreview>({ task: 'preview', job })),
    read: (job: ExportJob) =>
      turns.run(job.accountId, () => ask<ReadExport | { refusal: string }>({ task: 'read', job })),
    async close(): Promise<void> {
      await thread?.terminate();
    },
  };
}
