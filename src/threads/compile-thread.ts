/** Entry point of the compile thread, which handles owners' templates one at a time. */
import { parentPort } from 'node:worker_threads';
import type { Answer, Task } from '../delivery/content/compile.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { parseMjml, renderMjml } from '../delivery/content/mjml.ts';
import { editedTemplate, editorView } from '../delivery/content/mjml-editor.ts';
import { buildContent } from '../delivery/mime/build.ts';

async function work(task: Task): Promise<Answer> {
  switch (task.kind) {
    case 'compile':
      return { content: await buildContent(task.source) };
    case 'render':
      return { html: await renderMjml(parseMjml(task.template_json), true) };
    case 'view':
      return { view: editorView(task.template_json) };
    case 'edit':
      return { template_json: editedTemplate(task.mjml, task.before) };
  }
}

async function answer(task: Task): Promise<Answer> {
  try {
    return await work(task);
  } catch (error) {
    if (error instanceof ContentError) return { problem: error.message };
    // Only the template varies here, so an error thrown by a library is caused by the template too.
    const reason = error instanceof RangeError ? 'it is too large or nested too deeply' : String(error);
    return { problem: `The template could not be compiled: ${reason}.` };
  }
}

parentPort?.on('message', async (task: Task) => parentPort?.postMessage(await answer(task)));
