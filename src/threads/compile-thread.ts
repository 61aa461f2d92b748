/** Entry point of the compile thread, which handles owners' templates one at a time. */
import { parentPort } from 'node:worker_threads';
import { checkContent } from '../delivery/checks/content-checks.ts';
import type { Answer, CheckedContent, Task } from '../delivery/content/compile.ts';
import { ContentError } from '../delivery/content/compiled-content.ts';
import { parseMjml, renderMjml } from '../delivery/content/mjml.ts';
import { editedTemplate, editorView } from '../delivery/content/mjml-editor.ts';
import { renderMarked } from '../delivery/content/preview.ts';
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
    case 'check':
      return { checked: check(task) };
  }
}

/** What is shown of a text part: some hundred pages. */
const MAX_TEXT = 100_000;

function check({ content, values, context }: Extract<Task, { kind: 'check' }>): CheckedContent {
  const { subject, html, text } = renderMarked(content, values);
  return { subject, text: text.slice(0, MAX_TEXT), textLength: text.length, ...checkContent({ html, text }, context) };
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
